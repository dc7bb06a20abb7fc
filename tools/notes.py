"""What administrators are told by mail when a contract waits for a second one, and when it was sent back."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.letters import Letter
from accounts.models import Role, User
from accounts.rights import has_role, people_with
from outbox.kinds import REVIEW
from tools.models import Review

kinds = (REVIEW,)


def kind_of(payload: Mapping[str, Any], user: User | None) -> str:
    return REVIEW


def path(payload: Mapping[str, Any]) -> str:
    """The difference that waits."""
    return reverse("tools:changes", args=[str(payload["tool"])])


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """Who may answer now: every administrator but the one who asked. Sent back: the one who asked."""
    review = _review(payload)
    if review is None:
        return []
    if review.outcome == Review.Outcome.RETURNED:
        asker = review.asked_by
        holds = has_role(user_id=asker.pk, tenant_id=review.tenant_id, role=Role.ADMINISTRATOR)
        return [asker] if holds else []
    if review.outcome:
        return []
    people = people_with(tenant_id=review.tenant_id, role=Role.ADMINISTRATOR)
    return [user for user in people if user.pk != review.asked_by_id]


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """Which contract, who asked, and the address of the difference; None when it has become pointless."""
    review = _review(payload)
    if review is None or review.outcome not in ("", Review.Outcome.RETURNED):
        return None
    facts = {
        "tool": review.tool.title,
        "version": review.version,
        "who": review.asked_by.name,
        "link": settings.PUBLIC_URL + reverse("tools:changes", args=[review.tool.name]),
    }
    if review.outcome == Review.Outcome.RETURNED:
        facts["who"] = review.answered_by.name if review.answered_by else ""
        lead = _("%(who)s sent version %(version)s of “%(tool)s” back:") % facts
        subject = _("Sent back: %(tool)s, version %(version)s") % facts
        said = review.reason
    else:
        lead = _("%(who)s asks for a second administrator: version %(version)s of “%(tool)s”.") % facts
        subject = _("To review: %(tool)s, version %(version)s") % facts
        said = review.note
    link = _("See what it would change:\n%(link)s") % facts
    return Letter(user.email, subject, "\n\n".join(part for part in (lead, said, link) if part))


def _review(payload: Mapping[str, Any]) -> Review | None:
    """A letter about asking says nothing any more once it was answered, and the other way round."""
    found: Review | None = (
        Review.everywhere.select_related("tool", "asked_by", "answered_by")
        .filter(pk=uuid.UUID(str(payload["review_id"])))
        .first()
    )
    if found is None:
        return None
    asked = payload.get("act") == "contract.review_asked"
    return found if asked == (found.outcome == "") else None

"""The review that stands for a tool, and how it ends. Every function joins the caller's transaction, under the tool's
lock."""

import uuid

from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.errors import Refused
from tools.models import Review, Tool


def open_for(*, tool: Tool) -> Review | None:
    """The review that stands, with the one who asked."""
    found: Review | None = (
        Review.everywhere.select_related("asked_by", "tool").filter(tool=tool, outcome="").first()
    )
    return found


def void(*, tool: Tool, by: uuid.UUID) -> bool:
    """What was asked does not stand any more, because the draft changes, goes, or somebody asks anew; False
    when none stood."""
    review = open_for(tool=tool)
    if review is None:
        return False
    close(review, Review.Outcome.VOID, by)
    note(review, "contract.review_void", by)
    return True


def published(*, review: Review, by: uuid.UUID) -> None:
    """The review ended well."""
    close(review, Review.Outcome.PUBLISHED, by)


def close(review: Review, outcome: str, by: uuid.UUID, reason: str = "") -> None:
    """It ends once. Raises :class:`accounts.errors.Refused` when somebody was faster."""
    won = Review.everywhere.filter(pk=review.pk, outcome="").update(
        outcome=outcome, answered_by_id=by, answered_at=Now(), reason=reason
    )
    if won != 1:
        raise Refused("answered", _("Somebody else answered meanwhile. Nothing was done."))


def note(review: Review, act: str, by: uuid.UUID, **more: str) -> None:
    """The audit entry of one act."""
    audit.append(
        tenant_id=review.tenant_id,
        act=act,
        subject=("tool", review.tool_id.hex),
        payload={
            "tool": review.tool.name,
            "version": review.version,
            "content_digest": review.digest,
            "note": review.note,
            **more,
        },
        actor=by,
        channel="page",
    )

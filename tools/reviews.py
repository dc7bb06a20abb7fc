"""Two administrators for one publication: the author asks, another one looks at exactly that content and publishes it or
sends it back.

A review names the content by its digest. A draft that changes makes it void, so nobody publishes what nobody else has seen.
Every verb locks the tool's row first, as drafts and publications do.
"""

import uuid

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts import rights
from accounts.errors import Refused
from accounts.models import Role
from outbox.append import append
from tools import drafts, standing
from tools.models import Contract, Review, Tool

TOPIC = "contract.review"
LONGEST = 500


def returned_last(*, tool: Tool, draft: Contract | None) -> Review | None:
    """The last answer to this draft, when it was sent back and nobody has asked again."""
    if draft is None:
        return None
    rows = Review.everywhere.select_related("answered_by").filter(tool=tool, version=draft.version)
    last: Review | None = rows.order_by("-asked_at", "-id").first()
    return last if last is not None and last.outcome == Review.Outcome.RETURNED else None


def ask(*, tool_id: uuid.UUID, by: uuid.UUID, seen: str, note: str = "") -> Review:
    """Ask another administrator to look at the draft as ``seen`` (:func:`tools.drafts.seen`). Owns its transaction. Who asks
    takes the place of whoever asked before. Raises :class:`accounts.errors.Refused`."""
    with transaction.atomic(durable=True):
        tool, draft = _draft(tool_id, by, seen)
        standing.void(tool=tool, by=by)
        review: Review = Review.everywhere.create(
            tenant_id=tool.tenant_id,
            tool=tool,
            version=draft.version,
            digest=seen,
            note=_short(note),
            asked_by_id=by,
        )
        _told(review, "contract.review_asked", by)
    return review


def send_back(*, tool_id: uuid.UUID, by: uuid.UUID, seen: str, reason: str) -> Review:
    """Another administrator says what is to be mended; the draft stays. Owns its transaction. Raises
    :class:`accounts.errors.Refused`."""
    if not reason.strip():
        raise Refused("no_reason", _("Say what is to be mended. Nothing was sent back."), field="reason")
    with transaction.atomic(durable=True):
        tool, draft = _draft(tool_id, by, seen)
        review = answerable(tool=tool, draft=draft, by=by)
        standing.close(review, Review.Outcome.RETURNED, by, reason=_short(reason))
        _told(review, "contract.sent_back", by, reason=_short(reason))
    return review


def answerable(*, tool: Tool, draft: Contract, by: uuid.UUID) -> Review:
    """The open review that ``by`` may answer: of this very content, asked for and last changed by somebody else. Joins the
    caller's transaction, under the tool's lock. Raises :class:`accounts.errors.Refused`."""
    review = standing.open_for(tool=tool)
    if review is None or review.version != draft.version:
        raise Refused(
            "review_needed",
            _("Another administrator must look at it first: ask for a review. Nothing was done."),
        )
    if review.digest != drafts.seen(draft):
        raise Refused(
            "review_void", _("The draft was changed after somebody asked for a review. Nothing was done.")
        )
    if by in (review.asked_by_id, draft.created_by_id):
        raise Refused(
            "second_person", _("You wrote it or asked: another administrator must answer. Nothing was done.")
        )
    return review


def take_back(*, tool_id: uuid.UUID, by: uuid.UUID) -> bool:
    """Nobody has to look at it any more. Owns its transaction; False when none stood. Raises
    :class:`accounts.errors.Refused`."""
    with transaction.atomic(durable=True):
        tool: Tool = Tool.everywhere.select_for_update().get(pk=tool_id)
        _administrator(tool.tenant_id, by)
        return standing.void(tool=tool, by=by)


def _draft(tool_id: uuid.UUID, by: uuid.UUID, seen: str) -> tuple[Tool, Contract]:
    tool: Tool = Tool.everywhere.select_for_update().get(pk=tool_id)
    _administrator(tool.tenant_id, by)
    _live, draft = drafts.current(tool=tool)
    if draft is None or drafts.seen(draft) != seen:
        raise Refused("changed", _("The draft was changed meanwhile. Look at it again. Nothing was done."))
    return tool, draft


def _administrator(tenant_id: uuid.UUID, by: uuid.UUID) -> None:
    if not rights.has_role(user_id=by, tenant_id=tenant_id, role=Role.ADMINISTRATOR):
        raise Refused("not_allowed", _("Only administrators may do this. Nothing was done."))


def _told(review: Review, act: str, by: uuid.UUID, **more: str) -> None:
    append(
        topic=TOPIC,
        key=f"tool:{review.tool_id.hex}",
        tenant_id=review.tenant_id,
        payload={"review_id": review.pk, "act": act, "tool": review.tool.name, "version": review.version},
    )
    standing.note(review, act, by, **more)


def _short(text: str) -> str:
    return text.strip()[:LONGEST]

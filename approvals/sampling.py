"""Automatic effects that a person looks at afterwards: drawn, and answered once.

No effect waits for it and none is undone by it. It tells whether the rules let through alone what they should.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts import audit, ids, rights
from accounts.models import Role
from approvals import errors
from approvals.clock import db_now
from approvals.models import Sample
from outbox.append import append
from tools.reasons import Reason

LOOKERS = (Role.APPROVER.value, Role.ADMINISTRATOR.value)
MOST_SIGNS = 4000


@dataclass(frozen=True, slots=True)
class Lot:
    """An effect that was drawn, with who submitted its task, and why: a :class:`Sample.Reason`."""

    intent_id: uuid.UUID
    tenant_id: uuid.UUID
    submitter_id: uuid.UUID
    reason: str


def keep(lots: Iterable[Lot]) -> int:
    """Write down what was drawn; what was drawn before stays as it is. How many were given."""
    rows = [
        Sample(
            intent_id=lot.intent_id,
            tenant_id=lot.tenant_id,
            submitter_id=lot.submitter_id,
            reason=lot.reason,
        )
        for lot in lots
    ]
    Sample.everywhere.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def refusals(*, sample: Sample, user_id: uuid.UUID) -> list[Reason]:
    """Why this person may not answer; empty when they may. Four eyes: never who submitted the task."""
    found = rights.membership(user_id=user_id, tenant_id=sample.tenant_id)
    if found is None or not set(LOOKERS) & set(found.roles):
        return [Reason("role", gettext_noop("Only approvers and administrators look at what ran alone."))]
    if user_id == sample.submitter_id:
        return [
            Reason("four_eyes", gettext_noop("You submitted this task, so somebody else has to look at it."))
        ]
    return []


@transaction.atomic
def answer(*, sample_id: uuid.UUID, user_id: uuid.UUID, fits: bool, comment: str, channel: str) -> Sample:
    """Record whether an effect was as it should be. The first answer stands.

    Raises NotAllowed, BadAnswer when a reason is missing or too long, AlreadyLookedAt when somebody was faster.
    """
    sample: Sample = (
        Sample.everywhere.select_for_update(of=("self",))
        .select_related("answered_by", "intent__tool")
        .get(pk=sample_id)
    )
    if reasons := refusals(sample=sample, user_id=user_id):
        raise errors.NotAllowed(reasons)
    if sample.answered_at is not None:
        raise errors.AlreadyLookedAt(str(sample.answered_by))
    words = comment.strip()
    if not fits and not words:
        raise errors.BadAnswer("comment", _("Say what was not as it should be."))
    if len(words) > MOST_SIGNS:
        raise errors.BadAnswer("comment", _("At most %s characters.") % MOST_SIGNS)
    sample.answered_at, sample.answered_by_id = db_now(), user_id
    sample.fits, sample.comment = fits, words
    sample.save(update_fields=["answered_at", "answered_by", "fits", "comment"])
    _tell(sample, user_id, channel)
    return sample


def _tell(sample: Sample, user_id: uuid.UUID, channel: str) -> None:
    effect = sample.intent
    append(
        topic="sample.answered",
        key=f"sample:{sample.pk.hex}",
        tenant_id=sample.tenant_id,
        payload={
            "sample_id": sample.pk,
            "intent_id": effect.pk,
            "run_id": effect.run_id,
            "fits": sample.fits,
        },
    )
    audit.append(
        tenant_id=sample.tenant_id,
        act="sample.answered",
        subject=("sample", ids.public("sample", sample.pk)),
        payload={"tool": effect.tool.name, "fits": sample.fits, "comment": sample.comment},
        actor=user_id,
        channel=channel,
        run_id=effect.run_id,
    )

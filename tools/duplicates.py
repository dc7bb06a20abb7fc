"""Duplicates: an effect that happened twice is the one thing this product must not cause, so people can say that it did,
and what a second person confirms is counted (I of L20). Each verb owns its transaction."""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts import audit, rights
from accounts.models import Role
from tools.models import DuplicateReport, Intent

LONGEST = 2000
LONGEST_REASON = 500
LONGEST_REFERENCE = 200
#: What the rate is taken over.
DAYS = 30
PER = 10_000


class NotReported(Exception):
    """The report or the answer was not taken; ``code`` is stable, the text is for the person."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class Rate:
    """Confirmed duplicates among the effects that were sent in the last days, ``per_10_000`` of them."""

    confirmed: int
    effects: int

    @property
    def per_10_000(self) -> float:
        return PER * self.confirmed / self.effects if self.effects else 0.0


def report(
    *, tenant_id: uuid.UUID, intent_id: uuid.UUID, user_id: uuid.UUID, evidence: str, reference: str = ""
) -> DuplicateReport:
    """Anybody of the tenant may report, with evidence. While a report is open, it stands for all. Raises
    :class:`NotReported`."""
    seen = evidence.strip()
    if not seen or len(seen) > LONGEST:
        raise NotReported(
            "evidence", _("Say how you know, in at most %s characters. Nothing was recorded.") % LONGEST
        )
    intent = Intent.everywhere.filter(pk=intent_id, tenant_id=tenant_id, dispatch_id__isnull=False).first()
    if intent is None:
        raise NotReported("not_sent", _("There is no such effect that was sent. Nothing was recorded."))
    try:
        with transaction.atomic(durable=True):
            made: DuplicateReport = DuplicateReport.everywhere.create(
                tenant_id=tenant_id,
                intent=intent,
                reported_by_id=user_id,
                evidence=seen,
                reference=reference.strip()[:LONGEST_REFERENCE],
            )
            _audit(made, "duplicate.reported", intent, user_id)
    except IntegrityError:
        standing: DuplicateReport = DuplicateReport.everywhere.get(intent=intent, confirmed__isnull=True)
        return standing
    return made


def answer(
    *, tenant_id: uuid.UUID, report_id: uuid.UUID, user_id: uuid.UUID, confirmed: bool, reason: str
) -> None:
    """An approver or administrator other than the one who reported confirms or dismisses a report, once, and says why.
    Raises :class:`NotReported`."""
    why = reason.strip()
    if not why or len(why) > LONGEST_REASON:
        raise NotReported(
            "reason", _("Say why, in at most %s characters. Nothing was recorded.") % LONGEST_REASON
        )
    with transaction.atomic(durable=True):
        rows = DuplicateReport.everywhere.filter(pk=report_id, tenant_id=tenant_id)
        found = rows.select_related("intent").first()
        if found is None:
            raise NotReported("not_found", _("There is no such report. Nothing was recorded."))
        if found.reported_by_id == user_id:
            raise NotReported(
                "own_report", _("Another person must look at your report. Nothing was recorded.")
            )
        if not may_answer(tenant_id=tenant_id, user_id=user_id):
            raise NotReported(
                "not_allowed", _("Approvers and administrators answer reports. Nothing was recorded.")
            )
        won = rows.filter(confirmed__isnull=True).update(
            confirmed=confirmed, answered_by_id=user_id, answered_at=Now(), reason=why
        )
        if won != 1:
            raise NotReported("answered", _("This report was answered already. Nothing was recorded."))
        act = "duplicate.confirmed" if confirmed else "duplicate.dismissed"
        _audit(found, act, found.intent, user_id, why)


def may_answer(*, tenant_id: uuid.UUID, user_id: uuid.UUID) -> bool:
    """Approvers and administrators answer."""
    return any(
        rights.has_role(user_id=user_id, tenant_id=tenant_id, role=role)
        for role in (Role.APPROVER, Role.ADMINISTRATOR)
    )


def rate(*, tenant_id: uuid.UUID) -> Rate:
    """I per 10,000 effects of the last thirty days."""
    since = Now() - timedelta(days=DAYS)
    sent = Intent.everywhere.filter(
        tenant_id=tenant_id, created_at__gt=since, dispatch_id__isnull=False
    ).count()
    confirmed = DuplicateReport.everywhere.filter(
        tenant_id=tenant_id, confirmed=True, intent__created_at__gt=since
    )
    return Rate(confirmed.values("intent_id").distinct().count(), sent)


def _audit(report: DuplicateReport, act: str, intent: Intent, user_id: uuid.UUID, reason: str = "") -> None:
    audit.append(
        tenant_id=report.tenant_id,
        act=act,
        subject=("intent", intent.pk.hex),
        run_id=intent.run_id,
        actor=user_id,
        payload={
            "report": report.pk.hex,
            "evidence": report.evidence[:500],
            "reference": report.reference,
            "reason": reason,
        },
    )

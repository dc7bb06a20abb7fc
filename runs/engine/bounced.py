"""Bounced: a mail server reports about a letter. The report becomes evidence of its effect, once, and is told; it decides
nothing. A confirmed effect stays confirmed: the letter was handed over, and what became of it after that is for people.
"""

import uuid
from dataclasses import dataclass
from typing import Literal

from django.db import transaction

from accounts import audit
from accounts.failpoints import fp
from accounts.statements import run as select
from runs.engine.ending import lock_step
from runs.engine.record import settle_down
from runs.engine.workspace import locked_one
from runs.states import RUN_TERMINAL
from tools import bounces, intents
from tools.bounces import Report
from tools.models import Intent

#: No mail server tries longer, in days.
DAYS = 35


@dataclass(frozen=True, slots=True)
class Taken:
    """``recorded``: evidence now · ``repeated``: it was before · ``not_ours``: no letter that was sent here has this
    Message-ID. ``intent_id`` names the effect."""

    what: Literal["recorded", "repeated", "not_ours"]
    action: str
    recipient: str
    intent_id: uuid.UUID | None = None


def take(*, data: bytes, tenant_id: uuid.UUID | None = None, channel: str) -> list[Taken]:
    """Takes one message of RFC 3464; what became of each recipient in it. Without a tenant every tenant's letters are looked
    at. Owns its transactions. Raises :class:`tools.bounces.NoReport`."""
    return [_take(report, tenant_id, channel) for report in bounces.read(data)]


def _take(report: Report, tenant_id: uuid.UUID | None, channel: str) -> Taken:
    rows = select("tools", "mailed_intents", {"mark": report.mark, "tenant": tenant_id, "days": DAYS})
    if not rows:
        return Taken("not_ours", report.action, report.recipient)
    intent_id, owner, run_id, step_id = rows[0]
    evidence = {
        "kind": "bounce",
        "name": report.name,
        "action": report.action,
        "status": report.status,
        "recipient": report.recipient,
        "text": report.text,
        "channel": channel,
    }
    with transaction.atomic(durable=True):
        workspace, run = locked_one(run_id)
        step = lock_step(step_id)
        intent = Intent.everywhere.select_for_update(of=("self",)).get(pk=intent_id)
        if any(item.get("name") == report.name for item in intent.evidence if isinstance(item, dict)):
            return Taken("repeated", report.action, report.recipient, intent_id)
        intents.add_evidence(intent_id=intent_id, evidence=evidence)
        if run is not None and step is not None and run.status not in RUN_TERMINAL:
            told = {
                "key": step.key,
                "action": report.action,
                "text": f"{report.status} {report.text}".strip(),
            }
            run.event("effect.bounced", step_id=step_id, payload=told)
            settle_down(workspace)
        audit.append(
            tenant_id=owner,
            act="intent.bounced",
            subject=("intent", intent_id.hex),
            run_id=run_id,
            actor_kind="engine",
            channel=channel,
            payload=evidence,
        )
        fp("bounced.before_commit")
    return Taken("recorded", report.action, report.recipient, intent_id)

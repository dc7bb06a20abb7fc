"""Plain builders for the desk: a small house with its cast, and open questions in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from accounts.ids import new_id
from accounts.models import Membership, Role, Tenant, User
from approvals import grants
from approvals.decide import decide
from approvals.models import Decision, PendingAction
from approvals.open import open_approval, open_settle, open_takeover
from tests.tools import make as bench
from tools import intents, previews
from tools.models import Contract, EffectClass, Intent, Risk

ADDRESS = "legal@halden-freight.example"
LETTER: dict[str, Any] = {
    "to": ADDRESS,
    "subject": "Notice of non-renewal",
    "text": "Dear Sir or Madam,\n\nWe do not wish to renew the agreement.",
    "attachments": [
        {"name": "notice.pdf", "sha256": "ab" * 32, "size": 84_000, "media_type": "application/pdf"}
    ],
}
EVIDENCE = [{"file": "agreement.pdf", "text": "not less than ninety days", "page": 11, "start": 4021}]
POLICY = {"role": "approver", "quorum": 1, "not_submitter": True, "ttl_seconds": 3600}


@dataclass
class House:
    """A tenant with the small cast of fixed meanings and one tool that sends mail."""

    tenant: Tenant
    ada: User  # submitter
    ben: User  # approver
    mira: User  # second approver
    jonas: User  # administrator
    otto: User  # approver of another tenant
    contract: Contract


def house(**declared: Any) -> House:
    tenant, other = bench.tenant(), bench.tenant("aldergate")
    cast = {
        "ada": bench.person(tenant, Role.SUBMITTER, name="Ada Lindqvist"),
        "ben": bench.person(tenant, Role.APPROVER, name="Ben Okafor"),
        "mira": bench.person(tenant, Role.APPROVER, name="Mira Sandoval"),
        "jonas": bench.person(tenant, Role.ADMINISTRATOR, name="Jonas Weber"),
        "otto": bench.person(other, Role.APPROVER, Role.ADMINISTRATOR, name="Otto Fremd"),
    }
    mail = {"adapter": "smtp", "target": "", "effect_class": EffectClass.IRREVERSIBLE, "risk": Risk.HIGH}
    mail["isolation"] = Contract.Isolation.THREAD
    with transaction.atomic():
        return House(tenant=tenant, contract=bench.contract(tenant, **{**mail, **declared}), **cast)


def intent(of: House, **values: Any) -> Intent:
    given = {"arguments": LETTER, "target": ADDRESS, "authorised": False, "epoch": 1, **values}
    made: Intent = bench.intent(of.contract, **given)
    return made


def question(of: House, *, about: Intent | None = None, **values: Any) -> PendingAction:
    """An open question of kind *approve*."""
    asked = about or intent(of)
    given: dict[str, Any] = {
        "tenant_id": of.tenant.pk,
        "run_id": asked.run_id,
        "step_id": asked.step_id,
        "epoch": asked.epoch,
        "intent": asked,
        "contract": of.contract,
        "submitter_id": of.ada.pk,
        "agent": "contract-review",
        "sentence": f"Send “Notice of non-renewal” to {ADDRESS}",
        "target": ADDRESS,
        "risk": of.contract.risk,
        "irreversible": True,
        "preview": previews.render(contract=of.contract, arguments=asked.arguments, tenant=of.tenant),
        "rationale": "The price rises above the limit that was set.",
        "evidence": EVIDENCE,
        "policy": POLICY,
    }
    with transaction.atomic():
        return open_approval(**{**given, **values})


def settle(of: House, *, quorum: int = 1, **values: Any) -> PendingAction:
    """An open question of kind *settle* about a mail that may have been sent, which ``quorum`` people had allowed."""
    approved = question(of, policy={**POLICY, "quorum": quorum})
    for who in (of.ben, of.mira)[:quorum]:
        answer(approved, who, "approve")
    asked = Intent.everywhere.get(pk=approved.intent_id)
    with transaction.atomic():
        grants.consume(action_id=approved.pk)
        sent = intents.dispatch(
            intent=asked,
            sender_id=bench.sender(),
            dispatch_id=new_id(),
            fence=bench.fence(),
            deadline_seconds=60,
        )
        evidence = {"code": "connection_lost", "text": "The connection was lost before the server answered."}
        lost = intents.lose(intent_id=sent.pk, dispatch_id=sent.dispatch_id, evidence=evidence)
    given: dict[str, Any] = {
        "tenant_id": of.tenant.pk,
        "run_id": lost.run_id,
        "step_id": lost.step_id,
        "epoch": lost.epoch,
        "intent": lost,
        "submitter_id": of.ada.pk,
        "sentence": f"Did the mail to {ADDRESS} go out?",
        "facts": {"code": "connection_lost"},
    }
    with transaction.atomic():
        return open_settle(**{**given, **values})


def takeover(of: House, **values: Any) -> PendingAction:
    """An open question of kind *take over*."""
    given: dict[str, Any] = {
        "tenant_id": of.tenant.pk,
        "run_id": new_id(),
        "step_id": None,
        "epoch": 1,
        "submitter_id": of.ada.pk,
        "sentence": "The agent could not plan the next step.",
        "facts": {"code": "agent_raised", "detail": "KeyError: 'file'", "goal": "Review 5 contracts"},
    }
    with transaction.atomic():
        return open_takeover(**{**given, **values})


REASONS = {"reject": "Wrong year.", "not_happened": "Asked the receiver.", "nobody_knows": "Nobody answers."}


def answer(to: PendingAction, by: User, verdict: str, **values: Any) -> Decision:
    """One answer, with everything that the verdict needs unless told otherwise."""
    given: dict[str, Any] = {
        "digest": to.digest,
        "generation": to.generation,
        "channel": "web",
        "authenticated": "password",
        "fresh": True,
        "comment": REASONS.get(verdict, ""),
        "reference": "4KxR2p" if verdict == "happened" else "",
        "gesture": to.second_gesture if verdict == "approve" else "",
    }
    return decide(action_id=to.pk, user_id=by.pk, verdict=verdict, **{**given, **values})


def roles(of: House, person: User, *now: str) -> None:
    """Change what a person may do, at once."""
    Membership.everywhere.filter(tenant=of.tenant, user=person).update(roles=list(now))


def ends(of: PendingAction) -> datetime:
    """When its time runs out."""
    assert of.expires_at is not None
    return of.expires_at


def about(of: PendingAction) -> Intent:
    """Its intent, as it stands in the database."""
    found: Intent = Intent.everywhere.get(pk=of.intent_id)
    return found


def again(row: PendingAction) -> PendingAction:
    """The row as it stands in the database."""
    fresh: PendingAction = PendingAction.everywhere.get(pk=row.pk)
    return fresh

"""Ask a person whether an effect may happen. Joins a transaction that holds the run."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from accounts.models import Tenant
from approvals.decide import deciding
from approvals.models import PendingAction
from approvals.open import open_approval
from runs.engine.workspace import Locked
from runs.models import Step
from tools import previews
from tools.models import Contract, EffectClass, Intent, Risk


def ask_approval(
    run: Locked,
    *,
    step_id: uuid.UUID,
    title: str,
    intent: Intent,
    contract: Contract,
    policy: Mapping[str, Any],
    why: str = "",
    evidence: Sequence[Any] = (),
    input_digest: str = "",
    epoch: int = 1,
    edited: Mapping[str, str] | None = None,
) -> PendingAction:
    """Opens the question with what the receiver would see, and writes it into the history. With a question about the same
    intent before it, it is that one's successor."""
    tenant = Tenant.objects.get(pk=run.tenant_id)
    preview = previews.render(contract=contract, arguments=intent.arguments, tenant=tenant)
    sentence = str(preview.get("sentence") or title)
    before = PendingAction.everywhere.filter(intent=intent, kind=PendingAction.Kind.APPROVE, successor=None)
    predecessor = before.order_by("-generation").first()
    action = open_approval(
        tenant_id=run.tenant_id,
        run_id=run.id,
        step_id=step_id,
        epoch=intent.epoch,
        intent=intent,
        contract=contract,
        submitter_id=run.submitter_id,
        agent=run.agent,
        sentence=sentence,
        target=intent.target,
        risk=contract.risk,
        irreversible=contract.effect_class == EffectClass.IRREVERSIBLE,
        preview={**preview, "task": run.goal},
        rationale=why,
        evidence=list(evidence),
        policy=policy,
        second_gesture=intent.target if contract.risk == Risk.HIGH else "",
        predecessor=predecessor,
        sent_back=None if predecessor else _sent_back(run, intent),
        edited=edited,
    )
    run.event(
        "approval.asked",
        step_id=step_id,
        epoch=epoch,
        input_digest=input_digest,
        payload={"action": action.pk.hex, "sentence": sentence, "digest": action.digest},
    )
    return action


def _sent_back(run: Locked, intent: Intent) -> dict[str, str] | None:
    """The last proposal of this run to use the same tool, if an approver asked for changes to it: this one answers it."""
    asked = PendingAction.everywhere.filter(
        run_id=run.id, kind=PendingAction.Kind.APPROVE, intent__tool_id=intent.tool_id
    )
    last = asked.exclude(intent=intent).order_by("-opened_at", "-pk").first()
    if last is None or last.status != PendingAction.Status.CHANGES_REQUESTED:
        return None
    said = deciding(last)
    return {
        "action": last.pk.hex,
        "name": str(said.user) if said and said.user else "",
        "why": said.comment if said else "",
    }


def ask_about(
    run: Locked,
    step: Step,
    intent: Intent,
    contract: Contract,
    policy: Mapping[str, Any],
    *,
    why: str = "",
    evidence: Sequence[Any] = (),
    edited: Mapping[str, str] | None = None,
) -> PendingAction:
    """As :func:`ask_approval`, for a step that is in the table."""
    return ask_approval(
        run,
        step_id=step.pk,
        title=step.title or step.tool,
        intent=intent,
        contract=contract,
        policy=policy,
        why=why,
        evidence=evidence,
        input_digest=step.input_digest,
        epoch=step.epoch,
        edited=edited,
    )

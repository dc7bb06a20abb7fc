"""Ask again after a grant lapsed."""

import uuid
from collections.abc import Mapping
from typing import Any

from approvals.models import PendingAction
from approvals.open import open_approval
from tools.models import Contract, Intent


def reopen(
    *,
    action_id: uuid.UUID,
    intent: Intent,
    contract: Contract,
    epoch: int,
    preview: Mapping[str, Any],
    policy: Mapping[str, Any],
    sentence: str = "",
    target: str = "",
    second_gesture: str = "",
) -> PendingAction:
    """The next generation of a question whose grant was voided or used up, from the facts as they are now.

    The new question names the old one by digest, so its page shows what differs between the two. Joins the
    caller's transaction. ``sentence``, ``target`` and ``second_gesture`` are those of the preview and the intent
    when not given: what was asked before may name another target.
    """
    old = PendingAction.everywhere.get(pk=action_id)
    target = target or intent.target or old.target
    typed = old.second_gesture.replace(old.target, target) if old.target else old.second_gesture
    return open_approval(
        tenant_id=old.tenant_id,
        run_id=old.run_id,
        step_id=intent.step_id,
        epoch=epoch,
        intent=intent,
        contract=contract,
        submitter_id=old.submitter_id,
        agent=old.agent,
        sentence=sentence or str(preview.get("sentence") or old.sentence),
        target=target,
        risk=contract.risk,
        irreversible=old.irreversible,
        preview=preview,
        rationale=old.rationale,
        evidence=old.evidence,
        policy=policy,
        second_gesture=second_gesture or typed,
        predecessor=old,
    )

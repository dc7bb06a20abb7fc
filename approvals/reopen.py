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
    caller's transaction. ``sentence``, ``target`` and ``second_gesture`` stay as they were when not given.
    """
    old = PendingAction.everywhere.get(pk=action_id)
    return open_approval(
        tenant_id=old.tenant_id,
        run_id=old.run_id,
        step_id=intent.step_id,
        epoch=epoch,
        intent=intent,
        contract=contract,
        submitter_id=old.submitter_id,
        agent=old.agent,
        sentence=sentence or old.sentence,
        target=target or old.target,
        risk=contract.risk,
        irreversible=old.irreversible,
        preview=preview,
        rationale=old.rationale,
        evidence=old.evidence,
        policy=policy,
        second_gesture=second_gesture or old.second_gesture,
        predecessor=old,
    )

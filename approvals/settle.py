"""What a person's answer about an unknown outcome does to the intent. Joins the caller's transaction, which
has locked the action and the intent.
"""

from typing import Any

from accounts.arrows import RefusedTransition
from approvals.models import Decision, Verdict
from tools import intents
from tools.models import Intent


def record(*, intent: Intent, decision: Decision) -> None:
    """Write the answer into the intent.

    *It happened* confirms it with the reference. *Nobody can know* abandons it. *It did not happen* is only
    recorded: the intent stays UNKNOWN, because a sender that was merely paused may still send; the engine
    lets it go on when ``tools.workers.may_go_on`` says so (architecture.md section 5, the trap).

    Raises RefusedTransition when the outcome became known meanwhile.
    """
    if intent.status != Intent.Status.UNKNOWN:
        raise RefusedTransition("Intent", "settle", intent.status)
    evidence = _evidence(decision)
    if decision.verdict == Verdict.HAPPENED:
        intents.confirm(
            intent_id=intent.pk,
            answer={"settled": decision.verdict, "reference": decision.reference},
            reference=decision.reference,
            evidence=evidence,
            settled=decision.verdict,
        )
    elif decision.verdict == Verdict.NOBODY_KNOWS:
        intents.abandon(intent_id=intent.pk, evidence=evidence, settled=decision.verdict)
    else:
        intents.note_settled(intent_id=intent.pk, evidence=evidence, settled=decision.verdict)


def _evidence(decision: Decision) -> dict[str, Any]:
    return {
        "kind": "person",
        "decision": decision.pk.hex,
        "verdict": decision.verdict,
        "reference": decision.reference,
        "note": decision.comment,
        "by": decision.user_id.hex if decision.user_id else "",
        "attached": decision.evidence,
    }

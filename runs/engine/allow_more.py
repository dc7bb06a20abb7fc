"""Allow more: what a person who continued a run added to the limit that had stopped it (S9). Joins a transaction that holds
the run."""

from datetime import timedelta

from accounts import audit
from approvals.models import Decision
from runs import budget
from runs.engine.workspace import Locked


def allow_more(run: Locked, decision: Decision) -> None:
    """Raises one budget, or moves the deadline so many seconds beyond now. Written into history and audit."""
    said = decision.edited or {}
    name, more = str(said.get("limit") or ""), budget.amount(said.get("more"))
    if not name or not more:
        return
    if name == "deadline":
        before = run.deadline.isoformat() if run.deadline else ""
        run.deadline = run.at + timedelta(seconds=float(more))
        after = run.deadline.isoformat()
    else:
        before = budget.text(budget.used(run.budget, name))
        run.budget[name] = budget.add(run.budget, name, more)
        after = budget.text(budget.used(run.budget, name))
    run.budget_changed = True
    actor = f"user:{decision.user_id.hex}" if decision.user_id else "engine"
    payload = {"limit": name, "more": budget.text(more), "before": before, "after": after}
    run.event("run.limit_raised", actor=actor, payload=payload)
    audit.append(
        tenant_id=run.tenant_id,
        act="run.limit_raised",
        subject=("run", run.id.hex),
        run_id=run.id,
        actor=decision.user_id,
        channel=decision.channel,
        payload={**payload, "decision": decision.pk.hex},
    )

"""Dependencies: what may start now, and what never can. Joins a transaction that holds the runs."""

from accounts.statements import statement
from runs.engine.workspace import Workspace, cursor


def release_held(workspace: Workspace) -> None:
    """Steps whose dependencies are met may start; those that never can are cancelled and the agent is told. Joins."""
    waiting = [run.id for run in workspace.runs.values() if run.has_held]
    if not waiting:
        return
    freed = cursor()
    freed.execute(statement("runs", "release_held"), {"runs": waiting})
    for _, run_id in freed.fetchall():
        workspace.runs[run_id].moving = True
    unmet = cursor()
    unmet.execute(statement("runs", "unmet_steps"), {"runs": waiting})
    for step_id, run_id, key in unmet.fetchall():
        run = workspace.runs[run_id]
        run.steps_ended += 1
        ended = cursor()
        ended.execute(statement("runs", "cancel_step"), {"step": step_id, "ended_seq": run.steps_ended})
        run.event("step.cancelled", step_id=step_id, payload={"key": key, "code": "dependency_not_met"})
        run.plan_again()

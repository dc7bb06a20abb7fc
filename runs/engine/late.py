"""Late: a message for a run that has ended changes nothing; it is recorded, and counted (S2)."""

import uuid

from accounts import audit
from runs import tallies
from runs.engine.workspace import Locked

#: What is counted: one entry of the audit chain for each late message.
CONFLICT = "run.terminal_conflict"


def conflict(
    run: Locked,
    what: str,
    *,
    subject: tuple[str, str],
    actor: uuid.UUID | None = None,
    channel: str = "system",
) -> None:
    """``what`` came after the end: a cancel, a decision, a signal. Joins the caller's transaction; call it last."""
    audit.append(
        tenant_id=run.tenant_id,
        act=CONFLICT,
        subject=subject,
        run_id=run.id,
        actor=actor,
        actor_kind="person" if actor else "engine",
        channel=channel,
        payload={"what": what, "status": run.status},
    )
    tallies.add("terminal_conflicts", what.split(maxsplit=1)[0])

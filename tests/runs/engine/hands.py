"""A node without processes: claims, runs steps by a given function, plans with the real agent, commits. For engine tests
that stage one thing at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from accounts.ids import new_id
from accounts.models import Tenant, User
from runs.engine.begin import begin
from runs.engine.claim import claim
from runs.engine.commit import commit
from runs.engine.submit import submit
from runs.engine.types import Claimed, Committed, Go, Outcome, Plan, Stop
from runs.leases import Terms
from runs.models import Run
from runs.node import planning
from runs.node.work import Report, Work, item
from tools.models import WorkerProcess

ROOM = {"io": 100, "thread": 100, "cpu": 10}


def worker() -> WorkerProcess:
    return WorkerProcess.objects.create(kind="main", node="test", host="here", boot_id="boot", pid=1)


def counter_run(tenant: Tenant, user: User, steps: int = 3, **given: Any) -> Run:
    run, _ = submit(
        tenant_id=tenant.pk,
        submitter_id=user.pk,
        agent="drill-counter",
        goal="Count",
        input={"steps": steps, **given},
        submit_key=new_id().hex,
    )
    return run


def script_run(tenant: Tenant, user: User, *rounds: list[dict[str, Any]]) -> Run:
    """A run of the agent that follows a script."""
    run, _ = submit(
        tenant_id=tenant.pk,
        submitter_id=user.pk,
        agent="drill-script",
        goal="Follow the script",
        input={"rounds": list(rounds)},
        submit_key=new_id().hex,
    )
    return run


def take(by: WorkerProcess) -> list[Claimed]:
    return claim(worker_id=by.pk, room=ROOM, sent=0.0)


def planned(claimed: Claimed, *, status: str = "SUCCEEDED", output: Any = None, code: str = "") -> Plan:
    """What the agent says after this step ended so: as a child plans, from what the child is given."""
    work = sent_down(claimed)
    ending = "succeeded" if status == "SUCCEEDED" else "failed"
    report = Report(work.step, work.fence, ending, output, code)
    said = planning.plan(work, None if claimed.kind == "plan" else report)
    assert said is not None
    return Plan(**said)


def sent_down(claimed: Claimed) -> Work:
    """A claimed step as it arrives at a child."""
    return Work(*orjson.loads(orjson.dumps(item(claimed, terms=Terms(lease=10, tick=1)))))


def done(claimed: Claimed, output: Any = None) -> Outcome:
    plan = planned(claimed, output=output)
    return Outcome(claimed, "succeeded", None if claimed.kind == "plan" else output, plan=plan)


def asked(by: WorkerProcess, claimed: Claimed) -> Go | Stop:
    """A child asks whether it may send."""
    return begin(claimed=claimed, worker_id=by.pk, sender=new_id(), pid=77)


def sent(by: WorkerProcess, claimed: Claimed, effects: list[str] | None = None) -> Outcome:
    """A child was told to send, and has: the key is added to ``effects``."""
    go = asked(by, claimed)
    assert isinstance(go, Go), go
    if effects is not None:
        effects.append(claimed.key)
    said = {"said": claimed.key}
    return Outcome(
        claimed,
        "succeeded",
        said,
        plan=None if claimed.kind == "undo" else planned(claimed, output=said),
        dispatch_id=go.dispatch_id,
        reference="far",
    )


def put(by: WorkerProcess, *outcomes: Outcome, room: dict[str, int] | None = None) -> Committed:
    return commit(worker_id=by.pk, outcomes=outcomes, room=room or {}, sent=0.0)


def run_all(by: WorkerProcess, act: Callable[[Claimed], Outcome] = done, *, rounds: int = 100) -> None:
    """Claims and commits until nothing is claimable."""
    for _ in range(rounds):
        claimed = take(by)
        if not claimed:
            return
        put(by, *[act(one) for one in claimed])
    raise AssertionError(f"still busy after {rounds} rounds")

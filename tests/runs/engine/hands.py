"""A node without processes: claims, runs steps by a given function, plans with the real agent, commits. For engine tests
that stage one thing at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from accounts.ids import new_id
from accounts.models import Tenant, User
from runs.agents import registry
from runs.agents.base import Call, Context, StepView
from runs.engine.claim import claim
from runs.engine.commit import commit
from runs.engine.submit import submit
from runs.engine.types import Claimed, Committed, Outcome, Plan
from runs.models import Run
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


def take(by: WorkerProcess) -> list[Claimed]:
    return claim(worker_id=by.pk, room=ROOM, sent=0.0)


def planned(claimed: Claimed, *, status: str = "SUCCEEDED", output: Any = None, code: str = "") -> Plan:
    """What the agent says after this step ended so."""
    agent = registry.get(claimed.agent, claimed.agent_version)
    data = orjson.loads(claimed.context)
    recent = [StepView(**view) for view in data["recent"]]
    ended = data["ended"]
    if claimed.kind != "plan":
        recent.append(StepView(claimed.key, claimed.kind, claimed.tool, status, output, code))
        ended += 1
    context = Context(
        data["goal"],
        data["input"],
        data["summary"],
        recent,
        [key for key in data["live"] if key != claimed.key],
        ended,
        data["today"],
    )
    directives = [_tagged(directive) for directive in agent.next(context)]
    return Plan(claimed.version, directives)


def _tagged(directive: Any) -> dict[str, Any]:
    values = {name: getattr(directive, name) for name in directive.__dataclass_fields__}
    word = "call" if isinstance(directive, Call) else type(directive).__name__.lower()
    return {"do": word, **values}


def done(claimed: Claimed, output: Any = None) -> Outcome:
    plan = planned(claimed, output=output)
    return Outcome(claimed, "succeeded", None if claimed.kind == "plan" else output, plan=plan)


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

"""Two nodes whose children send, and a clock that is moved. Every verb says first what it is about to do (from the main
thread), then does it (from any thread)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.db import transaction

from accounts.ids import new_id
from accounts.models import Role, Tenant, User
from approvals.models import PendingAction
from runs.engine.begin import begin
from runs.engine.expire import expire_due
from runs.engine.reclaim import reclaim, release_gone
from runs.engine.renew import renew
from runs.engine.resume import resume_decided
from runs.engine.submit import submit
from runs.engine.types import Claimed, Ending, Go, Outcome, Plan, Stop
from runs.engine.unblock import unblock
from runs.models import Run, Step
from tests.crashes.ledger import Ledger
from tests.runs.engine import hands
from tests.tools import make
from tools import samples, workers
from tools.models import WorkerProcess

Act = Callable[[], Any]
FINAL, PLAIN, KEYED, NOOP = "drill.effect_final", "drill.effect", "drill.effect_keyed", "drill.noop"
#: The two steps of a run: they may start at the same time, and the run ends when both have.
PAIRS = ((FINAL, FINAL), (FINAL, PLAIN), (KEYED, FINAL), (PLAIN, NOOP), (KEYED, KEYED), (FINAL, NOOP))
#: How a job ends that begin refused, as `runs.node.execute` reports it.
STOPPED: dict[str, Ending] = {"answered": "succeeded", "unknown": "unknown", "waiting": "waiting"}
PAST_LEASE = """
    UPDATE runs_step SET lease_until = now() - interval '1 s' WHERE id = %s AND status = 'RUNNING' AND fence = %s"""


@dataclass(eq=False)
class Job:
    """A step in the hands of a node, and how far its child came. A job may rest here for ever: then its child is paused."""

    node: WorkerProcess
    claimed: Claimed
    child: uuid.UUID = field(default_factory=new_id)
    go: Go | None = None
    stop: Stop | None = None
    sent: bool = False
    dead: bool = False


@dataclass
class Cast:
    """What all stories share: a tenant, its people and its contracts."""

    tenant: Tenant
    ada: User
    ben: User
    mira: User


def cast() -> Cast:
    tenant = make.tenant()
    ben, mira = (make.person(tenant, Role.APPROVER, name=name) for name in ("Ben", "Mira"))
    ada = make.person(tenant, Role.SUBMITTER, Role.APPROVER, name="Ada")
    samples.seed(tenant)
    return Cast(tenant, ada, ben, mira)


class Nodes:
    """One story, seen from the workers. A ledger counts what was sent."""

    def __init__(self, cast: Cast, database: psycopg.Connection[Any]) -> None:
        self.cast, self.database = cast, database
        self.nodes = [hands.worker(), hands.worker()]
        self.jobs: list[Job] = []
        self.runs: list[tuple[uuid.UUID, str, tuple[str, str]]] = []
        self.ledger = Ledger()
        self.seen: list[PendingAction] = []
        self.spent: list[tuple[WorkerProcess, Outcome]] = []

    # --- the work of nodes

    def submit(self, pick: int) -> Act:
        """A new run; with two there already, the first request once more."""
        if len(self.runs) >= 2:
            run, key, pair = self.runs[pick % 2]

            def again() -> None:
                assert self._submitted(key, pair) == run

            return again
        key, pair = new_id().hex, PAIRS[pick % len(PAIRS)]

        def first() -> None:
            self.runs.append((self._submitted(key, pair), key, pair))
            self._plan(self.nodes[0])

        return first

    def _submitted(self, key: str, pair: tuple[str, str]) -> uuid.UUID:
        run, _ = submit(
            tenant_id=self.cast.tenant.pk,
            submitter_id=self.cast.ada.pk,
            agent="drill-counter",
            goal="A story",
            input={"steps": 2, "arguments": {"pair": list(pair)}},
            submit_key=key,
        )
        found: uuid.UUID = run.pk
        return found

    def _plan(self, node: WorkerProcess) -> None:
        """Claims what there is, plans what is to be planned, keeps the rest as jobs."""
        for _ in range(6):
            claimed = hands.take(node)
            plans = [one for one in claimed if one.kind == "plan"]
            self.jobs += [Job(node, one) for one in claimed if one.kind != "plan"]
            if not plans:
                return
            hands.put(node, *[self._planned(one) for one in plans])

    def _planned(self, claimed: Claimed) -> Outcome:
        """Names both steps from the top each time, as an agent that remembers nothing; ends when both have ended."""
        pair = Run.everywhere.values_list("input", flat=True).get(pk=claimed.run_id)["arguments"]["pair"]
        says: list[dict[str, Any]] = [
            {"do": "call", "key": key, "tool": tool, "arguments": {}}
            for key, tool in zip("ab", pair, strict=True)
        ]
        ended = Step.everywhere.filter(run_id=claimed.run_id, kind="call", finished_at__isnull=False)
        if ended.count() == 2:
            says.append({"do": "finish", "result": {}})
        return Outcome(claimed, "succeeded", None, plan=Plan(claimed.version, says))

    def claim(self, pick: int) -> Act:
        node = self.nodes[pick % 2]
        return lambda: self._plan(node)

    def hold_plan(self, pick: int) -> Act:
        """Claims without planning: a planner may be slow, too."""
        node = self.nodes[pick % 2]

        def take() -> None:
            self.jobs += [Job(node, one) for one in hands.take(node)]

        return take

    def _job(self, pick: int, fits: Callable[[Job], bool]) -> Job | None:
        found = [job for job in self.jobs if fits(job)]
        return found[pick % len(found)] if found else None

    def begin(self, pick: int) -> Act | None:
        job = self._job(pick, lambda job: job.claimed.intent_id is not None and not job.sent and not job.dead)
        return (lambda: self._begin(job)) if job else None

    def _begin(self, job: Job) -> None:
        reply = begin(claimed=job.claimed, worker_id=job.node.pk, sender=job.child, pid=77)
        job.go, job.stop = (reply, None) if isinstance(reply, Go) else (None, reply)

    def send(self, pick: int) -> Act | None:
        """A child that was told to go sends, whatever happened since: it may have been paused."""
        job = self._job(pick, lambda job: job.go is not None and not job.sent and not job.dead)
        return (lambda: self._send(job)) if job else None

    def _send(self, job: Job) -> None:
        assert job.go is not None
        if not job.sent and not job.dead:
            job.sent = True
            self.ledger.add(job.go.key, keyed=job.claimed.tool == KEYED)

    def finish(self, pick: int) -> Act | None:
        """A node commits what came of a job."""
        job = self._job(pick // 3, lambda job: True)
        if job is None:
            return None

        def report() -> None:
            # Only now is it known what came of it: something else may have run meanwhile.
            if job in self.jobs:
                self.jobs.remove(job)
                self.spent.append((job.node, self._outcome(job, pick)))
                hands.put(*self.spent[-1])

        return report

    def _outcome(self, job: Job, pick: int) -> Outcome:
        claimed = job.claimed
        if claimed.kind == "plan":
            return self._planned(claimed)
        told = job.go.dispatch_id if job.go else None
        if job.dead:
            return Outcome(claimed, "lost", error_code="worker_lost", dispatch_id=told)
        if job.go and job.sent:
            if pick % 3 == 0:
                return Outcome(claimed, "unknown", error_code="reply_lost", dispatch_id=told)
            return Outcome(claimed, "succeeded", {"ok": True}, reference="ref", dispatch_id=told)
        if job.go:
            code = ("refused", "not_sent", "too_late")[pick % 3]
            return Outcome(claimed, "failed", error_code=code, dispatch_id=told)
        if job.stop:
            return Outcome(claimed, STOPPED.get(job.stop.why, "lost"), job.stop.answer)
        if claimed.intent_id is None:
            return Outcome(claimed, "succeeded", {"ok": True})
        return Outcome(claimed, "drained" if pick % 3 else "lost")

    def repeat(self, pick: int) -> Act | None:
        """The same outcome once more: its COMMIT was answered with an error, or it was delayed."""
        if not self.spent:
            return None
        node, outcome = self.spent[pick % len(self.spent)]
        return lambda: hands.put(node, outcome)

    # --- deaths and clocks

    def kill_child(self, pick: int) -> Act | None:
        job = self._job(pick, lambda job: not job.dead)
        if job is None:
            return None

        def die() -> None:
            job.dead = True
            gone(job.child, "supervisor")

        return die

    def kill_node(self, pick: int) -> Act:
        """It and its children are dead, and the lock that they held proves it. Another one starts."""
        old = self.nodes[pick % 2]

        def die() -> None:
            for job in self.jobs:
                job.dead = job.dead or job.node.pk == old.pk
            self.jobs = [job for job in self.jobs if job.node.pk != old.pk]
            gone(old.pk, "lock")
            self.nodes[pick % 2] = hands.worker()

        return die

    def let_lease_end(self, pick: int) -> Act | None:
        """Time passes for one lease, and mostly a sweep comes by."""
        job = self._job(pick, lambda job: True)
        if job is None:
            return None

        def pass_by() -> None:
            self.database.execute(PAST_LEASE, [job.claimed.step_id, job.claimed.fence])
            if pick % 3:
                reclaim()

        return pass_by

    def renew(self, pick: int) -> Act | None:
        """Only what is still held is prolonged."""
        node = self.nodes[pick % 2]
        leases = [(job.claimed.step_id, job.claimed.fence) for job in self.jobs if job.node.pk == node.pk]

        def prolong() -> None:
            with psycopg.connect(
                self.database.info.dsn, password=self.database.info.password, autocommit=True
            ) as own:
                kept = renew(own, worker_id=node.pk, leases=leases, seconds=30)
            assert kept <= {step for step, _ in leases}

        return prolong if leases else None

    def sweep(self, pick: int) -> Act:
        sweeps: tuple[Act, ...] = (reclaim, release_gone, resume_decided, expire_due, unblock)
        return sweeps[pick % len(sweeps)]


def gone(worker: uuid.UUID, how: str) -> None:
    with transaction.atomic():
        workers.gone(worker_id=worker, how=how)

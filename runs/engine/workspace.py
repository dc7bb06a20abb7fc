"""Runs under lock, and what one transaction will write of them. Every verb that moves a run goes through here, so that
the history, the version and the state are written together or not at all.

A :class:`Workspace` joins the caller's transaction.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import orjson
import psycopg
from django.conf import settings
from django.db import connection

from accounts.arrows import RefusedTransition, arrows
from accounts.canonical import digest
from accounts.ids import new_id
from accounts.statements import statement
from outbox.append import Fact, append_many
from runs import budget, timeline
from runs.engine import checkpoints
from runs.models import Run
from runs.states import RUN_PLANNABLE, RUN_TERMINAL
from tools import batches, fences
from tools.models import Intent
from tools.selectors import Reading

#: Of a step without arguments; stored as nothing.
EMPTY_DIGEST = digest({})
_MICROSECOND = timedelta(microseconds=1)


def document(rows: Any) -> str:
    """One JSON document for a statement that unfolds it with ``jsonb_to_recordset``."""
    return orjson.dumps(rows).decode()


def cursor() -> psycopg.Cursor[Any]:
    """A plain psycopg cursor on Django's own connection, inside its transaction: less overhead than Django's, and it
    works in a pipeline. Note that it returns jsonb as text."""
    connection.ensure_connection()
    return psycopg.Cursor(connection.connection)


@dataclass(slots=True)
class NewStep:
    """A step to insert. ``needs`` maps keys of other steps to the rule of the dependency; ``wait`` are the seconds until the
    deadline of a step that waits for something outside."""

    id: uuid.UUID
    key: str
    kind: str
    tool: str = ""
    title: str = ""
    contract: uuid.UUID | None = None
    pool: str = "io"
    status: str = "PENDING"
    held: bool = False
    timeout: int = 60
    input: Any = field(default_factory=dict)
    input_digest: str = ""
    intent: uuid.UUID | None = None
    intent_key: str = ""
    waiting_on: str = ""
    error_code: str = ""
    error_text: str = ""
    ended_seq: int | None = None
    needs: dict[str, str] = field(default_factory=dict)
    output: Any = None
    wait: int | None = None


@dataclass(slots=True)
class Locked:
    """One run under lock: what was read, and what will be written. ``failure`` while it has not ended: a person
    ended it, and what became of an effect must still be settled. ``stopped``: somebody stopped it or its tenant.
    ``failures``: executions that failed or were lost.
    ``together``: it is one of many, and what fails is done again alone; ``proposals`` and ``confirmed`` are intents to
    insert, and effects that happened."""

    id: uuid.UUID
    tenant_id: uuid.UUID
    status: str
    version: int
    epoch: int
    head: timeline.Head
    steps_ended: int
    summarised: int
    agent: str
    agent_version: str
    lineage: uuid.UUID
    submitter_id: uuid.UUID
    goal: str
    contracts: dict[str, str]
    budget: dict[str, Any]
    spent: dict[str, Any]
    waiting_on: str
    at: datetime
    has_held: bool
    takeover: uuid.UUID | None
    last_event_at: datetime
    deadline: datetime | None
    restored: int = 0
    stopped: bool = False
    stopped_tools: frozenset[str] = frozenset()
    was: str = ""
    ended_before: int = 0
    lines: list[timeline.Line] = field(default_factory=list)
    steps: list[NewStep] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    summary: Any = None
    phase: str | None = None
    result: Any = None
    failure: Any = None
    checkpoint: bool = False
    needs_plan: bool = False
    moving: bool = False
    failures: int = 0
    taken_over: bool = False
    budget_changed: bool = False
    together: bool = False
    reading: Reading = field(default_factory=Reading)
    proposals: list[Intent] = field(default_factory=list)
    confirmed: list[dict[str, Any]] = field(default_factory=list)

    def event(self, type: str, **fields: Any) -> None:
        """One more line of history."""
        self.lines.append(timeline.Line(type, **fields))

    def move(self, transition: str) -> None:
        """A state arrow of the run. Raises :class:`RefusedTransition`."""
        try:
            self.status = arrows(Run)[transition, self.status]
        except KeyError:
            raise RefusedTransition("Run", transition, self.status) from None

    @property
    def plannable(self) -> bool:
        """Whether it takes new work."""
        return self.status in RUN_PLANNABLE and self.failure is None

    def lives_for(self, kind: str) -> bool:
        """Whether a step of this kind may still start: any while it takes new work, while it undoes those that undo."""
        return self.status == "COMPENSATING" if kind == "undo" else self.plannable

    @property
    def winds_up(self) -> bool:
        """Whether it is on the way to its end, where effects are undone one by one."""
        return self.failure is not None or self.status in ("CANCEL_REQUESTED", "COMPENSATING")

    @property
    def takes_work(self) -> bool:
        """Whether something new of it may start: not while it ends, and not while a person has to take it over."""
        return self.plannable and self.takeover is None

    @property
    def wall_seconds(self) -> Decimal:
        """The working time up to this lock: what was booked, and what has passed since if it was RUNNING."""
        booked = budget.used(self.spent, "wall_seconds")
        if self.was != "RUNNING":
            return booked
        passed = max(timedelta(), self.at - self.last_event_at)
        return booked + Decimal(passed // _MICROSECOND) / 1_000_000

    def spend(self, **amounts: int | Decimal) -> None:
        for name, more in amounts.items():
            if more:
                self.spent[name] = budget.add(self.spent, name, Decimal(more))

    def plan_again(self) -> None:
        """Ask the agent against the version that this transaction makes, unless the run takes no new work."""
        if not self.takes_work:
            return
        key = f"plan/{self.version + 1}"
        if not any(step.key == key for step in self.steps):
            self.steps.append(NewStep(new_id(), key, "plan", timeout=settings.COUNTERSIGN.plan_seconds))
        self.moving = True


class Workspace:
    """The runs that one transaction moves."""

    def __init__(
        self, run_ids: Iterable[uuid.UUID], *, worker_id: uuid.UUID | None = None, together: bool = False
    ) -> None:
        """Locks the runs, in id order. Runs that do not exist are simply not in :attr:`runs`."""
        self.worker_id, self.together, self.reading = worker_id, together, Reading()
        self.runs: dict[uuid.UUID, Locked] = {}
        self._inserted: psycopg.Cursor[Any] | None = None
        self._lock = cursor()
        self._lock.execute(statement("runs", "lock_runs"), {"runs": sorted(set(run_ids))})

    def read(self) -> "Workspace":
        """Fetches what the lock returned. Apart from the constructor, so that further statements can ride along in a
        pipeline."""
        for row in self._lock.fetchall():
            run = Locked(
                id=row[0],
                tenant_id=row[1],
                status=row[2],
                version=row[3],
                epoch=row[4],
                head=timeline.Head(row[1], row[0], row[5], bytes(row[6])),
                steps_ended=row[7],
                summarised=row[8],
                agent=row[9],
                agent_version=row[10],
                lineage=row[11],
                submitter_id=row[12],
                goal=row[13],
                contracts=orjson.loads(row[14]),
                budget=orjson.loads(row[15]),
                spent=orjson.loads(row[16]),
                waiting_on=row[17],
                at=row[18],
                has_held=row[19],
                takeover=row[20],
                last_event_at=row[21],
                deadline=row[22],
                failure=orjson.loads(row[23]) if row[23] else None,
                restored=row[24],
                stopped=row[25],
                stopped_tools=frozenset(row[26]),
                together=self.together,
                reading=self.reading,
            )
            run.was, run.ended_before = run.status, run.steps_ended
            self.runs[run.id] = run
        return self

    def insert_steps(self, *, lease: float = 0.0) -> None:
        """Inserts the new steps of all runs, the dependencies between them, and the intents of their effects."""
        rows = [_step_row(run, step) for run in self.runs.values() for step in run.steps]
        if not rows:
            return
        if proposals := [intent for run in self.runs.values() for intent in run.proposals]:
            batches.insert(cursor(), proposals)
        self._inserted = cursor()
        self._inserted.execute(
            statement("runs", "insert_steps"),
            {"steps": document(rows), "worker": self.worker_id, "lease": lease},
        )
        wants = [
            {"step": step.id, "run": run.id, "key": key, "rule": rule}
            for run in self.runs.values()
            for step in run.steps
            for key, rule in step.needs.items()
        ]
        if wants:
            cursor().execute(statement("runs", "insert_dependencies"), {"wants": document(wants)})

    def fences(self) -> dict[uuid.UUID, int]:
        """The fence tokens of the inserted steps. Read them last: until then nobody waits for an answer."""
        return dict(self._inserted.fetchall()) if self._inserted is not None else {}

    def write(self) -> None:
        """Writes history, heads, checkpoints and messages of every run that changed. The database raises when a run had
        changed under its lock, so that nothing needs to be read before COMMIT."""
        changed = [run for run in self.runs.values() if run.lines or run.status != run.was or run.steps]
        if not changed:
            return
        for run in changed:
            run.spent["wall_seconds"] = budget.text(run.wall_seconds)
            _announce(run)
        events = [timeline.link(run.head, line, run.at) for run in changed for line in run.lines]
        cursor().execute(
            statement("runs", "update_runs"),
            {"runs": document([_head_row(run) for run in changed]), "ids": [run.id for run in changed]},
        )
        if events:
            cursor().execute(statement("runs", "insert_events"), {"events": document(events)})
        checkpoints.save(cursor(), [run for run in changed if checkpoints.due(run)])
        if confirmed := [row for run in changed for row in run.confirmed]:
            batches.confirm(cursor(), confirmed)
        if ordered := [row["id"] for row in confirmed if row["ordered"]]:
            fences.left(intents=ordered)
        self._charge(changed)
        facts = [fact for run in changed for fact in run.facts]
        if facts:
            append_many(facts)

    @staticmethod
    def _charge(runs: Sequence[Locked]) -> None:
        """Failures count against the tenant's share for a while (L18)."""
        failures = Counter[uuid.UUID]()
        for run in runs:
            failures[run.tenant_id] += run.failures
        debts = [{"tenant": tenant, "failures": count} for tenant, count in failures.items() if count]
        if debts:
            half_life = settings.COUNTERSIGN.debt_half_life_seconds
            cursor().execute(
                statement("runs", "add_debt"), {"debts": document(debts), "half_life": half_life}
            )


def _announce(run: Locked) -> None:
    """Messages that follow from a change of state."""
    if run.status == run.was:
        return
    base: dict[str, Any] = {"run_id": run.id.hex, "status": run.status}
    if run.restored:
        # Its history was set back: whoever follows it must not take this for something heard before.
        base["generation"] = run.restored
    if run.status in RUN_TERMINAL:
        reason = (run.failure or {}).get("text", "") or (run.result or {}).get("note", "")
        run.facts.append(
            Fact(
                topic="run.finished",
                key=run.id.hex,
                tenant_id=run.tenant_id,
                payload={**base, "reason": reason},
            )
        )
    elif run.status in ("WAITING_APPROVAL", "WAITING_EXTERNAL", "PAUSED"):
        run.checkpoint = True
        run.facts.append(Fact(topic="run.waiting", key=run.id.hex, tenant_id=run.tenant_id, payload=base))


def _step_row(run: Locked, step: NewStep) -> dict[str, Any]:
    return {
        "id": step.id,
        "run": run.id,
        "tenant": run.tenant_id,
        "key": step.key,
        "seq": run.head.sequence + len(run.lines) + run.steps.index(step) + 1,
        "kind": step.kind,
        "title": step.title,
        "tool": step.tool,
        "contract": step.contract,
        "pool": step.pool,
        "status": step.status,
        "held": step.held,
        "timeout": step.timeout,
        "input": step.input,
        "input_digest": "" if step.input_digest == EMPTY_DIGEST else step.input_digest,
        "error_code": step.error_code,
        "error_text": step.error_text,
        "intent": step.intent,
        "waiting_on": step.waiting_on,
        "ended_seq": step.ended_seq,
        "output": step.output,
        "wait": step.wait,
    }


def _head_row(run: Locked) -> dict[str, Any]:
    return {
        "id": run.id,
        "version": run.version,
        "status": run.status,
        "event_seq": run.head.sequence,
        "event_hash": run.head.hash.hex(),
        "steps_ended": run.steps_ended,
        "summarised": run.summarised,
        "spent": run.spent,
        "phase": run.phase,
        "waiting_on": run.waiting_on[:200],
        "result": run.result,
        "failure": run.failure,
        "epoch": run.epoch,
        "restored": run.restored,
        "at": run.at,
        "takeover": run.takeover,
        "budget": run.budget if run.budget_changed else None,
        "deadline": run.deadline if run.budget_changed else None,
    }


def locked_one(run_id: uuid.UUID) -> tuple[Workspace, Locked | None]:
    """A workspace with one run. Joins the caller's transaction."""
    workspace = Workspace([run_id]).read()
    return workspace, workspace.runs.get(run_id)


def live_steps(run_ids: Sequence[uuid.UUID]) -> list[tuple[Any, ...]]:
    """(run, id, key, kind, status, held, title, waiting_on) of every live step. Joins the caller's transaction."""
    found = cursor()
    found.execute(statement("runs", "live_steps"), {"runs": list(run_ids)})
    return found.fetchall()

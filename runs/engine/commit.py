"""Commit: record outcomes under their fence tokens, many at a time, and plan what comes next (L1, section 4).

Lock order: runs in id order, then steps, then intents. Of the steps with an intent, those whose effect happened under the
current dispatch are recorded here too; every other outcome of theirs, and one that came too late, goes through
:mod:`runs.engine.record`, one transaction each, because the intent's truth is recorded even when the lease is lost.
"""

import contextlib
import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import psycopg
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction

from accounts.failpoints import fp
from accounts.statements import statement
from runs import sentences
from runs.engine import (
    artifacts,
    checkpoints,
    corrupt,
    drifted,
    given_back,
    heard,
    planner,
    record,
    reserve,
    retry,
    spending,
)
from runs.engine.claim import ask_contexts, assemble
from runs.engine.dependencies import Known, named
from runs.engine.fairness import Places, Sticky
from runs.engine.quarantine import quarantine
from runs.engine.release import release_held
from runs.engine.status import derive
from runs.engine.take_over import take_over
from runs.engine.types import CHARGED, DAMAGED, Committed, Outcome
from runs.engine.workspace import EMPTY_DIGEST, Locked, Workspace, cursor, document
from runs.states import RUN_PLANNABLE, RUN_TERMINAL
from tools import resources
from tools.selectors import by_id

log = logging.getLogger(__name__)

Mode = Literal["held", "expired", "gone", "stopped"]
#: As Django raises them, and as its own connection does when it is used directly.
LOST_CONNECTION = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)


def commit(
    *,
    worker_id: uuid.UUID,
    outcomes: Sequence[Outcome],
    room: Mapping[str, int],
    sent: float,
    mode: Mode = "held",
    kept: Mapping[str, int] | None = None,
) -> Committed:
    """Records outcomes of steps that ``worker_id`` holds. Steps that follow go on at once, already claimed, as far as
    ``room`` has place and that keeps nobody out (``kept``: places by pool that are kept for others). One bad outcome never
    spoils its neighbours: a batch that fails is done item by item, and the error of a single one is raised to the caller.
    """
    done = Committed()
    plain = []
    drifted.note(outcomes)
    for outcome in outcomes:
        if not _is_plain(outcome, mode):
            record.record(worker_id=worker_id, outcome=outcome, mode=mode, done=done)
        elif outcome.claimed.kind == "query":
            heard.answered(worker_id=worker_id, outcome=outcome, mode=mode, done=done)
        elif outcome.error_code == DAMAGED:
            corrupt.stopped(worker_id=worker_id, outcome=outcome, mode=mode, done=done)
        elif outcome.claimed.kind == "remake":
            _remade(worker_id, outcome, mode, done)
        else:
            plain.append(outcome)
    places = Places(dict(room), kept or {})
    while plain:
        batch, plain = _one_per_run(plain)
        try:
            _commit(worker_id, batch, places, sent, mode, done)
        except LOST_CONNECTION:
            # Nobody knows what was committed: the caller looks before it tries again (B44).
            raise
        except Exception:
            log.exception("a batch of %d outcomes failed: item by item", len(batch))
            for outcome in batch:
                if outcome.claimed.intent_id is not None:
                    record.record(worker_id=worker_id, outcome=outcome, mode=mode, done=done)
                else:
                    _commit(worker_id, [outcome], places, sent, mode, done, together=False)
    quarantine(worker_id=worker_id, outcomes=done.refused) if done.refused else None
    return done


def _remade(worker_id: uuid.UUID, outcome: Outcome, mode: Mode, done: Committed) -> None:
    status, delay, _ = verdict(outcome)
    contract = by_id(outcome.claimed.contract_id) if outcome.claimed.contract_id else None
    if outcome.ending in ("failed", "timeout") and not retry.allowed(
        contract, outcome, failures=outcome.claimed.failures
    ):
        # No other tool may stand in for the one that made the file.
        status = "FAILED"
    corrupt.remade(worker_id=worker_id, outcome=outcome, status=status, delay=delay, mode=mode, done=done)


def _is_plain(outcome: Outcome, mode: Mode) -> bool:
    """Without an effect, or one that happened, said by its sender while it holds the step. What an undo did moves another
    intent as well."""
    if outcome.claimed.kind == "undo":
        return False
    if outcome.claimed.intent_id is None:
        return True
    return mode == "held" and outcome.ending == "succeeded" and outcome.dispatch_id is not None


def _one_per_run(outcomes: Sequence[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    first: dict[uuid.UUID, Outcome] = {}
    rest = []
    for outcome in outcomes:
        if outcome.claimed.run_id in first:
            rest.append(outcome)
        else:
            first[outcome.claimed.run_id] = outcome
    return list(first.values()), rest


def _commit(
    worker_id: uuid.UUID,
    batch: list[Outcome],
    places: Places,
    sent: float,
    mode: Mode,
    done: Committed,
    together: bool = True,
) -> None:
    """Two round trips: the lock with the guard of L1, then the writes with COMMIT. Nothing is read between the writes and
    COMMIT: ``update_runs`` raises by itself when a run had changed, and what follows an error in a pipeline is not run."""
    accepted: list[Outcome] = []
    refused: list[Outcome] = []
    lease = settings.COUNTERSIGN.lease_seconds
    with contextlib.ExitStack() as last, transaction.atomic(durable=True):
        connection.ensure_connection()
        with connection.connection.pipeline():
            runs = [outcome.claimed.run_id for outcome in batch]
            workspace = Workspace(runs, worker_id=worker_id, together=together)
            finished = cursor()
            finished.execute(
                statement("runs", "finish_steps"),
                {
                    "outcomes": document([_finish_row(o) for o in batch]),
                    "steps": [o.claimed.step_id for o in batch],
                    "runs": [o.claimed.run_id for o in batch],
                    "worker": worker_id,
                    "mode": mode,
                    "plannable": list(RUN_PLANNABLE),
                },
            )
            known = _known_keys(batch)
        # Read outside: the end of a pipeline brings all answers in one round trip, reading inside would cost a second.
        workspace.read()
        ended: dict[uuid.UUID, tuple[str, bool]] = {row[0]: row[1:] for row in finished.fetchall()}
        keys = _by_run(known.fetchall()) if known else {}
        for outcome in batch:
            found = ended.get(outcome.claimed.step_id)
            run = workspace.runs.get(outcome.claimed.run_id)
            if found is None or run is None:
                refused.append(outcome)
            else:
                accepted.append(outcome)
                status, too_late = found
                if status == "PENDING":
                    status = given_back.settle(run, outcome, too_late=too_late)
                take(run, outcome, status, keys.get(run.id, {}))
        release_held(workspace)
        sticky = _go_on(workspace, accepted, places) if mode == "held" else []
        if not any(run.winds_up for run in workspace.runs.values()):
            # Left last: COMMIT is sent before anybody waits. What is undone next has to be read.
            last.enter_context(connection.connection.pipeline())
        workspace.insert_steps(lease=lease)
        derive(workspace.runs.values())
        workspace.write()
        contexts = _contexts(workspace, sticky)
        fp("record.before_commit")
    fp("record.committed")
    done.next += _claimed_now(workspace, sticky, contexts, sent) if contexts else []
    done.more = done.more or _leaves_work(workspace, ended)
    for outcome in refused:
        if outcome.claimed.intent_id is None:
            done.refused.append(outcome)
        else:
            record.record(worker_id=worker_id, outcome=outcome, mode=mode, done=done)
    for run in workspace.runs.values():
        done.events[run.id] = run.head.sequence
        if run.status != run.was and run.status in ("SUCCEEDED", "FAILED", "CANCELLED"):
            done.finished_runs.append(run.id)


def take(run: Locked, outcome: Outcome, status: str, known: Mapping[str, Known]) -> None:
    """An accepted outcome: its line of history, what it spent, and the plan that came with it. Joins."""
    claimed = outcome.claimed
    plan = outcome.plan
    fits = plan is not None and plan.version == run.version
    terminal = status != "PENDING"
    spending.book_call(run, outcome)
    if terminal and claimed.kind != "plan":
        run.steps_ended += 1
        run.spend(steps=1)
    shas = artifacts.store(run, outcome) if outcome.artifacts and terminal else []
    payload: dict[str, Any] = {"key": claimed.key, "attempt": claimed.attempt, "ms": outcome.milliseconds}
    if claimed.tool:
        payload["tool"] = claimed.tool
    if outcome.error_code:
        payload["code"], payload["text"] = outcome.error_code, outcome.error_text[:500]
    if claimed.intent_id is not None:
        payload |= {"effect": "confirmed", "reference": outcome.reference[:200]}
        run.confirmed.append(_confirm_row(outcome))
    if (terminal or claimed.kind != "plan") and run.status not in RUN_TERMINAL:
        # A plan that comes after the end of its run is no part of its history. Before the plan is applied: whatever follows
        # from the step stands after it.
        run.event(
            _event_type(outcome, status),
            step_id=claimed.step_id,
            epoch=claimed.epoch,
            fence=claimed.fence,
            artifacts=shas,
            payload=payload,
        )
    run.failures += outcome.ending in CHARGED
    checkpoints.tell_unsound(run, claimed.context)
    others = planner.others_live(claimed.context, claimed.key)
    if (others or not terminal) and reserve.stop_if_spent(run, live=others.total):
        return
    if not terminal:
        run.moving = True
    elif claimed.kind == "plan" and status == "FAILED":
        take_over(run, "agent_lost", sentences.NO_PLAN(), detail=outcome.error_text)
    elif given_back.gave_up(run, outcome, status):
        return
    elif run.takes_work and fits and plan is not None:
        planned = planner.apply(run, plan, live=others, known=known)
        if planned:
            payload["planned"] = planned
    else:
        run.plan_again()


def _event_type(outcome: Outcome, status: str) -> str:
    if status != "PENDING":
        return f"step.{status.lower()}"
    # A success that goes back was made from inputs that are not the accepted ones any more (L13).
    other = {"failed": "step.retried", "timeout": "step.retried", "succeeded": "step.inputs_changed"}
    return other.get(outcome.ending, f"step.{outcome.ending}")


def _confirm_row(outcome: Outcome) -> dict[str, Any]:
    contract = outcome.claimed.contract_id
    return {
        "id": outcome.claimed.intent_id,
        "ordered": contract is not None and resources.ordered(by_id(contract)),
        "dispatch": outcome.dispatch_id,
        "answer": outcome.output,
        "reference": outcome.reference[:500],
    }


def _finish_row(outcome: Outcome) -> dict[str, Any]:
    claimed = outcome.claimed
    status, delay, total = verdict(outcome)
    return {
        "id": claimed.step_id,
        "run": claimed.run_id,
        "fence": claimed.fence,
        "epoch": claimed.epoch,
        "run_epoch": claimed.run_epoch,
        "kind": claimed.kind,
        "consumes": claimed.consumes,
        "version": outcome.plan.version if outcome.plan else -1,
        "status": status,
        "output": outcome.output if status == "SUCCEEDED" else None,
        "error_code": outcome.error_code[:60],
        "error_text": outcome.error_text[:1000],
        "failures": 1 if outcome.ending in ("failed", "timeout") else 0,
        "losses": 1 if outcome.ending == "lost" else 0,
        "tokens": spending.stored_tokens(outcome),
        "cost": spending.stored_cost(outcome),
        "delay": delay,
        "total": total,
        "dispatch": outcome.dispatch_id if claimed.intent_id else None,
    }


def verdict(outcome: Outcome) -> tuple[str, float, float | None]:
    """What becomes of a step without an effect, after how many seconds it may run again, and how many seconds after its
    first try that would be too late (S7, O3)."""
    claimed = outcome.claimed
    match outcome.ending:
        case "succeeded":
            return "SUCCEEDED", 0.0, None
        case "cancelled":
            return "CANCELLED", 0.0, None
        case "drained" | "waiting":
            return "PENDING", 0.0, None
        case "lost" | "unknown":
            poison = claimed.losses + 1 >= settings.COUNTERSIGN.max_losses
            return "FAILED" if poison else "PENDING", 0.0, None
    contract = by_id(claimed.contract_id) if claimed.contract_id else None
    again = retry.after(contract, outcome, failures=claimed.failures)
    if again:
        return "PENDING", again.delay, again.total
    # Another tool may stand in: whether the run may use it is seen under its lock.
    return ("PENDING" if contract and retry.fallback(contract) else "FAILED"), 0.0, None


def _known_keys(batch: Sequence[Outcome]) -> Any:
    wants = [
        {"run": outcome.claimed.run_id, "key": key}
        for outcome in batch
        if outcome.plan
        for key in named(outcome.plan.directives)
    ]
    if not wants:
        return None
    found = cursor()
    found.execute(statement("runs", "known_keys"), {"keys": document(wants)})
    return found


def _by_run(rows: Sequence[tuple[uuid.UUID, str, str, str]]) -> dict[uuid.UUID, dict[str, Known]]:
    found: dict[uuid.UUID, dict[str, Known]] = {}
    for run_id, key, input_digest, status in rows:
        found.setdefault(run_id, {})[key] = Known(input_digest or EMPTY_DIGEST, status)
    return found


def _go_on(workspace: Workspace, accepted: Sequence[Outcome], places: Places) -> list[uuid.UUID]:
    """New steps that this node takes at once, as far as there is room and nobody is kept out."""
    taken: list[uuid.UUID] = []
    if not places.left:
        return taken
    sticky = Sticky([(o.claimed.tenant_id, o.claimed.pool) for o in accepted], places)
    for run in workspace.runs.values():
        if not run.takes_work or run.stopped:
            continue
        for step in run.steps:
            if step.status != "PENDING" or step.held or (step.tool in run.stopped_tools and not step.intent):
                continue
            if sticky.may(run.tenant_id, step.pool):
                step.status = "RUNNING"
                taken.append(step.id)
    return taken


def _leaves_work(workspace: Workspace, ended: Mapping[uuid.UUID, tuple[str, bool]]) -> bool:
    """Whether somebody should look for steps to claim: some were freed, given back or inserted without being taken."""
    inserted = sum(step.status == "PENDING" for run in workspace.runs.values() for step in run.steps)
    return bool(
        inserted
        or any(status == "PENDING" for status, _ in ended.values())
        or any(run.has_held for run in workspace.runs.values())
    )


def _contexts(workspace: Workspace, sticky: Sequence[uuid.UUID]) -> psycopg.Cursor[Any] | None:
    """Asks for the contexts of the runs that go on, in the same round trip as the writes."""
    wanted = set(sticky)
    runs = [run.id for run in workspace.runs.values() if any(step.id in wanted for step in run.steps)]
    return ask_contexts(runs) if runs else None


def _claimed_now(
    workspace: Workspace, sticky: Sequence[uuid.UUID], contexts: psycopg.Cursor[Any], sent: float
) -> list[Any]:
    wanted, fences = set(sticky), workspace.fences()
    rows = [
        (
            *(step.id, run.id, run.tenant_id, step.key, step.kind, step.tool, step.pool, 1, 0, 0, 1),
            *(fences[step.id], step.timeout, document(step.input), step.intent, step.contract),
        )
        for run in workspace.runs.values()
        for step in run.steps
        if step.id in wanted
    ]
    keys = {
        step.intent: step.intent_key for run in workspace.runs.values() for step in run.steps if step.intent
    }
    return assemble(rows, sent=sent, contexts=contexts, keys=keys)

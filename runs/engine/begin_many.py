"""Begin, for the many at once whose answer is plain: everything that :mod:`runs.engine.begin` checks is checked here on the
same locked rows, with one statement for all. Whatever is not plain (a grant, a switch, a rule, a budget near its end,
a run that moved since the claim, a lease that is not held) gets no answer here, and begin looks at it alone.

Lock order: runs, steps, intents, each in id order; the head of the audit chain last.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from accounts import audit
from accounts.failpoints import fp
from accounts.ids import new_id
from accounts.statements import statement
from runs.engine import reserve
from runs.engine.begin import as_recorded
from runs.engine.planner import others_live
from runs.engine.status import derive
from runs.engine.types import Claimed, Go
from runs.engine.workspace import Locked, Workspace, cursor, document
from tools import batches, quotas, resources, workers
from tools.batches import Authorised
from tools.errors import SenderGone
from tools.selectors import by_id


@dataclass(frozen=True, slots=True)
class Asked:
    """One child's question. ``sender`` and ``pid`` are the child's."""

    claimed: Claimed
    sender: uuid.UUID
    pid: int


@dataclass(frozen=True, slots=True)
class Granted:
    """A question with its answer, and what an undo would need."""

    asked: Asked
    intent: Authorised
    go: Go
    way_back: Mapping[str, Any] | None


def begin_many(*, worker_id: uuid.UUID, asked: Sequence[Asked]) -> list[Go | None]:
    """An answer for each question, or None: ask :func:`runs.engine.begin.begin`. Owns its transaction. Raises what the
    database raises; then nothing was permitted, unless the answer to COMMIT was lost."""
    batch = _one_per_run(asked)
    if not batch:
        return [None] * len(asked)
    with transaction.atomic(durable=True):
        connection.ensure_connection()
        with connection.connection.pipeline():
            workspace = Workspace([one.claimed.run_id for one in batch], worker_id=worker_id)
            steps = _lock_steps(worker_id, batch)
            intents = batches.lock_authorised(cursor(), [_intent(one) for one in batch])
        workspace.read()
        held: dict[uuid.UUID, float] = dict(steps.fetchall())
        authorised = batches.authorised(intents)
        living = _living(worker_id, batch)
        granted = [
            answer
            for one in batch
            if one.sender in living
            and (
                answer := _decide(workspace, one, held.get(one.claimed.step_id), authorised.get(_intent(one)))
            )
        ]
        if granted:
            _write(workspace, granted)
        fp("begin.before_commit")
    fp("begin.committed")
    told = {id(one.asked): one.go for one in granted}
    return [told.get(id(one)) for one in asked]


def _one_per_run(asked: Sequence[Asked]) -> list[Asked]:
    """A version of a run is moved once in a transaction; inputs that may have changed are looked at alone."""
    plain = {
        one.claimed.run_id: one
        for one in reversed(asked)
        if one.claimed.intent_id and not one.claimed.consumes
    }
    return list(plain.values())


def _intent(one: Asked) -> uuid.UUID:
    assert one.claimed.intent_id is not None
    return one.claimed.intent_id


def _lock_steps(worker_id: uuid.UUID, batch: Sequence[Asked]) -> Any:
    rows = [
        {"id": one.claimed.step_id, "fence": one.claimed.fence, "epoch": one.claimed.epoch} for one in batch
    ]
    given = {"asked": document(rows), "steps": [one.claimed.step_id for one in batch], "worker": worker_id}
    return cursor().execute(statement("runs", "begin_steps"), given)


def _living(worker_id: uuid.UUID, batch: Sequence[Asked]) -> set[uuid.UUID]:
    """The senders that nobody has proven gone."""
    living = set()
    for sender, pid in {(one.sender, one.pid) for one in batch}:
        try:
            living.add(workers.child_sender(parent_id=worker_id, sender_id=sender, pid=pid))
        except SenderGone:
            continue
    return living


def _decide(
    workspace: Workspace, one: Asked, left: float | None, intent: Authorised | None
) -> Granted | None:
    run, claimed = workspace.runs.get(one.claimed.run_id), one.claimed
    if run is None or left is None or intent is None or intent.contract_id != claimed.contract_id:
        return None
    if not _may_go_on(run, claimed):
        return None
    if not as_recorded(claimed, intent.arguments):
        return None
    contract = by_id(intent.contract_id)
    word = run.reading.verdict(
        tenant_id=run.tenant_id,
        contract=contract,
        arguments=intent.arguments,
        run_id=run.id,
        key=intent.key,
    )
    if word.path != "auto" or resources.ordered(contract) or quotas.limits(run.reading.newest(contract)):
        return None
    seconds = min(float(contract.timeout_seconds), left)
    go = Go(new_id(), intent.key, claimed.fence, seconds, run.version + 1)
    return Granted(one, intent, go, run.reading.way_back(contract))


def _may_go_on(run: Locked, claimed: Claimed) -> bool:
    """Nothing of the run has moved since the claim, it takes work, and no limit of it is near."""
    return (
        run.epoch == claimed.run_epoch
        and run.version == claimed.version
        and run.takes_work
        and (run.deadline is None or run.deadline > run.at)
        and reserve.ample(run, 1 + others_live(claimed.context, claimed.key).total)
    )


def _write(workspace: Workspace, granted: Sequence[Granted]) -> None:
    batches.dispatch(cursor(), [_dispatch_row(one) for one in granted])
    acts: dict[uuid.UUID, list[audit.Act]] = {}
    for one in granted:
        claimed, run = one.asked.claimed, workspace.runs[one.asked.claimed.run_id]
        payload = {
            "key": claimed.key,
            "tool": claimed.tool,
            "dispatch": one.go.dispatch_id.hex,
            "intent": one.intent.id.hex,
        }
        run.event(
            "step.sending", step_id=claimed.step_id, epoch=claimed.epoch, fence=claimed.fence, payload=payload
        )
        run.moving = True
        kept = {**payload, "fence": claimed.fence, "request_digest": one.intent.request_digest}
        acts.setdefault(run.tenant_id, []).append(
            audit.Act("intent.dispatched", ("intent", one.intent.id.hex), kept, run.id)
        )
    derive(workspace.runs.values())
    workspace.write()
    for tenant_id in sorted(acts):
        audit.append_many(acts[tenant_id], tenant_id=tenant_id)


def _dispatch_row(one: Granted) -> Mapping[str, Any]:
    return {
        "id": one.intent.id,
        "sender": one.asked.sender,
        "dispatch": one.go.dispatch_id,
        "fence": one.go.fence,
        "seconds": min(one.go.seconds, settings.COUNTERSIGN.lease_seconds),
        "compensation": one.way_back,
    }

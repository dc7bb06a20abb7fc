"""Claim: take leases on steps for this node (L2)."""

import functools
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson
import psycopg
from django.conf import settings
from django.db import transaction

from accounts.failpoints import fp
from accounts.statements import statement
from runs.agents import registry
from runs.engine import fairness
from runs.engine.types import Claimed
from runs.engine.workspace import cursor, document
from runs.states import RUN_CLAIMABLE
from tools import quotas
from tools.models import Contract, EffectClass, Intent
from tools.selectors import by_id, spec

PLAN_SPEC: Mapping[str, Any] = {"adapter": "plan"}


@functools.cache
def plannable_digests() -> list[str]:
    """The agents whose code this process has."""
    return registry.digests()


def claim(
    *, worker_id: uuid.UUID, room: Mapping[str, int], sent: float, most: Mapping[str, int] | None = None
) -> list[Claimed]:
    """Takes up to ``room[pool]`` steps of each pool, shared out among tenants, in one short transaction. An empty list:
    nothing to do.

    ``most[pool]``: how many places of a pool one tenant may have on this node. ``sent`` is the caller's monotonic clock
    from before the call; local deadlines count from it.
    """
    free = {pool: count for pool, count in room.items() if count > 0}
    if not free:
        return []
    with transaction.atomic(durable=True):
        rows = fairness.share_out(
            functools.partial(_ask, worker_id),
            room=free,
            most=most or {},
        )
        fp("claim.after_select")
        claimed = assemble(rows, sent=sent) if rows else []
    fp("claim.after_commit") if claimed else None
    return claimed


def _ask(worker_id: uuid.UUID, given: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    """Runs ``claim_steps`` once. Joins."""
    options = settings.COUNTERSIGN
    found = cursor()
    found.execute(
        statement("runs", "claim_steps"),
        {
            **given,
            "claimable": list(RUN_CLAIMABLE),
            "digests": plannable_digests(),
            "worker": worker_id,
            "lease": settings.COUNTERSIGN.lease_seconds,
            "quota": options.tenant_leases,
            "factor": options.debt_factor,
            "half_life": options.debt_half_life_seconds,
        },
    )
    return found.fetchall()


def ask_contexts(runs: Collection[uuid.UUID]) -> psycopg.Cursor[Any]:
    """Sends the question for the contexts of runs. Joins the caller's transaction, and its pipeline if it has one."""
    contexts = cursor()
    contexts.execute(statement("runs", "run_contexts"), {"runs": list(runs)})
    return contexts


def assemble(
    rows: Sequence[tuple[Any, ...]],
    *,
    sent: float,
    contexts: psycopg.Cursor[Any] | None = None,
    keys: Mapping[uuid.UUID, str] | None = None,
) -> list[Claimed]:
    """Claimed steps from the columns that ``claim_steps`` returns: adds context, inputs, contract and intent key. Joins
    the caller's transaction. ``contexts``: the answer, when the question was sent before. ``keys``: those of the intents,
    when they are known."""
    contexts = contexts or ask_contexts({row[1] for row in rows})
    runs = {row[0]: row for row in contexts.fetchall()}
    if keys is None:
        keys = _intent_keys([row[14] for row in rows if row[14]])
    inputs = _inputs(rows)
    return [_claimed(row, runs[row[1]], keys.get(row[14], ""), inputs.get(row[0]), sent) for row in rows]


def _claimed(
    row: tuple[Any, ...], run: tuple[Any, ...], intent_key: str, inputs: dict[str, Any] | None, sent: float
) -> Claimed:
    arguments: str = row[13]
    if inputs is not None:
        given = orjson.loads(arguments)
        arguments = document({"arguments": given["arguments"], "inputs": inputs})
    return Claimed(
        step_id=row[0],
        run_id=row[1],
        tenant_id=row[2],
        key=row[3],
        kind=row[4],
        tool=row[5],
        pool=row[6],
        attempt=row[7],
        failures=row[8],
        losses=row[9],
        epoch=row[10],
        fence=row[11],
        timeout_seconds=row[12],
        arguments=arguments,
        context=run[4],
        version=run[1],
        agent=run[2],
        agent_version=run[3],
        spec=_spec(row[15]) if row[15] else PLAN_SPEC,
        intent_id=row[14],
        intent_key=intent_key,
        contract_id=row[15],
        sent=sent,
        run_epoch=run[5],
        consumes=inputs is not None,
    )


def _spec(contract_id: uuid.UUID) -> dict[str, Any]:
    contract = by_id(contract_id)
    needed = spec(contract)
    if contract.effect_class == EffectClass.READ_ONLY and quotas.rationed(contract):
        # It asks before the call, as effects do anyhow.
        needed["rationed"] = True
    if contract.takeover_rule == Contract.TakeoverRule.KNOWN_GONE:
        needed["alone"] = True
    return needed


def _intent_keys(intents: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
    return dict(Intent.everywhere.filter(pk__in=intents).values_list("pk", "key")) if intents else {}


def _inputs(rows: Sequence[tuple[Any, ...]]) -> dict[uuid.UUID, dict[str, Any]]:
    """Outputs that steps asked for, by step and key."""
    wants = [
        {"step": row[0], "run": row[1], "key": key}
        for row in rows
        if '"inputs"' in row[13]
        for key in orjson.loads(row[13]).get("inputs", [])
    ]
    if not wants:
        return {}
    found = cursor()
    found.execute(statement("runs", "step_inputs"), {"wants": document(wants)})
    inputs: dict[uuid.UUID, dict[str, Any]] = {}
    for step, key, output in found.fetchall():
        inputs.setdefault(step, {})[key] = orjson.Fragment(output) if output else None
    return inputs

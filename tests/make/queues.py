"""Plain builders for crowds: many waiting runs at once, as rows, because submitting ten thousand takes a minute."""

from __future__ import annotations

from typing import Any

from django.db import connection

from accounts.models import Role, Tenant, User
from runs.models import Run
from tests.make import people
from tests.runs.engine import hands
from tools import samples

_RUNS = """
INSERT INTO runs_run (id, tenant_id, agent, agent_version, agent_digest, submitter_id, goal, input, input_digest, status,
    version, epoch, contracts, budget, spent, summarised, steps_ended, lineage, submit_key, event_seq,
    event_hash)
SELECT gen_random_uuid(), r.tenant_id, r.agent, r.agent_version, r.agent_digest, r.submitter_id, r.goal, r.input,
    r.input_digest, r.status, r.version, r.epoch, r.contracts, r.budget, r.spent, 0, 0,
    gen_random_uuid(), gen_random_uuid()::text, r.event_seq, r.event_hash
FROM runs_run r, generate_series(1, %s) WHERE r.id = %s
"""
_STEPS = """
INSERT INTO runs_step (id, run_id, tenant_id, key, seq, kind, pool, status, timeout_seconds, input, not_before)
SELECT gen_random_uuid(), r.id, r.tenant_id, s.key, s.seq, s.kind, s.pool, s.status, s.timeout_seconds, s.input,
    s.not_before
FROM runs_run r, runs_step s
WHERE s.run_id = %s AND r.tenant_id = s.tenant_id AND NOT EXISTS (SELECT 1 FROM runs_step o WHERE o.run_id = r.id)
"""


def member(of: Tenant | None = None) -> tuple[Tenant, User]:
    """A tenant with the sample contracts, and its submitter."""
    tenant = of or people.tenant()
    people.person(tenant, Role.APPROVER, name="Ben Okafor")
    user = people.person(tenant, Role.SUBMITTER)
    samples.seed(tenant)
    return tenant, user


def crowd(who: tuple[Tenant, User], runs: int, *, steps: int = 1, **given: Any) -> Run:
    """So many runs that wait to start, all like the one that is returned."""
    first = hands.counter_run(*who, steps=steps, **given)
    with connection.cursor() as cursor:
        cursor.execute(_RUNS, [runs - 1, first.pk])
        cursor.execute(_STEPS, [first.pk])
    return first


def tenants(count: int, like: tuple[Tenant, User], *, each: int = 1) -> list[Tenant]:
    """So many tenants with ``each`` waiting runs, all submitted by the same person."""
    first = crowd(like, each)
    made = [people.tenant(f"t{number}") for number in range(count)]
    ids = [tenant.pk for tenant in made]
    with connection.cursor() as cursor:
        cursor.execute(
            _RUNS.replace("gen_random_uuid(), r.tenant_id", "gen_random_uuid(), t.id", 1).replace(
                "FROM runs_run r,", "FROM runs_run r, unnest(%s::uuid[]) AS t(id),"
            ),
            [ids, each, first.pk],
        )
        cursor.execute(_STEPS.replace("r.tenant_id = s.tenant_id", "r.tenant_id = ANY (%s)"), [first.pk, ids])
    return made

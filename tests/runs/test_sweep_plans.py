"""What the duties ask every few seconds costs as much as there is alive, not as much as there ever was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection

from accounts.statements import statement
from tests.make import runs as make

pytestmark = pytest.mark.django_db(transaction=True)

ENDED = """
INSERT INTO runs_run (id, tenant_id, agent, agent_version, agent_digest, submitter_id, goal, input, input_digest, status,
    version, epoch, budget, spent, summarised, steps_ended, lineage, submit_key, event_seq, event_hash,
    last_event_at, finished_at)
SELECT uuidv7(), %(tenant)s, 'drill-counter', '1', 'x', %(user)s, 'Goal ' || n, '{}', 'x', 'SUCCEEDED', 1, 1, '{}', '{}',
    0, 3, uuidv7(), 'key ' || n, 1, '\\x00'::bytea, now() - n * interval '1 minute', now()
FROM generate_series(1, 20000) n
"""
GIVEN: dict[str, Any] = {
    "limit": 200, "only": None, "grace": 60, "longest": 3600, "silent": 900,
    "limits": '[{"agent": "drill-counter", "most": 10}]',
}  # fmt: skip


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for below in plan.get("Plans", []) for node in nodes(below))]


@pytest.mark.parametrize("name", ["overdue_runs", "orphan_runs", "silent_runs", "looping_runs"])
def test_a_sweep_reads_no_run_that_has_ended(name):
    """Guards the first condition of each statement, which is that of the index run_live_of_tenant."""
    house = make.house()
    house.counted(2)
    with connection.cursor() as cursor:
        cursor.execute(ENDED, {"tenant": house.tenant.pk, "user": house.ada.pk})
        cursor.execute("ANALYZE runs_run")
        cursor.execute("EXPLAIN (FORMAT JSON) " + statement("runs", name), GIVEN)
        row = cursor.fetchone()
    assert row is not None
    found = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    used = [node for node in nodes(found[0]["Plan"]) if node.get("Relation Name") == "runs_run"]
    assert used
    assert {node.get("Index Name") for node in used} <= {"run_live_of_tenant", "run_by_status"}

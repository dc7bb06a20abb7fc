"""The list of tasks goes to its rows by an index, however many runs there are."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from django.db.models import QuerySet

from runs.models import Run
from runs.selectors import live as live_numbers
from runs.selectors import runs
from tests.make import runs as make

pytestmark = pytest.mark.django_db(transaction=True)

MANY = """
INSERT INTO runs_run (id, tenant_id, agent, agent_version, agent_digest, submitter_id, goal, input, input_digest, status,
    version, epoch, budget, spent, summarised, steps_ended, lineage, submit_key, event_seq, event_hash,
    last_event_at, finished_at)
SELECT uuidv7(), %(tenant)s, 'contract-review', '1', 'x', %(user)s, 'Goal ' || n, '{}', 'x', 'SUCCEEDED', 1, 1, '{}', '{}',
    0, 3, uuidv7(), 'key ' || n, 1, '\\x00'::bytea, now() - n * interval '1 minute', now()
FROM generate_series(1, 20000) n
"""


def _explain(sql: str, tenant: uuid.UUID) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}", [tenant])
        return " ".join(row[0] for row in cursor.fetchall())


def plan(rows: QuerySet[Run]) -> str:
    return str(rows.explain())


def test_pages_chips_and_the_live_number_read_few_rows(house_of_many):
    with house_of_many.scope():
        newest = plan(runs.every().order_by("-id")[:51])
        failed = plan(runs.every().filter(status="FAILED").order_by("-id")[:51])
        ended = _explain(
            "SELECT max(finished_at) FROM runs_run WHERE tenant_id = %s AND finished_at IS NOT NULL",
            house_of_many.tenant.pk,
        )
        live = _explain(
            "SELECT max(last_event_at) FROM runs_run WHERE tenant_id = %s"
            " AND NOT status IN ('SUCCEEDED', 'FAILED', 'CANCELLED')",
            house_of_many.tenant.pk,
        )
        assert live_numbers.tasks_seq() > 0
    for found in (newest, failed, ended, live):
        assert "Seq Scan" not in found
        assert "Index" in found
    assert "run_by_status" in failed
    assert "run_newest_end" in ended


@pytest.fixture
def house_of_many() -> make.House:
    house = make.house()
    with connection.cursor() as cursor:
        cursor.execute(MANY, {"tenant": house.tenant.pk, "user": house.ada.pk})
        cursor.execute("ANALYZE runs_run")
    return house

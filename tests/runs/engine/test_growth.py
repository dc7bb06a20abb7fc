"""Growth (S14): history by months, found without reading the others, and no path around its guards."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from runs import timeline
from runs.engine import partitions
from runs.models import Event, Run
from tests.make import queues
from tests.runs.engine import hands

pytestmark = pytest.mark.django_db(transaction=True)


def rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else []


def months() -> set[str]:
    return {
        row[0]
        for row in rows(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'runs_event'::regclass"
        )
    }


def ended_run() -> Run:
    run = hands.counter_run(*queues.member(), steps=3)
    hands.run_all(hands.worker())
    found: Run = Run.everywhere.get(pk=run.pk)
    return found


@pytest.fixture
def far_months():
    """Makes months far ahead, and takes them away again: DDL outlives the test's rows."""
    before = months()
    yield
    for name in months() - before:
        rows(f"DROP TABLE {name}")


def test_months_are_made_ahead_once(far_months):
    """Guards `runs.engine.partitions.make_months`."""
    now = datetime.now(UTC)
    partitions.make_months(ahead=3)
    made = partitions.make_months(ahead=5)
    assert (made, partitions.make_months(ahead=5)) == (2, 0)
    year, month = divmod(now.year * 12 + now.month - 1 + 5, 12)
    assert f"runs_event_y{year:04d}m{month + 1:02d}" in months()


def test_a_month_that_was_not_made_in_time_is_no_loss(far_months):
    """Guards the default partition: what has no month is kept, told and checked like the rest, and no month is made over
    it."""
    run = ended_run()
    later = "date_trunc('month', now()) + interval '4 months 3 days'"
    rows("ALTER TABLE runs_event DISABLE TRIGGER event_append_only")
    rows(f"UPDATE runs_event SET at = {later} WHERE run_id = %s", run.pk)
    rows("ALTER TABLE runs_event ENABLE TRIGGER event_append_only")
    rows(f"UPDATE runs_run SET last_event_at = {later} WHERE id = %s", run.pk)
    assert rows("SELECT DISTINCT tableoid::regclass::text FROM runs_event WHERE run_id = %s", run.pk) == [
        ("runs_event_default",)
    ]
    assert timeline.of_run(run.pk, everywhere=True).count() == run.event_seq
    assert partitions.make_months(ahead=5) == 1, "the fifth month, not the fourth"


@pytest.mark.parametrize("change", ["UPDATE {} SET type = 'x'", "DELETE FROM {}", "TRUNCATE {}"])
def test_no_path_around_the_guards_leads_through_a_partition(change):
    """Guards the triggers of each partition in `runs/migrations/0012_event_months.py` and `partitions._make`."""
    ended_run()
    (partition,) = rows("SELECT DISTINCT tableoid::regclass::text FROM runs_event")[0]
    for table in ("runs_event", partition):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            rows(change.format(table))


def test_the_history_of_a_run_is_read_from_its_months_alone(far_months):
    """Guards `runs.timeline.of_run`: partitions outside the life of a run are not touched."""
    run = ended_run()
    partitions.make_months(ahead=6)
    query = timeline.of_run(run.pk, everywhere=True).order_by("sequence")
    with transaction.atomic(), connection.cursor() as cursor:
        # Months of a few rows may be read whole; there must be a way that does not.
        cursor.execute("SET LOCAL enable_seqscan = off")
        plan = query.explain(analyze=True)
    touched = {
        name for name in months() if f" on {name}" in plan and "never executed" not in line_of(plan, name)
    }
    assert timeline.verify(run.pk) == []
    assert len(months()) >= 8
    # The month of the run, the default, and the neighbour of a run that lived near the end of a month.
    assert 1 <= len(touched) <= 3
    assert "Seq Scan" not in plan


def line_of(plan: str, name: str) -> str:
    return next(line for line in plan.splitlines() if f" on {name}" in line)


def test_a_history_from_before_payloads_could_be_erased_is_still_whole():
    """Guards `timeline._fits`: rows whose hash was made from the payload itself."""
    run = ended_run()
    before = timeline.START
    rows("ALTER TABLE runs_event DISABLE TRIGGER event_append_only")
    for event in Event.everywhere.filter(run=run).order_by("sequence"):
        line = timeline.Line(
            *(event.type, event.step_id, event.actor, event.epoch, event.fence, event.input_digest),
            *(event.artifacts, event.payload),
        )
        before = timeline._hash(before, run.pk, event.sequence, line, event.at, event.payload)
        Event.everywhere.filter(run=run, sequence=event.sequence).update(hash=before)
    rows("ALTER TABLE runs_event ENABLE TRIGGER event_append_only")
    Run.everywhere.filter(pk=run.pk).update(event_hash=before)
    assert timeline.verify(run.pk) == []

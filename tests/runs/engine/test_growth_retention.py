"""Retention (B47): payloads go, keys and audit stay; killed, repeated or overtaken by late messages, it comes out the same."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models.functions import Now

from accounts import audit
from accounts.models import AuditEntry
from runs import blobs, timeline
from runs.engine import retention
from runs.engine.quarantine import quarantine
from runs.engine.types import Outcome, Stored
from runs.models import Artifact, Checkpoint, Event, Quarantined, Run, Step, TenantTerms
from tests.make import runs as make
from tests.make.people import browser
from tests.runs.engine import hands
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)
NO_TIME = timedelta(0)
SECRET = "Halden"


@pytest.fixture
def house():
    return make.house()


def old(house: make.House, run: Run, days: int = 30, keep: int = 7) -> None:
    TenantTerms.objects.update_or_create(tenant=house.tenant, defaults={"retention_days": keep})
    Run.everywhere.filter(pk=run.pk).update(finished_at=Now() - timedelta(days=days))


def review(house: make.House) -> Run:
    run = house.reviewed()
    house.sent(run)
    return make.again(run)


def traces(run: Run, word: str = SECRET) -> list[str]:
    """Where a word of the task still stands."""
    found = []
    for table, column in (("runs_run", "id"), ("runs_step", "run_id"), ("runs_event", "run_id"),
                          ("runs_checkpoint", "run_id"), ("runs_artifact", "run_id"), ("runs_signal", "run_id"),
                          ("runs_quarantined", "run_id")):  # fmt: skip
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {table} t WHERE {column} = %s AND (to_jsonb(t) - 'goal')::text ~ %s",
                           [run.pk, word])  # fmt: skip
            if cursor.fetchone()[0]:
                found.append(table)
    return found


def test_payloads_go_and_proofs_stay(house):
    """Guards `runs.engine.retention.erase`: nothing of the content is left, and everything that proves is."""
    run = review(house)
    keys = dict(Step.everywhere.filter(run=run).values_list("key", "input_digest"))
    intent = Intent.everywhere.get(run_id=run.pk)
    acts = AuditEntry.everywhere.filter(tenant=house.tenant).count()
    assert "runs_step" in traces(run)
    old(house, run)
    assert retention.erase_due() == 1
    assert traces(run) == []
    assert timeline.verify(run.pk) == []
    history = Event.everywhere.filter(run=run)
    assert (history.exclude(payload={}).count(), history.filter(erased__isnull=True).count()) == (0, 0)
    assert dict(Step.everywhere.filter(run=run).values_list("key", "input_digest")) == keys
    after = Intent.everywhere.get(run_id=run.pk)
    assert (after.key, after.request_digest, after.status, after.reference) == (
        *(intent.key, intent.request_digest, intent.status, intent.reference),
    )
    assert (after.arguments, after.answer) == ({}, None)
    assert AuditEntry.everywhere.filter(tenant=house.tenant).count() == acts + 1
    assert audit.verify(tenant_id=house.tenant.pk) == []
    assert set(Checkpoint.everywhere.filter(run=run).values_list("digest", flat=True)) != {""}


def test_an_erased_payload_cannot_be_replaced_unseen(house):
    """Guards `timeline._fits` and the trigger's one path: the digest is part of the chain."""
    run = review(house)
    old(house, run)
    retention.erase_due()
    for change in ("payload = '{\"a\": 1}'", "erased = NULL", "erased = sha256('x')"):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE runs_event SET {change} WHERE run_id = %s AND sequence = 2", [run.pk])
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE runs_event DISABLE TRIGGER event_append_only")
        cursor.execute(
            "UPDATE runs_event SET erased = sha256('x') WHERE run_id = %s AND sequence = 2", [run.pk]
        )
        cursor.execute("ALTER TABLE runs_event ENABLE TRIGGER event_append_only")
    assert timeline.verify(run.pk) == ["Event 2 does not match its hash."]


def test_a_payload_that_was_not_erased_by_retention_is_refused(house):
    """Guards `keep_event`: the mark on the run opens the path, nothing else."""
    run = review(house)
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "UPDATE runs_event SET payload = '{}', erased = sha256('x') WHERE run_id = %s", [run.pk]
        )


def test_what_is_kept(house):
    """Guards `due_for_erasure.sql`: live runs, recent ones, and tenants that keep everything."""
    live, recent = house.counted(), review(house)
    old(house, recent, days=6)
    assert retention.erase_due() == 0
    old(house, recent, days=3000, keep=0)
    assert retention.erase_due() == 0
    assert set(Run.everywhere.values_list("erased_at", flat=True)) == {None}
    assert live.status == "PENDING"


def test_files_go_when_no_row_names_them(house):
    """Guards `retention.remove_files`: what another task still has stays readable; the rest is gone, once."""
    shared, own = house.upload("shared text"), house.upload("own text", "own.txt")
    first, second = house.submitted(shared, own), house.submitted(shared)
    house.finish()
    for run in (first, second):
        assert make.again(run).status in ("SUCCEEDED", "WAITING_APPROVAL")
    Run.everywhere.filter(pk=first.pk, finished_at__isnull=True).exists()
    old(house, first)
    Artifact.everywhere.filter(kind="upload").update(created_at=Now() - timedelta(days=30))
    retention.erase_due(grace=timedelta(days=1))
    assert blobs.read(own.uri) == b"own text", "not before the time of grace is over"
    retention.erase_due(grace=NO_TIME)
    assert blobs.read(shared.uri) == b"shared text"
    with pytest.raises(blobs.Missing):
        blobs.read(own.uri)
    assert retention.remove_files(grace=NO_TIME) == 0


@pytest.mark.parametrize("seam", ["retention.before_commit", "retention.committed", "retention.file_removed"])
def test_b47_killed_in_the_middle_it_goes_on_where_it_was(house, seam, monkeypatch):
    """Guards the one transaction a run in `retention.erase` and the repeatable pass over files."""
    runs = [review(house) for _ in range(2)]
    for run in runs:
        old(house, run)

    class Killed(BaseException):
        pass

    def die(name):
        if name == seam:
            raise Killed

    monkeypatch.setattr(retention, "fp", die)
    with pytest.raises(Killed):
        retention.erase_due(grace=NO_TIME)
    half = [bool(traces(run)) == (make.again(run).erased_at is None) for run in runs]
    assert half == [True, True], "a run is erased as a whole or not at all"
    assert [timeline.verify(run.pk) for run in runs] == [[], []]
    monkeypatch.setattr(retention, "fp", lambda name: None)
    retention.erase_due(grace=NO_TIME)
    assert [traces(run) for run in runs] == [[], []]
    assert AuditEntry.everywhere.filter(act="run.erased").count() == 2


def test_b47_two_at_once_erase_each_run_once(house):
    """Guards SKIP LOCKED and the second look in `retention.erase`."""
    run = review(house)
    old(house, run)
    done = []

    def other():
        try:
            done.append(retention.erase(run_id=run.pk))
        finally:
            connection.close()

    with transaction.atomic():
        Run.everywhere.select_for_update().get(pk=run.pk)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(30)
    assert done == [False], "it does not wait for the other"
    assert (retention.erase(run_id=run.pk), retention.erase(run_id=run.pk)) == (True, False)


def test_b47_a_late_result_finds_a_tombstone(house):
    """Guards `runs/sql/quarantine.sql` and `quarantine._record`: the fact is kept, the payload and its file are not."""
    run = house.counted(1)
    me = hands.worker()
    (plan,) = hands.take(me)
    hands.put(me, hands.done(plan))
    (call,) = hands.take(me)
    Step.everywhere.filter(pk=call.step_id).update(lease_until="2020-01-01T00:00:00Z")
    hands.reclaimed() if hasattr(hands, "reclaimed") else __import__(
        "runs.engine.reclaim"
    ).engine.reclaim.reclaim()
    house.finish()
    old(house, run)
    assert retention.erase_due() == 1
    before = bytes(make.again(run).event_hash)
    sha256, size, _uri = blobs.put(b"late bytes")
    file = Stored(sha256=sha256, size=size, media_type="text/plain", name="late.txt")
    late = Outcome(call, "succeeded", output={"text": SECRET}, artifacts=[file])
    assert quarantine(worker_id=me.pk, outcomes=[late]) == 1
    assert quarantine(worker_id=me.pk, outcomes=[late]) == 0
    kept = Quarantined.everywhere.get(run=run)
    assert (kept.output, bool(kept.output_digest), kept.terminal) == (None, True, True)
    assert traces(run) == []
    assert bytes(make.again(run).event_hash) == before
    assert AuditEntry.everywhere.filter(run_id=run.pk, act="step.quarantined").count() == 1
    retention.remove_files(grace=NO_TIME)
    with pytest.raises(blobs.Missing):
        blobs.read(blobs.uri_of(sha256))


def test_pages_of_an_erased_task_say_so(house):
    """Guards `runs.present.header.banner`: plain words, and no page breaks for want of contents."""
    run = review(house)
    old(house, run)
    retention.erase_due()
    client = browser(house.ada)
    page = client.get(f"/tasks/run_{run.pk.hex}/")
    assert "The contents of this task were erased." in page.content.decode()
    for part in ("history/", "steps/"):
        assert client.get(f"/tasks/run_{run.pk.hex}/{part}").status_code == 200

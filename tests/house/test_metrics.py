"""`/metrics`: the page and the code agree, who may ask, what it costs, and each number moves when the thing happens."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from prometheus_client.parser import text_string_to_metric_families

from accounts.ids import new_id
from config.metrics import families
from outbox.models import Message
from runs import blobs, tallies
from runs.engine import corrupt
from runs.engine.begin import begin
from runs.engine.cancel import cancel
from runs.engine.reclaim import reclaim, release
from runs.engine.submit import submit
from runs.engine.types import Claimed, Outcome, Stop
from runs.errors import AlreadyEnded
from runs.models import Artifact, LeaseMeasure, Run, Step
from tests.make import runs as make
from tests.needs import ROOT
from tests.runs.engine import hands
from tools import duplicates, workers
from tools.models import Intent, WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = ROOT / "docs" / "reference" / "metrics.md"


@pytest.fixture
def house() -> make.House:
    return make.house()


def told() -> dict[str, float]:
    """Every sample as `name{label="value"}` without the product's prefix, after everything was counted."""
    from django.test import Client

    for _ in range(2):
        tallies.count_history(margin=0)
    answer = Client().get("/metrics")
    assert answer.status_code == 200, answer.content
    found = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[sample.name.removeprefix("countersign_") + (f"{{{labels}}}" if labels else "")] = (
                sample.value
            )
    assert all(value == 1 for name, value in found.items() if name.startswith("metrics_room_read")), found
    return found


def rise(before: dict[str, float], name: str) -> float:
    return told().get(name, 0.0) - before.get(name, 0.0)


# The page, and who may ask


def test_every_metric_is_documented_and_none_is_invented() -> None:
    rows = re.findall(
        r"^\| `(countersign_\w+)` \| (\w+) \| (.*?) \| (.*) \|$", PAGE.read_text(), flags=re.MULTILINE
    )
    page = {name: (kind, labels, text) for name, kind, labels, text in rows}
    code = {
        family.full_name: (family.kind, ", ".join(f"`{one}`" for one in family.labels) or "–", family.help)
        for family in families()
    }
    assert page == code


def test_names_and_units_are_those_of_prometheus() -> None:
    for family in families():
        assert re.fullmatch(r"countersign_[a-z_]+", family.full_name)
        assert (family.kind == "counter") == family.full_name.endswith("_total")
        assert not re.search(r"_(ms|milliseconds|minutes|percent)\b", family.full_name)


@pytest.mark.parametrize(
    ("headers", "address", "status"),
    [
        ({}, "127.0.0.1", 200),
        ({}, "::1", 200),
        ({}, "10.1.2.3", 403),
        ({"X-Forwarded-For": "10.1.2.3"}, "127.0.0.1", 403),
        ({"Forwarded": "for=10.1.2.3"}, "127.0.0.1", 403),
        ({"Authorization": "Bearer anything"}, "10.1.2.3", 403),
    ],
)
def test_without_a_token_only_this_machine_may_ask(client, headers, address, status) -> None:
    assert client.get("/metrics", headers=headers, REMOTE_ADDR=address).status_code == status


@pytest.mark.parametrize(
    ("header", "status"), [("Bearer s3cret", 200), ("Bearer wrong", 401), ("Basic s3cret", 401), ("", 401)]
)
def test_with_a_token_only_its_holder_may_ask(client, header, status) -> None:
    with override_settings(METRICS_TOKEN="s3cret"):
        headers = {"Authorization": header} if header else {}
        answer = client.get("/metrics", headers=headers, REMOTE_ADDR="127.0.0.1")
        assert answer.status_code == status
        assert client.post("/metrics").status_code == 405


def test_a_room_that_cannot_be_read_leaves_the_others_theirs(client, monkeypatch) -> None:
    from config import metrics

    def broken() -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")

    monkeypatch.setitem(metrics.ROOMS, "outbox", broken)
    text = client.get("/metrics").content.decode()
    assert 'countersign_metrics_room_read{room="outbox"} 0.0' in text
    assert 'countersign_metrics_room_read{room="runs"} 1.0' in text
    assert "countersign_oldest_ready_step_seconds" in text


def test_no_word_of_a_tenant_is_in_a_label(house) -> None:
    run = house.counted(goal="Very Secret Goal", steps=1)
    hands.run_all(house.me)
    house.reviewed()
    words = " ".join(told())
    for secret in ("Secret", "drill", "contracts.review", "halden", str(run.tenant_id), house.tenant.slug):
        assert secret not in words


def test_reading_costs_the_same_whatever_the_number_of_runs(house, client) -> None:
    """The number of statements does not depend on the data, and none reads a whole table of ended runs."""
    with CaptureQueriesContext(connection) as few:
        client.get("/metrics")
    for _ in range(5):
        house.counted(steps=1)
    hands.run_all(house.me)
    with CaptureQueriesContext(connection) as more:
        client.get("/metrics")
    assert len(few) == len(more)
    assert len(more) < 35


# Each number moves when the thing happens


def test_runs_and_steps_are_counted_once_and_survive_a_restart(house) -> None:
    """S12: runs per state, share that succeeds, steps, durations, what a run uses."""
    before = told()
    house.counted(steps=3)
    assert told()["runs{status=pending}"] == before.get("runs{status=pending}", 0) + 1
    hands.run_all(house.me)
    for _ in range(3):
        assert rise(before, "runs_ended_total{status=succeeded}") == 1
    after = told()
    assert after["runs_submitted_total"] - before["runs_submitted_total"] == 1
    assert rise(before, "steps_ended_total{kind=call,outcome=succeeded}") == 3
    assert rise(before, "step_seconds_count{kind=call}") == 3
    assert rise(before, "step_seconds_bucket{kind=call,le=+Inf}") == 3
    assert rise(before, "run_seconds_count{status=succeeded}") == 1
    assert rise(before, "run_spent_total{what=tool_calls}") == 3
    assert after["history_counted_seconds"] < 60


def test_events_of_a_transaction_that_is_still_open_are_counted_later_and_not_lost(house) -> None:
    """Lines get their time before they are committed: a slow commit with an early time must not be passed over.

    Guards ``runs/sql/tally_mark.sql``: nothing is counted while a transaction is under way that is older than the mark."""
    from django.db import connections

    house.counted(steps=1)
    before = told()
    slow = connections.create_connection("default")
    try:
        slow.set_autocommit(False)
        with slow.cursor() as cursor:
            cursor.execute(
                "INSERT INTO runs_event (tenant_id, run_id, sequence, type, actor, epoch, fence, input_digest, artifacts,"
                " payload, at, hash) SELECT tenant_id, run_id, 1000, 'step.sending', 'engine', 0, 0, '', '{}', '{}', clock_timestamp(), hash"
                " FROM runs_event LIMIT 1"
            )
        hands.run_all(house.me)
        assert rise(before, "steps_ended_total{kind=call,outcome=succeeded}") == 0
        slow.commit()
        assert rise(before, "effects_requested_total") == 1
        assert rise(before, "steps_ended_total{kind=call,outcome=succeeded}") == 1
    finally:
        slow.close()


def test_a_lease_that_ran_out_is_a_loss_a_recovery_and_a_second_executor(house) -> None:
    """L20: remaining lease, concurrent executors, results after loss, fence rejections; S12: expiries, time to recover."""
    house.counted(steps=1)
    (planning,) = hands.take(house.me)
    before = told()
    assert before["leases"] == 1
    assert 0 < before["lease_remaining_seconds{quantile=0.5}"] <= 60
    assert before["step_executors_max"] == 1
    Step.everywhere.filter(pk=planning.step_id).update(lease_until="2020-01-01T00:00:00Z")
    WorkerProcess.objects.filter(pk=house.me.pk).update(last_seen_at=Now() - timedelta(seconds=20))
    assert reclaim() == 1
    other = hands.worker()
    (again,) = hands.take(other)
    assert rise(before, "leases_lost_total{why=expired}") == 1
    assert rise(before, "recovery_seconds_count") == 1
    assert rise(before, "recovery_seconds_sum") > 19
    assert told()["step_executors_max"] == 2
    assert told()["steps_with_several_executors"] == 1
    hands.put(house.me, hands.done(planning))
    assert rise(before, "results_after_loss_total") == 1
    assert rise(before, "fence_rejections_total{at=outcome}") == 1
    assert reclaim() == 0
    workers.gone(worker_id=house.me.pk, how="lock")
    assert told()["step_executors_max"] == 1
    hands.put(other, hands.done(again))


def test_a_worker_that_is_proven_gone_is_counted_apart(house) -> None:
    house.counted(steps=1)
    hands.take(house.me)
    before = told()
    workers.gone(worker_id=house.me.pk, how="lock")
    assert release(worker_id=house.me.pk) == 1
    assert rise(before, "leases_lost_total{why=gone}") == 1


def test_renewals_that_failed_are_a_share_of_all(house) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT date_trunc('hour', clock_timestamp())")
        hour = cursor.fetchone()[0]
    for what, bucket, count in (("renewal", 4, 30), ("failed", 0, 10), ("left", 50, 99), ("left", 10, 1)):
        LeaseMeasure.objects.create(worker=house.me, hour=hour, what=what, bucket=bucket, count=count)
    now = told()
    assert now["lease_renewal_failure_ratio"] == 0.25
    assert now["lease_renewals_recent{result=failed}"] == 10
    assert (
        now["lease_remaining_at_renewal_seconds{quantile=0.01}"]
        < now["lease_remaining_at_renewal_seconds{quantile=0.5}"]
    )


def test_repeats_that_get_the_first_answer_are_dedup_hits(house) -> None:
    """D of L20: a task submitted twice, and an effect that has happened already."""
    before = told()
    key = new_id().hex
    for _ in range(3):
        submit(
            tenant_id=house.tenant.pk,
            submitter_id=house.ada.pk,
            agent="drill-counter",
            goal="Once",
            input={"steps": 1},
            submit_key=key,
        )
    assert rise(before, "dedup_hits_total{at=submit}") == 2
    claimed, go = house.sending(house.reviewed())
    Intent.everywhere.filter(pk=claimed.intent_id).update(status="CONFIRMED", answer={"reply": "250 ok"})
    stop = begin(claimed=claimed, worker_id=house.me.pk, sender=new_id(), pid=2)
    assert isinstance(stop, Stop)
    assert stop.why == "answered"
    assert rise(before, "dedup_hits_total{at=begin}") == 1
    assert go is not None


def test_a_begin_under_an_old_fence_is_rejected_and_counted(house) -> None:
    """F of L20."""
    run = house.reviewed()
    house.answer(run, "approve")
    (claimed,) = hands.take(house.me)
    before = told()
    stale = _with(claimed, fence=claimed.fence - 1)
    stop = begin(claimed=stale, worker_id=house.me.pk, sender=new_id(), pid=1)
    assert isinstance(stop, Stop)
    assert stop.why == "lost"
    assert rise(before, "fence_rejections_total{at=begin}") == 1


def _with(claimed: Claimed, **changes: Any) -> Claimed:
    values = {name: getattr(claimed, name) for name in Claimed.__dataclass_fields__}
    return Claimed(**{**values, **changes})


def test_effects_unknown_outcomes_and_takeovers_are_counted(house) -> None:
    before = told()
    run = house.lost(house.reviewed())
    assert rise(before, "effects_requested_total") == 1
    assert rise(before, "effects_unknown_total") == 1
    assert told()["effects_open{status=unknown}"] == before["effects_open{status=unknown}"] + 1
    assert told()["actions_open{kind=settle}"] == before["actions_open{kind=settle}"] + 1
    assert told()["oldest_action_seconds"] > 0
    assert told()["approval_seconds{quantile=0.95}"] > 0
    assert told()["runs{status=waiting_approval}"] >= 1
    assert told()["run_state_age_seconds{quantile=1,status=waiting_approval}"] > 0
    assert run.status == "WAITING_APPROVAL"


def test_an_agent_that_fails_is_a_takeover_by_its_cause(house) -> None:
    house.counted(steps=1)
    before = told()
    (planning,) = hands.take(house.me)
    plan = hands.planned(planning)
    plan.directives, plan.error = [], "ValueError: no idea"
    hands.put(house.me, Outcome(planning, "succeeded", plan=plan))
    assert rise(before, "takeovers_total{code=agent_raised}") == 1


def test_cancelling_is_timed_and_too_late_is_a_conflict(house) -> None:
    run = house.counted(steps=1)
    before = told()
    cancel(run_id=run.pk, user_id=house.ada.pk)
    assert rise(before, "cancel_seconds_count") == 1
    assert rise(before, "runs_ended_total{status=cancelled}") == 1
    with pytest.raises(AlreadyEnded):
        cancel(run_id=run.pk, user_id=house.ada.pk)
    # What is raised rolls nothing of the count back.
    assert rise(before, "terminal_conflicts_total{what=cancel}") == 1


def test_a_duplicate_that_a_second_person_confirms_is_counted(house) -> None:
    """I of L20: anybody reports with evidence, another confirms; repeats are one report."""
    run = house.sent(house.reviewed())
    intent = Intent.everywhere.get(run_id=run.pk)
    before = told()
    given = {
        "tenant_id": house.tenant.pk,
        "intent_id": intent.pk,
        "evidence": "Two mails with this Message-ID.",
    }
    report = duplicates.report(user_id=house.ada.pk, **given)
    assert duplicates.report(user_id=house.jonas.pk, **given).pk == report.pk
    assert rise(before, "duplicates_reported") == 1
    answer = {
        "tenant_id": house.tenant.pk,
        "report_id": report.pk,
        "confirmed": True,
        "reason": "Both stand in the inbox.",
    }
    with pytest.raises(duplicates.NotReported, match="Another person"):
        duplicates.answer(user_id=house.ada.pk, **answer)
    assert rise(before, "duplicates_confirmed_total") == 0
    duplicates.answer(user_id=house.ben.pk, **answer)
    with pytest.raises(duplicates.NotReported, match="answered already"):
        duplicates.answer(user_id=house.jonas.pk, **answer)
    assert rise(before, "duplicates_confirmed_total") == 1
    assert rise(before, "duplicates_reported") == 0
    with pytest.raises(duplicates.NotReported, match="no such effect"):
        duplicates.report(user_id=house.otto.pk, **{**given, "tenant_id": house.other.pk})


def test_retries_ready_work_and_the_outbox_are_told(house) -> None:
    house.counted(steps=1)
    hands.put(house.me, hands.done(hands.take(house.me)[0]))
    (call,) = hands.take(house.me)
    before = told()
    hands.put(house.me, Outcome(call, "failed", error_code="busy", error_text="Try again"))
    assert rise(before, "steps_given_back_total{kind=call,why=retried}") == 1
    Step.everywhere.filter(pk=call.step_id).update(not_before="2020-01-01T00:00:00Z")
    assert told()["oldest_ready_step_seconds"] > 1000
    Message.objects.update(created_at="2020-01-01T00:00:00Z")
    now = told()
    assert now["outbox_lag_seconds"] > 1000
    assert now["outbox_pending"] == Message.objects.filter(published_at__isnull=True).count()


def test_damaged_files_are_counted_by_what_was_done(house) -> None:
    run: Run = house.sent(house.reviewed())
    before = told()
    report = Artifact.everywhere.get(run=run, name="report.md")
    corrupt.found(artifact_id=report.pk, how="missing", seen_by="download")
    assert rise(before, "artifacts_damaged_total{done=noted}") == 1
    blobs.check(report.uri)


def test_last_claim_and_the_bell_are_those_of_living_nodes(house) -> None:
    assert "last_claim_seconds" not in told()
    WorkerProcess.objects.filter(pk=house.me.pk).update(
        last_claim_at="2020-01-01T00:00:00Z", last_bell_at="2020-01-01T00:00:00Z"
    )
    now = told()
    assert now["last_claim_seconds"] > 1000
    assert now["worker_bell_seconds_max"] > 1000
    assert now["workers{kind=main}"] == 1

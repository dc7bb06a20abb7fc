"""Turns on a resource, quotas and the rule of takeover with real nodes."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from runs.engine.let_in import let_in
from runs.engine.withhold import tell
from runs.models import Event, Run, Step
from tests.runs.engine.limited import STRICT, House, pass_time
from tests.runs.node import real
from tools.models import Intent, WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)

Start = Callable[..., real.Node]


def test_l11_two_nodes_do_the_effects_of_one_resource_one_after_the_other(start: Start, tmp_path: Path):
    """Each effect takes a while between its line in the ledger and its end; no other is dispatched meanwhile, on neither
    node, and all of them happen."""
    ledger = tmp_path / "ledger.jsonl"
    house = House()
    schema = {"type": "object", "properties": {"account": {"type": "string"}, "seconds": {"type": "number"}}}
    house.effect(**{**STRICT, "input_schema": schema})
    for _ in range(2):
        start(COUNTERSIGN_DRILL_LEDGER=str(ledger))
    runs = [
        real.run_of(
            (house.tenant, house.ada), tool="drill.effect", arguments={"account": "7", "seconds": 0.2}
        )
        for _ in range(6)
    ]
    under_way = Intent.everywhere.filter(resource="account/7", status="DISPATCHED")
    left = Run.everywhere.filter(pk__in=[run.pk for run in runs], finished_at__isnull=True)
    seen = set()

    def over() -> bool:
        seen.add(under_way.count())
        return not left.exists()

    real.until(over, seconds=90, what="the runs end")
    assert seen == {0, 1}
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert len({line["key"] for line in lines}) == len(lines) == 6
    fences = [line["fence"] for line in lines]
    assert fences == sorted(fences), "each with a newer token than the one before it"


def test_l16_a_call_that_only_reads_waits_for_its_quota_on_a_real_node(start: Start):
    house = House()
    house.read(quota_per_hour=1)
    start()
    runs = [real.run_of((house.tenant, house.ada), tool="drill.noop") for _ in range(2)]
    rows = Run.everywhere.filter(pk__in=[run.pk for run in runs])
    waits: Run = real.until(lambda: rows.filter(status="WAITING_EXTERNAL").first(), what="one waits")
    real.until(lambda: rows.filter(status="SUCCEEDED").exists(), what="one is done")
    assert waits.waiting_on.startswith("At most 1 call an hour: goes on at ")
    assert Event.everywhere.filter(run=waits, type="step.over_quota").count() == 1
    pass_time()
    assert let_in() == 1
    real.ended(*runs)
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}


def test_l16_a_killed_node_on_this_host_frees_a_step_that_must_not_run_twice(start: Start, tmp_path: Path):
    """Long before its lease ends: the lock that it held proves that it is gone."""
    house = House()
    house.read("drill.gate", takeover_rule="known_gone", isolation="io")
    gate = tmp_path / "open"
    first = start(COUNTERSIGN_LEASE_SECONDS="60")
    run = real.run_of((house.tenant, house.ada), tool="drill.gate", arguments={"path": str(gate)})
    real.running(run)
    second = start(COUNTERSIGN_LEASE_SECONDS="60")
    children = first.children("io")
    first.end(signal.SIGKILL)
    for child in children:
        child.wait(20)
    moved = Step.everywhere.filter(run=run, kind="call", status="RUNNING", owner=second.worker)
    real.until(moved.exists, seconds=30, what="the other node has it")
    assert WorkerProcess.objects.get(pk=first.worker.pk).gone_how == "lock"
    gate.touch()
    real.ended(run)
    assert real.status(run) == "SUCCEEDED"


def test_l16_a_node_that_stood_still_keeps_its_step_and_frees_it_itself(start: Start, tmp_path: Path):
    """Its lease ends while it is stopped; the other node does not take the step. When it goes on, it gives up what it did
    and says so."""
    house = House()
    house.read("drill.gate", takeover_rule="known_gone", isolation="io")
    gate = tmp_path / "open"
    first = start()
    run = real.run_of((house.tenant, house.ada), tool="drill.gate", arguments={"path": str(gate)})
    claimed = real.running(run)
    start()
    first.send(signal.SIGSTOP)
    past = Step.everywhere.filter(pk=claimed.pk, status="RUNNING", owner=first.worker)
    real.until(lambda: past.filter(lease_until__lt=real.database_time()).exists(), what="its lease ends")
    real.until(tell, what="it is told")
    assert past.get().attempt == 1, "the other node looked several times meanwhile"
    assert real.status(run) == "WAITING_EXTERNAL"
    first.send(signal.SIGCONT)
    real.until(lambda: Step.everywhere.filter(pk=claimed.pk, attempt=2).exists(), what="it is free")
    gate.touch()
    real.ended(run)
    assert real.status(run) == "SUCCEEDED"

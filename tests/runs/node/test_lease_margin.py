"""The margin of renewals: a node whose children take all there is keeps every lease (L19)."""

from __future__ import annotations

from collections import Counter

import pytest

from runs import histogram
from runs.models import LeaseMeasure, Run
from tests.runs.node import real
from tests.runs.node.real import Node

pytestmark = [pytest.mark.crash, pytest.mark.timeout(600)]

#: No renewal is later than this with all children at work (the promise), in seconds; tests allow five times as much.
LATEST = 0.25
FULL = {
    "COUNTERSIGN_POOLS": "io:1:400,thread:1:64,cpu:1:1",
    "COUNTERSIGN_LEASE_SECONDS": "6",
    "COUNTERSIGN_RENEW_SECONDS": "0.5",
}


def saturate(start: object, who: object, seconds: float) -> tuple[Node, list[Run]]:
    """64 tools that compute in threads and 200 that sleep, all for so long, all under way."""
    node: Node = start(**FULL)  # type: ignore[operator]
    arguments = {"seconds": seconds}
    runs = [real.run_of(who, tool="drill.grind", arguments=arguments) for _ in range(64)]  # type: ignore[arg-type]
    runs += [real.run_of(who, tool="drill.sleep", arguments=arguments) for _ in range(200)]  # type: ignore[arg-type]
    return node, runs


def check(node: Node, runs: list[Run], seconds: float) -> None:
    real.ended(*runs, seconds=seconds * 4 + 60)
    assert {real.status(run) for run in runs} == {"SUCCEEDED"}
    steps = [step for run in runs for step in real.calls(run)]
    ground = [step.output for step in steps if step.tool == "drill.grind"]
    assert all(output and output["rounds"] > 0 for output in ground)
    # Not its attempts: what could not start at once was given back, which is no loss.
    assert {(step.status, step.losses, step.failures) for step in steps} == {("SUCCEEDED", 0, 0)}
    # The last measurements are written when it ends.
    assert node.end() == 0
    rows = LeaseMeasure.objects.filter(worker=node.worker)
    counts = {
        what: Counter(dict(rows.filter(what=what).values_list("bucket", "count")))
        for what in LeaseMeasure.What.values
    }
    assert counts["renewal"].total() >= seconds / 3
    assert counts["failed"].total() == 0
    assert (
        histogram.quantile(counts["pause"], 0.95) + histogram.quantile(counts["renewal"], 0.95) < LATEST * 5
    )
    assert histogram.bound(min(counts["left"])) > 0.5, "no lease came near its end"


def test_b38_l19_saturated_tools_cost_no_lease(start, who):
    """Guards that tools run in other processes than renewals, and the keeper's thread and connection of its own: steps two
    leases long, on all places, and none is lost."""
    node, runs = saturate(start, who, 12)
    check(node, runs, 12)


@pytest.mark.drills
def test_l19_saturated_tools_cost_no_lease_for_a_minute(start, who):
    node, runs = saturate(start, who, 60)
    check(node, runs, 60)

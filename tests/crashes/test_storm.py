"""A storm: many tasks at once while a seeded hand breaks whatever it draws, and an oracle that shares no code with the product.

`make drills` runs it. DRILL_SEED replays a weather, DRILL_RUNS and DRILL_SECONDS make it longer.
"""

from __future__ import annotations

import math
import os
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import psutil
import pytest

from tests.crashes import checker
from tests.crashes.drill import Drill
from tests.crashes.nemesis import Nemesis
from tests.crashes.robots import SHAPES, Robot

LEASE, POLL = 6.0, 0.5
#: Progress after a fault: a lease, a poll and five seconds, and five times that on a machine that does other things too.
PROMISE = 5 * (LEASE + POLL + 5)
#: Fewer than these prove nothing.
FEWEST_FAULTS, FEWEST_UNKNOWN = 12, 3
NUMBERS = (
    "I1",
    "I2",
    "I3",
    "I4",
    "I5",
    "I6",
    "I7",
    "I8",
    "I9",
    "I10",
    "I11",
    "I12",
    "I13",
    "I14",
    "I15",
    "I16",
)


@pytest.mark.drills
@pytest.mark.timeout(1800)
def test_a_storm_loses_no_run_and_sends_nothing_twice(drill: Drill) -> None:
    seed = int(os.environ.get("DRILL_SEED", "20261130"))
    runs, seconds = int(os.environ.get("DRILL_RUNS", "40")), float(os.environ.get("DRILL_SECONDS", "120"))
    drill.all_up()
    before = _size(drill)
    robots = [Robot(drill, f"S{seed % 10000}n{n}", SHAPES[n % len(SHAPES)], seed + n) for n in range(runs)]
    nemesis = Nemesis(drill, seed, LEASE)
    with ThreadPoolExecutor(8) as hands:
        told = [hands.submit(_life, robot, seconds * n / runs) for n, robot in enumerate(robots)]
        nemesis.blow(seconds)
        for story in told:
            story.result(600)
    drill.all_up()
    findings = _at_rest(drill, robots)
    recovery = _recovery(drill, nemesis)
    findings += [
        checker.Finding("I16", f"{after:.1f} s without progress after {what}")
        for what, after in recovery
        if after > PROMISE
    ]
    findings += _sizes(before, _size(drill))
    unknown = drill.one("SELECT count(*) FROM runs_event WHERE type = 'step.unknown'")[0]
    _report(seed, robots, nemesis, unknown, recovery, findings)
    assert not findings, "\n".join(map(str, findings))
    assert len(nemesis.log) >= FEWEST_FAULTS, f"inconclusive: only {len(nemesis.log)} faults hit something"
    assert unknown >= FEWEST_UNKNOWN, f"inconclusive: only {unknown} outcomes became unknown"


def _life(robot: Robot, after: float) -> None:
    """Tasks come in over the whole storm."""
    time.sleep(after / 8)
    robot.submit()
    robot.follow(patience=400)


def _at_rest(drill: Drill, robots: Sequence[Robot]) -> list[checker.Finding]:
    """What the oracle says; messages get the time of three leases to be told."""
    end = time.monotonic() + 3 * LEASE * 5
    while True:
        with drill.database() as database:
            found = checker.at_rest(database, drill.counted(database), relayed=True)
            found += checker.lost(
                database, {robot.key: uuid.UUID(robot.task.partition("_")[2]) for robot in robots}
            )
        if not found or time.monotonic() > end:
            return found + _told(robots)
        time.sleep(0.5)


def _told(robots: Sequence[Robot]) -> list[checker.Finding]:
    """I14: what clients were told is so."""
    wrong = []
    for robot in robots:
        may = {"rejected": ("SUCCEEDED",), "cancelled": ("CANCELLED", "SUCCEEDED")}.get(
            robot.shape, ("SUCCEEDED",)
        )
        if robot.status not in may:
            wrong.append(checker.Finding("I14", f"{robot.name} ({robot.shape}) ended {robot.status}"))
        if any(code >= 500 and code not in (502, 503, 504) for code in robot.answers):
            wrong.append(checker.Finding("I14", f"{robot.name} was answered {sorted(set(robot.answers))}"))
    return wrong


def _recovery(drill: Drill, nemesis: Nemesis) -> list[tuple[str, float]]:
    """Seconds from each fault to the next line of history, while there was work."""
    with drill.database() as database:
        rows = database.execute("SELECT at FROM runs_event ORDER BY at").fetchall()
    moments: list[datetime] = [row[0] for row in rows]
    found = []
    for at, what in nemesis.log:
        later = next((moment for moment in moments if moment > at), None)
        if later is not None:
            found.append((what, (later - at).total_seconds()))
    return found


def _size(drill: Drill) -> Counter[str]:
    """Processes and connections of the house."""
    connections = drill.one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")[0]
    alive = [process for process in drill.house.family() if _counts(process)]
    return Counter({"processes": len(alive), "connections": int(connections)})


def _counts(process: psutil.Process) -> bool:
    """Those of the server come and go with its connections, which are counted by themselves."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE and not process.name().startswith("postgres")
    except psutil.NoSuchProcess:
        return False


def _sizes(before: Counter[str], after: Counter[str]) -> list[checker.Finding]:
    """I15: nothing piles up. Connections of threads that were busy may still be kept."""
    wrong = []
    if after["processes"] > before["processes"] + 2:
        wrong.append(checker.Finding("I15", f"{before['processes']} processes became {after['processes']}"))
    if after["connections"] > before["connections"] + 12:
        wrong.append(
            checker.Finding("I15", f"{before['connections']} connections became {after['connections']}")
        )
    return wrong


def _report(
    seed: int,
    robots: Sequence[Robot],
    nemesis: Nemesis,
    unknown: int,
    recovery: Sequence[tuple[str, float]],
    findings: Sequence[checker.Finding],
) -> None:
    times = sorted(after for _, after in recovery)
    p95 = times[math.ceil(len(times) * 0.95) - 1] if times else 0.0
    ended = Counter(robot.status for robot in robots)
    settled = Counter(answer for robot in robots for answer in robot.settled)
    print(f"\nDRILL_SEED={seed}: {len(robots)} tasks ended {dict(ended)}, {len(nemesis.log)} faults")
    print(f"unknown {unknown}, settled {dict(settled)}, progress after a fault: p95 {p95:.1f} s")
    for at, what in nemesis.log:
        print(f"  {at:%H:%M:%S.%f} {what}")
    print(checker.table(findings, NUMBERS))

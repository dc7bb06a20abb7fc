"""A storm: many runs at once while a seeded hand kills whatever it draws. `make drills` runs it; COUNTERSIGN_SEED and
COUNTERSIGN_STORM_RUNS choose another weather."""

from __future__ import annotations

import functools
import os
import random
import time
from concurrent.futures import Future, ThreadPoolExecutor

import psutil
import pytest

from tests.crashes.drill import Drill, until
from tests.crashes.test_kill_anything import PROCESSES

SECONDS = 60.0


@pytest.mark.drills
@pytest.mark.timeout(1800)
def test_a_storm_loses_no_run_and_sends_nothing_twice(drill: Drill) -> None:
    seed = int(os.environ.get("COUNTERSIGN_SEED", "20261130"))
    runs = int(os.environ.get("COUNTERSIGN_STORM_RUNS", "20"))
    weather = random.Random(seed)
    drill.all_up()
    names = [f"Storm{seed % 1000}n{number}" for number in range(runs)]
    with ThreadPoolExecutor(4) as robots:
        tasks = list(robots.map(lambda name: drill.submit(name, drill.upload(name)), names))
        told = [
            robots.submit(drill.finish, name, task, patience=500)
            for name, task in zip(names, tasks, strict=True)
        ]
        faults = _blow(drill, weather)
        settled = [answer for story in told for answer in until_done(story)]
    drill.all_up()
    print(f"seed {seed}: {runs} runs, {len(faults)} kills {faults}, {len(settled)} settled {settled}")
    assert faults
    for name, task in zip(names, tasks, strict=True):
        assert drill.task(task)["status"] == "SUCCEEDED"
        assert drill.mails(name) == 1
    drill.manage("verify_runs", *tasks)


def until_done(story: Future[list[str]]) -> list[str]:
    """The result of one robot; its error is ours."""
    return story.result(600)


def _find(drill: Drill, process: str, child: str) -> psutil.Process | None:
    """The victim, unless it is on its way back from the last kill."""
    try:
        return drill.victim(process, child=child)
    except (AssertionError, psutil.NoSuchProcess):
        return None


def _blow(drill: Drill, weather: random.Random) -> list[str]:
    """Kills, one after the other, each when everything is up again; what was hit."""
    hit: list[str] = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        drill.all_up()
        process = weather.choice(PROCESSES)
        child = weather.choice(("io", "thread", "cpu"))
        victim = until(functools.partial(_find, drill, process, child), what=process)
        drill.kill(victim)
        hit.append(process if process != "child" else f"{child} child")
        time.sleep(weather.uniform(0.2, 2.0))
    return hit

"""`make demo`: the story at the terminal, told to its end or ended in plain words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest

from demo import chain
from tests.house.houses import SERVER_NAMES, gone
from tests.needs import ROOT

RUN = "run_" + "1" * 32


def demo(
    folder: Path, *options: str, **environment: str
) -> tuple[subprocess.CompletedProcess[str], list[psutil.Process]]:
    """Its end, and the processes that it started."""
    env = {name: value for name, value in os.environ.items() if name not in SERVER_NAMES}
    env |= {"DATA_DIR": str(folder / "data"), "TMPDIR": str(folder), "LANG": "C.UTF-8", **environment}
    command = [sys.executable, "-m", "demo", *options]
    running = subprocess.Popen(
        command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout is not None
    seen: list[psutil.Process] = []
    said = ""
    for line in running.stdout:
        said += line
        if not seen and line.startswith("It is up"):
            seen = psutil.Process(running.pid).children(recursive=True)
    _, errors = running.communicate(timeout=60)
    return subprocess.CompletedProcess(command, running.returncode, said, errors), seen


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_demo_tells_the_story_to_its_end_and_leaves_nothing(tmp_path: Path) -> None:
    ended, started = demo(tmp_path, "--own")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Arrivals of this letter: 1" in ended.stdout
    assert "The chain holds" in ended.stdout
    assert ended.stderr == ""
    assert len(started) > 5
    assert gone(started) == []
    assert list(tmp_path.glob("countersign-demo-*")) == []


def test_a_house_that_cannot_start_ends_the_story_in_words(tmp_path: Path) -> None:
    ended, _ = demo(tmp_path, "--own", LOG_LEVEL="LOUD")
    assert ended.returncode == 1
    assert "The house did not start" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr


def events(count: int) -> list[dict[str, Any]]:
    """A whole chain, linked by the rule of the docstring of `demo.chain`."""
    rows: list[dict[str, Any]] = []
    before = bytes(32)
    for sequence in range(1, count + 1):
        row = {
            "sequence": sequence, "type": "step.succeeded", "step": "", "actor": "engine", "epoch": 0, "fence": sequence,
            "input_digest": "", "artifacts": [], "payload": {"key": f"k{sequence}"}, "at": "2026-11-30T12:00:00.5Z",
        }  # fmt: skip
        before = chain._hash(before, RUN, row)
        rows.append({**row, "hash": before.hex()})
    return rows


def test_the_observer_sees_a_changed_a_missing_and_a_swapped_line() -> None:
    whole = events(4)
    assert chain.problems(RUN, whole) == []
    changed = orjson.loads(orjson.dumps(whole))
    changed[1]["payload"]["key"] = "other"
    assert chain.problems(RUN, changed) == ["line 2 does not match its hash"]
    assert chain.problems(RUN, [*whole[:1], *whole[2:]]) == ["line 2 is missing"]
    swapped = [whole[0], {**whole[2], "sequence": 2}, {**whole[1], "sequence": 3}, whole[3]]
    assert chain.problems(RUN, swapped) == ["line 2 does not match its hash"]
    assert chain.problems("run_" + "2" * 32, whole) == ["line 1 does not match its hash"]

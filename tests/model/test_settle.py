"""`settle.pml` holds, and each of its mutants fails: two intents of one run, senders that may be paused, a person who settles.

Spin makes a C program that visits every reachable state. What holds is searched in full, depth first; a mutant is searched
breadth first, which finds its shortest story.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.needs import program

MODEL = Path(__file__).with_name("settle.pml")
HOLDS = ("", "GATEWAY", "DEDUP")
#: mutant → what it breaks, as Spin prints the assertion.
BREAKS = {
    "NOFENCE": "intent[i]==5",
    "NOCONSUME": "grant[k]!=1",
    "ANYGRANT": "approved[i]",
    "BLINDRETRY": "intent[i]==5",
    "NOQUIESCE": "intent[i]==5",
    "EARLYLOOK": "effects[0]==0",
    "FORGETINTENT": "intent[i]==5",
    "NOCANCEL": "approved[i]",
    "NOTERMINAL": "ends==1",
    "NOASK": "asked[0]",
    "HASTYCANCEL": "step[k]==4",
}
#: States of a search that is worth something; a guard that blocks everything would hold too.
MANY = 1_000_000
PROCESSES = ("Node", "Sweep", "Engine", "Person", "Planner", "Watch")


@dataclass(frozen=True)
class Search:
    """What one search said. ``violated`` is empty when it visited everything and found nothing."""

    states: int
    violated: str
    text: str


def search(folder: Path, variant: str) -> Search:
    spin, compiler = program("spin", "spin"), program("cc", "gcc")
    chosen = [f"-D{variant}"] if variant else []
    _run([spin, "-a", *chosen, str(MODEL)], folder)
    kind = ["-O2"] if variant in HOLDS else ["-O0", "-DBFS"]
    options = ["-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=3000", *kind]
    _run([compiler, *options, "-o", "pan", "pan.c"], folder)
    text = _run(["./pan", "-m1000000"], folder)
    states = re.search(r"(\d+) states, stored", text)
    violated = re.search(r"^pan:1: (.*)$", text, re.MULTILINE)
    assert states, text
    assert "max search depth too small" not in text
    assert "reached -DMEMLIM bound" not in text
    return Search(int(states[1]), violated[1] if violated else "", text)


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("variant", HOLDS, ids=lambda name: name or "as built")
def test_the_protocol_holds_in_every_reachable_state(tmp_path: Path, variant: str) -> None:
    found = search(tmp_path, variant)
    assert found.violated == "", found.text
    assert "errors: 0" in found.text
    assert found.states > MANY
    # A statement that no story comes to would say nothing about the product.
    if not variant:
        unreached = re.findall(r"unreached in proctype (\w+)\s+\((\d+) of \d+ states\)", found.text)
        assert dict(unreached) == dict.fromkeys(PROCESSES, "0")


@pytest.mark.parametrize("mutant", BREAKS)
def test_each_rule_of_the_protocol_is_needed(tmp_path: Path, mutant: str) -> None:
    found = search(tmp_path, mutant)
    assert "assertion violated" in found.violated
    assert BREAKS[mutant] in found.violated

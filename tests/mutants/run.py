"""Runs mutants in a copy of the tree, over one pair of servers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.house.tree import files, name
from tests.mutants.mutant import Mutant
from tests.plugins import servers

#: No set of tests of one mutant takes this long, in seconds.
LONGEST = 900
COMMAND = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "--timeout", "400")


@dataclass(frozen=True, slots=True)
class Told:
    """What the tests said: ``passed``, ``failed`` (an assertion noticed it) or ``broken`` (they could not run)."""

    verdict: str
    test: str = ""
    text: str = ""


def run_all(mutants: Sequence[Mutant]) -> int:
    """The table, and 0 when every mutant was noticed."""
    if not mutants:
        return 0
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="countersign-mutants-") as folder, served():
        place = Path(folder) / "tree"
        copy_tree(place)
        tests = sorted({test for mutant in mutants for test in mutant.tests})
        print(
            f"{len(mutants)} mutants, {len(tests)} tests. First all tests with every guard on …", flush=True
        )
        before = run(place, tests, anew=True)
        if before.verdict != "passed":
            print(f"With every guard on: {before.verdict} {before.test}\n{before.text}")
            return 2
        print(
            "| Number | Guard switched off | Test that failed | Verdict | Seconds |\n|---|---|---|---|---:|"
        )
        anew = False
        for mutant in mutants:
            started = time.monotonic()
            told, anew = attempt(place, mutant, anew=anew)
            seconds = time.monotonic() - started
            noticed = told.verdict == "failed"
            survivors += not noticed
            word = "noticed" if noticed else f"**{'survived' if told.verdict == 'passed' else told.verdict}**"
            print(
                f"| {mutant.number} | {mutant.guard} | `{told.test}` | {word} | {seconds:.0f} |", flush=True
            )
            if told.verdict == "broken":
                print(told.text, file=sys.stderr)
    print(f"\n{len(mutants) - survivors} of {len(mutants)} noticed.")
    return 1 if survivors else 0


def attempt(place: Path, mutant: Mutant, *, anew: bool) -> tuple[Told, bool]:
    """What the tests say with this guard off, and whether the next run needs a new database."""
    file = place / mutant.file
    whole = file.read_text(encoding="utf-8")
    try:
        changed = mutant.applied(whole)
    except (ValueError, OSError) as error:
        return Told("stale", text=str(error)), anew
    file.write_text(changed, encoding="utf-8")
    try:
        told = run(place, mutant.tests, anew=anew or mutant.schema)
    finally:
        file.write_text(whole, encoding="utf-8")
    return told, mutant.schema or told.verdict == "broken"


def run(place: Path, tests: Sequence[str], *, anew: bool) -> Told:
    """Runs these tests in the copy, up to the first that fails."""
    report = place / "report.xml"
    report.unlink(missing_ok=True)
    database = "--create-db" if anew else "--reuse-db"
    command = [sys.executable, *COMMAND, "--reuse-db", database, f"--junitxml={report}", *tests]
    try:
        ended = subprocess.run(
            command,
            cwd=place,
            env=environment(),
            check=False,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return Told("broken", text=f"It took longer than {LONGEST} s.")
    text = (ended.stdout + ended.stderr)[-3000:]
    failed = _failed(report)
    if ended.returncode == 0:
        return Told("passed")
    if ended.returncode == 1 and failed:
        return Told("failed", failed, text)
    return Told("broken", text=text)


def _failed(report: Path) -> str:
    """The name of the first test with a failure; an error of a fixture or an import is none."""
    if not report.exists():
        return ""
    cases = ET.parse(report).getroot().iter("testcase")
    names = (str(case.get("name")) for case in cases if case.find("failure") is not None)
    return next(names, "").partition("[")[0]


def copy_tree(place: Path) -> None:
    """What git tracks, and what is new and not ignored."""
    for path in files():
        target = place / name(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


def environment() -> dict[str, str]:
    """That of the servers; old bytecode must not stand in for a changed file."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


@contextmanager
def served() -> Iterator[None]:
    """One PostgreSQL and one Valkey for all runs."""
    servers.prepare()
    try:
        yield
    finally:
        servers.stop()

"""The import contracts hold, and each of them can be broken: a rule that nothing can break proves nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.tree import ROOMS
from tests.needs import ROOT

LINTER = Path(sys.executable).with_name("lint-imports")
# contract → (file to spoil, import that it must not have)
VIOLATIONS = {
    "rooms": ("accounts/models/base.py", "import runs.engine"),
    "runs": ("runs/states.py", "import runs.models"),
    "approvals": ("approvals/rules.py", "import approvals.decide"),
    "tools": ("tools/gate.py", "import tools.intents"),
    "outbox": ("outbox/models/message.py", "import outbox.append"),
    "accounts": ("accounts/ids.py", "import accounts.models"),
    "children": ("runs/agents/base.py", "import django.conf"),
    "engine": ("runs/engine/claim.py", "import celery"),
    "supervisor": ("config/up/house.py", "import accounts.ids"),
}


def contracts() -> list[dict[str, str]]:
    found: list[dict[str, str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
        "importlinter"
    ]["contracts"]
    return found


def lint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINTER), "--no-cache", "--config", "pyproject.toml", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "*.sql"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_all_contracts_are_kept() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout


def test_every_contract_has_its_violation() -> None:
    assert {contract["id"] for contract in contracts()} == set(VIOLATIONS)


@pytest.mark.parametrize("contract", VIOLATIONS)
def test_a_violation_is_found(copy: Path, contract: str) -> None:
    file, statement = VIOLATIONS[contract]
    spoilt = copy / file
    spoilt.write_text(f"{spoilt.read_text()}\n\ndef _spoilt() -> None:\n    {statement}\n")
    result = lint(copy, "--contract", contract)
    assert result.returncode == 1, result.stdout
    name = next(c["name"] for c in contracts() if c["id"] == contract)
    assert f"{name} BROKEN" in " ".join(result.stdout.split())

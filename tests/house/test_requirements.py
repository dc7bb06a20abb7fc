"""What the product imports is what `make up` installs, and nothing is installed for nobody."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.house.tree import ROOMS, files, name
from tests.needs import ROOT

OURS = {*ROOMS, "tests", "bench", "demo", "evals", "manage"}
# `make bench`, the tests and their tools run on dev.txt as well; everything else on base.txt alone.
TESTS = {"tests", "bench"}
# These run in an environment of their own; what belongs to a distribution of another name.
PEERS = ROOT / "bench" / "peers" / "work"
PARTS = {"psycopg_pool": "psycopg", "redis": "celery", "asyncpg": "pgqueuer"}


def listed(file: str) -> set[str]:
    lines = (ROOT / "requirements" / file).read_text().splitlines()
    names = (
        re.split(r"[\[~=<>]", line)[0].strip() for line in lines if line and not line.startswith(("#", "-"))
    )
    return {re.sub(r"[-_.]+", "-", part).lower() for part in names}


@cache
def distributions() -> dict[str, set[str]]:
    return {
        module: {re.sub(r"[-_.]+", "-", part).lower() for part in parts}
        for module, parts in packages_distributions().items()
    }


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    found |= {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }
    return {module.split(".")[0] for module in found} - OURS - set(sys.stdlib_module_names)


def test_every_import_is_a_requirement_of_its_own() -> None:
    """A library that only came along with another one leaves with it."""
    base, dev = listed("base.in"), listed("dev.in")
    stray = [
        f"{name(path)}: {module}"
        for path in files(".py")
        if PEERS not in path.parents
        for module in imported(path)
        if not distributions().get(module, set())
        & (base | dev if path.relative_to(ROOT).parts[0] in TESTS else base)
    ]
    assert stray == []


def test_every_import_of_a_peer_is_in_its_own_list() -> None:
    """The comparison must not run on libraries that happen to be there."""
    scripts = [path for path in files(".py") if PEERS in path.parents]
    found = {PARTS.get(module, module) for path in scripts for module in imported(path) - {"speak"}}
    assert found
    assert found <= listed("peers.in")


def test_nothing_is_installed_for_nobody() -> None:
    product = "\n".join(p.read_text() for p in files(".py") if p.relative_to(ROOT).parts[0] not in TESTS)
    modules: dict[str, set[str]] = {}
    for module, parts in distributions().items():
        for part in parts:
            modules.setdefault(part, set()).add(module)
    unused = {
        part
        for part in listed("base.in")
        if not any(re.search(rf"\b{re.escape(module)}\b", product) for module in modules.get(part, set()))
    }
    assert unused == set()

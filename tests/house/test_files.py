"""Rules that hold for every file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.house.tree import ROOMS, files, name
from tests.needs import ROOT

TEXT_SUFFIXES = {
    ".cfg", ".css", ".html", ".in", ".js", ".json", ".md", ".po", ".pml", ".py", ".sh", ".sql", ".svg", ".toml", ".txt",
    ".yaml", ".yml", "",
}  # fmt: skip
LONGEST_FILE, LONGEST_FUNCTION, USUAL_FILE = 400, 80, 120
# Pieces are joined so that this file does not find itself.
MACHINE_PATHS = re.compile(
    r"(?<![\w.-])/(?:" + "|".join(("wo" + "rk", "ro" + "ot", "ho" + "me")) + r")/[\w.-]"
)
REGISTRIES = re.compile(
    "|".join(("pypi" + r"\.org", "python" + r"hosted\.org", "npm" + r"js\.org", "--index" + "-url"))
)


def texts() -> list[Path]:
    return [path for path in files() if path.suffix in TEXT_SUFFIXES]


def python() -> list[Path]:
    return [path for path in files(".py") if "migrations" not in path.parts]


def test_no_file_names_this_machine_or_a_registry() -> None:
    found = [
        f"{name(path)}:{number}: {line.strip()[:100]}"
        for path in texts()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if MACHINE_PATHS.search(line) or REGISTRIES.search(line)
    ]
    assert found == []


def test_files_and_functions_stay_short() -> None:
    long_files = {
        name(path): n for path in python() if (n := len(path.read_text().splitlines())) > LONGEST_FILE
    }
    assert long_files == {}
    long_functions = [
        f"{name(path)}:{node.lineno} {node.name}"
        for path in python()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]
    assert long_functions == []


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_and_package_of_it_has_a_plaque(room: str) -> None:
    """A package opens with what it owns; the room's own names its words, dangers and lock order too."""
    for init in (ROOT / room).rglob("__init__.py"):
        if {"migrations", "management", "commands", "templatetags"} & set(init.parts):
            continue
        plaque = ast.get_docstring(ast.parse(init.read_text())) or ""
        assert len(plaque) > 40, f"{name(init)} says nothing about what it owns"
    plaque = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text())) or ""
    for word in ("Owns", "Words", "Dangers", "Lock order"):
        assert word in plaque, f"{room}: the plaque does not say: {word}"


INLINE = {
    "a script in the page": re.compile(
        r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>", re.IGNORECASE
    ),
    "a style element": re.compile(r"<style\b", re.IGNORECASE),
    "a style attribute": re.compile(r"\sstyle=", re.IGNORECASE),
    "an inline handler": re.compile(r"\son[a-z]+=[\"']", re.IGNORECASE),
    "a handler of htmx": re.compile(r"\shx-on", re.IGNORECASE),
    "script in an htmx value": re.compile(r"[\"']js:|javascript:", re.IGNORECASE),
    "another origin": re.compile(r"(?:src|href)=[\"'](?:https?:)?//(?!\{)", re.IGNORECASE),
}


@pytest.mark.parametrize("kind", INLINE)
def test_templates_hold_nothing_the_policy_forbids(kind: str) -> None:
    pattern = INLINE[kind]
    pages = [path for path in files(".html") if "templates" in path.parts]
    assert pages
    found = [
        f"{name(page)}: {match.group(0)}"
        for page in pages
        for match in pattern.finditer(
            re.sub(r"\{%\s*comment.*?endcomment\s*%\}", "", page.read_text(), flags=re.DOTALL)
        )
        if "xmlns" not in match.string[max(0, match.start() - 10) : match.start() + 6]
    ]
    assert found == []


def test_the_promise_nobody_can_keep_is_not_made() -> None:
    promise = re.compile("exactly" + r"[\s-]+once", re.IGNORECASE)
    found = [name(path) for path in texts() if promise.search(path.read_text(errors="replace"))]
    assert found == []

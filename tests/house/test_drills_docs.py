"""The page of drills names tests that are there."""

from __future__ import annotations

import ast
import re

import pytest

from tests.needs import ROOT

PAGE = (ROOT / "docs/reference/drills.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


def test_all_fifteen_are_there() -> None:
    assert re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE) == [str(number) for number in range(1, 16)]


@pytest.mark.parametrize(("path", "name"), NAMED, ids=lambda word: word.rpartition("/")[2])
def test_a_named_test_is_there(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert not name or name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}

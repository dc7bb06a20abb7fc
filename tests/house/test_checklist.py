"""Every line of the security checklist that the product has to hold names tests, and they are there."""

from __future__ import annotations

import ast
import re

import pytest

from tests.needs import ROOT

LINES = [*range(1, 13), *range(16, 24), *range(28, 32)]
TABLE = (
    (ROOT / "docs" / "reference" / "faults.md")
    .read_text(encoding="utf-8")
    .partition("## Security checklist")[2]
)


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_checklist_has_tests_that_exist(line: int) -> None:
    (row,) = re.findall(rf"^\| C{line} \|.*::.*$", TABLE, re.MULTILINE)
    nodes = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
    assert nodes, row
    for path, function in nodes:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert function in {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}, (
            path,
            function,
        )

"""The catalogue of mutants keeps up with the code: quick, without running any of their tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.tree import files, name
from tests.mutants.catalogue import MUTANTS, NUMBERS
from tests.mutants.mutant import Mutant
from tests.needs import ROOT


def functions_of(path: str) -> Iterator[tuple[str, str]]:
    """(name, docstring) of every test of a file."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name, ast.get_docstring(node) or ""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.number}: {mutant.guard}")
def test_a_mutant_still_fits_and_its_tests_are_there(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert mutant.applied(text) != text
    if mutant.file.endswith(".py"):
        ast.parse(mutant.applied(text))
    for test in mutant.tests:
        path, _, case = test.partition("::")
        function = case.partition("[")[0]
        names = {found for found, _ in functions_of(path)}
        assert not function or function in names, test


def test_every_number_has_a_mutant() -> None:
    assert {mutant.number for mutant in MUTANTS} >= set(NUMBERS)


@pytest.mark.parametrize("number", NUMBERS)
def test_every_number_has_a_test_that_says_what_it_guards(number: str) -> None:
    named = re.compile(rf"_{number.lower()}_")
    found = [
        docstring
        for path in files(".py")
        if name(path).startswith("tests/") and path.name.startswith("test_")
        for function, docstring in functions_of(name(path))
        if named.search(function)
    ]
    assert found, f"no test is named test_{number.lower()}_…"
    assert any("Guards" in docstring for docstring in found)

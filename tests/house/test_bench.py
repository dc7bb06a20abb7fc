"""The bench's list of measures is what is there."""

from __future__ import annotations

import importlib

from bench.__main__ import GROWTH, MEASURES
from tests.needs import ROOT


def test_every_measure_of_the_list_can_be_taken():
    missing = [
        name
        for name in (*MEASURES, GROWTH)
        if not callable(getattr(importlib.import_module(f"bench.{name}"), "measure", None))
    ]
    assert missing == []


def test_every_measure_that_is_there_is_in_the_list():
    there = {
        path.stem
        for path in (ROOT / "bench").glob("*.py")
        if "\ndef measure(" in path.read_text(encoding="utf-8")
    }
    assert there == {*MEASURES, GROWTH}

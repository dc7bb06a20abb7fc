"""Tables for spreadsheets: cells that are shown and never run (fault B85)."""

import csv
from collections.abc import Iterable, Iterator
from typing import Any

_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def neutral(text: str) -> str:
    """A cell that a spreadsheet shows and never runs. Source: OWASP, CSV Injection."""
    return f"'{text}" if text.lstrip(" \n").startswith(_STARTS) or text.startswith(_STARTS) else text


def lines(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """CSV, line by line, with the mark by which spreadsheets know UTF-8."""
    writer = csv.writer(_Echo())
    yield "\ufeff" + _line(writer, head)
    for row in rows:
        yield _line(writer, row)


def _line(writer: Any, cells: Iterable[str]) -> str:
    return str(writer.writerow([neutral(cell) for cell in cells]))


class _Echo:
    """A file whose write gives the line back."""

    def write(self, line: str) -> str:
        return line

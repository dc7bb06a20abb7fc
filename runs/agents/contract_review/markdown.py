"""The report as Markdown (CommonMark with tables); text from documents is escaped, never interpreted."""

from __future__ import annotations

import re

from runs.agents.contract_review.report import Block, Bullets, Heading, Paragraph, Report, Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")


def escape(text: str) -> str:
    """Text on one line in which nothing is markup."""
    flat = " ".join(text.split())
    flat = _SPECIAL.sub(r"\\\1", flat)
    return re.sub(r"^([-+]|\d+[.)])(?=\s)", r"\\\1", flat)


def to_markdown(report: Report) -> str:
    """The whole report, ending with a line break."""
    return "\n\n".join(_block(block) for block in report.blocks) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {escape(text)}"
        case Paragraph(text):
            return escape(text)
        case Bullets(lines):
            return "\n".join(f"- {escape(line)}" for line in lines)
        case Table(head, rows, _):
            grid = [_row(head), _row(("---",) * len(head), raw=True), *(_row(row) for row in rows)]
            return "\n".join(grid)


def _row(cells: tuple[str, ...], *, raw: bool = False) -> str:
    return "| " + " | ".join(cell if raw else escape(cell) for cell in cells) + " |"

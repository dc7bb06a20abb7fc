"""The report as plain blocks, so that the Markdown and the printable form say the same.

Order: summary, risks from worst to least, deadlines, each document with every quote and its place, what
could not be read, what people marked as wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from runs.agents.contract_review.findings import FIELDS, LABELS

DISCLAIMER = (
    "Made by fixed rules from the text of the documents. Every quote stands in its document as "
    "shown. The rules can "
    "miss a clause or misread one; this is no legal advice."
)
_KINDS = {"expiry": "End of the term", "non_renewal_notice": "Last day to stop the renewal"}
_LONG = 420


@dataclass(frozen=True, slots=True)
class Heading:
    """A title of `level` 1 to 3."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """Short lines, one each."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Cells are plain text; `widths` are shares of the page width."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    widths: tuple[float, ...]


Block = Heading | Paragraph | Bullets | Table


@dataclass(frozen=True, slots=True)
class Report:
    """All blocks, and the counts in them."""

    blocks: tuple[Block, ...]
    summary: dict[str, Any] = field(default_factory=dict)


def build_report(
    documents: list[dict[str, Any]],
    deadlines: list[dict[str, Any]],
    urgent: dict[str, Any] | None,
    today: date,
) -> Report:
    """Blocks of the report over joined documents (`work.join_reviews`)."""
    read = [document for document in documents if not document["refused"]]
    refused = [document for document in documents if document["refused"]]
    risks = _risks(read)
    summary = {
        "documents": len(documents),
        "read": len(read),
        "refused": len(refused),
        "duplicates": sum(len(document["duplicates"]) for document in documents),
        "findings": sum(len(document["findings"]) for document in read),
        "corrected": sum("correction" in finding for document in read for finding in document["findings"]),
        "high": sum(risk[0] == "high" for risk in risks),
        "medium": sum(risk[0] == "medium" for risk in risks),
    }
    blocks: list[Block] = [
        Heading("Contract review", 1),
        Paragraph(f"As of {today.isoformat()}."),
        Heading("Summary"),
        Bullets(_summary_lines(summary, urgent, today)),
        Heading("Risks"),
        _risk_table(risks),
        Heading("Deadlines"),
        _deadline_table(deadlines),
    ]
    for document in read:
        blocks += _document(document)
    blocks += _not_read(refused)
    blocks.append(Paragraph(DISCLAIMER))
    return Report(tuple(blocks), summary)


def place(finding: dict[str, Any]) -> str:
    """Where a quote stands: `page 7`, or `character 1,204` where the format has no pages."""
    return f"page {finding['page']}" if finding["page"] else f"character {finding['start']:,}"


def one_line(text: str) -> str:
    """A quote on one line; only line breaks and runs of blanks change."""
    return " ".join(text.split())


def count_of(number: int, noun: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _summary_lines(summary: dict[str, Any], urgent: dict[str, Any] | None, today: date) -> tuple[str, ...]:
    lines = [f"{count_of(summary['read'], 'document')} read, {summary['refused']} not read."]
    if summary["duplicates"]:
        lines.append(
            f"{count_of(summary['duplicates'], 'file')} came again and was not reviewed a second time."
        )
    lines.append(f"{count_of(summary['high'], 'high risk')}, {count_of(summary['medium'], 'medium risk')}.")
    if urgent:
        days = (date.fromisoformat(urgent["day"]) - today).days
        lines.append(
            f"Most urgent: {_KINDS[urgent['kind']].lower()} of {urgent['file']} on {urgent['day']}, "
            f"{'today' if days == 0 else 'in ' + count_of(days, 'day')}."
        )
    else:
        lines.append("No coming deadline could be computed from what the documents state.")
    if summary["corrected"]:
        lines.append(
            f"{count_of(summary['corrected'], 'finding')} marked wrong by a person and left out of the above."
        )
    return tuple(lines)


def _risks(documents: list[dict[str, Any]]) -> list[tuple[str, str, str, str, str]]:
    """(rating, file, field, reason, quote and place), worst first."""
    found = []
    for document in documents:
        for finding in document["findings"]:
            if finding["risk"] in {"high", "medium"} and "correction" not in finding:
                quote = f"“{_short(finding['text'])}” ({place(finding)})"
                found.append(
                    (finding["risk"], document["file"], LABELS[finding["field"]], finding["reason"], quote)
                )
        found += [
            (gap["risk"], document["file"], LABELS[gap["field"]], gap["reason"], "Nothing found")
            for gap in document["gaps"]
            if gap["risk"] in {"high", "medium"}
        ]
    return sorted(found, key=lambda risk: risk[0] != "high")


def _short(text: str) -> str:
    flat = one_line(text)
    return flat if len(flat) <= _LONG else flat[:_LONG].rsplit(" ", 1)[0] + " […]"


def _risk_table(risks: list[tuple[str, str, str, str, str]]) -> Block:
    if not risks:
        return Paragraph("No high or medium risk was found.")
    rows = tuple(
        (rating.capitalize(), f"{file}: {label}", reason, quote)
        for rating, file, label, reason, quote in risks
    )
    return Table(("Risk", "Where", "Why", "Quote"), rows, (0.09, 0.21, 0.25, 0.45))


def _deadline_table(deadlines: list[dict[str, Any]]) -> Block:
    if not deadlines:
        return Paragraph("None of the documents states the end of a term.")
    rows = tuple(
        (
            (d["day"] + (" (passed)" if d["passed"] else "")) if d["day"] else "Unknown",
            _KINDS[d["kind"]],
            d["file"],
            d["how"],
        )
        for d in deadlines
    )
    return Table(("Day", "What", "Document", "How it was computed"), rows, (0.15, 0.18, 0.25, 0.42))


def _document(document: dict[str, Any]) -> list[Block]:
    pages = f", {count_of(document['pages'], 'page')}" if document["pages"] else ""
    facts = [f"{document['kind'].upper()}{pages}, {document['size']:,} bytes, SHA-256 {document['sha256']}."]
    facts += [
        f"The same document came again as {name}; it was reviewed once." for name in document["duplicates"]
    ]
    facts += document["warnings"]
    rows: list[tuple[str, ...]] = []
    for code, label in FIELDS:
        found = [finding for finding in document["findings"] if finding["field"] == code]
        rows += [(label, one_line(f["text"]), place(f), _rating(f)) for f in found]
        gap = next((g for g in document["gaps"] if g["field"] == code), None)
        if not found:
            rows.append(
                (label, "Nothing found", "", f"{gap['risk'].capitalize()}: {gap['reason']}" if gap else "")
            )
    table = Table(("Field", "Quote", "Place", "Rating"), tuple(rows), (0.15, 0.5, 0.11, 0.24))
    return [Heading(document["file"]), Bullets(tuple(facts)), table]


def _rating(finding: dict[str, Any]) -> str:
    rating = "" if finding["risk"] == "none" else finding["risk"].capitalize()
    text = f"{rating}: {finding['reason']}" if finding["reason"] else rating
    mark = finding.get("correction")
    if mark:
        comment = f": {mark['comment']}" if mark.get("comment") else ""
        return f"Marked wrong by {mark['by']} at {mark['at']}{comment}"
    return text


def _not_read(refused: list[dict[str, Any]]) -> list[Block]:
    if not refused:
        return []
    rows = tuple((document["file"], document["refused"]["message"]) for document in refused)
    return [Heading("Not read"), Table(("Document", "Why"), rows, (0.3, 0.7))]

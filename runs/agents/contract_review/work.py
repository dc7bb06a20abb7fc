"""The front door of the contract review: review one file, join the reviews of a task.

Both are pure and deterministic, take and return JSON-ready values (the printable report aside, which is
bytes), and never raise for a bad document: what cannot be read comes back as a refusal in plain words.
"""

from __future__ import annotations

import hashlib
import io
from datetime import date
from pathlib import Path
from typing import Any

from runs.agents.contract_review.clauses import read_clauses
from runs.agents.contract_review.deadlines import deadlines_of, most_urgent_deadline
from runs.agents.contract_review.findings import DocumentReview, Gap, verify
from runs.agents.contract_review.forms import read_cover, read_form
from runs.agents.contract_review.letter import draft_letter, on_paper
from runs.agents.contract_review.markdown import to_markdown
from runs.agents.contract_review.preamble import read_opening
from runs.agents.contract_review.printable import to_pdf
from runs.agents.contract_review.report import build_report
from runs.agents.contract_review.risk import rate
from runs.agents.contract_review.table import findings_csv
from runs.agents.contract_review.values import with_value
from runs.agents.contract_review.view import View
from runs.documents import Document, Source, Unreadable, read, sanitize_text

_NOT_A_CONTRACT = (
    "This does not look like a contract in English: neither a title nor parties were found. Nothing "
    "was rated. "
    "Check that the right file was given."
)


def review_document(source: Source, filename: str) -> dict[str, Any]:
    """Read and review one file, given as bytes, as a path, or as an open seekable file.

    Give the path or the file where there is one: what is over its limit is then refused unread. Returns the
    JSON form of `DocumentReview`; `refused` holds code and message when the file could not be read. Every
    quote was checked to stand in the document: `findings.QuoteError` would be a defect of ours.
    """
    try:
        document = read(source, filename)
    except Unreadable as error:
        digest, size = _digest(source)
        return DocumentReview(
            sanitize_text(filename), digest, size, "unreadable", None, refused=error.as_dict()
        ).as_dict()
    return _review(document).as_dict()


def _digest(source: Source) -> tuple[str, int]:
    """SHA-256 and size, in pieces when it is a file."""
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest(), len(source)
    if isinstance(source, Path):
        with source.open("rb") as file:
            return _digest(file)
    size = source.seek(0, io.SEEK_END)
    source.seek(0)
    digest = hashlib.sha256()
    while chunk := source.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest(), size


def _review(document: Document) -> DocumentReview:
    view = View(document)
    opening = read_opening(view)
    form = read_form(view, {finding.field for finding in opening})
    filled = {finding.field for finding in form}
    clauses = [finding for finding in read_clauses(view) if finding.field not in filled]
    said = [*opening, *form, *clauses]
    cover = read_cover(view, {finding.field for finding in said})
    findings = [with_value(finding) for finding in (*said, *cover)]
    warnings = list(document.warnings)
    if not any(finding.field in {"document_name", "parties"} for finding in opening) and len(findings) < 4:
        rated, gaps = findings, list[Gap]()
        warnings.append(_NOT_A_CONTRACT)
    else:
        rated, gaps = rate(findings)
    verify(tuple(rated), document)
    return DocumentReview(
        file=document.name,
        sha256=document.sha256,
        size=document.size,
        kind=document.kind,
        pages=document.page_count,
        findings=tuple(rated),
        gaps=tuple(gaps),
        warnings=tuple(warnings),
    )


def join_reviews(
    reviews: list[dict[str, Any]],
    today: date,
    corrections: list[dict[str, Any]] | None = None,
    *,
    recipient: str = "",
) -> dict[str, Any]:
    """Make the results of a task from the reviews of its documents.

    `corrections` are people's words that a finding is wrong: `{"sha256", "finding_id", "by", "at",
    "comment"}`; such a finding stays in the report, marked with name and time, and no deadline or letter
    rests on it. A document that comes twice (same SHA-256) is reported once as a duplicate. `recipient` is
    the address the submitter gave for the notice.

    Returns `report_md`, `report_pdf` (bytes), `findings_csv`, `deadlines`, `most_urgent`, `letter` (None when
    no date is known to write about), `letter_pdf`, `documents` (the joined reviews) and `summary` (counts).
    """
    documents = _once(reviews, corrections or [])
    deadlines: list[dict[str, Any]] = []
    for document in documents:
        sound = [finding for finding in document["findings"] if "correction" not in finding]
        document["deadlines"] = [
            {**deadline.as_dict(), "file": document["file"], "sha256": document["sha256"]}
            for deadline in deadlines_of(sound, today)
        ]
        deadlines += document["deadlines"]
    deadlines.sort(key=lambda d: (d["day"] is None, d["passed"], d["day"] or "", d["file"]))
    urgent = most_urgent_deadline(deadlines, today)
    report = build_report(documents, deadlines, urgent, today)
    letter = draft_letter(documents, urgent, today, recipient=recipient)
    return {
        "report_md": to_markdown(report),
        "report_pdf": to_pdf(report),
        "findings_csv": findings_csv(documents),
        "deadlines": deadlines,
        "most_urgent": urgent,
        "letter": letter,
        "letter_pdf": letter_on_paper(letter) if letter else None,
        "documents": documents,
        "summary": report.summary,
    }


def letter_on_paper(letter: dict[str, Any]) -> bytes:
    """The letter as a PDF to attach."""
    return to_pdf(on_paper(letter), title=letter["subject"])


def _once(reviews: list[dict[str, Any]], corrections: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each document once, with the names of its duplicates, and its corrections on its findings."""
    marks = {(c["sha256"], c["finding_id"]): c for c in corrections}
    kept: dict[str, dict[str, Any]] = {}
    for review in reviews:
        earlier = kept.get(review["sha256"])
        if earlier is not None:
            earlier["duplicates"].append(review["file"])
            continue
        findings = []
        for finding in review["findings"]:
            mark = marks.get((review["sha256"], finding["id"]))
            findings.append({**finding, "correction": mark} if mark else dict(finding))
        kept[review["sha256"]] = {**review, "findings": findings, "duplicates": []}
    return list(kept.values())

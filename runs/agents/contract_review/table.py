"""The findings as CSV (RFC 4180, UTF-8 with a byte order mark so that spreadsheets read accents).

A cell that a spreadsheet would take for a formula gets an apostrophe in front; quotes in JSON stay as they
are.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from runs.agents.contract_review.findings import LABELS

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
COLUMNS = (
    "file", "sha256", "field", "quote", "page", "start", "end", "value", "confidence", "risk", "reason_code",
    "reason", "marked_wrong_by", "marked_wrong_at",
)  # fmt: skip


def neutral(value: object) -> str:
    """A cell that no spreadsheet runs. Source: OWASP, CSV Injection."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.lstrip(" \n").startswith(_FORMULA) or text.startswith(_FORMULA) else text


def findings_csv(documents: list[dict[str, Any]]) -> str:
    """One row a finding, in the order of the documents; gaps and refusals have rows without a quote."""
    out = io.StringIO(newline="")
    out.write("\ufeff")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for document in documents:
        for row in _rows(document):
            writer.writerow([neutral(cell) for cell in row])
    return out.getvalue()


def _rows(document: dict[str, Any]) -> list[list[object]]:
    lead: list[object] = [document["file"], document["sha256"]]
    blank: list[object] = [None] * 7
    rows: list[list[object]] = []
    for finding in document["findings"]:
        mark = finding.get("correction") or {}
        rows.append(
            [
                *lead,
                LABELS[finding["field"]],
                finding["text"],
                finding["page"],
                finding["start"],
                finding["end"],
                "; ".join(f"{key}: {_plain(value)}" for key, value in sorted(finding["value"].items())),
                finding["confidence"],
                finding["risk"],
                finding["reason_code"],
                finding["reason"],
                mark.get("by"),
                mark.get("at"),
            ]
        )
    rows += [
        [*lead, LABELS[gap["field"]], *blank[:6], gap["risk"], gap["reason_code"], gap["reason"], None, None]
        for gap in document["gaps"]
    ]
    if document["refused"]:
        refused = document["refused"]
        rows.append([*lead, "Not read", *blank, refused["code"], refused["message"], None, None])
    return rows


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values() if part not in (None, False))
    return str(value)

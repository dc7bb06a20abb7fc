"""The front door."""
from __future__ import annotations
from typing import Any
from runs.documents import Unreadable, read
from runs.agents.contract_review.clauses import read_clauses
from runs.agents.contract_review.findings import DocumentReview, verify
from runs.agents.contract_review.preamble import read_opening
from runs.agents.contract_review.view import View

def review_document(data: bytes, filename: str) -> dict[str, Any]:
    d = read(data, filename)
    v = View(d)
    f = tuple([*read_opening(v), *read_clauses(v)])
    verify(f, d)
    return DocumentReview(filename, d.sha256, d.size, d.kind, d.page_count, f, warnings=d.warnings).as_dict()

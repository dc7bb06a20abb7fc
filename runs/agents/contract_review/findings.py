"""The shapes that travel: findings and reviews, as JSON-ready values."""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass
from typing import Any

from runs.agents.words import gettext_noop
from runs.documents import Document

FIELDS: tuple[tuple[str, str], ...] = (
    ("document_name", gettext_noop("Document name")),
    ("parties", gettext_noop("Parties")),
    ("agreement_date", gettext_noop("Agreement date")),
    ("effective_date", gettext_noop("Effective date")),
    ("expiration", gettext_noop("Expiration or term")),
    ("renewal", gettext_noop("Renewal")),
    ("renewal_notice", gettext_noop("Notice to stop renewal")),
    ("governing_law", gettext_noop("Governing law")),
    ("liability_cap", gettext_noop("Liability cap")),
    ("payment_terms", gettext_noop("Payment terms")),
    ("termination", gettext_noop("Termination")),
    ("assignment", gettext_noop("Assignment")),
    ("confidentiality", gettext_noop("Confidentiality")),
    ("indemnity", gettext_noop("Indemnity")),
)
"""Field code and English label, in the order of the report."""

LABELS = dict(FIELDS)
RISKS = ("high", "medium", "low", "none")
"""From worst to none; `none` marks a plain fact."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One quote: `text` is exactly `Document.text[start:end]`, on `page` where the format has pages.

    `value` is what the rules read from the quote (a date as ISO text, a period, a name). `confidence` runs
    from 0 to 1. `risk` with `reason_code`, `reason` and `reason_params` says how grave it is and why; the
    code and the parameters are stable, so that a page can say it in another language.
    """

    field: str
    text: str
    start: int
    end: int
    page: int | None
    value: dict[str, Any] = dataclasses.field(default_factory=dict)
    confidence: float = 0.5
    risk: str = "none"
    reason_code: str = ""
    reason: str = ""
    reason_params: dict[str, Any] = dataclasses.field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Gap:
    """A field without a quote whose absence is a risk."""

    field: str
    risk: str
    reason_code: str
    reason: str
    reason_params: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentReview:
    """What is known about one file. Exactly one of `findings` and `refused` tells something."""

    file: str
    sha256: str
    size: int
    kind: str
    pages: int | None
    findings: tuple[Finding, ...] = ()
    gaps: tuple[Gap, ...] = ()
    deadlines: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    refused: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON form; every finding gets an id that a correction can name."""
        plain = {
            key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()
        }
        for number, finding in enumerate(plain["findings"], start=1):
            finding["id"] = f"{finding['field']}-{number}"
        return plain


class QuoteError(AssertionError):
    """A quote that does not stand in its document: a defect of a rule, never of the document."""


def verify(findings: tuple[Finding, ...], document: Document) -> None:
    """Raise `QuoteError` unless every quote is an exact slice, on the page it names."""
    for finding in findings:
        if not document.stands(text=finding.text, start=finding.start, end=finding.end):
            raise QuoteError(
                f"{finding.field}: the quote at {finding.start} does not stand in {document.name}"
            )
        if finding.page != document.page_at(finding.start):
            raise QuoteError(f"{finding.field}: the quote at {finding.start} stands on another page")

"""Sample tasks for an empty list: the documents are written here, so that a first task needs nothing from
outside.

The dates count from today, so that a deadline always lies ahead.
"""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A document that is made when it is asked for: today's date in, bytes out."""

    name: str
    make: Callable[[date], bytes]


@dataclass(frozen=True, slots=True)
class Sample:
    """A task that can be started with one more click."""

    label: str | Promise
    goal: str | Promise
    agent: str
    files: tuple[SampleFile, ...]
    input: Mapping[str, Any] = field(default_factory=dict)


def _day(day: date) -> str:
    return f"{day:%B} {day.day}, {day.year}"


def services(today: date) -> bytes:
    """A services agreement as DOCX whose notice to stop the renewal is due soon; its prices stand in a
    table."""
    from docx import Document

    ends = today + timedelta(days=104)
    begins = ends.replace(year=ends.year - 2, day=min(ends.day, 28))
    paper = Document()
    paper.add_heading("WAREHOUSE SERVICES AGREEMENT", level=1)
    for text in (
        (
            f"This Warehouse Services Agreement (the “Agreement”) is entered into as of {_day(begins)} (the “Effective"
            " Date”) by and between Linden Instruments Ltd. (“Customer”) and Halden Freight Ltd. (“Provider”)."
        ),
        (
            f"1. Term. This Agreement begins on the Effective Date and shall continue until {_day(ends)}. It shall"
            " automatically renew for successive periods of one (1) year unless either party gives written notice of"
            " non-renewal at least ninety (90) days prior to the end of the then-current term."
        ),
        (
            "2. Fees and Payment. Customer shall pay the fees in the table below within thirty (30) days after receipt of an"
            " invoice. Overdue amounts bear interest of 1.5% per month."
        ),
    ):
        paper.add_paragraph(text)
    table = paper.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Service", "Fee"
    for service, fee in (("Storage, per pallet and month", "EUR 11.40"), ("Handling, per order", "EUR 3.85")):
        cells = table.add_row().cells
        cells[0].text, cells[1].text = service, fee
    for text in (
        (
            "3. Liability. Except for gross negligence, the total liability of Provider under this Agreement shall not"
            " exceed the fees paid by Customer in the twelve (12) months before the claim."
        ),
        "4. Assignment. Neither party may assign this Agreement without the prior written consent of the other party.",
        (
            "5. Confidentiality. Each party shall keep confidential all information received from the other party for"
            " a period of three (3) years after termination."
        ),
        "6. Governing Law. This Agreement shall be governed by the laws of England and Wales.",
    ):
        paper.add_paragraph(text)
    out = io.BytesIO()
    paper.save(out)
    return out.getvalue()


def supply(today: date) -> bytes:
    """A supply agreement as text: fixed term, no limit of liability."""
    ends = today + timedelta(days=400)
    begins = today - timedelta(days=330)
    return f"""SUPPLY AGREEMENT

This Supply Agreement is made on {_day(begins)} between Brightwater Foods S.A. ("Supplier") and Linden Instruments Ltd.
("Buyer").

1. Term. This Agreement shall remain in effect until {_day(ends)}, unless terminated earlier under Section 4.

2. Payment. Buyer shall pay each invoice within forty-five (45) days of receipt.

3. Indemnity. Supplier shall indemnify and hold harmless Buyer from all claims arising from defects of the goods.

4. Termination. Either party may terminate this Agreement for convenience upon sixty (60) days' prior written notice.

5. Governing Law. This Agreement is governed by the laws of the Netherlands.
""".encode()


def secrecy(today: date) -> bytes:
    """A confidentiality agreement as Markdown."""
    begins = today - timedelta(days=200)
    return f"""# MUTUAL NON-DISCLOSURE AGREEMENT

This Mutual Non-Disclosure Agreement is effective as of {_day(begins)} between **Tessera Print GmbH** and
**Linden Instruments Ltd.**

## 1. Confidentiality

Each party shall hold the other party's Confidential Information in strict confidence for five (5) years.

## 2. Term

This Agreement continues for a period of three (3) years from the effective date.

## 3. Assignment

This Agreement may not be assigned without written consent.

## 4. Governing law

This Agreement shall be governed by the laws of Germany.
""".encode()


_SERVICES = SampleFile("Halden-warehouse-services.docx", services)
_SUPPLY = SampleFile("Brightwater-supply.txt", supply)
_SECRECY = SampleFile("Tessera-confidentiality.md", secrecy)
_NOTICE = {"notify": "legal@halden-freight.example"}

SAMPLES: dict[str, Sample] = {
    "renewal": Sample(
        _("Stop a renewal in time"), _("Review the Halden warehouse contract before it renews"),
        "contract-review", (_SERVICES,), _NOTICE,
    ),
    "three": Sample(
        _("Review three contracts"), _("Review 3 supplier contracts"),
        "contract-review", (_SERVICES, _SUPPLY, _SECRECY), _NOTICE,
    ),
    "secrecy": Sample(
        _("Read a confidentiality agreement"), _("Review the Tessera confidentiality agreement"),
        "contract-review", (_SECRECY,),
    ),
}  # fmt: skip

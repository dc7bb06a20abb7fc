"""The contracts that the demo hands in. The dates count from today, so that a deadline always lies ahead."""

from __future__ import annotations

import io
from datetime import date, timedelta

from docx import Document

DAYS_LEFT = 30
NOTICE_DAYS = 90


def cleaning(today: date) -> bytes:
    """A services agreement as text; the last day to stop its renewal is `DAYS_LEFT` days away."""
    ends = last_day(today) + timedelta(days=NOTICE_DAYS)
    begins = ends - timedelta(days=729)
    return f"""LABORATORY CLEANING AGREEMENT

This Laboratory Cleaning Agreement (the "Agreement") is entered into as of {_day(begins)} (the "Effective Date") by and
between Linden Instruments Ltd. ("Customer") and Morrow & Pike Services Ltd. ("Provider").

1. Term and renewal. This Agreement shall continue until {_day(ends)}. It shall automatically renew for successive
periods of one (1) year unless either party gives written notice of non-renewal at least ninety (90) days prior to the
end of the then-current term.

2. Payment. Customer shall pay each invoice within thirty (30) days after receipt.

3. Confidentiality. Each party shall keep the information of the other party confidential for three (3) years.

4. Liability. The total liability of Provider under this Agreement shall not exceed the fees paid in the twelve (12)
months before the claim.

5. Governing law. This Agreement shall be governed by the laws of England and Wales.
""".encode()


def calibration(today: date) -> bytes:
    """A calibration agreement as DOCX: fixed term, far away; its prices stand in a table."""
    begins, ends = today - timedelta(days=200), today + timedelta(days=530)
    paper = Document()
    paper.add_heading("CALIBRATION SERVICES AGREEMENT", level=1)
    paper.add_paragraph(
        f"This Calibration Services Agreement is made on {_day(begins)} between Verity Metrology B.V. (“Supplier”) "
        "and Linden Instruments Ltd. (“Customer”)."
    )
    paper.add_paragraph(f"1. Term. This Agreement shall remain in effect until {_day(ends)}.")
    paper.add_paragraph(
        "2. Fees. Customer shall pay the fees below within forty-five (45) days of an invoice."
    )
    table = paper.add_table(rows=0, cols=2)
    for service, fee in (("Balance, per visit", "EUR 180.00"), ("Pipette, per piece", "EUR 14.50")):
        cells = table.add_row().cells
        cells[0].text, cells[1].text = service, fee
    paper.add_paragraph("3. Governing Law. This Agreement is governed by the laws of the Netherlands.")
    out = io.BytesIO()
    paper.save(out)
    return out.getvalue()


def last_day(today: date) -> date:
    """The day that the notice is due: worked out here, so that the letter can be held against it."""
    return today + timedelta(days=DAYS_LEFT)


def _day(day: date) -> str:
    return f"{day:%B} {day.day}, {day.year}"

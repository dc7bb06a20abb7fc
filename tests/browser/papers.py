"""Contracts that the visitors hand in. Dates count from today, so that a deadline always lies ahead."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from tests.needs import SHARED

REAL = ("05_license_gopage.pdf", "common-paper-mutual-nda.docx")
DAYS_LEFT = 21


def today() -> date:
    return datetime.now(UTC).date()


def last_day() -> date:
    """The day that the notice is due."""
    return today() + timedelta(days=DAYS_LEFT)


def lease() -> bytes:
    """A lease of instruments that renews by itself unless notice is given until `last_day`."""
    ends = last_day() + timedelta(days=60)
    return f"""INSTRUMENT LEASE AGREEMENT

This Instrument Lease Agreement (the "Agreement") is entered into as of {_day(ends - timedelta(days=1094))} (the
"Effective Date") by and between Linden Instruments Ltd. ("Lessee") and Halden Leasing plc ("Lessor").

1. Term. This Agreement shall continue until {_day(ends)}. It shall automatically renew for successive periods of one
(1) year unless either party gives written notice of non-renewal at least sixty (60) days prior to the end of the
then-current term.

2. Rent. Lessee shall pay each invoice within thirty (30) days after receipt.

3. Liability. The total liability of Lessor shall not exceed the rent paid in the twelve (12) months before the claim.

4. Assignment. Neither party may assign this Agreement without the prior written consent of the other party.

5. Governing Law. This Agreement shall be governed by the laws of England and Wales.
""".encode()


def secrecy() -> bytes:
    """A short confidentiality agreement without a date to act on."""
    return f"""# MUTUAL NON-DISCLOSURE AGREEMENT

This Agreement is effective as of {_day(today() - timedelta(days=90))} between **Tessera Print GmbH** and
**Linden Instruments Ltd.**

## 1. Confidentiality

Each party shall hold the Confidential Information of the other in strict confidence for five (5) years.

## 2. Governing law

This Agreement shall be governed by the laws of Germany.
""".encode()


def hand_in(folder: Path) -> list[Path]:
    """The files of the story: two real contracts where they lie beside the checkout, and always our own."""
    own = {"Halden-lease.txt": lease(), "Tessera-secrecy.md": secrecy()}
    for name, content in own.items():
        (folder / name).write_bytes(content)
    real = [path for name in REAL if (path := SHARED / "data" / "contracts" / name).exists()]
    return [folder / "Halden-lease.txt", *(real or [folder / "Tessera-secrecy.md"])]


def _day(day: date) -> str:
    return f"{day:%B} {day.day}, {day.year}"

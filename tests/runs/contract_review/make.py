"""A small contract in plain text whose every field is known, and the review of it."""

from __future__ import annotations

from typing import Any

from runs.agents.contract_review.work import review_document

__all__ = ["CONTRACT", "of", "only", "review", "review_document"]

CONTRACT = """\
HOSTING SERVICES AGREEMENT

This Hosting Services Agreement (the "Agreement") is made as of March 1, 2025 (the "Effective Date") by and
between Alder Systems, Inc., a Delaware corporation ("Provider"), and Birch Retail GmbH, a German company
("Customer").

WHEREAS, Customer needs hosting;

1. Term. The initial term of this Agreement commences on the Effective Date and continues for two (2) years
(the "Initial Term"). Thereafter this Agreement shall automatically renew for successive one (1) year periods
unless either party gives written notice of non-renewal at least ninety (90) days before the end of the then
current term.

2. Payment. Customer shall pay each invoice within thirty (30) days of receipt of the invoice.

3. Liability. In no event shall either party's aggregate liability exceed the fees paid in the twelve months
before the claim.

4. Indemnity. Provider shall indemnify, defend and hold harmless Customer from all losses arising out of third
party claims.

5. Termination. Provider may terminate this Agreement for convenience upon ten (10) days written notice.

6. Assignment. Neither party may assign this Agreement without the prior written consent of the other party.

7. Confidentiality. The receiving party shall not disclose Confidential Information to any third party.

8. Governing Law. This Agreement shall be governed by the laws of the State of New York.
"""


def review(text: str = CONTRACT, name: str = "hosting.txt") -> dict[str, Any]:
    return review_document(text.encode(), name)


def of(result: dict[str, Any], field: str) -> list[dict[str, Any]]:
    return [finding for finding in result["findings"] if finding["field"] == field]


def only(result: dict[str, Any], field: str) -> dict[str, Any]:
    (finding,) = of(result, field)
    return finding

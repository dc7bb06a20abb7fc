"""Where the house is, what arrived in its sink, and its sample people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.browser.books import Books

ADA, BEN, MIRA, JONAS, VERA, OTTO = (
    "ada@linden.example",
    "ben@linden.example",
    "mira@linden.example",
    "jonas@linden.example",
    "vera@linden.example",
    "otto@aldergate.example",
)
PASSWORD = "countersign-sample"  # of every sample account, as `make up` prints it


@dataclass(frozen=True)
class Place:
    """One running house; `folder` is its DATA_DIR, `books` what its MCP server works on."""

    url: str
    sink: str
    folder: Path
    books: Books

    def arrived(self, address: str) -> list[Any]:
        """Mails to an address, as the sink counted them: never asked by the product."""
        answer = httpx.get(f"{self.sink}/messages.json", timeout=30, trust_env=False)
        return [mail for mail in answer.raise_for_status().json()["messages"] if address in mail["to"]]

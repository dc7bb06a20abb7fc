"""The count of what really happened, kept outside the product. Shares no code with it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Ledger:
    """Effects by idempotency key. ``keyed`` are those of a far side that keeps keys: a repeat is no second effect."""

    effects: Counter[str] = field(default_factory=Counter)
    keyed: set[str] = field(default_factory=set)

    def add(self, key: str, *, keyed: bool = False) -> None:
        """One call arrived."""
        if keyed and key in self.keyed:
            return
        if keyed:
            self.keyed.add(key)
        self.effects[key] += 1

    def happened(self, key: str) -> bool:
        return self.effects[key] > 0


def read(file: Path) -> Ledger:
    """What the tools of drills wrote down: one line of JSON for each effect, on the disk before its answer left."""
    ledger = Ledger()
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        ledger.effects[json.loads(line)["key"]] += 1
    return ledger

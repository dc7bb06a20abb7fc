"""The count of what really happened, kept outside the product. Shares no code with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


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

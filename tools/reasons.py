"""Reasons that people read: a stable code, an English sentence and its values.

A reason can be stored and shown later in the reader's language: ``text`` is the message id, ``params`` fill
it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the gate decided as it did, or why something waits."""

    code: str
    text: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """The sentence in the language that is active now."""
        return gettext(self.text) % dict(self.params)

    def as_json(self) -> dict[str, Any]:
        """The form that is stored: ``{code, text, params}``."""
        return {"code": self.code, "text": self.text, "params": dict(self.params)}


def told(stored: Any) -> list[str]:
    """Stored reasons as sentences in the language that is active; what was not stored so is left out."""
    rows = stored if isinstance(stored, list) else []
    return [
        str(Reason(str(row.get("code", "")), str(row["text"]), dict(row.get("params") or {})))
        for row in rows
        if isinstance(row, Mapping) and row.get("text")
    ]


@dataclass(frozen=True, slots=True)
class Problem(Reason):
    """What is wrong with a declaration; ``where`` names the part of the contract to change."""

    where: str = ""

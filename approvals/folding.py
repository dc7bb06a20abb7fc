"""What the page folds: a value that is too long to be read in passing, unless it stands whole above."""

import json
from collections.abc import Mapping
from typing import Any, Final

#: More characters than this are folded.
LONG: Final = 1200


def as_text(value: Any) -> str:
    """A value as it is sent: text as it is, everything else as JSON with every digit."""
    if isinstance(value, str):
        return value
    indent = 1 if isinstance(value, dict | list) and len(str(value)) > 60 else None
    return json.dumps(value, ensure_ascii=False, indent=indent)


def shown_above(seen: Mapping[str, Any]) -> str:
    """The text that the preview shows whole, above the parameters: the body of a letter."""
    preview: Mapping[str, Any] = seen.get("preview") or {}
    if preview.get("kind") == "request":
        return ""
    return str(preview.get("text") or preview.get("body") or "")


def same_text(one: str, other: str) -> bool:
    """Equal sign by sign; only line ends, which a mail writes in its own way, may differ."""
    return one.replace("\r\n", "\n").rstrip("\n") == other.replace("\r\n", "\n").rstrip("\n")


def folds(text: str, above: str) -> bool:
    """Whether a value, as text, is folded on the page whose preview shows ``above``."""
    return len(text) > LONG and not (above and same_text(text, above))


def folded(seen: Mapping[str, Any]) -> bool:
    """Whether the page of these shown bytes folds anything."""
    above = shown_above(seen)
    return any(folds(as_text(value), above) for value in (seen.get("arguments") or {}).values())

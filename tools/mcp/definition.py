"""What a server says of one tool, as plain values, and how two sayings differ (B68). Pure.

A contract is confirmed for exactly one definition. A server that says anything else of the tool later offers another tool,
whatever it calls it.
"""

from collections.abc import Mapping
from typing import Any

from accounts.canonical import digest as digest_of
from accounts.canonical import storable

#: Everything that a person or a model is told, and where the tool lives. A part that is missing counts as null.
PARTS = ("name", "title", "description", "input_schema", "output_schema", "annotations", "endpoint")
#: What a difference is called in a sentence.
WORDS = {
    "name": "name",
    "title": "title",
    "description": "description",
    "input_schema": "schema of the arguments",
    "output_schema": "schema of the answer",
    "annotations": "hints",
    "endpoint": "address",
}
#: What is nested deeper is left out, so that a definition fits wherever it is kept.
MAX_DEPTH = 24
#: The code of a call that was not made because they differ.
CHANGED = "definition_changed"
#: It is not offered any more.
MISSING = "missing"


def definition(tool: Mapping[str, Any], *, endpoint: str) -> dict[str, Any]:
    """Of a tool as it came over the wire (``inputSchema`` and so on)."""
    said: dict[str, Any] = {
        "name": tool.get("name"),
        "title": tool.get("title"),
        "description": tool.get("description"),
        "input_schema": tool.get("inputSchema"),
        "output_schema": tool.get("outputSchema"),
        "annotations": tool.get("annotations"),
        "endpoint": endpoint,
    }
    plain: dict[str, Any] = storable(said, max_depth=MAX_DEPTH)[0]
    return plain


def digest(said: Mapping[str, Any]) -> str:
    """SHA-256 over the canonical definition, hexadecimal."""
    return digest_of({part: said.get(part) for part in PARTS})


def differences(pinned: Mapping[str, Any], found: Mapping[str, Any] | None) -> list[str]:
    """The parts that are not as they were; :data:`MISSING` alone when the tool is gone."""
    if found is None:
        return [MISSING]
    return [part for part in PARTS if digest_of(pinned.get(part)) != digest_of(found.get(part))]

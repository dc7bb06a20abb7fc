"""Requests, questions to a database and calls as their receiver gets them, digit for digit."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_plus, urlsplit

from django.utils.translation import gettext as _

from approvals.folding import as_text

#: The tokens of a valid JSON text: a string, a sign of structure, or a number or word.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Request:
    """A request over HTTP. ``before``, ``host`` and ``path`` joined are the address as it is sent; ``query`` is what stands
    in it, decoded. ``body`` is what is sent; when ``indented``, only the space between its signs was changed."""

    method: str
    before: str
    host: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    body: str
    indented: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """A parameter of a statement; ``type`` in words, ``value`` with every digit."""

    name: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class Query:
    """A statement with what is bound to it; the two are never put together into one text."""

    statement: str
    bound: tuple[Bound, ...]
    role: str
    max_rows: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a named function; ``where`` is the server, or empty for a function of this installation."""

    tool: str
    where: str
    arguments: tuple[Bound, ...]


def request(wire: Mapping[str, Any]) -> Request:
    """From the part ``http`` of a preview."""
    url, body = str(wire["url"]), str(wire["body"])
    try:
        parts = urlsplit(url)
        before, host, path = url.partition(parts.netloc) if parts.netloc else (url, "", "")
        pairs = [one.partition("=") for one in parts.query.split("&") if one]
    except ValueError:
        before, host, path, pairs = url, "", "", []
    user, at, real = host.rpartition("@")
    laid_out = indented(body)
    return Request(
        method=str(wire["method"]),
        before=before + user + at,
        host=real,
        path=path,
        query=tuple((unquote_plus(name), unquote_plus(value)) for name, _is, value in pairs),
        headers=tuple((str(name), str(value)) for name, value in wire["headers"]),
        body=laid_out,
        indented=laid_out != body,
    )


def query(asked: Mapping[str, Any]) -> Query:
    """From the part ``sql`` of a preview."""
    return Query(
        statement=str(asked["statement"]),
        bound=tuple(_bound(str(name), value) for name, value in asked["parameters"]),
        role=str(asked.get("role") or ""),
        max_rows=str(asked.get("max_rows") or ""),
    )


def call(seen: Mapping[str, Any]) -> Call:
    """From a preview of the general form."""
    asked = seen.get("mcp") or {}
    arguments: Mapping[str, Any] = seen.get("arguments") or {}
    return Call(
        tool=str(asked.get("tool") or seen.get("tool") or ""),
        where=str(asked.get("server") or seen.get("target") or ""),
        arguments=tuple(_bound(name, value) for name, value in arguments.items()),
    )


def indented(text: str) -> str:
    """JSON with a line for each member. Every piece stays as it is sent: no digit, escape or double key is touched. What is
    no JSON object or list stays as it is."""
    if not text.lstrip().startswith(("{", "[")) or not _is_json(text):
        return text
    found = _TOKEN.findall(text)
    lines, depth = [""], 0
    for place, piece in enumerate(found):
        before, after = found[place - 1] if place else "", found[place + 1 : place + 2]
        if piece in ("}", "]"):
            depth -= 1
            if before not in ("{", "["):
                lines.append("  " * depth)
        lines[-1] += piece + (" " if piece == ":" else "")
        if piece in ("{", "["):
            depth += 1
        if piece == "," or (piece in ("{", "[") and after not in (["}"], ["]"])):
            lines.append("  " * depth)
    return "\n".join(lines)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def _bound(name: str, value: Any) -> Bound:
    return Bound(name, _type(value), as_text(value))


def _type(value: Any) -> str:
    if value is None:
        return _("nothing")
    if isinstance(value, bool):
        return _("yes or no")
    if isinstance(value, int | float):
        return _("number")
    if isinstance(value, str):
        return _("text")
    return _("list") if isinstance(value, list) else _("object")

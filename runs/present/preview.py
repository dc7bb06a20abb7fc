"""Previews of result files. Whatever a file holds, no script, no style and no outside address of it reaches
the page: Markdown is rendered without HTML and cleaned again, tables and JSON are text, everything else is
a download.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from markdown_it import MarkdownIt
from markdown_it.token import Token

MOST_BYTES = 400_000
MOST_ROWS = 200
MOST_COLUMNS = 60
TAGS = {
    "p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "hr", "br",
    "table", "thead", "tbody", "tr", "th", "td", "a", "del",
}  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_WHOLE = re.compile(r"[+-]?\d+\Z")
_DECIMAL = re.compile(r"[+-]?\d+[.,]\d+\Z")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")


@dataclass(frozen=True, slots=True)
class Preview:
    """What is drawn, and what is said below it about what is not."""

    kind: str
    html: str = ""
    text: str = ""
    columns: Sequence[Mapping[str, str]] = ()
    rows: Sequence[Sequence[str]] = ()
    more: int = 0
    why: str = ""
    foot: Sequence[str] = ()


def of(media_type: str, data: bytes) -> Preview:
    """The preview of a file that one of our steps made."""
    kind = media_type.partition(";")[0].strip().lower()
    if kind == "text/markdown":
        return markdown(data)
    if kind == "text/csv":
        return table(data)
    if kind in ("application/json", "text/plain"):
        return plain("json" if kind == "application/json" else "text", data)
    return Preview("none", why=_("No preview for this kind of file. Download it to see it."))


def previewable(media_type: str) -> bool:
    """Whether :func:`of` shows more than a sentence, so that the file is worth reading."""
    return media_type.partition(";")[0].strip().lower() in (
        "text/markdown", "text/csv", "application/json", "text/plain",
    )  # fmt: skip


def markdown(data: bytes) -> Preview:
    """Markdown as clean HTML, its headings moved below those of the page. Pictures are left out and
    counted."""
    text, cut = _decoded(data)
    parser = (
        MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").enable("strikethrough")
    )
    tokens = parser.parse(text)
    pictures = _tame(tokens)
    html = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    foot = [_("Shown without scripts and without anything that loads by itself.")]
    if pictures:
        foot.append(
            ngettext("%(n)s picture was not loaded.", "%(n)s pictures were not loaded.", pictures)
            % {"n": pictures}
        )
    return Preview("report", html=_safe(clean), foot=(*foot, *cut))


def _safe(clean: str) -> SafeString:
    """Only for what the sanitiser gave back."""
    return mark_safe(clean)  # noqa: S308


def _tame(tokens: Sequence[Token]) -> int:
    """Moves headings two levels down and turns pictures into their words; returns how many pictures there
    were."""
    pictures = 0
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        for child in token.children or ():
            if child.type == "image":
                pictures += 1
                child.type, child.tag, child.nesting = "text", "", 0
                child.content = f"[{child.content}]"
                child.children = None
    return pictures


def table(data: bytes) -> Preview:
    """The first rows of a CSV file as text, with the kind of each column. Nothing is computed or rounded."""
    text, cut = _decoded(data)
    try:
        rows = [
            [cell[:2000] for cell in row[:MOST_COLUMNS]] for row in csv.reader(io.StringIO(text, newline=""))
        ]
    except csv.Error:
        return Preview(
            "text", text=text, foot=(_("This is not a table that can be read; shown as text."), *cut)
        )
    if not rows:
        return Preview("none", why=_("The file is empty."))
    head, body = rows[0], rows[1:]
    columns = [
        {"name": name, "type": _type([row[i] for row in body[:MOST_ROWS] if i < len(row)])}
        for i, name in enumerate(head)
    ]
    formulas = sum(
        cell.lstrip("'").startswith(_FORMULA) and not _number(cell) for row in body for cell in row
    )
    foot = []
    if formulas:
        foot.append(
            ngettext(
                "%(n)s cell begins like a formula. It is text here, and in the download.",
                "%(n)s cells begin like a formula. They are text here, and in the download.",
                formulas,
            )
            % {"n": formulas}
        )
    shown = [row + [""] * (len(head) - len(row)) for row in body[:MOST_ROWS]]
    return Preview(
        "table", columns=columns, rows=shown, more=max(0, len(body) - MOST_ROWS), foot=(*foot, *cut)
    )


def plain(kind: str, data: bytes) -> Preview:
    """Text exactly as it is in the file: no number is parsed, so none is rounded."""
    text, cut = _decoded(data)
    return Preview(kind, text=_indented(text) if kind == "json" else text, foot=cut)


def _indented(text: str) -> str:
    """JSON with a line for each value. Works on the signs alone, so every number and every text stays as written; what
    has lines already is left as it is."""
    if "\n" in text.strip():
        return text
    parts, depth = [], 0
    for piece in _JSON.findall(text):
        if piece in ("{", "["):
            depth += 1
            parts.append(f"{piece}\n{'  ' * depth}")
        elif piece in ("}", "]"):
            depth -= 1
            parts.append(f"\n{'  ' * depth}{piece}")
        elif piece == ",":
            parts.append(f",\n{'  ' * depth}")
        else:
            parts.append(": " if piece == ":" else piece)
    return "".join(parts)


def _decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    text = data[:MOST_BYTES].decode("utf-8-sig", "replace")
    left = len(data) - MOST_BYTES
    if left <= 0:
        return text, ()
    return text, (_("Only the beginning is shown. The download is whole."),)


def _number(cell: str) -> bool:
    return bool(_WHOLE.match(cell) or _DECIMAL.match(cell))


def _type(cells: Sequence[Any]) -> str:
    full = [str(cell) for cell in cells if cell]
    if not full:
        return ""
    for pattern, word in ((_WHOLE, _("whole number")), (_DECIMAL, _("decimal")), (_DATE, _("date"))):
        if all(pattern.match(cell) for cell in full):
            return word
    return _("text")

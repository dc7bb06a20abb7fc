"""Plain text and Markdown: find the encoding, then read what a person would see."""

from __future__ import annotations

import codecs
import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from runs.documents.errors import Unreadable
from runs.documents.extracted import Extracted, TextBuilder
from runs.documents.identify import utf16_by_nuls
from runs.documents.limits import Limits
from runs.documents.sanitize import count_unstorable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CJK = re.compile("[\u4e00-\u9fff\u3000-\u303f\uff00-\uffef]")
_TAG = re.compile(r"<[^>]{0,2000}>")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def extract(data: bytes, *, markdown: bool, limits: Limits) -> Extracted:
    """Decode and split into blocks. Raises `Unreadable("empty")` for a file of blanks only."""
    decoded, encoding, warnings = decode(data)
    marks = count_unstorable(decoded)
    if marks:
        warnings.append(
            f"The text holds {marks} characters that cannot be stored (such as NUL); each is marked."
        )
    decoded = decoded.replace("\r\n", "\n").replace("\r", "\n")
    if not decoded.strip():
        raise Unreadable(
            "empty",
            "The file holds only blank space. Nothing was read from it. Upload the file again from "
            "its source.",
        )
    builder = TextBuilder(limit=limits.characters)
    blocks = _markdown_blocks(decoded) if markdown else _plain_blocks(decoded)
    for number, block in enumerate(blocks, start=1):
        builder.add(block, kind="block", number=number)
    text, spans = builder.build()
    return Extracted(text=text, spans=spans, warnings=tuple(warnings), facts={"encoding": encoding})


def decode(data: bytes) -> tuple[str, str, list[str]]:
    """Text, the encoding used, and warnings where that was an assumption.

    Order: byte order mark; UTF-16 by its NULs; strict UTF-8; GB18030 when that gives mostly Chinese;
    Windows-1252, which accepts nearly everything and is therefore last and said aloud.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            body = data[len(bom) :]
            try:
                return body.decode(encoding), encoding, []
            except UnicodeDecodeError:
                return (
                    body.decode(encoding, errors="replace"),
                    encoding,
                    [f"Some bytes are not valid {encoding}."],
                )
    guess = utf16_by_nuls(data)
    if guess is not None:
        return data.decode(guess, errors="replace"), guess, [f"No encoding mark; read as {guess.upper()}."]
    try:
        return data.decode("utf-8"), "utf-8", []
    except UnicodeDecodeError:
        pass
    try:
        chinese = data.decode("gb18030")
    except UnicodeDecodeError:
        chinese = ""
    outside_ascii = sum(1 for character in chinese if character > "\x7f")
    if outside_ascii and len(_CJK.findall(chinese)) > outside_ascii * 0.9 and outside_ascii >= 4:
        return chinese, "gb18030", ["The text is not UTF-8; it was read as GB18030 (Chinese)."]
    try:
        western = data.decode("cp1252")
    except UnicodeDecodeError:
        western = data.decode("latin-1")
    return western, "cp1252", ["The text is not UTF-8; it was read as Windows-1252. Check accented letters."]


def _plain_blocks(text: str) -> list[str]:
    """Paragraphs: what blank lines separate."""
    return [block.strip("\n") for block in _BLANK_LINE.split(text) if block.strip()]


def _markdown_blocks(text: str) -> list[str]:
    """The visible text of Markdown: list numbers stay, marks and tags go, tables become rows."""
    blocks: list[str] = []
    numbers: list[str] = []
    row: list[str] | None = None
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "list_item_open":
            numbers.append(f"{token.info}{token.markup} " if token.info else "")
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            blocks.append("\t".join(row))
            row = None
        elif token.type == "inline":
            visible = _visible(token)
            if row is not None:
                row.append(visible)
            elif visible.strip():
                blocks.append((numbers.pop() if numbers else "") + visible)
                numbers.clear()
        elif token.type in {"code_block", "fence"}:
            blocks.append(token.content.rstrip("\n"))
        elif token.type == "html_block":
            bare = _TAG.sub("", token.content).strip()
            blocks.extend([bare] if bare else [])
    return blocks


def _visible(token: Token) -> str:
    parts: list[str] = []
    for child in token.children or []:
        if child.type in {"text", "code_inline"}:
            parts.append(child.content)
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append("\n")
        elif child.type == "image":
            parts.append(child.content)
    return "".join(parts)

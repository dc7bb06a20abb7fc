"""The front door: bytes or a path in, a `Document` or an `Unreadable` out."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import BinaryIO

from runs.documents import docx, pdf, text
from runs.documents.document import Document
from runs.documents.errors import Unreadable
from runs.documents.identify import HEAD_BYTES, READABLE, identify, suffix
from runs.documents.limits import LIMITS, MIB, Limits
from runs.documents.sanitize import sanitize_text

_NAMED = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".txt": "text",
    ".md": "markdown",
    ".markdown": "markdown",
}
_WORDS = {
    "pdf": "a PDF",
    "docx": "a Word document",
    "docm": "a Word document with macros",
    "text": "plain text",
    "markdown": "Markdown",
    "spreadsheet": "a spreadsheet",
    "slides": "a slide deck",
    "zip": "a ZIP archive",
    "ole": "an old Office file",
    "rtf": "a rich text (RTF) file",
    "html": "a web page",
    "image": "a picture",
    "archive": "an archive",
    "program": "a program",
    "unknown": "of no kind that is known here",
}


Source = Path | bytes | BinaryIO
"""Bytes, the path that holds them, or a seekable file."""


def read(source: Source, filename: str, *, limits: Limits = LIMITS) -> Document:
    """Read a PDF, DOCX, TXT or Markdown file.

    `source` is the file's bytes, the path that holds them, or an open seekable file; `filename` is what its
    owner called it and is display data only. The kind is decided by content. Raises `Unreadable` for
    everything that is refused; the size is compared before anything is read into memory.
    """
    name = sanitize_text(filename)
    size, head = _head(source)
    kind = identify(head, filename)
    if kind == "empty":
        raise Unreadable(
            "empty",
            "The file is empty (0 bytes). Nothing was read from it. Upload the file again from its source.",
        )
    _check_size(size, kind, limits)
    if kind not in READABLE and kind not in {"docm", "ole", "zip"}:
        raise _unsupported(kind)
    _check_name(kind, suffix(filename))
    data = _all(source)
    sha256 = hashlib.sha256(data).hexdigest()
    if kind == "pdf":
        found = pdf.extract(data, limits=limits)
    elif kind in {"docx", "docm", "zip"}:
        found = docx.extract(data, limits=limits)
        kind = "docx"
    elif kind == "ole":
        raise docx.refuse_ole(data)
    else:
        found = text.extract(data, markdown=kind == "markdown", limits=limits)
    warnings = [*found.warnings, *_name_warning(kind, suffix(filename))]
    return Document(
        kind=kind,
        name=name,
        sha256=sha256,
        size=size,
        text=found.text,
        spans=found.spans,
        warnings=tuple(warnings),
        facts=found.facts,
    )


def _head(source: Source) -> tuple[int, bytes]:
    """Size and first bytes, without reading the rest."""
    if isinstance(source, bytes):
        return len(source), source[:HEAD_BYTES]
    if isinstance(source, Path):
        with source.open("rb") as file:
            return _head(file)
    size = source.seek(0, io.SEEK_END)
    source.seek(0)
    return size, source.read(HEAD_BYTES)


def _all(source: Source) -> bytes:
    if isinstance(source, bytes):
        return source
    if isinstance(source, Path):
        return source.read_bytes()
    source.seek(0)
    return source.read()


def _check_size(size: int, kind: str, limits: Limits) -> None:
    limit = limits.text_bytes if kind in {"text", "markdown"} else limits.file_bytes
    if size > limit:
        raise Unreadable(
            "too_large",
            f"The file has {size / MIB:.1f} MB; at most {limit / MIB:.0f} MB are read of {_WORDS[kind]}. "
            "It was not opened. Split it, or upload only the contract itself.",
            size=size,
            limit=limit,
        )


def _check_name(kind: str, ending: str) -> None:
    """A binary format that the name promises and the bytes do not keep: damaged, or not what it says."""
    promised = _NAMED.get(ending)
    if promised in {"pdf", "docx"} and kind in {"text", "markdown"}:
        raise Unreadable(
            "corrupt",
            f"The name ends in {ending}, but the content is not {_WORDS[promised]}: the file is"
            f" damaged or is "
            "something else. Nothing was read from it. Export it again from its source and upload that.",
        )


def _name_warning(kind: str, ending: str) -> list[str]:
    promised = _NAMED.get(ending)
    if promised is None or promised == kind:
        return []
    return [f"The name ends in {ending}, but the content is {_WORDS[kind]}; it was read as such."]


def _unsupported(kind: str) -> Unreadable:
    return Unreadable(
        "unsupported",
        f"The content is {_WORDS[kind]}. Only PDF, Word (DOCX), plain text and Markdown are read;"
        f" this file "
        "was not opened. Save it as one of these and upload that.",
        kind=kind,
    )

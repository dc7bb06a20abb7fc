"""What a file is, from its first bytes.

The name is only asked where the bytes cannot tell (Markdown is text; a ZIP may be anything until its
directory is read), and a name that contradicts the bytes never wins.
"""

from __future__ import annotations

from pathlib import PurePosixPath

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
HEAD_BYTES = 8192
"""How many first bytes `identify` wants; fewer are fine."""

READABLE = frozenset({"pdf", "docx", "text", "markdown"})

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (OLE, "ole"),
    (b"{\\rtf", "rtf"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"II*\x00", "image"),
    (b"MM\x00*", "image"),
    (b"\x1f\x8b", "archive"),
    (b"Rar!", "archive"),
    (b"7z\xbc\xaf", "archive"),
    (b"\x7fELF", "program"),
    (b"MZ", "program"),
)
_ZIP_SUFFIXES = {".docx": "docx", ".docm": "docm", ".dotm": "docm", ".xlsx": "spreadsheet", ".pptx": "slides"}
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def suffix(filename: str) -> str:
    """The lower-case ending of a display name, dot included; the name is never used as a path."""
    return PurePosixPath(filename.replace("\\", "/")).suffix.lower()


def identify(head: bytes, filename: str) -> str:
    """Name the kind of a file from its first bytes (8 KB are plenty).

    Returns one of `empty pdf docx docm text markdown` or, for what is not read here, `spreadsheet slides
    zip ole rtf html image archive program unknown`.
    """
    if not head:
        return "empty"
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _zip_kind(head, suffix(filename))
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if not _looks_like_text(head):
        return "unknown"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "html"
    return "markdown" if suffix(filename) in {".md", ".markdown"} else "text"


def _zip_kind(head: bytes, ending: str) -> str:
    """A package's kind as far as its first entries tell; the reader decides from the directory."""
    if b"word/vbaProject" in head:
        return "docm"
    for mark, kind in ((b"word/", "docx"), (b"xl/", "spreadsheet"), (b"ppt/", "slides")):
        if mark in head:
            return "docm" if kind == "docx" and ending in {".docm", ".dotm"} else kind
    return _ZIP_SUFFIXES.get(ending, "zip")


def _looks_like_text(head: bytes) -> bool:
    """Few control bytes, or the regular NULs of UTF-16."""
    if head.startswith(_BOMS) or utf16_by_nuls(head) is not None:
        return True
    sample = head[:4096]
    control = sum(1 for byte in sample if byte < 32 and byte not in (9, 10, 12, 13, 27))
    return control <= max(2, len(sample) // 50)


def utf16_by_nuls(data: bytes) -> str | None:
    """The byte order of UTF-16 without a mark: Latin text has its NULs all on one side of each pair."""
    sample = data[: 4096 - 4096 % 2]
    half = len(sample) // 2
    if half < 4:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > half * 0.4 and even < half * 0.05:
        return "utf-16-le"
    if even > half * 0.4 and odd < half * 0.05:
        return "utf-16-be"
    return None

"""Word documents (DOCX): everything a reader of the accepted text would see, in its order.

Paragraphs, tables, content controls, text boxes, footnotes, headers and footers are read; of tracked
changes the insertions are taken and the deletions left out, and a warning says so. The walk is our own
because libraries that list paragraphs lose text in tables and content controls (on some templates all of
it). Element names are matched without their namespace, so the strict and the transitional forms both read.
"""

from __future__ import annotations

from runs.documents.docx_text import Walker
from runs.documents.errors import Unreadable
from runs.documents.extracted import Extracted, TextBuilder
from runs.documents.limits import Limits
from runs.documents.package import CORRUPT, Package

_MACROS = (
    "The Word document contains macros (programs). It was not read and nothing in it was run. Save "
    "it as a plain "
    "Word document (DOCX) and upload that."
)


def extract(data: bytes, *, limits: Limits) -> Extracted:
    """Text of a DOCX. Raises `Unreadable` for everything it will not read."""
    package = Package(data, limits=limits)
    if any(name.lower().endswith(("vbaproject.bin", "vbadata.xml")) for name in package.names):
        raise Unreadable("macros", _MACROS)
    main = _main_part(package)
    package.check_no_doctype()
    body = package.xml(main)
    walker = Walker()
    blocks = walker.blocks(body)
    folder = main.rsplit("/", 1)[0]
    for kind in ("footnotes", "endnotes"):
        name = f"{folder}/{kind}.xml"
        if name in package.names:
            blocks += [("footnote", text) for _, text in walker.blocks(package.xml(name))]
    blocks += _running(package, walker, folder)
    if not any(text.strip() for _, text in blocks):
        raise Unreadable(
            "empty",
            "The Word document holds no text. Nothing was read from it. If the contract is a picture "
            "in it, run "
            "text recognition (OCR) and upload the result.",
        )
    builder = TextBuilder(limit=limits.characters)
    for number, (kind, text) in enumerate(blocks, start=1):
        builder.add(text, kind=kind, number=number)
    text, spans = builder.build()
    facts: dict[str, object] = {"insertions": walker.insertions, "deletions": walker.deletions}
    return Extracted(text=text, spans=spans, warnings=_warnings(walker), facts=facts)


def refuse_ole(data: bytes) -> Unreadable:
    """What to say about an OLE container: a locked DOCX, or the Word format of before 2007."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        return Unreadable(
            "encrypted",
            "The Office document is locked with a password. It was not read, and no password was "
            "tried. Save a copy "
            "without a password and upload the copy.",
        )
    return Unreadable(
        "unsupported",
        "This is an Office file in the format of before 2007 (DOC, XLS). Only PDF, Word (DOCX), "
        "plain text and "
        "Markdown are read; this file was not opened. Save it as DOCX or PDF and upload that.",
        kind="ole",
    )


def _main_part(package: Package) -> str:
    """The part that holds the document, by its relationship, else by its usual name."""
    if "[Content_Types].xml" not in package.names:
        raise _not_word(package)
    if "_rels/.rels" in package.names:
        for relation in package.xml("_rels/.rels"):
            target = str(relation.get("Target", "")).lstrip("/")
            if str(relation.get("Type", "")).endswith("/officeDocument") and target in package.names:
                if target.startswith(("xl/", "ppt/")):
                    raise _not_word(package)
                return target
    if "word/document.xml" in package.names:
        return "word/document.xml"
    raise _not_word(package)


def _not_word(package: Package) -> Unreadable:
    if any(name.startswith("word/") for name in package.names):
        return Unreadable("corrupt", CORRUPT)
    what = "an archive"
    for start, word in (("xl/", "a spreadsheet"), ("ppt/", "a slide deck")):
        if any(name.startswith(start) for name in package.names):
            what = word
    return Unreadable(
        "unsupported",
        f"The content is {what}. Only PDF, Word (DOCX), plain text and Markdown are read; nothing in"
        f" it was read. "
        "Save the contract as one of these and upload that.",
        kind="zip",
    )


def _running(package: Package, walker: Walker, folder: str) -> list[tuple[str, str]]:
    """Headers and footers, each different text once, after everything else."""
    seen: set[str] = set()
    found: list[tuple[str, str]] = []
    for kind in ("header", "footer"):
        for name in sorted(
            n for n in package.names if n.startswith(f"{folder}/{kind}") and n.endswith(".xml")
        ):
            for _, text in walker.blocks(package.xml(name)):
                if text.strip() and text not in seen:
                    seen.add(text)
                    found.append((kind, text))
    return found


def _warnings(walker: Walker) -> tuple[str, ...]:
    if not (walker.insertions or walker.deletions):
        return ()
    text = (
        f"The document has tracked changes: {walker.insertions} insertions were read as accepted, "
        f"{walker.deletions} deletions were left out."
    )
    return (text,)

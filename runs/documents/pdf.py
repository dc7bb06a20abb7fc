"""PDF text, page by page, with PDFium.

PDFium (BSD/Apache, the engine of Chromium) reads 106 pages in a tenth of a second and repairs what readers
usually repair. It is C++ behind a C interface: a hostile file may crash the process, so callers run this in
a killable child.
"""

from __future__ import annotations

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from runs.documents.errors import Unreadable
from runs.documents.extracted import Extracted, TextBuilder
from runs.documents.limits import Limits

_FEW_LETTERS = 16
"""A page with a picture and fewer letters than this is taken for a scan (stamps and page numbers remain)."""

_CORRUPT = (
    "The content starts like a PDF but cannot be opened: the file is damaged or cut short. Nothing was read "
    "from it. Export it again from its source and upload that."
)


def extract(data: bytes, *, limits: Limits) -> Extracted:
    """Text of every page. Raises `Unreadable`: encrypted, corrupt, scanned, too_large."""
    document = _open(data)
    try:
        count = len(document)
        if count == 0:
            raise Unreadable("corrupt", _CORRUPT)
        if count > limits.pages:
            raise Unreadable(
                "too_large",
                f"The PDF has {count} pages; at most {limits.pages} are read. Nothing was read from"
                f" it. Upload "
                "only the contract itself.",
                pages=count,
                limit=limits.pages,
            )
        return _pages(document, count, limits)
    finally:
        document.close()


def _open(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY):
            raise Unreadable(
                "encrypted",
                "The PDF is locked with a password. It was not read, and no password was tried. Open "
                "it in your "
                "PDF program, save a copy without a password, and upload the copy.",
            ) from None
        raise Unreadable("corrupt", _CORRUPT) from None


def _pages(document: pdfium.PdfDocument, count: int, limits: Limits) -> Extracted:
    builder = TextBuilder(limit=limits.characters)
    scanned: list[int] = []
    broken: list[int] = []
    letters = 0
    for number in range(1, count + 1):
        try:
            text, has_picture = _page(document, number - 1)
        except pdfium.PdfiumError:
            text, has_picture = "", False
            broken.append(number)
        on_page = sum(map(str.isalnum, text[:400]))
        if on_page < _FEW_LETTERS and has_picture:
            scanned.append(number)
        else:
            letters += on_page
        builder.add(text, kind="page", number=number)
    if len(broken) == count:
        raise Unreadable("corrupt", _CORRUPT)
    if letters == 0:
        raise _no_text(count, scanned)
    text, spans = builder.build()
    return Extracted(
        text=text, spans=spans, warnings=tuple(_warnings(scanned, broken)), facts={"pages": count}
    )


def _page(document: pdfium.PdfDocument, index: int) -> tuple[str, bool]:
    """The text of one page, and whether a nearly empty one holds a picture."""
    page = document[index]
    try:
        textpage = page.get_textpage()
        try:
            text = _clean(textpage.get_text_range())
        finally:
            textpage.close()
        if sum(map(str.isalnum, text[:400])) >= _FEW_LETTERS:
            return text, False
        pictures = page.get_objects(filter=(pdfium_c.FPDF_PAGEOBJ_IMAGE,), max_depth=3)
        return text, next(iter(pictures), None) is not None
    finally:
        page.close()


def _clean(text: str) -> str:
    """Line breaks as LF; PDFium's marks for a hyphen at a line end as the hyphen it shows."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-").replace("\x02", "-")


def _no_text(count: int, scanned: list[int]) -> Unreadable:
    pages = _page_list(scanned or list(range(1, count + 1)))
    why = "holds pictures of text (a scan)" if scanned else "holds no text"
    return Unreadable(
        "scanned",
        f"The PDF {why} on {pages} and no text layer on any page. Nothing was read from it, because"
        f" text in "
        "pictures is not recognised here. Run text recognition (OCR) on it and upload the result.",
        pages=scanned,
    )


def _warnings(scanned: list[int], broken: list[int]) -> list[str]:
    warnings = []
    if scanned:
        warnings.append(f"No text layer on {_page_list(scanned)} (scanned): what stands there was not read.")
    if broken:
        warnings.append(f"Damaged and not read: {_page_list(broken)}.")
    return warnings


def _page_list(numbers: list[int]) -> str:
    """`page 3`, or `pages 1–4, 9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs[:20])
    return f"{'page' if len(numbers) == 1 else 'pages'} {shown}{' and more' if len(runs) > 20 else ''}"

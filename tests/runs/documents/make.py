"""Builders for the files that the reader meets; every hostile one is made here, byte by byte."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

from docx import Document as WordDocument
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pdf(pages: Sequence[Sequence[str]], *, password: str = "", pictures: Sequence[int] = ()) -> bytes:
    """A PDF with these lines on its pages; `pictures` are the pages (from 1) that hold only an image."""
    out = io.BytesIO()
    encrypt = StandardEncryption(password, canPrint=0) if password else None
    canvas = Canvas(out, pagesize=A4, encrypt=encrypt, invariant=1)
    for number, lines in enumerate(pages, start=1):
        if number in pictures:
            canvas.drawImage(ImageReader(Image.new("RGB", (60, 60), "white")), 50, 50, 400, 600)
        for index, line in enumerate(lines):
            canvas.drawString(60, 780 - 14 * index, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def docx(*paragraphs: str, table: Sequence[Sequence[str]] = ()) -> bytes:
    """A Word file as Word writes it."""
    document = WordDocument()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if table:
        grid = document.add_table(rows=len(table), cols=len(table[0]))
        for row, cells in zip(grid.rows, table, strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def package(body: str, *, declaration: str = "", extra: dict[str, bytes] | None = None) -> bytes:
    """A Word file from raw XML of its body, with a document type if one is given."""
    document = f'<?xml version="1.0" encoding="UTF-8"?>{declaration}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    parts = {
        "[Content_Types].xml": b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": (
            f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" '
            'Target="word/document.xml"/></Relationships>'
        ).encode(),
        "word/document.xml": document.encode(),
        **(extra or {}),
    }
    return archive(parts)


def archive(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return out.getvalue()


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"

"""Builders for the files that the reader meets; every hostile one is made here, byte by byte."""

from __future__ import annotations

import io
import zipfile
import zlib
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


def endless_pdf(depth: int = 7, fan: int = 10) -> bytes:
    """A few kilobytes that take hours of processor time and little memory: forms that each draw the next one ``fan`` times,
    ``depth`` deep; the last saves and restores its state a hundred thousand times and draws nothing."""

    def stream(body: bytes, entries: bytes = b"") -> bytes:
        packed = zlib.compress(body)
        head = b"<< %s /Filter /FlateDecode /Length %d >>" % (entries, len(packed))
        return b"%s\nstream\n%s\nendstream" % (head, packed)

    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
        stream(b"/X Do"),
    ]
    for level in range(depth):
        last = level == depth - 1
        resources = b"" if last else b"/XObject << /X %d 0 R >>" % (level + 6)
        form = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << %s >>" % resources
        objects.append(stream(b"q Q " * 100_000 if last else b"/X Do " * fan, form))
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    tail = b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
    return out + tail % (len(objects) + 1, table, len(objects) + 1, len(out))


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

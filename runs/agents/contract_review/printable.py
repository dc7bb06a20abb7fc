"""The report as PDF, with ReportLab.

ReportLab was chosen over fpdf2 because its tables flow over pages with wrapped cells and repeated heads, and
because it prints Chinese, Japanese and Korean through the standard Adobe fonts that PDF viewers bring, so no
20 MB font file has to be shipped. Latin, Greek and Cyrillic text is set in Noto Sans (package
`fontpkg-noto-sans`, SIL Open Font License), embedded as a subset; a script that neither covers is printed as
its Unicode mark instead of an empty box.

The output is deterministic: no time of day and no random id goes into it.
"""

from __future__ import annotations

import io
from functools import cache
from importlib import resources
from xml.sax.saxutils import escape

from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, LongTable, SimpleDocTemplate, Spacer, TableStyle
from reportlab.platypus import Paragraph as Text

from runs.agents.contract_review.report import Block, Bullets, Heading, Paragraph, Report, Table

_INK = HexColor("#1c2430")
_MUTED = HexColor("#5b6675")
_LINE = HexColor("#d5dae1")
_SHADE = HexColor("#f2f4f7")
_MARGIN = 16 * mm
_WIDTH = A4[0] - 2 * _MARGIN
_LATIN = "NotoSans"
_CHINESE = "STSong-Light"
_JAPANESE = "HeiseiKakuGo-W5"
_KOREAN = "HYGothic-Medium"
_LONGEST_CELL = 3400
"""Characters of a cell as wide as the page before it is cut; narrower ones hold less."""


@cache
def _latin() -> TTFont:
    """Register the fonts once in a process."""
    folder = resources.files("fontpkg_noto_sans") / "files"
    path = next(entry for entry in folder.iterdir() if entry.name.startswith("NotoSans["))
    font = TTFont(_LATIN, str(path))
    pdfmetrics.registerFont(font)
    for name in (_CHINESE, _JAPANESE, _KOREAN):
        pdfmetrics.registerFont(UnicodeCIDFont(name))
    return font


def _font_of(character: str) -> str:
    """The font that has this character; empty when none has."""
    point = ord(character)
    if point in _latin().face.charToGlyph:
        return _LATIN
    if 0xAC00 <= point <= 0xD7AF or 0x1100 <= point <= 0x11FF:
        return _KOREAN
    if 0x3040 <= point <= 0x30FF:
        return _JAPANESE
    if 0x3000 <= point <= 0x9FFF or 0xF900 <= point <= 0xFAFF or 0xFF00 <= point <= 0xFFEF:
        return _CHINESE
    return ""


def markup(text: str) -> str:
    """Escaped text with a font tag around every run that the main font does not have."""
    runs: list[list[str]] = []
    for character in text:
        font = _font_of(character)
        shown = character if font else f"[U+{ord(character):04X}]"
        font = font or _LATIN
        if runs and runs[-1][0] == font:
            runs[-1][1] += shown
        else:
            runs.append([font, shown])
    return "".join(
        escape(part) if font == _LATIN else f'<font name="{font}">{escape(part)}</font>'
        for font, part in runs
    )


def _style(
    size: float, *, space: float = 0, colour: Color = _INK, bullet: float = 0, keep: bool = False
) -> ParagraphStyle:
    return ParagraphStyle(
        f"s{size}-{space}-{bullet}-{keep}",
        fontName=_LATIN,
        fontSize=size,
        leading=size * 1.35,
        spaceBefore=space,
        spaceAfter=space / 2,
        textColor=colour,
        leftIndent=bullet,
        bulletIndent=0,
        bulletFontName=_LATIN,
        bulletFontSize=size,
        splitLongWords=True,
        keepWithNext=keep,
    )


def to_pdf(report: Report, *, title: str = "Contract review") -> bytes:
    """The report as a PDF of A4 pages, each with its number."""
    _latin()
    out = io.BytesIO()
    document = SimpleDocTemplate(
        out,
        pagesize=A4,
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=_MARGIN,
        bottomMargin=_MARGIN,
        title=title,
        author="Countersign",
        invariant=1,
        pageCompression=1,
    )
    story: list[Flowable] = []
    for block in report.blocks:
        story += _flow(block)
    document.build(story, onFirstPage=_page_number, onLaterPages=_page_number)
    return out.getvalue()


def _page_number(canvas: Canvas, document: SimpleDocTemplate) -> None:
    canvas.setFont(_LATIN, 7.5)
    canvas.setFillColor(_MUTED)
    canvas.drawRightString(A4[0] - _MARGIN, 9 * mm, f"{canvas.getPageNumber()}")


def _flow(block: Block) -> list[Flowable]:
    match block:
        case Heading(text, level):
            size, space = {1: (20, 0), 2: (13, 12)}.get(level, (10.5, 8))
            return [Text(markup(text), _style(size, space=space, keep=True))]
        case Paragraph(text):
            return [Text(markup(text), _style(8.5, space=6, colour=_MUTED))]
        case Bullets(lines):
            return [Text(markup(line), _style(9.5, space=1.5, bullet=9), bulletText="•") for line in lines]
        case Table():
            return [Spacer(1, 4), _table(block)]


def _table(table: Table) -> LongTable:
    cell, head = _style(7.5), _style(7.5, colour=_MUTED)
    rows = [[Text(markup(text), head) for text in table.head]]
    rows += [
        [Text(markup(_fit(text, share)), cell) for text, share in zip(row, table.widths, strict=True)]
        for row in table.rows
    ]
    flow = LongTable(rows, colWidths=[_WIDTH * share for share in table.widths], repeatRows=1)
    flow.setStyle(
        TableStyle(
            [
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("BACKGROUND", (0, 0), (-1, 0), _SHADE),
                ("LINEBELOW", (0, 0), (-1, -1), 0.4, _LINE),
                ("LEFTPADDING", (0, 0), (-1, -1), 4),
                ("RIGHTPADDING", (0, 0), (-1, -1), 4),
                ("TOPPADDING", (0, 0), (-1, -1), 3),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
            ]
        )
    )
    return flow


def _fit(text: str, share: float) -> str:
    """The text, cut so that its row fits on a page even when every letter is a wide one."""
    shown = "".join(character if _font_of(character) else f"[U+{ord(character):04X}]" for character in text)
    longest = int(_LONGEST_CELL * share)
    return shown if len(shown) <= longest else shown[:longest] + " […]"

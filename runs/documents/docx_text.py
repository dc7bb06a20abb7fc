"""Walk the elements of a Word part and collect the text that a reader of the accepted version sees."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

_HIDDEN = ("del", "moveFrom", "delText", "delInstrText", "instrText", "annotationRef", "Fallback")
_SETTINGS = ("pPr", "rPr", "sdtPr", "sdtEndPr", "tblPr", "tblGrid", "trPr", "tcPr", "sectPr")
_GONE = frozenset(_HIDDEN + _SETTINGS)
"""Elements whose text is deleted, hidden, or a setting."""
_PLAIN = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}


def local(element: etree._Element) -> str:
    """The element's name without its namespace (comments and instructions are not parsed)."""
    return str(element.tag).rsplit("}", 1)[-1]


def _attribute(element: etree._Element, name: str) -> str:
    for key, value in element.attrib.items():
        if str(key).rsplit("}", 1)[-1] == name:
            return str(value)
    return ""


class Walker:
    """Turns a part into blocks `(kind, text)`; counts tracked insertions and deletions on its way."""

    def __init__(self) -> None:
        self.insertions = 0
        self.deletions = 0
        self._boxes: list[etree._Element] = []

    def blocks(self, root: etree._Element) -> list[tuple[str, str]]:
        """Blocks of a whole part, in reading order; text boxes follow the paragraph that anchors them."""
        return self._join(list(self._walk(root)))

    def _join(self, raw: list[tuple[str, str, bool]]) -> list[tuple[str, str]]:
        """Join a paragraph whose mark was deleted with the next one, as accepting the change would."""
        out: list[tuple[str, str]] = []
        carry = ""
        for kind, text, joins in raw:
            if joins:
                carry += text
                continue
            out.append((kind, carry + text))
            carry = ""
        if carry:
            out.append(("paragraph", carry))
        return [(kind, text) for kind, text in out if text.strip()]

    def _walk(self, parent: etree._Element) -> Iterator[tuple[str, str, bool]]:
        for child in parent:
            name = local(child)
            if name == "p":
                yield self._paragraph(child)
                while self._boxes:
                    yield from self._walk(self._boxes.pop(0))
            elif name == "tbl":
                yield from self._table(child)
            elif name in {"footnote", "endnote"} and _attribute(child, "type"):
                continue  # separators, not notes
            elif name in _GONE:
                self._count(name)
            else:
                yield from self._walk(child)

    def _paragraph(self, paragraph: etree._Element) -> tuple[str, str, bool]:
        text = "".join(self._inline(paragraph))
        return ("paragraph", text, self._mark_deleted(paragraph))

    def _inline(self, parent: etree._Element) -> Iterator[str]:
        for child in parent:
            name = local(child)
            if name == "t":
                yield child.text or ""
            elif name in _PLAIN:
                yield _PLAIN[name]
            elif name == "txbxContent":
                self._boxes.append(child)
            elif name in _GONE:
                self._count(name)
            else:
                if name in {"ins", "moveTo"}:
                    self.insertions += 1
                yield from self._inline(child)

    def _count(self, name: str) -> None:
        if name in {"del", "moveFrom"}:
            self.deletions += 1

    def _mark_deleted(self, paragraph: etree._Element) -> bool:
        """Whether the paragraph's own end was deleted as a tracked change."""
        for properties in paragraph:
            if local(properties) == "pPr":
                return any(
                    local(mark) in {"del", "moveFrom"}
                    for run in properties
                    if local(run) == "rPr"
                    for mark in run
                )
        return False

    def _table(self, table: etree._Element) -> Iterator[tuple[str, str, bool]]:
        """One block a row: cells apart by tabs, paragraphs in a cell by line breaks."""
        for row in self._children(table, "tr"):
            if any(local(mark) == "del" for part in row if local(part) == "trPr" for mark in part):
                self.deletions += 1
                continue
            cells = ["\n".join(text for _, text in self.blocks(cell)) for cell in self._children(row, "tc")]
            yield ("row", "\t".join(cells), False)

    def _children(self, parent: etree._Element, wanted: str) -> Iterator[etree._Element]:
        """Rows or cells, also those inside content controls or tracked insertions."""
        for child in parent:
            name = local(child)
            if name == wanted:
                yield child
            elif name in {"sdt", "sdtContent", "ins", "customXml", "smartTag", "AlternateContent", "Choice"}:
                yield from self._children(child, wanted)

"""Open a Word package (a ZIP of XML parts) without ever expanding more than the limits allow."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from runs.documents.errors import Unreadable
from runs.documents.limits import MIB, Limits

CORRUPT = (
    "The content starts like a Word document but cannot be opened: the file is damaged or cut short. Nothing "
    "was read from it. Open it in Word, save it again and upload that."
)
_ENTITY = (
    "The Word document declares entities in its XML ({part}), which could pull in other files or "
    "expand without "
    "end; Word itself never writes that. It was not read and nothing was fetched. Open it in Word, "
    "save it again "
    "and upload that, or ask its sender."
)
_CHUNK = 1 << 16
_DOCTYPE = b"<!DOCTYPE"


class Package:
    """Read access to the parts of one package; raises `Unreadable` for everything that is wrong with it."""

    def __init__(self, data: bytes, *, limits: Limits) -> None:
        self._limits = limits
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            raise Unreadable("corrupt", CORRUPT) from None
        entries = self._zip.infolist()
        expanded = sum(entry.file_size for entry in entries)
        if len(entries) > limits.zip_entries or expanded > limits.zip_expanded_bytes:
            raise Unreadable(
                "archive_bomb",
                f"The Word document expands to {expanded / MIB:.0f} MB in {len(entries)} parts; at most "
                f"{limits.zip_expanded_bytes / MIB:.0f} MB in {limits.zip_entries} parts are read. It "
                "was not expanded. Open it in Word, remove what is not needed, save it again and "
                "upload that.",
                expanded=expanded,
                entries=len(entries),
            )
        self.names = frozenset(entry.filename for entry in entries)
        if any(entry.flag_bits & 0x1 for entry in entries):
            raise Unreadable(
                "encrypted",
                "The Word document is locked with a password. It was not read, and no password was "
                "tried. Save a "
                "copy without a password and upload the copy.",
            )

    def check_no_doctype(self) -> None:
        """Refuse a document type declaration in any XML part, also where nobody would parse it."""
        for name in sorted(self.names):
            if not name.lower().endswith((".xml", ".rels", ".vml")):
                continue
            tail = b""
            for chunk in self._chunks(name):
                window = tail + chunk.replace(b"\x00", b"")
                if _DOCTYPE in window.upper():
                    raise Unreadable("external_entity", _ENTITY.format(part=name), part=name)
                tail = window[-len(_DOCTYPE) :]

    def xml(self, name: str) -> etree._Element:
        """The root of one XML part, parsed without entities, network or document types."""
        data = b"".join(self._chunks(name))
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False,
            remove_comments=True, remove_pis=True,
        )  # fmt: skip
        try:
            root = etree.fromstring(data, parser=parser)
        except etree.XMLSyntaxError:
            raise Unreadable("corrupt", CORRUPT, part=name) from None
        if root.getroottree().docinfo.internalDTD is not None:
            raise Unreadable("external_entity", _ENTITY.format(part=name), part=name)
        return root

    def _chunks(self, name: str) -> Iterator[bytes]:
        """The expanded bytes of a part, in pieces, never more than one part may hold."""
        total = 0
        try:
            with self._zip.open(name) as part:
                while chunk := part.read(_CHUNK):
                    total += len(chunk)
                    if total > self._limits.xml_part_bytes:
                        raise Unreadable(
                            "archive_bomb",
                            f"One part of the Word document ({name}) expands to more than "
                            f"{self._limits.xml_part_bytes / MIB:.0f} MB. Reading stopped and nothing"
                            f" was kept. Open "
                            "it in Word, save it again and upload that.",
                            part=name,
                        )
                    yield chunk
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            KeyError,
            NotImplementedError,
            RuntimeError,
        ):
            raise Unreadable("corrupt", CORRUPT, part=name) from None

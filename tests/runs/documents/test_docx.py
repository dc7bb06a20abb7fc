"""Word files: all the text a reader sees, and the packages that are refused."""

from __future__ import annotations

import io
import zipfile

import pytest

from runs.documents import Limits, Unreadable, read
from tests.runs.documents import make


def refuse(data: bytes, name: str = "contract.docx", limits: Limits | None = None) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        read(data, name, limits=limits or Limits())
    return caught.value


def test_paragraphs_and_tables_in_order() -> None:
    document = read(
        make.docx("First", "Second", table=[["Governing Law", "Ohio"], ["Term", "one year"]]), "a.docx"
    )
    assert document.kind == "docx"
    assert document.page_count is None
    assert document.text == "First\nSecond\nGoverning Law\tOhio\nTerm\tone year"
    assert [span.kind for span in document.spans] == ["paragraph", "paragraph", "row", "row"]


def test_text_in_content_controls_is_read() -> None:
    body = (
        f"<w:sdt><w:sdtPr/><w:sdtContent>{make.paragraph('A block control')}</w:sdtContent></w:sdt>"
        "<w:p><w:r><w:t>Signed by </w:t></w:r><w:sdt><w:sdtContent><w:r><w:t>an inline control</w:t></w:r>"
        "</w:sdtContent></w:sdt></w:p>"
        "<w:tbl><w:sdt><w:sdtContent><w:tr><w:sdt><w:sdtContent><w:tc>"
        f"{make.paragraph('A cell control')}</w:tc></w:sdtContent></w:sdt></w:tr></w:sdtContent></w:sdt></w:tbl>"
    )
    text = read(make.package(body), "a.docx").text
    assert text == "A block control\nSigned by an inline control\nA cell control"


def test_tracked_changes_are_read_as_accepted() -> None:
    body = (
        "<w:p><w:r><w:t>Pay within </w:t></w:r><w:del><w:r><w:delText>thirty</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>sixty</w:t></w:r></w:ins><w:r><w:t> days</w:t></w:r></w:p>"
    )
    document = read(make.package(body), "a.docx")
    assert document.text == "Pay within sixty days"
    assert any("1 insertions" in warning and "1 deletions" in warning for warning in document.warnings)


def test_a_deleted_paragraph_end_joins_two_paragraphs() -> None:
    body = "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>One </w:t></w:r></w:p>" + make.paragraph(
        "sentence"
    )
    assert read(make.package(body), "a.docx").text == "One sentence"


def test_headers_and_footnotes_come_after_the_body() -> None:
    extra = {
        "word/header1.xml": f'<w:hdr xmlns:w="{make.WORD}">{make.paragraph("Confidential")}</w:hdr>'.encode(),
        "word/footnotes.xml": (
            f'<w:footnotes xmlns:w="{make.WORD}"><w:footnote w:type="separator">{make.paragraph("-")}</w:footnote>'
            f"<w:footnote>{make.paragraph('A note')}</w:footnote></w:footnotes>"
        ).encode(),
    }
    document = read(make.package(make.paragraph("Body"), extra=extra), "a.docx")
    assert document.text == "Body\nA note\nConfidential"


def test_external_entity_is_refused_and_nothing_is_fetched() -> None:
    declaration = '<!DOCTYPE w:document [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    error = refuse(make.package(make.paragraph("&x;"), declaration=declaration))
    assert error.code == "external_entity"
    assert "nothing was fetched" in error.message


def test_document_type_is_refused_in_any_part_and_in_utf_16() -> None:
    part = '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE a [<!ENTITY b "c">]><a/>'.encode("utf-16")
    assert (
        refuse(make.package(make.paragraph("x"), extra={"word/settings.xml": part})).code == "external_entity"
    )


def test_entity_bomb_is_refused_before_it_expands() -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    declaration = f'<!DOCTYPE w:document [<!ENTITY l0 "ha">{levels}]>'
    assert refuse(make.package(make.paragraph("&l11;"), declaration=declaration)).code == "external_entity"


def test_zip_bomb_is_refused_by_its_directory() -> None:
    data = make.package(make.paragraph("x"), extra={"word/media/zeros.bin": b"\0" * (300 * 1024 * 1024)})
    assert len(data) < 1024 * 1024
    assert refuse(data).code == "archive_bomb"


def test_one_huge_part_is_refused_while_it_expands() -> None:
    data = make.package(make.paragraph("word " * 100_000))
    assert refuse(data, limits=Limits(xml_part_bytes=100_000)).code == "archive_bomb"


def test_too_many_entries_are_refused() -> None:
    data = make.package(make.paragraph("x"), extra={f"word/media/{n}": b"" for n in range(60)})
    assert refuse(data, limits=Limits(zip_entries=50)).code == "archive_bomb"


@pytest.mark.parametrize("name", ["contract.docm", "contract.docx"])
def test_macros_are_refused_whatever_the_name(name: str) -> None:
    error = refuse(make.package(make.paragraph("x"), extra={"word/vbaProject.bin": b"\0"}), name)
    assert error.code == "macros"
    assert "nothing in it was run" in error.message


def test_cut_short_package_is_corrupt() -> None:
    assert refuse(make.docx("Some words of an agreement")[:-200]).code == "corrupt"


def test_broken_part_is_corrupt() -> None:
    data = bytearray(make.package(make.paragraph("x" * 500)))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as file:
        offset = file.getinfo("word/document.xml").header_offset
    data[offset + 60 : offset + 80] = b"\xff" * 20
    assert refuse(bytes(data)).code == "corrupt"


def test_spreadsheet_is_unsupported() -> None:
    data = make.archive({"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<workbook/>"})
    error = refuse(data, "contract.docx")
    assert error.code == "unsupported"
    assert "spreadsheet" in error.message


def test_locked_office_file_is_encrypted_and_an_old_one_unsupported() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
    assert refuse(ole + "EncryptedPackage".encode("utf-16-le"), "a.docx").code == "encrypted"
    assert refuse(ole, "a.doc").code == "unsupported"


def test_document_without_text_is_empty() -> None:
    assert refuse(make.package("<w:p/>")).code == "empty"

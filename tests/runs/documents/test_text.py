"""Plain text and Markdown: encodings, sizes, and characters that cannot be stored."""

from __future__ import annotations

import codecs
import tracemalloc
from pathlib import Path

import pytest

from runs.documents import Unreadable, read, sanitize_text
from tests.runs.documents import make

SENTENCE = "The term is ten years – it is 10 000 € a year, “fixed”."


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (SENTENCE.encode(), "utf-8"),
        (codecs.BOM_UTF8 + SENTENCE.encode(), "utf-8"),
        (SENTENCE.encode("utf-16"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + SENTENCE.encode("utf-16-be"), "utf-16-be"),
        (SENTENCE.encode("utf-16-le"), "utf-16-le"),
        (SENTENCE.encode("utf-16-be"), "utf-16-be"),
        (SENTENCE.encode("cp1252"), "cp1252"),
    ],
)
def test_encoding_is_found(data: bytes, encoding: str) -> None:
    document = read(data, "a.txt")
    assert document.text == SENTENCE
    assert document.facts["encoding"] == encoding


def test_chinese_in_gb18030_is_read() -> None:
    text = "本合同自双方签字之日起生效，有效期为三年。"
    assert read(text.encode("gb18030"), "合同.txt").text == text


def test_assumed_encoding_is_said_aloud() -> None:
    assert any("Windows-1252" in warning for warning in read("Café terms".encode("cp1252"), "a.txt").warnings)


@pytest.mark.parametrize("opened", [False, True])
def test_200_mb_text_is_refused_without_reading_it(tmp_path: Path, opened: bool) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.write(b"The parties agree. ")
        file.truncate(200 * 1024 * 1024)
    tracemalloc.start()
    try:
        with path.open("rb") as stream, pytest.raises(Unreadable) as caught:
            read(stream if opened else path, "huge.txt")
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()
    assert caught.value.code == "too_large"
    assert "200.0 MB" in caught.value.message


@pytest.mark.parametrize("data", [b" \n\t\n", codecs.BOM_UTF8])
def test_blank_file_is_empty(data: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        read(data, "a.txt")
    assert caught.value.code == "empty"


def test_b78_nul_is_marked_and_the_text_kept() -> None:
    """Guards runs/documents/sanitize.py `sanitize_text`: a NUL in a read text can be stored."""
    document = read(b"The term is\x00 ten years from the date of this agreement.", "a.txt")
    assert document.text == "The term is⟦U+0000⟧ ten years from the date of this agreement."
    assert any("cannot be stored" in warning for warning in document.warnings)


def test_b79_lone_surrogate_is_marked() -> None:
    """Guards runs/documents/sanitize.py `_UNSTORABLE`: a lone surrogate in a file name can be stored."""
    assert sanitize_text("a\ud800b") == "a⟦U+D800⟧b"
    assert read(b"Some words of an agreement", "a\udcff.txt").name == "a⟦U+DCFF⟧.txt"


def test_blocks_are_paragraphs() -> None:
    document = read(b"One\nline\n\nTwo\n\n\nThree", "a.txt")
    assert [document.text[span.start : span.end] for span in document.spans] == ["One\nline", "Two", "Three"]


def test_markdown_shows_what_a_reader_sees() -> None:
    source = (
        "# Cloud Agreement\n\n1. <span id='1'>Service</span>\n    1. *Access* and [use](http://x.example).\n\n"
        "| Field | Value |\n| --- | --- |\n| Law | Ohio |\n\n<script>alert(1)</script>\n"
    )
    document = read(source.encode(), "terms.md")
    assert document.kind == "markdown"
    lines = document.text.split("\n")
    assert lines[:5] == ["Cloud Agreement", "1. Service", "1. Access and use.", "Field\tValue", "Law\tOhio"]
    assert "<" not in document.text


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "scan.png"),
        (b"{\\rtf1 words}", "a.rtf"),
        (b"<!DOCTYPE html><html></html>", "a.html"),
        (b"\x7fELF" + b"\0" * 60, "a.txt"),
        (bytes(range(256)) * 4, "a.txt"),
    ],
)
def test_other_kinds_are_unsupported_by_content(data: bytes, name: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(data, name)
    assert caught.value.code == "unsupported"
    assert "Only PDF, Word (DOCX), plain text and Markdown are read" in caught.value.message


def test_refusal_travels_as_json() -> None:
    with pytest.raises(Unreadable) as caught:
        read(make.pdf([[]], pictures=[1]), "a.pdf")
    assert caught.value.as_dict()["code"] == "scanned"

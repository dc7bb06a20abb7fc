"""PDF files: text per page, and each kind that is refused in plain words."""

from __future__ import annotations

import time

import pytest

from runs.documents import LIMITS, Limits, Unreadable, read
from tests.runs.documents import make


def refuse(data: bytes, name: str = "contract.pdf") -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        read(data, name)
    return caught.value


def test_every_character_knows_its_page() -> None:
    document = read(
        make.pdf([["The first page of the agreement"], ["The second page of it"]]), "contract.pdf"
    )
    assert document.kind == "pdf"
    assert document.page_count == 2
    at = document.text.index("second")
    assert document.page_at(at) == 2
    assert document.page_at(0) == 1
    assert document.stands(text="second", start=at, end=at + 6)
    assert not document.stands(text="second", start=at + 1, end=at + 7)


def test_empty_file_says_so() -> None:
    error = refuse(b"")
    assert error.code == "empty"
    assert "0 bytes" in error.message


def test_password_is_named_and_not_tried() -> None:
    error = refuse(make.pdf([["Secret terms of the agreement"]], password="pass"))
    assert error.code == "encrypted"
    assert "without a password" in error.message


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"%PDF-1.7\nnothing follows", id="only a header"),
        pytest.param(make.pdf([["Some words of an agreement"]])[:400], id="cut short"),
    ],
)
def test_damaged_file_is_corrupt(data: bytes) -> None:
    assert refuse(data).code == "corrupt"


def test_text_named_pdf_is_not_what_it_says() -> None:
    error = refuse(b"This is plain text and no PDF at all.")
    assert error.code == "corrupt"
    assert "not a PDF" in error.message


def test_scan_names_its_pages() -> None:
    error = refuse(make.pdf([[], [], []], pictures=[1, 2, 3]))
    assert error.code == "scanned"
    assert "pages 1–3" in error.message
    assert error.details["pages"] == [1, 2, 3]


def test_partly_scanned_file_is_read_with_a_warning() -> None:
    document = read(make.pdf([["A page with a text layer in it"], []], pictures=[2]), "contract.pdf")
    assert "text layer" in document.text
    assert any("page 2" in warning for warning in document.warnings)


def test_106_pages_take_well_under_a_second() -> None:
    pages = [
        [f"Page {number}: the parties agree on line {line} of it" for line in range(40)]
        for number in range(106)
    ]
    data = make.pdf(pages)
    started = time.process_time()
    document = read(data, "long.pdf")
    assert time.process_time() - started < 1.0
    assert document.page_count == 106
    assert document.page_at(document.text.index("Page 105:")) == 106


def test_too_many_pages_are_not_read() -> None:
    with pytest.raises(Unreadable) as caught:
        read(make.pdf([["word"]] * 4), "contract.pdf", limits=Limits(pages=3))
    assert caught.value.code == "too_large"


def test_size_is_compared_before_anything_is_opened() -> None:
    with pytest.raises(Unreadable) as caught:
        read(b"%PDF-" + b"0" * 2000, "contract.pdf", limits=Limits(file_bytes=1000))
    assert caught.value.code == "too_large"
    assert LIMITS.file_bytes > 1000


def test_pdf_with_another_name_is_read_by_its_content() -> None:
    document = read(make.pdf([["An agreement in a PDF by content"]]), "contract.txt")
    assert document.kind == "pdf"
    assert any(".txt" in warning for warning in document.warnings)

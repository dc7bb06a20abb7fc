"""The results of a task: report, table, letter; duplicates and corrections."""

from __future__ import annotations

import csv
import io
from datetime import date
from typing import Any

import pypdfium2
import pytest
from markdown_it import MarkdownIt

from runs.agents.contract_review.markdown import escape
from runs.agents.contract_review.printable import markup
from runs.agents.contract_review.table import neutral
from runs.agents.contract_review.work import join_reviews
from tests.runs.contract_review import make

TODAY = date(2026, 1, 1)


def join(
    *reviews: dict[str, Any], corrections: list[dict[str, Any]] | None = None, today: date = TODAY
) -> dict[str, Any]:
    return join_reviews(list(reviews), today, corrections, recipient="legal@birch.example")


def correct(review: dict[str, Any], field: str) -> dict[str, Any]:
    finding = make.only(review, field)
    return {
        "sha256": review["sha256"],
        "finding_id": finding["id"],
        "by": "Ada Approver",
        "at": "2026-01-01T09:00:00Z",
        "comment": "not the term",
    }


def printed(data: bytes) -> str:
    document = pypdfium2.PdfDocument(data)
    try:
        return " ".join(" ".join(page.get_textpage().get_text_range().split()) for page in document)
    finally:
        document.close()


def test_report_has_risks_before_deadlines_before_documents() -> None:
    report = join(make.review())["report_md"]
    order = [report.index(mark) for mark in ("## Summary", "## Risks", "## Deadlines", "## hosting.txt")]
    assert order == sorted(order)
    assert (
        "Most urgent: last day to stop the renewal of hosting.txt on 2026-12-01, in 334 days"
        in report.replace("\\", "")
    )


def test_every_quote_is_in_the_markdown_with_its_place() -> None:
    review = make.review()
    report = join(review)["report_md"]
    for finding in review["findings"]:
        assert f"| {escape(finding['text'])} | character {finding['start']:,} |" in report


def test_markdown_from_a_document_is_text_and_never_markup() -> None:
    name = "<script>alert(1)</script> *x* [a](javascript:b) | c.txt"
    report = join(make.review(name=name))["report_md"]
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(report)
    assert "<script" not in html
    assert "<a " not in html
    assert "<em>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; *x* [a](javascript:b) | c.txt" in html


def test_printable_form_says_the_same() -> None:
    text = printed(join(make.review())["report_pdf"])
    for words in ("Contract review", "Deadlines", "2026-12-01", "Alder Systems, Inc.", "State of New York"):
        assert words in text


def test_printable_form_is_legible_beyond_latin_and_the_same_each_time() -> None:
    review = make.review(name="合同 договор Σύμβαση.txt")
    joined = join(review)
    assert joined["report_pdf"] == join(review)["report_pdf"]
    assert "合同 договор Σύμβαση.txt" in printed(joined["report_pdf"])
    assert markup("\u0e01") == "[U+0E01]"


def test_a_huge_comment_does_not_break_the_printable_form() -> None:
    review = make.review()
    mark = {**correct(review, "expiration"), "comment": "错" * 5000, "by": "界" * 300}
    assert join(review, corrections=[mark])["report_pdf"].startswith(b"%PDF")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", " ="])
def test_b85_no_cell_of_the_table_is_a_formula(start: str) -> None:
    """Guards runs/agents/contract_review/table.py `neutral`: a spreadsheet runs nothing from a document."""
    assert neutral(f"{start}cmd|x").startswith("'")
    rows = list(csv.reader(io.StringIO(join(make.review(name=f"{start}cmd|x.txt"))["findings_csv"])))
    assert not any(row[0].strip().startswith(("=", "+", "-", "@")) for row in rows[1:])


def test_table_has_a_row_for_every_finding() -> None:
    review = make.review()
    rows = list(csv.DictReader(io.StringIO(join(review)["findings_csv"].removeprefix("\ufeff"))))
    assert [row["quote"] for row in rows if row["quote"]] == [
        finding["text"] for finding in review["findings"]
    ]


def test_the_same_document_twice_is_reviewed_once_and_said() -> None:
    joined = join(make.review(name="one.txt"), make.review(name="two.txt"))
    assert joined["summary"]["documents"] == 1
    assert joined["summary"]["duplicates"] == 1
    assert [document["duplicates"] for document in joined["documents"]] == [["two.txt"]]
    assert "came again as two.txt" in joined["report_md"]


def test_a_refused_document_is_reported_and_the_rest_goes_on() -> None:
    joined = join(make.review_document(b"", "empty.pdf"), make.review())
    assert joined["summary"]["refused"] == 1
    assert "The file is empty" in joined["report_md"]
    assert joined["letter"] is not None


def test_a_correction_stays_with_name_and_time_and_nothing_rests_on_it() -> None:
    review = make.review()
    joined = join(review, corrections=[correct(review, "expiration")])
    assert "Marked wrong by Ada Approver at 2026-01-01T09:00:00Z: not the term" in joined["report_md"]
    assert joined["deadlines"] == []
    assert joined["letter"] is None
    assert joined["summary"]["corrected"] == 1


def test_letter_quotes_what_it_rests_on_and_goes_where_the_submitter_said() -> None:
    review = make.review()
    letter = join(review)["letter"]
    assert letter["to"] == "legal@birch.example"
    assert letter["code"] == "non_renewal"
    assert (
        letter["subject"] == "Notice of non-renewal: HOSTING SERVICES AGREEMENT of 2025-03-01 (by 2026-12-01)"
    )
    assert "between Alder Systems, Inc. and Birch Retail GmbH" in letter["body"]
    assert {fact["field"] for fact in letter["facts"]} == {"expiration", "effective_date", "renewal_notice"}
    for fact in letter["facts"]:
        assert " ".join(fact["text"].split()) in letter["body"]


def test_letter_about_an_end_without_renewal_asks_and_gives_no_notice() -> None:
    head, tail = make.CONTRACT.split("Thereafter")
    letter = join(make.review(head + "\n\n2. Payment" + tail.split("2. Payment")[1]))["letter"]
    assert letter["code"] == "expiry"
    assert "hereby give notice" not in letter["body"]
    assert "2027-03-01" in letter["body"]


def test_no_letter_without_a_known_day() -> None:
    assert join(make.review(make.CONTRACT.replace("March 1, 2025", "[•], 2025")))["letter"] is None


def test_no_letter_when_every_day_has_passed() -> None:
    text = make.CONTRACT.replace(
        "automatically renew for successive", "be renewable, if the parties agree, for"
    )
    assert join(make.review(text), today=date(2040, 1, 1))["letter"] is None


def test_subject_is_one_short_line() -> None:
    text = make.CONTRACT.replace("HOSTING SERVICES AGREEMENT", "VERY LONG " * 11 + "AGREEMENT", 1)
    subject = join(make.review(text))["letter"]["subject"]
    assert len(subject) <= 150
    assert "\n" not in subject


def test_the_sheet_that_goes_out_says_nothing_of_other_contracts_or_of_risks() -> None:
    """The counterparty gets the letter on paper, never the review."""
    joined = join(make.review())
    text = printed(joined["letter_pdf"])
    assert joined["letter"]["subject"].split(":")[0] in text
    assert "risk" not in text.lower()

"""One document: its findings, their values and ratings, and that every quote stands in it."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from runs.agents.contract_review.findings import FIELDS, Finding, QuoteError, verify
from runs.agents.contract_review.risk import REASONS
from runs.documents import read
from tests.needs import shared
from tests.runs.contract_review import make
from tests.runs.documents import make as files


def test_all_fourteen_fields_are_found_and_quoted() -> None:
    result = make.review()
    text = read(make.CONTRACT.encode(), "hosting.txt").text
    assert {finding["field"] for finding in result["findings"]} == {code for code, _ in FIELDS}
    for finding in result["findings"]:
        assert text[finding["start"] : finding["end"]] == finding["text"]
    assert json.loads(json.dumps(result)) == result


def test_values_are_read_from_the_quotes() -> None:
    result = make.review()
    assert make.only(result, "effective_date")["value"]["date"] == "2025-03-01"
    assert make.only(result, "expiration")["value"]["period"] == {
        "count": 2,
        "unit": "year",
        "business": False,
    }
    assert make.only(result, "renewal")["value"]["times"] == "repeatedly"
    assert make.only(result, "renewal_notice")["value"]["period"]["count"] == 90
    assert make.only(result, "governing_law")["value"]["law"] == "State of New York"


@pytest.mark.parametrize(
    ("field", "old", "new", "risk", "code"),
    [
        ("renewal", "", "", "high", "auto_renewal_early_notice"),
        ("renewal", "ninety (90) days", "thirty (30) days", "high", "auto_renewal_short_notice"),
        ("renewal", "ninety (90) days", "sixty (60) days", "medium", "auto_renewal"),
        ("termination", "", "", "high", "one_sided_termination"),
        ("termination", "Provider may terminate", "Either party may terminate", "medium", "mutual_convenience"),
        ("assignment", "", "", "low", "assignment_with_consent"),
        ("assignment", "Neither party may assign", "Provider may freely assign", "high", "assignment_free"),
        ("indemnity", "", "", "medium", "one_sided_indemnity"),
        ("indemnity", "3. Liability. In no event shall either party's aggregate liability exceed the fees paid in the twelve months\nbefore the claim.\n", "", "high", "uncapped_indemnity"),
        ("liability_cap", "", "", "low", "liability_capped"),
        ("payment_terms", "thirty (30) days of receipt", "ten (10) days of receipt", "medium", "fast_payment"),
        ("expiration", "", "", "low", "fixed_term"),
    ],
)  # fmt: skip
def test_rating(field: str, old: str, new: str, risk: str, code: str) -> None:
    assert old in make.CONTRACT
    finding = make.only(make.review(make.CONTRACT.replace(old, new) if old else make.CONTRACT), field)
    assert (finding["risk"], finding["reason_code"]) == (risk, code)
    assert finding["reason"] == REASONS[code].format(**finding["reason_params"])


def test_a_missing_clause_is_a_gap() -> None:
    text = make.CONTRACT.split("8. Governing Law")[0]
    result = make.review(text)
    assert [(gap["field"], gap["risk"]) for gap in result["gaps"]] == [("governing_law", "high")]


def test_key_terms_in_a_word_table_are_read() -> None:
    data = files.docx("Mutual Non-Disclosure Agreement", table=[
        ("Effective Date\nWhen it starts", "May 4, 2026"),
        ("MNDA Term", "[ x ]\tExpires one year from the Effective Date.\n[   ]\tContinues until terminated."),
        ("Governing Law", "The laws of the State of {governing_law}."),
        ("Payment Terms", "{payment_terms}"),
    ])  # fmt: skip
    result = make.review_document(data, "nda.docx")
    assert make.only(result, "effective_date")["value"]["date"] == "2026-05-04"
    assert make.only(result, "expiration")["text"] == "Expires one year from the Effective Date."
    assert not make.of(result, "governing_law")
    assert not make.of(result, "payment_terms")


def test_dates_behind_labels_on_the_cover_are_read() -> None:
    result = make.review(
        "SERVICES AGREEMENT\n\nEffective Date: March 1, 2025\nExpiry Date: February 28, 2030\n\n1. Services are given by Foo, Inc."
    )
    assert make.only(result, "effective_date")["value"]["date"] == "2025-03-01"
    assert make.only(result, "expiration")["value"]["date"] == "2030-02-28"


def test_a_clause_over_a_page_break_is_quoted_from_one_page() -> None:
    clause = ["This Agreement shall be governed by and construed in accordance with the laws of the State of"]
    filler = [f"Line {number} holds other words." for number in range(10)]
    pages = [
        [*filler, *clause, "Source: ACME, 10-K"],
        ["Ohio, without regard to conflicts of law.", *filler, "Source: ACME, 10-K"],
    ]
    pages += [[*filler, "Source: ACME, 10-K"]] * 2
    result = make.review_document(files.pdf(pages), "a.pdf")
    finding = make.only(result, "governing_law")
    assert finding["page"] == 1
    assert "Source" not in finding["text"]
    assert finding["text"].startswith("This Agreement shall be governed")


def test_what_is_no_contract_is_said_and_not_rated() -> None:
    result = make.review("A shopping list: two apples, some bread and a bottle of milk. Buy them tomorrow.")
    assert not result["findings"]
    assert not result["gaps"]
    assert any("does not look like a contract" in warning for warning in result["warnings"])


def test_an_unreadable_file_is_a_refusal_and_no_exception() -> None:
    result = make.review_document(b"", "empty.pdf")
    assert result["refused"]["code"] == "empty"
    assert result["findings"] == []


def test_path_file_and_bytes_give_the_same_review(tmp_path: Path) -> None:
    path = tmp_path / "hosting.txt"
    path.write_text(make.CONTRACT)
    with path.open("rb") as stream:
        assert (
            make.review_document(path, "hosting.txt")
            == make.review_document(stream, "hosting.txt")
            == make.review()
        )


def test_a_file_over_its_limit_is_refused_with_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    path.write_bytes(b"The parties agree. " * 1_000_000)
    result = make.review_document(path, "huge.txt")
    assert result["refused"]["code"] == "too_large"
    assert result["size"] == 19_000_000
    assert result["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "unit", ["\n", "_", "\t", ". ", '("', "This Agreement ", "19 ", "[", "Inc. and ", "\n1. A", '("X") ']
)
def test_endless_repetition_is_reviewed_in_reasonable_time(unit: str) -> None:
    text = "Words. " + unit * (200_000 // len(unit))
    started = time.process_time()
    make.review(text)
    assert time.process_time() - started < 3.0


def test_a_quote_that_does_not_stand_is_caught() -> None:
    document = read(b"Some words of an agreement between two parties.", "a.txt")
    good = Finding("parties", "words", 5, 10, None)
    verify((good,), document)
    for bad in (replace(good, start=4), replace(good, text="Words"), replace(good, page=1)):
        with pytest.raises(QuoteError):
            verify((bad,), document)


@pytest.mark.parametrize(
    "name",
    [
        "03_service_verizon.pdf",
        "745597_1997-10-03_SOFTWARE LICENSE AGREEMENT.txt",
        "common-paper-CSA.md",
        "common-paper-cloud-service-agreement.docx",
    ],
)
def test_every_format_of_the_shared_contracts_gives_quotes(name: str) -> None:
    result = make.review_document(shared(f"data/contracts/{name}"), name)
    assert result["refused"] is None
    assert len(result["findings"]) >= 8
    assert all(bool(finding["page"]) == name.endswith(".pdf") for finding in result["findings"])

"""The scorer: exactly as kind as its description, and what it reaches on the contracts beside the checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.contracts import FIELDS, hits, main, score_cell
from tests.needs import shared
from tests.runs.contract_review.make import CONTRACT
from tests.runs.documents import make


@pytest.mark.parametrize(
    ("quote", "truth", "hit"),
    [
        ("19th day of December, 2018", "19t h day of December, 2018", True),
        ("governed by the laws of Ohio", "This is GOVERNED by the Laws of Ohio.", True),
        ("This is governed by the laws of Ohio.", "laws of Ohio", True),
        ("laws of Iowa", "laws of Ohio", False),
        ("x" * 150 + "Ohio" + "x" * 46, "Ohio", True),
        ("x" * 150 + "Ohio" + "x" * 47, "Ohio", False),
        ("a" * 300, "a" * 150, True),
        ("a" * 301, "a" * 150, False),
        ("“”", "Ohio", False),
    ],
)
def test_hit(quote: str, truth: str, hit: bool) -> None:
    assert hits(quote, truth) is hit


@pytest.mark.parametrize(
    ("quotes", "truths", "right", "wrong"),
    [
        ([], [], True, 0),
        (["Ohio"], [], False, 1),
        ([], ["Ohio"], False, 0),
        (["Ohio", "Iowa"], ["Ohio"], True, 1),
        (["Iowa"], ["Ohio"], False, 1),
    ],
)
def test_cell(quotes: list[str], truths: list[str], right: bool, wrong: int) -> None:
    assert score_cell(quotes, truths) == (right, wrong)


def test_only_contracts_in_both_are_scored_and_every_quote_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.pdf").write_bytes(make.pdf([CONTRACT.split("\n")]))
    (tmp_path / "unlabelled.pdf").write_bytes(make.pdf([["Words of another agreement"]]))
    truth = {
        "file": "one.pdf",
        "Document Name": ["HOSTING SERVICES AGREEMENT"],
        "Governing Law": ["laws of Mars"],
    }
    (tmp_path / "x_metadata.json").write_text(json.dumps([truth, {"file": "absent.pdf"}]))
    out = tmp_path / "eval.json"
    assert main(["--data", str(tmp_path), "--out", str(out)]) == 0
    line = json.loads(capsys.readouterr().out.strip().split("\n")[-1])
    result = json.loads(out.read_text())
    assert line == result["summary"]
    assert line["cells"] == len(FIELDS)
    by_field = {cell["field"]: cell for cell in result["cells"]}
    assert by_field["Document Name"]["right"]
    assert not by_field["Governing Law"]["right"]
    assert {quote["file"] for quote in result["quotes"]} == {"one.pdf"}
    assert all(set(quote) >= {"file", "field", "page", "offset", "text"} for quote in result["quotes"])
    assert line["wrong_quotes"] == sum(not quote["hit"] for quote in result["quotes"])


def test_a_folder_without_labels_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="Nothing was scored"):
        main(["--data", str(tmp_path), "--out", str(tmp_path / "eval.json")])


def test_the_shared_contracts_reach_the_goal(tmp_path: Path) -> None:
    out = tmp_path / "eval.json"
    main(["--data", str(shared("data/contracts")), "--out", str(out)])
    summary = json.loads(out.read_text())["summary"]
    assert summary["cells"] == 80
    assert summary["score"] >= 0.9
    assert summary["wrong_quotes"] <= 10

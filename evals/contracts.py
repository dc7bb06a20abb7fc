"""Score the contract review on labelled contracts: `python -m evals.contracts DIR --out eval.json`.

`DIR` (the contracts beside the checkout, if left out) holds PDFs beside one `*metadata.json`: a list of
objects with `file` and, for each of eight fields, a list of true quotes (possibly none), as in CUAD v1
(Contract Understanding Atticus Dataset, CC BY 4.0, The Atticus Project). Contracts are scored that are
present in both.

Two texts are compared by their letters and digits only, case folded. A quote hits when one contains the
other and it has at most max(200, 2 × truth) characters. A cell (contract × field) is right when a quote
hits, or when both sides are empty. Every quote that hits nothing is wrong.

Writes every quote with file, field, page, offset and text, so that anybody can score again. The last line
of the output is `{"score": share of right cells, "cells": their number, "wrong_quotes": their number}`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from runs.agents.contract_review.work import review_document

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "contracts"
"""The labelled contracts that lie beside the checkout."""

FIELDS: dict[str, str] = {
    "Document Name": "document_name",
    "Parties": "parties",
    "Agreement Date": "agreement_date",
    "Effective Date": "effective_date",
    "Expiration Date": "expiration",
    "Renewal Term": "renewal",
    "Notice Period To Terminate Renewal": "renewal_notice",
    "Governing Law": "governing_law",
}
"""The label's name for each field, and the agent's."""


def bare(text: str) -> str:
    """Letters and digits only, case folded."""
    return "".join(character for character in text.casefold() if character.isalnum())


def hits(quote: str, truth: str) -> bool:
    """Whether one contains the other, and the quote is not much longer than the truth."""
    said, true = bare(quote), bare(truth)
    if not said or not true:
        return False
    return (said in true or true in said) and len(quote) <= max(200, 2 * len(truth))


def score_cell(quotes: list[str], truths: list[str]) -> tuple[bool, int]:
    """Whether one cell is right, and how many of its quotes are wrong."""
    struck = [any(hits(quote, truth) for truth in truths) for quote in quotes]
    right = any(struck) if truths else not quotes
    return right, struck.count(False)


def load_labels(folder: Path) -> list[dict[str, Any]]:
    """The labels of the contracts that are present. Raises `SystemExit` in plain words if there are none."""
    files = sorted(folder.glob("*metadata.json"))
    if not files:
        raise SystemExit(f"No *metadata.json in {folder}. Nothing was scored. Give the folder with DATA=…")
    labels = [entry for file in files for entry in json.loads(file.read_text(encoding="utf-8"))]
    present = [entry for entry in labels if (folder / entry["file"]).is_file()]
    if not present:
        raise SystemExit(
            f"None of the contracts that {files[0].name} names is in {folder}. Nothing was scored."
        )
    return present


def evaluate(folder: Path) -> dict[str, Any]:
    """Review each labelled contract and score it; the result is what `eval.json` holds."""
    quotes: list[dict[str, Any]] = []
    cells: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    for entry in load_labels(folder):
        review = review_document((folder / entry["file"]).read_bytes(), entry["file"])
        if review["refused"]:
            refused.append({"file": entry["file"], **review["refused"]})
        for label, field in FIELDS.items():
            found = [finding for finding in review["findings"] if finding["field"] == field]
            truths = [text for text in entry.get(label) or [] if bare(text)]
            right, wrong = score_cell([finding["text"] for finding in found], truths)
            cells.append({"file": entry["file"], "field": label, "right": right, "wrong": wrong})
            quotes += [
                {
                    "file": entry["file"],
                    "field": label,
                    "page": finding["page"],
                    "offset": finding["start"],
                    "text": finding["text"],
                    "hit": any(hits(finding["text"], truth) for truth in truths),
                }
                for finding in found
            ]
    right_cells = sum(1 for cell in cells if cell["right"])
    summary = {
        "score": round(right_cells / len(cells), 4),
        "cells": len(cells),
        "wrong_quotes": sum(cell["wrong"] for cell in cells),
    }
    return {"summary": summary, "cells": cells, "quotes": quotes, "refused": refused}


def main(arguments: list[str] | None = None) -> int:
    """Score a folder, write the file, print a table and the line."""
    parser = argparse.ArgumentParser(
        prog="python -m evals.contracts", description="Score the contract review."
    )
    parser.add_argument("folder", type=Path, nargs="?", help="folder with PDFs and a *metadata.json")
    parser.add_argument("--data", type=Path, default=SHARED, help="the same, by name")
    parser.add_argument("--out", type=Path, default=Path("eval.json"), help="where to write every quote")
    options = parser.parse_args(arguments)
    result = evaluate(options.folder or options.data)
    options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for label in FIELDS:
        column = [cell for cell in result["cells"] if cell["field"] == label]
        right, wrong = sum(cell["right"] for cell in column), sum(cell["wrong"] for cell in column)
        missed = ", ".join(cell["file"] for cell in column if not cell["right"])
        print(f"{label:36} {right:3}/{len(column):<3} wrong quotes {wrong:2}  {missed}")
    print(json.dumps(result["summary"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

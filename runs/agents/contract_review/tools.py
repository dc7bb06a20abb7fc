"""The tools of the contract reviewer. They parse files of users, so they run in the killable child, one at a time."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import orjson

from tools.adapters.base import Context
from tools.toolbox import tool

NOT_READ = {
    "code": "stopped",
    "message": "Reading this file was stopped: it took more time or memory than a file may take. "
    "It is left out of the report. Give a smaller or repaired copy.",
}


@tool("contracts.review", blocking=True)
def review(ctx: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One document; the whole review is stored as a file, the output is its summary."""
    # The parsers are large, and only the killable child needs them.
    from runs.agents.contract_review.work import review_document

    file = arguments["file"]
    with ctx.open_artifact(file["sha256"]) as stream:
        reviewed = review_document(stream.read(), file["name"])
    stored = ctx.store(
        orjson.dumps(reviewed, option=orjson.OPT_INDENT_2),
        name=f"{file['name']}.review.json",
        media_type="application/json",
    )
    risks = [finding["risk"] for finding in reviewed["findings"]]
    return {
        "file": reviewed["file"],
        "sha256": reviewed["sha256"],
        "pages": reviewed["pages"],
        "findings": len(risks),
        "high": risks.count("high"),
        "refused": reviewed["refused"],
        "warnings": reviewed["warnings"],
        "review": stored,
    }


@tool("contracts.join", blocking=True)
def join(ctx: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Report, table and letter from all reviews. A document whose step failed is reported as left out. With a ``letter``
    among the arguments: that letter alone, on paper."""
    from runs.agents.contract_review.work import join_reviews, letter_on_paper

    if letter := arguments.get("letter"):
        paper = ctx.store(letter_on_paper(letter), name="notice.pdf", media_type="application/pdf")
        return {"letter": dict(letter), "notice": paper}

    outputs = {output["sha256"]: output for output in ctx.inputs.values() if output}
    reviews = [_review_of(ctx, file, outputs.get(file["sha256"])) for file in arguments["files"]]
    joined = join_reviews(
        reviews, date.fromisoformat(arguments["today"]), [], recipient=arguments.get("recipient", "")
    )
    report = ctx.store(
        joined["report_md"].encode(), name="report.md", media_type="text/markdown", kind="report"
    )
    printable = ctx.store(
        joined["report_pdf"], name="report.pdf", media_type="application/pdf", kind="report"
    )
    table = ctx.store(
        joined["findings_csv"].encode(), name="findings.csv", media_type="text/csv", kind="report"
    )
    findings = ctx.store(
        orjson.dumps(joined["documents"]), name="findings.json", media_type="application/json", kind="report"
    )
    notice = (
        ctx.store(joined["letter_pdf"], name="notice.pdf", media_type="application/pdf")
        if joined["letter_pdf"]
        else None
    )
    return {
        "summary": joined["summary"],
        "deadlines": joined["deadlines"][:50],
        "letter": _letter(joined["letter"]),
        "notice": notice,
        "files": {"markdown": report, "pdf": printable, "csv": table, "json": findings},
    }


def _review_of(ctx: Context, file: Mapping[str, Any], output: Mapping[str, Any] | None) -> dict[str, Any]:
    if output is None:
        return {
            "file": file["name"],
            "sha256": file["sha256"],
            "size": file["size"],
            "kind": "unreadable",
            "pages": None,
            "findings": [],
            "gaps": [],
            "warnings": [],
            "refused": NOT_READ,
        }
    with ctx.open_artifact(output["review"]["sha256"]) as stream:
        reviewed: dict[str, Any] = orjson.loads(stream.read())
    return {**reviewed, "file": file["name"]}


def _letter(letter: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What the agent needs of the draft; ``why`` says on which deadline it rests."""
    if letter is None:
        return None
    deadline = letter["deadline"]
    return {
        "subject": letter["subject"],
        "body": letter["body"],
        "code": letter["code"],
        "day": deadline["day"],
        "why": f"{letter['file']}: {deadline['how']}",
        "facts": letter["facts"],
    }

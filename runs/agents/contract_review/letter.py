"""The draft of a notice e-mail for the most urgent deadline.

It states only what was quoted: names, the day, and the clause it rests on. Without a known day there is no
letter. It is a proposal: a person reads, edits and approves it before anything is sent.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from runs.agents.contract_review.findings import LABELS
from runs.agents.contract_review.report import Heading, Paragraph, Report, count_of, one_line, place

_SUBJECT_LENGTH = 150


def draft_letter(
    documents: list[dict[str, Any]], urgent: dict[str, Any] | None, today: date, *, recipient: str = ""
) -> dict[str, Any] | None:
    """Subject, body and facts of the letter, or None when no coming deadline is known.

    `code` is `non_renewal` (a notice period stops the renewal) or `expiry` (the term ends). `facts` are the
    findings it quotes, each with file, checksum, page and text; `to` is `recipient`, the address the submitter gave.
    """
    if urgent is None:
        return None
    document = next(d for d in documents if d["sha256"] == urgent["sha256"])
    by_id = {finding["id"]: finding for finding in document["findings"]}
    facts = [by_id[key] for key in urgent["finding_ids"] if key in by_id]
    title = _first(document, "document_name") or document["file"]
    signed = next(
        (f["value"].get("date") for f in document["findings"] if f["field"] == "agreement_date"), None
    )
    ends = urgent["params"].get("end", urgent["day"])
    days = (date.fromisoformat(urgent["day"]) - today).days
    renewal = urgent["kind"] == "non_renewal_notice"
    verb = "Notice of non-renewal" if renewal else "Expiry"
    subject = _header(f"{verb}: {title}{f' of {signed}' if signed else ''} (by {urgent['day']})")
    return {
        "to": recipient,
        "code": "non_renewal" if renewal else "expiry",
        "subject": subject,
        "body": _body(document, title, signed, urgent, ends, days, facts, renewal=renewal),
        "deadline": urgent,
        "file": document["file"],
        "sha256": document["sha256"],
        "facts": [
            {
                "file": document["file"],
                "sha256": document["sha256"],
                "field": f["field"],
                "text": f["text"],
                "page": f["page"],
                "start": f["start"],
            }
            for f in facts
        ],
    }


def on_paper(letter: dict[str, Any]) -> Report:
    """The letter as a sheet to attach: its own words and nothing else of the review."""
    paragraphs = [Paragraph(part) for part in letter["body"].split("\n") if part.strip()]
    return Report((Heading(letter["subject"], 2), *paragraphs))


def _body(
    document: dict[str, Any],
    title: str,
    signed: str | None,
    urgent: dict[str, Any],
    ends: str,
    days: int,
    facts: list[dict[str, Any]],
    *,
    renewal: bool,
) -> str:
    """The text: what the agreement is, what is asked, the quotes, and how the day was computed."""
    parties = [
        one_line(f["text"]) for f in document["findings"] if f["field"] == "parties" and "correction" not in f
    ]
    between = f" between {_listed(parties)}" if len(parties) > 1 else ""
    agreement = f"the {title}{f' dated {signed}' if signed else ''}{between}"
    left = "today" if days == 0 else f"{count_of(days, 'day')} from today"
    term = f"By its terms, its term ends on {ends}"
    if urgent["params"].get("renewals"):
        first_end = urgent["params"]["first_end"]
        term = (
            f"By its terms, its first term ended on {first_end}; if it was renewed each time since, it now "
            f"runs to {ends}"
        )
    if renewal:
        ask = (
            "We do not wish to renew it and hereby give notice of non-renewal. The last day for this "
            "notice is "
            f"{urgent['day']} ({left})."
        )
    else:
        ask = (
            f"That is {left}. Please confirm that date to us, and tell us whether you wish to discuss what "
            "should follow."
        )
    # A name that ends in "Ltd." brings its own full stop.
    opening = f"We refer to {agreement.removesuffix('.')}. {term}. {ask}"
    lines = ["Dear Sir or Madam,", "", opening, "", "This rests on the following words of the agreement:"]
    lines += [f"- {LABELS[f['field']]} ({place(f)}): “{one_line(f['text'])}”" for f in facts]
    lines += ["", f"How the date was computed: {urgent['how']}", ""]
    lines += ["Please confirm receipt of this message.", "", "Kind regards"]
    return "\n".join(lines) + "\n"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _first(document: dict[str, Any], field: str) -> str:
    sound = (f for f in document["findings"] if f["field"] == field and "correction" not in f)
    finding = next(sound, None)
    return one_line(finding["text"]) if finding else ""


def _header(text: str) -> str:
    """One line without control characters, short enough for any mail program."""
    flat = "".join(character for character in one_line(text) if character.isprintable())
    return flat if len(flat) <= _SUBJECT_LENGTH else flat[: _SUBJECT_LENGTH - 1] + "…"

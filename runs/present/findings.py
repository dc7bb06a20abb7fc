"""Findings of a review, document by document, each with its quote and what people said about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs.agents.contract_review.findings import LABELS, RISKS
from runs.models import FindingCorrection, Run
from runs.present import agent_words


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the document, at their place."""

    text: str
    document: str
    page: int | None
    place: str


@dataclass(frozen=True, slots=True)
class Wrong:
    """Who said that a finding is wrong, when, and what is right instead."""

    by: str
    at: datetime
    note: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding, or a gap that is itself a risk (then without a quote)."""

    key: str
    label: str
    value: str
    quote: Quote | None
    risk: str
    reason: str
    wrong: Wrong | None = None
    correct_url: str = ""
    take_back_url: str = ""


@dataclass(slots=True)
class Document:
    """One file of the task. ``note`` says why it was not read, or that it came more than once."""

    id: str
    name: str
    risk: str = ""
    note: str = ""
    findings: list[Finding] = field(default_factory=list)


def documents(
    run: Run, reviews: Iterable[Mapping[str, Any]], corrections: Mapping[tuple[str, str], FindingCorrection]
) -> list[Document]:
    """Reviews as documents, each content once."""
    found: dict[str, Document] = {}
    names: dict[str, list[str]] = {}
    for review in reviews:
        sha256 = str(review["sha256"])
        names.setdefault(sha256, []).extend(
            [str(review.get("file") or ""), *(review.get("duplicates") or ())]
        )
        if sha256 not in found:
            found[sha256] = _document(run, review, corrections)
    for sha256, document in found.items():
        more = len(names[sha256]) - 1
        if more:
            twice = ngettext(
                "The same document was given once more.",
                "The same document was given %(n)s more times.",
                more,
            )
            document.note = " ".join(filter(None, [document.note, twice % {"n": more}]))
    return list(found.values())


def _document(
    run: Run, review: Mapping[str, Any], corrections: Mapping[tuple[str, str], FindingCorrection]
) -> Document:
    sha256, name = str(review["sha256"]), str(review.get("file") or _("Document"))
    findings = [_finding(run, sha256, name, one, corrections) for one in review.get("findings") or ()]
    findings += [_gap(one) for one in review.get("gaps") or ()]
    refused = review.get("refused") or {}
    notes = [agent_words.not_read(refused)]
    notes += [_(str(warning)) for warning in review.get("warnings") or ()]
    standing = [one.risk for one in findings if one.wrong is None and one.risk in RISKS[:3]]
    risk = min(standing, key=RISKS.index, default="" if refused else "low")
    order = {label: place for place, label in enumerate(LABELS)}
    findings.sort(key=lambda one: order.get(one.key.rpartition("-")[0], 99))
    return Document(sha256[:16], name, risk, " ".join(filter(None, notes)), findings)


def _finding(
    run: Run,
    sha256: str,
    name: str,
    one: Mapping[str, Any],
    corrections: Mapping[tuple[str, str], FindingCorrection],
) -> Finding:
    key = str(one.get("id") or "")
    said = corrections.get((sha256, key))
    page = one.get("page")
    place = "" if page else _("character %(start)s") % {"start": one.get("start")}
    text = str(one.get("text") or "")
    value = _value(one.get("value") or {}) or text
    return Finding(
        key=key,
        label=_(LABELS.get(str(one.get("field")), str(one.get("field")))),
        value=value,
        quote=Quote(text, name, page, place),
        risk=str(one.get("risk") or ""),
        reason=agent_words.reason(one),
        wrong=Wrong(str(said.by), said.at, said.note) if said and said.wrong else None,
        correct_url=reverse("runs:correct", args=[run.pk, sha256, key]),
        take_back_url=reverse("runs:take_back", args=[run.pk, sha256, key]),
    )


def _gap(one: Mapping[str, Any]) -> Finding:
    label = str(one.get("field"))
    return Finding(
        key=f"{label}-0",
        label=_(LABELS.get(label, label)),
        value=_("Nothing found"),
        quote=None,
        risk=str(one.get("risk") or ""),
        reason=agent_words.reason(one),
    )


def _value(value: Mapping[str, Any]) -> str:
    """What the rules read from the quote, in few words; "" when the quote says it best."""
    if isinstance(value.get("date"), str):
        return str(value["date"])
    if isinstance(value.get("law"), str):
        return str(value["law"])
    period = value.get("period")
    if isinstance(period, dict) and "count" in period:
        return agent_words.period(int(period["count"]), str(period.get("unit")))
    return ""

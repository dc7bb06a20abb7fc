"""How grave a finding is, and why.

Each rule is an ordinary reading of a clause by somebody who has to live with it; none is legal advice. A
rating carries a stable code with parameters, and the same in plain English.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from runs.agents.contract_review.findings import Finding, Gap
from runs.agents.words import gettext_noop

_EARLY_NOTICE_DAYS = 60
_SHORT_NOTICE_DAYS = 30
_FAST_PAYMENT_DAYS = 15

REASONS: dict[str, str] = {
    "auto_renewal_no_notice": gettext_noop("Renews by itself, and no notice period to stop it was found."),
    "auto_renewal_blank_notice": gettext_noop(
        "Renews by itself; the notice that stops it is blank or unreadable."
    ),
    "renewal_conditional": gettext_noop("Renews again and again, but only while it is approved each time."),
    "auto_renewal_early_notice": gettext_noop(
        "Renews by itself unless notice comes {period} before the end, which is early."
    ),
    "auto_renewal_short_notice": gettext_noop(
        "Renews by itself; the other side may stop it on only {period} notice."
    ),
    "auto_renewal": gettext_noop("Renews by itself unless notice is given {period} before the end."),
    "renewal_by_choice": gettext_noop("Renews only if a party chooses to."),
    "perpetual_term": gettext_noop("Runs without an end date; only termination ends it."),
    "until_terminated": gettext_noop("Runs until somebody terminates it."),
    "blank": gettext_noop("A decisive part is blank or blacked out."),
    "fixed_term": gettext_noop("Has a fixed end."),
    "term_by_event": gettext_noop("Ends with an event, not on a date."),
    "no_term": gettext_noop("No end and no length of the term was found."),
    "no_governing_law": gettext_noop("No governing law was found: where and how to sue is open."),
    "liability_capped": gettext_noop("Liability is limited to an amount."),
    "liability_no_amount": gettext_noop("Excludes some damages, but sets no upper limit."),
    "no_liability_cap": gettext_noop("No limit of liability was found; without one it is unlimited."),
    "liability_exclusions": gettext_noop("Excludes some kinds of damages, beside the limit."),
    "uncapped_indemnity": gettext_noop("The duty to indemnify has no upper limit that was found."),
    "uncapped_mutual_indemnity": gettext_noop(
        "Both sides indemnify each other, with no upper limit that was found."
    ),
    "indemnity_outside_cap": gettext_noop("The limit of liability excepts the duty to indemnify."),
    "one_sided_indemnity": gettext_noop("Only one side has to indemnify, as far as was found."),
    "mutual_indemnity": gettext_noop("Both sides indemnify each other."),
    "one_sided_termination": gettext_noop("Only {who} may terminate without a reason."),
    "mutual_convenience": gettext_noop("Either side may terminate without a reason."),
    "termination_for_cause": gettext_noop("Termination needs a reason."),
    "assignment_free": gettext_noop("Rights may be passed on without consent."),
    "assignment_one_sided": gettext_noop("Only {who} needs consent to pass the contract on."),
    "assignment_with_consent": gettext_noop("Passing the contract on needs consent."),
    "assignment_exceptions": gettext_noop("Passing the contract on needs consent, with exceptions."),
    "no_assignment": gettext_noop(
        "No rule on assignment was found; without one the contract may often be passed on."
    ),
    "no_confidentiality": gettext_noop("No duty of confidentiality was found."),
    "confidentiality_found": gettext_noop("There is a duty of confidentiality."),
    "fast_payment": gettext_noop("Payment is due within {period}."),
    "payment_found": gettext_noop("Payment terms are stated."),
    "notice_found": gettext_noop("Notice of {period} stops the renewal."),
    "notice_unreadable": gettext_noop("Notice stops the renewal, but its length could not be read."),
}
"""Every reason code, with its English text; parameters stand in braces."""

_CAP = re.compile(
    r"\bexceed|\blimited to\b|\bgreater than|\bin excess of|\bnot be more than|\bcap amount"
    r"|\bmaximum (?:aggregate )?liability",
    re.IGNORECASE,
)
_EXCEPTS = re.compile(
    r"\bexcept\b[^.]{0,160}\bindemnif|\bindemnif\w*[^.]{0,80}\b(?:shall not apply|not be limited|excluded)",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"\b(?:either|each|both|any|neither|no) (?:of the )?part(?:y|ies)\b|\beither of|\bmutual(?:ly)?\b"
    r"|\ba party\b|\bterminated by either|\bthe parties\b",
    re.IGNORECASE,
)
_FREELY = re.compile(
    r"\bconvenience\b|\bwithout cause\b|\b(?:any|no) reason\b|\bat any time\b(?![^.]{0,60}\b(?:breach"
    r"|if|cure))|\bsole discretion\b",
    re.IGNORECASE,
)
_ON_NOTICE = re.compile(
    r"\b(?:terminated?|cancel(?:led)?)\b[^.]{0,80}\bupon\b[^.]{0,60}\bnotice\b", re.IGNORECASE
)
_FOR_CAUSE = re.compile(r"\bbreach|\bdefault|\binsolven|\bbankrupt|\bfails?\b|\bcure", re.IGNORECASE)
_WHO = re.compile(
    r"([A-Z][\w&.-]*(?:\s+[A-Z][\w&.-]*){0,3})\s+(?:may|shall have the right to|has the right to"
    r"|reserves the right to|is entitled to|shall not|may not|will not)\b"
)
_BY_WHO = re.compile(r"\b(?:terminated|assigned) by (?:the )?([A-Z][\w&.-]*(?:\s+[A-Z][\w&.-]*){0,2})")


def rate(findings: list[Finding]) -> tuple[list[Finding], list[Gap]]:
    """Findings with their ratings, and the gaps. Ratings look at the other findings where they must."""
    context = _Context(findings)
    rated = [_RATERS[f.field](f, context) if f.field in _RATERS else _date(f) for f in findings]
    present = {finding.field for finding in findings}
    gaps = [Gap(field, risk, code, REASONS[code]) for field, risk, code in _GAPS if field not in present]
    return rated, gaps


_GAPS = (
    ("governing_law", "high", "no_governing_law"),
    ("liability_cap", "high", "no_liability_cap"),
    ("expiration", "medium", "no_term"),
    ("assignment", "medium", "no_assignment"),
    ("confidentiality", "low", "no_confidentiality"),
)


class _Context:
    """What the other findings say, for ratings that depend on them."""

    def __init__(self, findings: list[Finding]) -> None:
        self.by_field: dict[str, list[Finding]] = {}
        for finding in findings:
            self.by_field.setdefault(finding.field, []).append(finding)

    def joined(self, field: str) -> str:
        return " ".join(_flat(finding.text) for finding in self.by_field.get(field, []))

    def notice(self) -> dict[str, Any] | None:
        for finding in self.by_field.get("renewal_notice", []):
            period = finding.value.get("period")
            if period:
                return dict(period)
        return None


def _flat(text: str) -> str:
    return " ".join(text.replace("’", "'").replace("“", '"').replace("”", '"').split())


def _with(finding: Finding, risk: str, code: str, **params: Any) -> Finding:
    reason = REASONS[code].format(**params)
    return replace(finding, risk=risk, reason_code=code, reason=reason, reason_params=params)


def say_period(period: dict[str, Any]) -> str:
    """Such as `90 days` or `10 business days`."""
    unit = period["unit"] + ("" if period["count"] == 1 else "s")
    return f"{period['count']} {'business ' if period.get('business') else ''}{unit}"


def _days(period: dict[str, Any]) -> int:
    return int(period["count"]) * {"day": 1, "week": 7, "month": 30, "year": 365}[str(period["unit"])]


def _date(finding: Finding) -> Finding:
    return _with(finding, "medium", "blank") if finding.value.get("blank") else finding


def _renewal(finding: Finding, context: _Context) -> Finding:
    if not finding.value.get("automatic"):
        return _with(finding, "low", "renewal_by_choice")
    if re.search(r"\bprovided\b[^.]{0,80}\bapproved\b", _flat(finding.text), re.IGNORECASE):
        return _with(finding, "medium", "renewal_conditional")
    notice = context.notice()
    if notice is None and "renewal_notice" in context.by_field:
        return _with(finding, "high", "auto_renewal_blank_notice")
    if notice is None:
        return _with(finding, "high", "auto_renewal_no_notice")
    if _days(notice) > _EARLY_NOTICE_DAYS:
        return _with(finding, "high", "auto_renewal_early_notice", period=say_period(notice))
    if _days(notice) <= _SHORT_NOTICE_DAYS:
        return _with(finding, "high", "auto_renewal_short_notice", period=say_period(notice))
    return _with(finding, "medium", "auto_renewal", period=say_period(notice))


def _notice(finding: Finding, context: _Context) -> Finding:
    period = finding.value.get("period")
    if period:
        return _with(finding, "low", "notice_found", period=say_period(period))
    return _with(finding, "medium", "notice_unreadable")


def _expiration(finding: Finding, context: _Context) -> Finding:
    value = finding.value
    if value.get("perpetual"):
        return _with(finding, "medium", "perpetual_term")
    if "date" in value or "period" in value:
        return _with(finding, "low", "fixed_term")
    if value.get("blank"):
        return _with(finding, "medium", "blank")
    return _with(finding, "medium", "until_terminated" if value.get("until_terminated") else "term_by_event")


def _law(finding: Finding, context: _Context) -> Finding:
    return (
        _with(finding, "medium", "blank")
        if finding.value.get("blank") and "law" not in finding.value
        else finding
    )


def _cap(finding: Finding, context: _Context) -> Finding:
    if _CAP.search(_flat(finding.text)):
        return _with(
            finding,
            "medium" if finding.value.get("blank") else "low",
            "blank" if finding.value.get("blank") else "liability_capped",
        )
    if _CAP.search(context.joined("liability_cap")):
        return _with(finding, "low", "liability_exclusions")
    return _with(finding, "high", "liability_no_amount")


def _indemnity(finding: Finding, context: _Context) -> Finding:
    caps = context.joined("liability_cap")
    if _EXCEPTS.search(caps):
        return _with(finding, "high", "indemnity_outside_cap")
    mutual = _EITHER.search(_flat(finding.text)[:200]) or len(context.by_field.get("indemnity", [])) > 1
    if not _CAP.search(caps):
        if mutual:
            return _with(finding, "medium", "uncapped_mutual_indemnity")
        return _with(finding, "high", "uncapped_indemnity")
    if mutual:
        return _with(finding, "low", "mutual_indemnity")
    return _with(finding, "medium", "one_sided_indemnity")


def _termination(finding: Finding, context: _Context) -> Finding:
    text = _flat(finding.text)
    freely = _FREELY.search(text) or (_ON_NOTICE.search(text) and not _FOR_CAUSE.search(text))
    if not freely:
        return _with(finding, "low", "termination_for_cause")
    who = _BY_WHO.search(text) or _WHO.search(text)
    if _EITHER.search(text) or who is None or len(set(re.findall(r"([A-Z]\w+) may terminate", text))) > 1:
        return _with(finding, "medium", "mutual_convenience")
    return _with(finding, "high", "one_sided_termination", who=who.group(1))


def _assignment(finding: Finding, context: _Context) -> Finding:
    text = _flat(finding.text)
    forbids = re.search(r"\b(?:not|neither|no party|void)\b", text, re.IGNORECASE)
    if not forbids:
        return _with(finding, "high", "assignment_free")
    if re.search(r"\b(?:except|provided|unless|notwithstanding|however)\b", text, re.IGNORECASE):
        return _with(finding, "medium", "assignment_exceptions")
    who = _WHO.search(text)
    if _EITHER.search(text) or who is None or text.lower().startswith(("this agreement", "neither")):
        return _with(finding, "low", "assignment_with_consent")
    return _with(finding, "medium", "assignment_one_sided", who=who.group(1))


def _payment(finding: Finding, context: _Context) -> Finding:
    period = finding.value.get("period")
    if period and _days(period) <= _FAST_PAYMENT_DAYS:
        return _with(finding, "medium", "fast_payment", period=say_period(period))
    return _with(finding, "low", "payment_found")


def _confidentiality(finding: Finding, context: _Context) -> Finding:
    return _with(finding, "low", "confidentiality_found")


_RATERS = {
    "renewal": _renewal,
    "renewal_notice": _notice,
    "expiration": _expiration,
    "governing_law": _law,
    "liability_cap": _cap,
    "indemnity": _indemnity,
    "termination": _termination,
    "assignment": _assignment,
    "payment_terms": _payment,
    "confidentiality": _confidentiality,
}

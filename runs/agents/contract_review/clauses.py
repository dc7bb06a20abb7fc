"""Apply the rules to the sentences of a contract."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runs.agents.contract_review.findings import Finding
from runs.agents.contract_review.rules import RULES, Rule
from runs.agents.contract_review.view import Sentence, View

_HEADING_BONUS = 1.5
_HEADING_LENGTH = 90
_NUMBER = re.compile(
    r"\s*(?:(?:Section|Clause"
    r"|Article)\s+)?\d{1,2}(?:\.\d{1,2})*\.?\)?\s*(?:[A-Z][\w&,/' -]{2,60}\n\s*)?(?=[\"\[(A-Z])"
    r"|\s*\(?[a-z]{1,2}\)\s+|\s*\([ivx]{1,5}\)\s+"
)
_LONGEST = 2500
"""A sentence longer than this is a list that was not split; it is not quoted."""


def read_clauses(view: View) -> list[Finding]:
    """The best sentences for every rule."""
    contexts = list(_with_heading(view.sentences))
    found: list[Finding] = []
    for rule in RULES:
        found += _apply(rule, view, contexts)
    return found


def _with_heading(sentences: tuple[Sentence, ...]) -> Iterator[tuple[Sentence, str]]:
    """Each sentence with the short headings that stand before it."""
    heading, before = "", ""
    for sentence in sentences:
        short = len(sentence.text) <= _HEADING_LENGTH and not sentence.text.endswith(";")
        if short:
            heading = f"{before} {sentence.text}"[-2 * _HEADING_LENGTH :]
            before = sentence.text
            yield sentence, ""
            continue
        before = ""
        yield sentence, heading


def score(rule: Rule, text: str, heading: str) -> float:
    """How well a sentence fits a rule; 0 when what must stand in it does not."""
    if not rule.must.search(text) or (rule.core is not None and not rule.core.search(text)):
        return 0.0
    total = sum(signal.weight for signal in rule.signals if signal.pattern.search(text))
    if total > 0 and rule.heading is not None and rule.heading.search(heading):
        total += _HEADING_BONUS
    return total


def _past_number(view: View, sentence: Sentence) -> int:
    """Where the sentence itself starts: past its number, and past a heading that has a line of its own."""
    match = _NUMBER.match(view.clean, sentence.start, sentence.end)
    return match.end() if match and sentence.end - match.end() > 25 else sentence.start


def _apply(rule: Rule, view: View, contexts: list[tuple[Sentence, str]]) -> list[Finding]:
    scored = []
    for sentence, heading in contexts:
        if not 25 <= len(sentence.text) <= _LONGEST:
            continue
        value = score(rule, sentence.text, heading)
        if value >= rule.threshold:
            scored.append((-value, sentence.start, sentence))
    scored.sort(key=lambda item: item[:2])
    found: list[Finding] = []
    for negative, _, sentence in scored[: rule.limit]:
        if -negative < -scored[0][0] - rule.margin:
            break
        start, end = view.quote(_past_number(view, sentence), sentence.end)
        if end - start < 20:
            continue
        confidence = min(0.95, 0.5 + (-negative - rule.threshold) / 12)
        text = view.document.text[start:end]
        found.append(
            Finding(rule.field, text, start, end, view.document.page_at(start), {}, round(confidence, 2))
        )
    return found

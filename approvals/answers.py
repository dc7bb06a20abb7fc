"""An answer as given, checked: what is missing, too long or cannot be stored is refused by field, never
mended.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from accounts.canonical import BadInput, check_storable
from approvals.errors import BadAnswer
from approvals.models import PendingAction, Verdict

LONGEST_COMMENT = 10_000
LONGEST_REFERENCE = 500
MOST_EVIDENCE = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, its text without white space around it."""

    verdict: Verdict
    comment: str
    reference: str
    evidence: tuple[Any, ...]
    gesture: str


def read(*, verdict: str, comment: str, reference: str, evidence: Sequence[Any], gesture: str) -> Answer:
    """The answer from raw input. Raises BadAnswer, which denies."""
    if verdict not in Verdict.values or verdict == Verdict.EXPIRE:
        raise BadAnswer("verdict", _("This is not an answer that exists. Nothing was decided."))
    texts = {"comment": comment, "reference": reference, "gesture": gesture}
    for name, value in [*texts.items(), ("evidence", list(evidence))]:
        try:
            check_storable(value)
        except BadInput as error:
            raise BadAnswer(
                name, _("This holds a sign that cannot be stored. Nothing was decided.")
            ) from error
    if len(comment) > LONGEST_COMMENT:
        raise BadAnswer("comment", _("This is too long: at most %s characters.") % LONGEST_COMMENT)
    if len(reference) > LONGEST_REFERENCE:
        raise BadAnswer("reference", _("This is too long: at most %s characters.") % LONGEST_REFERENCE)
    if len(evidence) > MOST_EVIDENCE:
        raise BadAnswer("evidence", _("These are too many pieces: at most %s.") % MOST_EVIDENCE)
    return Answer(
        Verdict(verdict),
        comment.strip(),
        reference.strip(),
        tuple(evidence),
        unicodedata.normalize("NFC", gesture.strip()),
    )


def check(action: PendingAction, given: Answer) -> None:
    """The answer fits this action. Raises BadAnswer, naming the field."""
    if given.verdict.value not in action.verdicts:
        raise BadAnswer("verdict", _("This answer does not belong to this question. Nothing was decided."))
    if given.verdict == Verdict.APPROVE and action.second_gesture:
        expected = unicodedata.normalize("NFC", action.second_gesture.strip())
        if given.gesture != expected:
            raise BadAnswer(
                "gesture", _("What you typed is not “%s”. Nothing was approved.") % action.second_gesture
            )
    if given.verdict in (Verdict.REJECT, Verdict.ASK_CHANGES) and not given.comment:
        raise BadAnswer("comment", _("Say why. The submitter reads it, and it stays in the record."))
    if given.verdict == Verdict.HAPPENED and not given.reference:
        raise BadAnswer(
            "reference",
            _("Give the reference under which it can be found, such as a message or booking number."),
        )
    if given.verdict in (Verdict.NOT_HAPPENED, Verdict.NOBODY_KNOWS) and not given.comment:
        raise BadAnswer("comment", _("Say how you know. It stays in the record."))

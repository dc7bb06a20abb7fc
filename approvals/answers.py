"""An answer as given, checked: what is missing, too long or cannot be stored is refused by field, never
mended.
"""

import re
import unicodedata
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from accounts import schemas
from accounts.canonical import BadInput, canonical, check_storable
from approvals import shown
from approvals.errors import BadAnswer
from approvals.models import PendingAction, Verdict

LONGEST_COMMENT = 10_000
LONGEST_REFERENCE = 500
MOST_EVIDENCE = 20
#: An amount above zero: up to seven digits, up to six places.
_MORE = re.compile(r"(?=.*[1-9])[0-9]{1,7}(\.[0-9]{1,6})?", re.ASCII)
#: Limits that count things.
WHOLE = ("steps", "tool_calls", "model_calls", "tokens")
#: Bytes of canonical JSON.
LARGEST_ANSWER = 100_000


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, its text without white space around it."""

    verdict: Verdict
    comment: str
    reference: str
    evidence: tuple[Any, ...]
    gesture: str
    more: str = ""
    answer: Any = None


def read(
    *,
    verdict: str,
    comment: str,
    reference: str,
    evidence: Sequence[Any],
    gesture: str,
    more: str = "",
    answer: Any = None,
) -> Answer:
    """The answer from raw input. Raises BadAnswer, which denies."""
    if verdict not in Verdict.values or verdict == Verdict.EXPIRE:
        raise BadAnswer("verdict", _("This is not an answer that exists. Nothing was decided."))
    texts = {"comment": comment, "reference": reference, "gesture": gesture, "more": more}
    for name, value in [*texts.items(), ("evidence", list(evidence)), ("answer", answer)]:
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
        more.strip(),
        answer,
    )


def limit_of(action: PendingAction) -> str:
    """The limit that stopped the run which this question is about, as it was shown; empty for any other question."""
    return str(_limit(action).get("name") or "")


def _limit(action: PendingAction) -> Mapping[str, Any]:
    if action.kind != PendingAction.Kind.TAKE_OVER:
        return {}
    facts = shown.read(action.shown).get("facts")
    limit = facts.get("limit") if isinstance(facts, Mapping) else None
    return limit if isinstance(limit, Mapping) else {}


def _check_more(action: PendingAction, given: Answer, user_id: uuid.UUID) -> None:
    """Who continues a run that used up a limit says how much more it may use; nobody else adds anything. Whoever submitted
    the task stays below what the agent declares: more than that is a decision of somebody else."""
    stopped_by = limit_of(action) if given.verdict == Verdict.CONTINUE else ""
    if given.more and not stopped_by:
        raise BadAnswer("more", _("There is no limit here to which something could be added."))
    if not stopped_by:
        return
    if not _MORE.fullmatch(given.more):
        raise BadAnswer("more", _("Say how much more it may use: a number above 0, at most 9999999."))
    if stopped_by in WHOLE and Decimal(given.more) % 1:
        raise BadAnswer("more", _("This is counted in whole numbers."))
    limit = _limit(action)
    ceiling = limit.get("ceiling")
    after = Decimal(str(limit.get("limit") or 0)) + Decimal(given.more)
    if user_id == action.submitter_id and ceiling is not None and after > Decimal(str(ceiling)):
        text = _(
            "You submitted this task, so you may raise the limit to %s at most. An approver may allow more."
        )
        raise BadAnswer("more", text % ceiling)


def check(action: PendingAction, given: Answer, *, user_id: uuid.UUID) -> None:
    """The answer of this person fits this action. Raises BadAnswer, naming the field."""
    _check_more(action, given, user_id)
    if given.verdict.value not in action.verdicts:
        raise BadAnswer("verdict", _("This answer does not belong to this question. Nothing was decided."))
    if given.verdict == Verdict.ANSWER:
        _check_value(action, given.answer)
    elif given.verdict == Verdict.CONTINUE and given.answer is not None:
        _check_entry(action, given.answer)
    elif given.answer is not None:
        raise BadAnswer("answer", _("This question takes no value. Nothing was decided."))
    if given.verdict == Verdict.APPROVE and action.second_gesture:
        expected = unicodedata.normalize("NFC", action.second_gesture.strip())
        if given.gesture != expected:
            raise BadAnswer(
                "gesture", _("What you typed is not “%s”. Nothing was approved.") % action.second_gesture
            )
    if given.verdict == Verdict.APPROVE and user_id in action.editors and not given.comment:
        raise BadAnswer(
            "comment",
            _("You changed this yourself. Say why you approve it all the same; nothing was approved."),
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


def entries_of(action: PendingAction) -> Mapping[str, str]:
    """The places from which a run that was taken over can go on, as they were shown: name and what it will do."""
    facts = shown.read(action.shown).get("facts") if action.kind == PendingAction.Kind.TAKE_OVER else None
    found = facts.get("entries") if isinstance(facts, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _check_entry(action: PendingAction, answer: Any) -> None:
    known = entries_of(action)
    named = answer.get("entry") if isinstance(answer, Mapping) and set(answer) == {"entry"} else None
    if not isinstance(named, str) or named not in known:
        raise BadAnswer("entry", _("Choose one of the places to go on from. Nothing was decided."))


def schema_of(action: PendingAction) -> dict[str, Any]:
    """The form that an answer must have, from the bytes that were shown."""
    facts = shown.read(action.shown).get("facts") or {}
    return dict(facts.get("schema") or {})


def _check_value(action: PendingAction, value: Any) -> None:
    """The value fits the form that was shown with the question."""
    for problem in schemas.problems(schema_of(action), value):
        raise BadAnswer(schemas.place(problem) or "answer", problem.message[:500])
    if len(canonical(value)) > LARGEST_ANSWER:
        raise BadAnswer("answer", _("This is too long: at most %s bytes.") % LARGEST_ANSWER)

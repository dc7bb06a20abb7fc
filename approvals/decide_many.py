"""Answer several questions at once: N decisions in one transaction, or none.

Each row is judged by the same rules as an answer given alone, with the digest and generation that were seen. One that does
not hold stops all of them. Lock order: PendingActions by id, Intents by id, audit head; so a batch waits for an answer
given alone and never the other way round in a circle.
"""

import unicodedata
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.again import again
from accounts.failpoints import fp
from accounts.ids import new_id
from approvals import alike, answers, step_up
from approvals.decide import Door, Sight, judge, record, replay
from approvals.errors import AlreadyDecided, BadAnswer, DeskError, NeedsProof, NotAlike, RowRefused
from approvals.models import Decision, PendingAction, Verdict
from tools.models import Intent

#: The answers that may be given to several questions at once.
VERDICTS = (Verdict.APPROVE, Verdict.REJECT)


@dataclass(frozen=True, slots=True)
class Row:
    """One question, as it was seen."""

    action_id: uuid.UUID
    digest: str
    generation: int


@again
def decide_many(
    *,
    rows: Sequence[Row],
    user_id: uuid.UUID,
    verdict: str,
    channel: str,
    authenticated: str,
    fresh: bool = False,
    comment: str = "",
    gesture: str = "",
    address: str | None = None,
    now: datetime | None = None,
) -> list[Decision]:
    """One person's same answer to several questions that are alike. Owns its transaction.

    The decisions come in the order of ``rows`` and share ``Decision.batch``. ``gesture`` is what ``alike.gesture`` asks
    for. The same batch by the same person again gives the first decisions.

    Raises RowRefused, which names the first row that does not hold and why; BadAnswer for an answer or a gesture that
    cannot be taken; NeedsProof. Each changes nothing.
    """
    given = answers.read(verdict=verdict, comment=comment, reference="", evidence=(), gesture=gesture)
    _check_form(rows, given)
    with transaction.atomic(durable=True):
        actions = _lock(rows)
        if first := _replayed(actions, rows, user_id, given):
            return first
        for number, (action, row) in enumerate(zip(actions, rows, strict=True), 1):
            if words := alike.difference(alike.kinship(actions[0]), alike.kinship(action)):
                raise RowRefused(number, action, NotAlike(words))
            try:
                stands(
                    action,
                    Sight(row.digest, row.generation),
                    given,
                    user_id=user_id,
                    channel=channel,
                    now=now,
                )
            except DeskError as error:
                if isinstance(error, BadAnswer) and error.field == "comment":
                    raise  # what is missing is missing of the answer, not of the row
                raise RowRefused(number, action, error) from error
        _check_gesture(actions, given)
        if not fresh and any(step_up.needed(action, given.verdict) for action in actions):
            raise NeedsProof
        door = Door(user_id, channel, authenticated, address, batch=new_id(), fresh=fresh)
        decisions = [
            _record(number, action, row, given, door)
            for number, (action, row) in enumerate(zip(actions, rows, strict=True), 1)
        ]
        fp("decided_many.before_commit")
    fp("decided_many.committed")
    return decisions


def stands(
    action: PendingAction,
    sight: Sight,
    given: answers.Answer,
    *,
    user_id: uuid.UUID,
    channel: str,
    now: datetime | None = None,
) -> None:
    """A row takes this answer now; raises what speaks against it. What a person types once for the batch stands for what
    they would type for the row."""
    judge(action, user_id, _own(action, given), sight, now, channel=channel)


def _own(action: PendingAction, given: answers.Answer) -> answers.Answer:
    """The answer as it is given to one row."""
    return replace(given, gesture=unicodedata.normalize("NFC", action.second_gesture.strip()))


def _check_form(rows: Sequence[Row], given: answers.Answer) -> None:
    if given.verdict not in VERDICTS:
        raise BadAnswer("verdict", _("Several at once are approved or rejected. Nothing was decided."))
    if not 1 <= len(rows) <= alike.MOST:
        raise BadAnswer("rows", _("Choose 1 to %s at once. Nothing was decided.") % alike.MOST)
    if len({row.action_id for row in rows}) != len(rows):
        raise BadAnswer("rows", _("One of them was named twice. Nothing was decided."))


def _lock(rows: Sequence[Row]) -> list[PendingAction]:
    """The actions in the order of ``rows``, they and their intents locked in the order of ids. Raises DoesNotExist."""
    found = PendingAction.everywhere.select_for_update(of=("self",)).order_by("pk")
    by_id = {action.pk: action for action in found.filter(pk__in=[row.action_id for row in rows])}
    if len(by_id) < len(rows):
        raise PendingAction.DoesNotExist
    of_them = [action.intent_id for action in by_id.values() if action.intent_id]
    list(Intent.everywhere.select_for_update(of=("self",)).filter(pk__in=of_them).order_by("pk"))
    return [by_id[row.action_id] for row in rows]


def _replayed(
    actions: Sequence[PendingAction], rows: Sequence[Row], user_id: uuid.UUID, given: answers.Answer
) -> list[Decision]:
    """This person's decisions when all of it is the same again; raises for a row that was answered alone."""
    firsts: list[Decision] = []
    for number, (action, row) in enumerate(zip(actions, rows, strict=True), 1):
        try:
            first = replay(action, user_id, given, Sight(row.digest, row.generation))
        except DeskError as error:
            raise RowRefused(number, action, error) from error
        if first is not None:
            firsts.append(first)
    if len(firsts) == len(rows) and firsts[0].batch and len({first.batch for first in firsts}) == 1:
        return firsts
    if firsts:
        number = next(n for n, row in enumerate(rows, 1) if row.action_id == firsts[0].action_id)
        action = actions[number - 1]
        raise RowRefused(number, action, AlreadyDecided(action, firsts[0]))
    return []


def _check_gesture(actions: Sequence[PendingAction], given: answers.Answer) -> None:
    expected = alike.gesture(actions) if given.verdict == Verdict.APPROVE else ""
    if expected and given.gesture != expected:
        raise BadAnswer("gesture", _("What you typed is not “%s”. Nothing was approved.") % expected)


def _record(number: int, action: PendingAction, row: Row, given: answers.Answer, door: Door) -> Decision:
    try:
        return record(action, _own(action, given), Sight(row.digest, row.generation), door)
    except DeskError as error:
        raise RowRefused(number, action, error) from error

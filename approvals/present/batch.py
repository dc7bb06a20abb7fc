"""Several questions at once: what they share, what they come to, and whether each of them stands."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import ids
from accounts.said import read
from approvals import alike, decide_many, links, shown, viewing
from approvals.answers import Answer
from approvals.decide import Sight
from approvals.errors import DeskError
from approvals.models import Decision, PendingAction, Verdict
from approvals.present import parameters as params
from approvals.present.preview import Preview, preview
from approvals.present.rows import outcome


@dataclass(frozen=True, slots=True)
class Line:
    """One row. ``why`` says what speaks against approving it now; empty while it holds. ``as_seen`` travels with the form,
    ``without`` is the page of all others."""

    number: int
    id: str
    url: str
    as_seen: str
    sentence: str
    target: str
    amount: str
    why: str
    without: str
    preview: Preview
    parameters: tuple[params.Parameter, ...]


@dataclass(frozen=True, slots=True)
class Typed:
    """What is typed before Approve."""

    label: str
    expected: str


@dataclass(frozen=True, slots=True)
class Batch:
    """The page of a batch. ``total`` is empty where no rule names an amount; ``bad`` is the first row that does not hold."""

    tool: str
    count: int
    words: str
    total: str
    holding: str
    irreversible: bool
    shared: tuple[str, ...]
    lines: tuple[Line, ...]
    bad: Line | None
    gesture: Typed | None
    may_reject: bool


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one row."""

    url: str
    sentence: str
    status: str
    shown_as: str
    shown_status: str
    text: str


def batch(actions: Sequence[PendingAction], user_id: uuid.UUID) -> Batch:
    """The page of these questions for one person. At least one."""
    seen = shown.read(actions[0].shown)
    lines = tuple(_line(number, actions, user_id) for number in range(1, len(actions) + 1))
    holding = [action for action, line in zip(actions, lines, strict=True) if not line.why]
    typed = alike.gesture(actions)
    count = len(actions)
    return Batch(
        tool=str((seen.get("contract") or {}).get("title") or seen.get("tool") or ""),
        count=count,
        words=ngettext("%s thing to decide", "%s things to decide at once", count) % count,
        total=_total(actions),
        holding=_total(holding) if len(holding) < count else "",
        irreversible=any(action.irreversible for action in actions),
        shared=_shared(actions, seen.get("tool"), seen.get("contract_version")),
        lines=lines,
        bad=next((line for line in lines if line.why), None),
        gesture=_typed(typed, count) if typed else None,
        may_reject=not any(_against(action, actions[0], user_id, Verdict.REJECT) for action in actions),
    )


def done(batch_id: uuid.UUID, user_id: uuid.UUID, tenant_id: uuid.UUID) -> list[Done]:
    """What became of the rows that this person decided together, as it stands now."""
    given = Decision.everywhere.filter(batch=batch_id, user_id=user_id, tenant_id=tenant_id)
    rows = PendingAction.everywhere.filter(pk__in=given.values("action_id")).select_related("intent")
    rows = rows.prefetch_related("decisions__user").defer("shown", "preview", "evidence")
    return [_done(action) for action in rows.order_by("opened_at", "pk")]


def _done(action: PendingAction) -> Done:
    effect = action.intent if action.status == PendingAction.Status.CONSUMED else None
    open_ = action.status == PendingAction.Status.OPEN
    return Done(
        links.action(action.pk),
        read(action.sentence),
        action.status,
        "intent" if effect else "action",
        effect.status if effect else action.status,
        _("Signed by you; it waits for the others who must agree.") if open_ else outcome(action),
    )


def _line(number: int, actions: Sequence[PendingAction], user_id: uuid.UUID) -> Line:
    action = actions[number - 1]
    seen = shown.read(action.shown)
    found, amount = preview(seen), alike.amount_of(action)
    public = ids.public("pendingaction", action.pk)
    others = [ids.public("pendingaction", other.pk) for other in actions if other.pk != action.pk]
    return Line(
        number=number,
        id=public,
        url=links.action(action.pk),
        as_seen=f"{public}.{shown.digest_of(action.shown)}.{seen['generation']}",
        sentence=read(str(seen["sentence"])),
        target=str(seen.get("target") or ""),
        amount=str(amount or ""),
        why=_against(action, actions[0], user_id, Verdict.APPROVE),
        without=page_of(others),
        preview=found,
        parameters=tuple(params.parameters(seen["arguments"], found.text)),
    )


def page_of(public_ids: Sequence[str]) -> str:
    """The page on which these are decided together; the inbox when none is left."""
    if not public_ids:
        return reverse("approvals:inbox")
    return f"{reverse('approvals:batch')}?{urlencode([('row', one) for one in public_ids])}"


def _against(action: PendingAction, first: PendingAction, user_id: uuid.UUID, verdict: Verdict) -> str:
    """Why this row cannot take the answer now; empty when it can."""
    if words := alike.difference(alike.kinship(first), alike.kinship(action)):
        return words
    given = Answer(verdict, "-", "", (), "")
    if Decision.everywhere.filter(action=action, user_id=user_id).exists():
        return _("You have given your answer to it.")
    try:
        decide_many.stands(
            action, Sight(action.digest, action.generation), given, user_id=user_id, channel=viewing.PAGE
        )
    except DeskError as error:
        return _why(action, error)
    return ""


def _why(action: PendingAction, error: DeskError) -> str:
    """What happened to the row, rather than to an answer that nobody has given yet."""
    if error.code == "expired":
        return _("The time to decide it has run out.")
    if error.code == "superseded":
        return _("A newer question stands in its place.")
    return outcome(action) if error.code == "already_decided" else str(error)


def _total(actions: Sequence[PendingAction]) -> str:
    found = alike.sums(actions)
    if found is None:
        return _("an amount that cannot be added up")
    return " + ".join(str(one) for one in found)


def _typed(expected: str, count: int) -> Typed:
    label = _("Type how many they are to approve") if expected == str(count) else _("Type the sum to approve")
    return Typed(label, expected)


def _shared(actions: Sequence[PendingAction], tool: object, version: object) -> tuple[str, ...]:
    words = [
        _("same tool, %s") % tool,
        _("same contract, version %s") % version,
        _("same risk class, %s") % actions[0].get_risk_display().lower(),
    ]
    submitters = {action.submitter_id for action in actions}
    return (*words, _("asked by %s") % actions[0].submitter) if len(submitters) == 1 else tuple(words)

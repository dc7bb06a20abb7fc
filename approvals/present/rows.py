"""The list of the inbox: tabs, groups by urgency, rows of one sentence."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accounts import ids
from accounts.said import read
from approvals import inbox, links
from approvals.models import Decision, PendingAction, Verdict
from approvals.present.parts import Link, agent_name
from tools.models import Intent

Kind, Status = PendingAction.Kind, PendingAction.Status
SOON = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab with how many are in it; ``count`` is None where nobody counts."""

    label: str
    url: str
    count: int | None = None
    current: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One row. ``shown_as`` and ``shown_status`` name the state to draw: a used grant is drawn as its effect stands.
    ``pick`` is its id where it may be chosen for a batch, ``alike`` is equal for those that may be chosen together."""

    id: str
    url: str
    kind: str
    status: str
    shown_as: str
    shown_status: str
    irreversible: bool
    sentence: str
    detail: str
    agent: str
    opened_at: datetime
    expires_at: datetime | None
    decided_at: datetime | None
    soon: bool
    current: bool
    right: str
    pick: str = ""
    alike: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one urgency, or of one day."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What the empty half of the inbox says."""

    title: str
    text: str
    actions: tuple["Action", ...]


@dataclass(frozen=True, slots=True)
class Action:
    """A way on from the empty half."""

    label: str
    url: str
    main: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Everything that the list needs, and what to say beside it when nothing is open. ``more`` is the same list with more of
    it, at the row where this one ends; empty where it is whole."""

    tabs: tuple[Tab, ...]
    groups: tuple[Group, ...]
    choose: Choice
    count: int
    more: str = ""


def listing(
    *,
    user_id: uuid.UUID,
    tenant_id: uuid.UUID,
    tab: str = "mine",
    current: uuid.UUID | None = None,
    now: datetime | None = None,
    limit: int = inbox.SHOWN,
) -> Listing:
    """The list of one tab for one person. Takes the counts of all tabs with it."""
    moment = now or timezone.now()
    found = inbox.open_for(user_id=user_id, tenant_id=tenant_id, tab=tab, limit=limit + 1)
    rows, home = found[:limit], reverse("approvals:inbox")
    more = f"{home}?tab={tab}&shown={limit + inbox.SHOWN}#item-{rows[-1].pk.hex}" if found[limit:] else ""
    counts = inbox.counts(user_id=user_id, tenant_id=tenant_id)
    words = {
        "mine": _("For me"),
        "groups": pgettext("inbox tab", "My groups"),
        "claimed": pgettext("inbox tab", "Claimed"),
        "aside": pgettext("inbox tab", "Set aside"),
        "decided": pgettext("inbox tab", "Decided"),
    }
    tabs = tuple(
        Tab(words[name], home if name == "mine" else f"{home}?tab={name}", counts.get(name), tab == name)
        for name in inbox.TABS
    )
    title: Callable[[PendingAction], str] = _by_day if tab == "decided" else lambda one: _urgency(one, moment)
    groups: dict[str, list[Item]] = {}
    for action in rows:
        item = _item(action, moment, current)
        groups.setdefault(title(action), []).append(_pickable(item, action) if tab == "mine" else item)
    parts = tuple(Group(name, tuple(items)) for name, items in groups.items())
    return Listing(tabs, parts, _choice(rows, tab), counts["mine"], more)


def _urgency(action: PendingAction, now: datetime) -> str:
    if action.kind == Kind.SETTLE:
        return _("Outcome unknown, settle first")
    if action.expires_at is None:
        return _("Paused, waiting for a person")
    today = timezone.localtime(now).date()
    if timezone.localtime(action.expires_at).date() <= today:
        return _("Expiring today")
    return _("Later")


def _by_day(action: PendingAction) -> str:
    assert action.decided_at is not None
    day = timezone.localtime(action.decided_at)
    if day.date() == timezone.localdate():
        return _("Today")
    return date_format(day, pgettext("date format", "l, j F Y"))


def _item(action: PendingAction, now: datetime, current: uuid.UUID | None) -> Item:
    left = action.expires_at - now if action.expires_at else None
    effect = action.intent if action.status == Status.CONSUMED else None
    return Item(
        id=action.pk.hex,
        url=links.action(action.pk),
        kind=action.kind,
        status=action.status,
        shown_as="intent" if effect else "action",
        shown_status=effect.status if effect else action.status,
        irreversible=action.irreversible,
        sentence=read(action.sentence),
        detail=_detail(action),
        agent=agent_name(action.agent) or str(action.submitter),
        opened_at=action.opened_at,
        expires_at=action.expires_at,
        decided_at=action.decided_at,
        soon=left is not None and left <= SOON,
        current=action.pk == current,
        right=_("budget held") if action.kind == Kind.SETTLE and action.status == Status.OPEN else "",
    )


def _pickable(item: Item, action: PendingAction) -> Item:
    """The row with what it needs to be chosen for a batch, where it can be."""
    if action.kind != Kind.APPROVE or action.intent is None:
        return item
    kin = f"{action.intent.contract_id.hex}.{action.risk}"
    return replace(item, pick=ids.public("pendingaction", action.pk), alike=kin)


def _detail(action: PendingAction) -> str:
    if action.status != Status.OPEN:
        return outcome(action)
    if action.undecidable_since:
        return _("nobody can decide this")
    if action.claimed_by and action.claimed_until and action.claimed_until > timezone.now():
        return _("claimed by %s") % action.claimed_by
    return action.target if action.target and action.target not in action.sentence else ""


def outcome(action: PendingAction) -> str:
    """What became of a closed action, in one line."""
    closing: list[Decision] = sorted(action.decisions.all(), key=lambda one: (one.at, one.pk))
    if action.status == Status.WITHDRAWN:
        why = read(action.void_reason)
        return _("Withdrawn: %s") % why if why else _("Withdrawn: the task no longer asks")
    if action.status == Status.VOIDED:
        return _("Approved, then void: %s") % read(action.void_reason)
    if not closing:
        return str(Status(action.status).label)
    last = closing[-1]
    who = str(last.user) if last.user else _("nobody")
    words = {
        Verdict.APPROVE: _("Approved by %s"),
        Verdict.REJECT: _("Rejected by %s"),
        Verdict.ASK_CHANGES: _("%s asked for changes"),
        Verdict.HAPPENED: _("Settled by %s: it happened"),
        Verdict.NOT_HAPPENED: _("Settled by %s: it did not happen"),
        Verdict.NOBODY_KNOWS: _("Settled by %s: nobody can know"),
        Verdict.CONTINUE: _("Continued by %s"),
        Verdict.FAIL: _("Ended by %s as failed"),
        Verdict.ANSWER: _("Answered by %s"),
    }
    if last.verdict == Verdict.EXPIRE:
        return _("Expired, nothing was sent")
    line = words[Verdict(last.verdict)] % who
    if action.status == Status.CONSUMED and action.intent is not None:
        became = _became(action.intent.status)
        return f"{line}, {became}" if became else line
    return f"{line}: “{last.comment}”" if last.verdict == Verdict.REJECT else line


def _became(status: str) -> str:
    """What became of the effect, to stand behind who approved it."""
    words = {
        Intent.Status.DISPATCHED: _("being sent"),
        Intent.Status.CONFIRMED: _("sent, confirmed"),
        Intent.Status.UNKNOWN: _("outcome unknown"),
        Intent.Status.ABANDONED: _("nobody can know what became of it"),
        Intent.Status.REJECTED: _("did not happen"),
        Intent.Status.COMPENSATED: _("sent, then undone"),
    }
    return words.get(Intent.Status(status), "")


def _choice(rows: list[PendingAction], tab: str) -> Choice:
    if tab != "mine" or not rows:
        text = (
            _("What asks for a decision appears here by itself.")
            if tab == "mine"
            else _("Choose one to read it.")
        )
        return Choice(_("Nothing waits for you") if tab == "mine" else _("What is done stays here"), text, ())
    count = len(rows)
    text = ngettext("%s thing waits for you.", "%s things wait for you.", count) % count
    unknown = sum(row.kind == Kind.SETTLE for row in rows)
    if unknown:
        more = ngettext(
            "%s has an unknown outcome and holds its task up until it is settled.",
            "%s have an unknown outcome and hold their tasks up until they are settled.",
            unknown,
        )
        text = f"{text} {more % unknown}"
    label = _("Settle the unknown outcome") if unknown else _("Open the first")
    return Choice(_("Choose what to decide"), text, (Action(label, links.action(rows[0].pk), main=True),))


def next_link(*, user_id: uuid.UUID, tenant_id: uuid.UUID, after: uuid.UUID) -> Link | None:
    """The next thing this person should decide."""
    found = inbox.next_for(user_id=user_id, tenant_id=tenant_id, after=after)
    return Link(read(found.sentence), links.action(found.pk)) if found else None

"""The page of an unknown outcome: what is known, and three answers with what each of them does."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.said import read
from approvals import links, rules, shown
from approvals.models import Decision, PendingAction, Verdict
from approvals.present import people
from approvals.present.after import Task
from approvals.present.parameters import Parameter, parameters
from approvals.present.parts import Check, Fact, Link, May
from approvals.present.preview import Preview, preview
from tools import workers
from tools.adapters import registry
from tools.models import Intent
from tools.selectors import query_tool

#: Kept with the intent as well, and nothing that was learnt of the effect.
OF_THE_GRANT = ("grant_voided", "grant_taken_back")


@dataclass(frozen=True, slots=True)
class Question:
    """The question, what was done, and since when nobody knows."""

    question: str
    lead: str
    unknown_since: datetime | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the three answers. ``waits_for``: it may be recorded at once, these say what the step then waits
    for.
    """

    value: str
    consequence: str
    waits_for: tuple[Check, ...] = ()
    reference_label: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One thing that was learnt about the effect."""

    at: datetime | None
    tone: str
    mark: str
    word: str
    note: str


SAID = {
    Verdict.HAPPENED: gettext_lazy("It happened"),
    Verdict.NOT_HAPPENED: gettext_lazy("It did not happen"),
    Verdict.NOBODY_KNOWS: gettext_lazy("Nobody can know"),
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a person recorded."""

    words: str
    name: str
    at: datetime
    reference: str
    comment: str
    evidence: tuple[Link, ...]
    result: str
    task: Task | None


@dataclass(frozen=True, slots=True)
class Reserved:
    """What is held up while the question is open."""

    lead: str
    text: str


@dataclass(frozen=True, slots=True)
class Known:
    """Everything on the page of one question of kind *settle*."""

    action: Question
    sent: tuple[Fact, ...]
    sent_note: str
    checks: tuple[Report, ...]
    check_url: str
    cannot_ask: str
    far_side: str
    preview: Preview | None
    parameters: tuple[Parameter, ...]
    reserved: Reserved | None
    answers: tuple[Choice, ...]
    may: May
    digest: str
    generation: int
    settle_url: str
    second_note: str
    said: tuple[Fact, ...]
    decided: Recorded | None
    waiting: tuple[Check, ...]


def known(action: PendingAction, user_id: uuid.UUID) -> Known:
    """The page of one unknown outcome for one person."""
    assert action.intent is not None
    intent, seen = action.intent, shown.read(action.shown)
    approval = _approval(intent)
    closed = action.status != PendingAction.Status.OPEN
    mail = (seen.get("contract") or {}).get("adapter") == "smtp"
    waits = _waits(intent)
    count = ngettext("%s time", "%s times", intent.dispatches) % intent.dispatches
    return Known(
        action=Question(
            read(str(seen["sentence"])), _lead(mail), intent.unknown_since or action.opened_at, not closed
        ),
        sent=_sent(intent, seen, approval),
        sent_note=count,
        checks=tuple(_reports(intent)),
        check_url=links.check_again(action.pk) if _can_ask(intent) else "",
        cannot_ask="" if _can_ask(intent) else _cannot_ask(intent),
        far_side="",
        preview=preview(shown.read(approval.shown)) if approval else None,
        parameters=() if mail and approval else tuple(parameters(intent.arguments)),
        reserved=Reserved(
            _("The task waits."), _("Its next steps and its budget are held until this is answered.")
        ),
        answers=_answers(mail, waits),
        may=people.may(action, user_id),
        digest=shown.digest_of(action.shown),
        generation=int(seen["generation"]),
        settle_url=links.verb("decide", action.pk),
        second_note=_second(action),
        said=() if closed else _said(action),
        decided=_recorded(action, intent) if closed else None,
        waiting=waits if closed and intent.status == Intent.Status.UNKNOWN else (),
    )


def _second(action: PendingAction) -> str:
    """That one answer alone settles nothing."""
    needed = rules.quorum(action)
    if needed < 2:
        return ""
    return _("%s people allowed it, so %s have to give the same answer before it counts.") % (needed, needed)


def _said(action: PendingAction) -> tuple[Fact, ...]:
    """The answers so far, each with who gave it and how they know, whether they agree or not."""
    return tuple(
        Fact(
            str(one.user),
            str(SAID[Verdict(one.verdict)]),
            " · ".join(part for part in (one.reference, one.comment) if part),
        )
        for one in rules.given(action)
        if one.user and one.verdict in SAID
    )


def _lead(mail: bool) -> str:
    if mail:
        return _(
            "The mail was handed to the mail server and no clear answer came back. "
            "It is not sent again until a person says what happened."
        )
    return _(
        "It was begun and no clear answer came back. It is not done again until a person says what happened."
    )


def _approval(intent: Intent) -> PendingAction | None:
    return PendingAction.everywhere.filter(pk=intent.grant).first() if intent.grant else None


def _sent(intent: Intent, seen: Mapping[str, Any], approval: PendingAction | None) -> tuple[Fact, ...]:
    contract: Mapping[str, Any] = seen.get("contract") or {}
    facts = [
        Fact(
            _("What"), read(approval.sentence) if approval else str(contract.get("title") or seen.get("tool"))
        ),
        Fact(_("To"), intent.target, mono=True),
        *(
            Fact(_("Approved by"), str(one.user), timezone.localtime(one.at).strftime("%H:%M:%S"))
            for one in _approvers(approval)
        ),
        Fact(_("Sent"), at=intent.dispatched_at),
        Fact(_("By"), _sender(intent)),
        Fact(_("Key"), intent.key, mono=True),
    ]
    as_sent = registry.kind(intent.contract.adapter).named(intent.key)
    if as_sent != intent.key:
        facts.append(Fact(_("Key, as the other side got it"), as_sent, mono=True))
    return tuple(fact for fact in facts if fact.value or fact.at)


def _approvers(approval: PendingAction | None) -> list[Decision]:
    return rules.signatures(approval) if approval else []


def _sender(intent: Intent) -> str:
    if intent.sender is None:
        return ""
    words = _("process %(pid)s of node %(node)s on %(host)s")
    return words % {"pid": intent.sender.pid, "node": intent.sender.node, "host": intent.sender.host}


def _reports(intent: Intent) -> list[Report]:
    """What is in the evidence of the intent about its outcome, oldest first, each with the words it came with."""
    found = [
        item
        for item in intent.evidence or ()
        if isinstance(item, Mapping) and item.get("what") not in OF_THE_GRANT
    ]
    return [_report(item) for item in found]


def _can_ask(intent: Intent) -> bool:
    return intent.status == Intent.Status.UNKNOWN and query_tool(intent.contract) is not None


def _cannot_ask(intent: Intent) -> str:
    if intent.status != Intent.Status.UNKNOWN:
        return ""
    if not intent.contract.result_query:
        return _("Nothing can be asked: its contract names no tool that tells what became of a call.")
    return _("Nothing can be asked: the tool %(tool)s is not in force, or does not only read any more.") % {
        "tool": intent.contract.result_query
    }


def _heard(item: Mapping[str, Any], at: datetime | None) -> Report:
    """What the far side said: when it was asked is the moment that counts."""
    asked_at = parse_datetime(str(item.get("asked_at") or "")) or at
    said = str(item.get("said") or "")
    words = {
        "yes": ("done", "done", _("Asked: it happened")),
        "no": ("stopped", "stopped", _("Asked: it did not happen")),
    }
    tone, mark, word = words.get(said, ("unknown", "unknown", _("Asked: no clear answer")))
    found = item.get("found")
    said_so = _("It said: %s") % found if found not in (None, "") else ""
    note = " · ".join(
        part for part in (str(item.get("tool") or ""), said_so, str(item.get("text") or "")) if part
    )
    return Report(asked_at, tone, mark, word, note)


def _report(item: Mapping[str, Any]) -> Report:
    at = parse_datetime(str(item.get("at") or ""))
    if item.get("kind") == "query":
        return _heard(item, at)
    if item.get("kind") == "bounce":
        return _bounced(item, at)
    note = str(item.get("text") or item.get("note") or item.get("said") or item.get("code") or "")
    if item.get("kind") == "late sender":
        return Report(at, "done", "done", _("Its sender says, late: it happened"), note)
    if item.get("what") == "confirmed_again" or item.get("verdict") == Verdict.HAPPENED:
        return Report(at, "done", "done", _("It happened"), note)
    if item.get("verdict") == Verdict.NOT_HAPPENED:
        return Report(at, "stopped", "stopped", _("A person: it did not happen"), note)
    if str(item.get("why") or "").startswith("settled as not happened"):
        return Report(at, "done", "done", _("Nothing can still send it: it may go on"), "")
    if item.get("what") == "answer_escaped":
        return Report(
            at, "done", "done", _("Its answer held signs that cannot be stored; they are written out"), ""
        )
    return Report(at, "unknown", "unknown", _("No clear answer"), note)


def _bounced(item: Mapping[str, Any], at: datetime | None) -> Report:
    """A mail server says that the letter came back. It says nothing of where else it arrived."""
    words = {
        "failed": _("A mail server reports: not delivered to %s"),
        "delayed": _("A mail server reports: delayed on the way to %s"),
        "delivered": _("A mail server reports: delivered to %s"),
    }
    word = words.get(str(item.get("action") or ""), _("A mail server reports about %s"))
    parts = (str(item.get("status") or ""), str(item.get("text") or ""))
    return Report(
        at, "unknown", "mail", word % str(item.get("recipient") or "?"), " ".join(p for p in parts if p)
    )


def _answers(mail: bool, waits: tuple[Check, ...]) -> tuple[Choice, ...]:
    reference = (
        _("Reference, such as the message id in the receiver’s mailbox")
        if mail
        else _("Reference under which it can be found")
    )
    return (
        Choice(
            Verdict.HAPPENED.value,
            _(
                "The step counts as done with the reference you give. The steps behind it go on. Nothing is sent again."
            ),
            reference_label=reference,
        ),
        Choice(
            Verdict.NOT_HAPPENED.value,
            _(
                "Recorded at once. The step then goes on under the same key, and what was approved is sent, "
                "as soon as nothing can still arrive from the first time:"
            ),
            waits_for=waits,
        ),
        Choice(
            Verdict.NOBODY_KNOWS.value,
            _(
                "The step ends as unknown for good and is never repeated. "
                "Steps that need it are cancelled; the task ends with what it has."
            ),
        ),
    )


def _waits(intent: Intent) -> tuple[Check, ...]:
    """What must be true before an effect that did not happen may be sent again, and whether it is."""
    blocked = workers.may_go_on(intent=intent)
    if blocked is None:
        return (Check("ok", _("Nothing can still arrive from the first time: the step can go on at once.")),)
    checks: list[Check] = []
    if blocked.code == "quiet":
        checks.append(Check("ok", _("The process that sent it can no longer send.")))
    # The moment stands in the last line, in the zone of the reader.
    under_way = _("What was sent may still be under way.")
    checks.append(Check("no", under_way if blocked.code == "quiet" else str(blocked)))
    if blocked.until is not None:
        moment = timezone.localtime(blocked.until).strftime("%H:%M:%S")
        once_more = _("To an answer from before %s the question is put once more then.") % moment
    else:
        once_more = _("To an answer from before that is proven the question is put once more.")
    checks.append(Check("warn", once_more))
    return tuple(checks)


def _attached(action: PendingAction, one: Any) -> Link:
    """A file of the task, an address, or words."""
    if isinstance(one, Mapping):
        return Link(str(one.get("file") or ""), links.file(action.run_id, str(one.get("sha256") or "")))
    text = str(one)
    return Link(text, text if text.startswith(("https://", "http://")) else "")


def _recorded(action: PendingAction, intent: Intent) -> Recorded | None:
    last = next(reversed(rules.given(action)), None)
    if last is None:
        return None
    words = {
        Verdict.HAPPENED: (_("It happened"), _("The step is done. Nothing is sent again.")),
        Verdict.NOT_HAPPENED: (_("It did not happen"), _("The step goes on under the same key.")),
        Verdict.NOBODY_KNOWS: (_("Nobody can know"), _("The step has ended and is never repeated.")),
    }
    said, result = words[Verdict(last.verdict)]
    if last.verdict == Verdict.NOT_HAPPENED and intent.status == Intent.Status.UNKNOWN:
        result = " ".join(check.text for check in _waits(intent))
    url = links.task(action.run_id)
    return Recorded(
        words=said,
        name=str(last.user),
        at=last.at,
        reference=last.reference,
        comment=last.comment or _("no note"),
        evidence=tuple(_attached(action, one) for one in last.evidence),
        result=result,
        task=Task(_("Open the task"), url) if url else None,
    )

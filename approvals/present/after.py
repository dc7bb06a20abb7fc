"""The card after the decision: it goes on living. What was decided is in the shown bytes, what became of it
in the rows.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.said import read
from approvals import links, rules
from approvals.models import Decision, PendingAction, Verdict
from approvals.present.parts import Fact, Link, Stage, agent_name
from approvals.present.people import right_of
from approvals.present.rows import next_link
from tools.models import Intent

Status, Sent = PendingAction.Status, Intent.Status


@dataclass(frozen=True, slots=True)
class By:
    """Who closed it, when, in which words, and with which comment."""

    name: str
    words: str
    at: datetime | None
    comment: str


@dataclass(frozen=True, slots=True)
class Task:
    """The task behind it."""

    goal: str
    url: str


@dataclass(frozen=True, slots=True)
class After:
    """What became of a closed action."""

    intent_status: str
    title_before: str
    title_after: str
    result: str
    stamp: Mapping[str, Any] | None
    by: By | None
    life: tuple[Stage, ...]
    was_sent: bool
    record: tuple[Fact, ...]
    next: Link | None
    task: Task | None
    went_on_at: datetime | None


def after(action: PendingAction, seen: Mapping[str, Any], user_id: uuid.UUID) -> After:
    """The decided card for one person. ``seen`` are the shown bytes as values."""
    intent = action.intent
    approved = action.status in (Status.APPROVED, Status.CONSUMED, Status.VOIDED)
    decisions = rules.given(action)
    sent = (
        intent is not None and approved and intent.status not in (Sent.PROPOSED, Sent.AUTHORISED, Sent.VOIDED)
    )
    task_url = links.task(action.run_id)
    before, behind, result = _words(action, intent if approved else None, seen)
    return After(
        intent_status=intent.status if intent and action.status == Status.CONSUMED else "",
        title_before=before,
        title_after=behind,
        result=result,
        stamp=_stamp(action, decisions) if approved else None,
        by=None if approved else _by(action, decisions),
        life=_life(action, intent, decisions, seen) if approved else (),
        was_sent=sent and intent is not None and intent.status == Sent.CONFIRMED,
        record=_record(action, intent, decisions, seen),
        next=next_link(user_id=user_id, tenant_id=action.tenant_id, after=action.pk),
        task=Task(_("Open the task"), task_url) if task_url else None,
        went_on_at=action.applied_at,
    )


def _words(action: PendingAction, intent: Intent | None, seen: Mapping[str, Any]) -> tuple[str, str, str]:
    """The heading before and after the target, and one line of result."""
    sentence, target = read(str(seen["sentence"])), str(seen.get("target") or "")
    before, _found, behind = sentence.partition(target) if target else (sentence, "", "")
    mail = (seen.get("contract") or {}).get("adapter") == "smtp"
    if intent is not None and action.status == Status.CONSUMED and mail and target:
        states = {
            Sent.CONFIRMED: (_("E-mail to"), _("was sent"), _("What was sent is exactly what was approved.")),
            Sent.UNKNOWN: (_("E-mail to"), _("may have been sent"), _unknown()),
            Sent.DISPATCHED: (_("E-mail to"), _("is being sent"), _("Nobody has to do anything.")),
            Sent.REJECTED: (_("E-mail to"), _("was not sent"), _("It is known that it did not go out.")),
            Sent.ABANDONED: (
                _("E-mail to"),
                _("may have been sent"),
                _("Nobody can know; it is not sent again."),
            ),
        }
        if intent.status in states:
            return states[Sent(intent.status)]
    return before.strip(), behind.strip(), _result(action, intent)


def _unknown() -> str:
    return _("Nobody can tell whether it went out. It is not sent again until a person says what happened.")


def _result(action: PendingAction, intent: Intent | None) -> str:
    if intent is not None and action.status == Status.CONSUMED:
        if intent.status == Sent.UNKNOWN:
            return _unknown()
        if intent.status == Sent.CONFIRMED:
            return _("It was carried out exactly as it was approved.")
    words = {
        Status.APPROVED: _("Approved. It goes out as soon as the task gets to it."),
        Status.CONSUMED: _("Approved and begun."),
        Status.VOIDED: _("The approval does not hold any more: %s") % read(action.void_reason),
        Status.REJECTED: _("Nothing was sent. The task goes on without it."),
        Status.CHANGES_REQUESTED: _("Nothing was sent. The agent may propose again."),
        Status.EXPIRED: _("Nobody decided in time, so nothing was sent."),
        Status.WITHDRAWN: _("Nothing was sent.")
        if action.void_reason
        else _("The task no longer asks. Nothing was sent."),
    }
    return words.get(Status(action.status), "")


def _stamp(action: PendingAction, decisions: list[Decision]) -> dict[str, Any] | None:
    last = next((one for one in reversed(decisions) if one.verdict == Verdict.APPROVE and one.user), None)
    if last is None:
        return None
    others = sum(one.verdict == Verdict.APPROVE for one in decisions) - 1
    group = ngettext("and %s more", "and %s more", others) % others if others else ""
    # A stamp that does not stand any more is struck: it must not look like an approval.
    void = action.status == Status.VOIDED
    stamp = {"name": str(last.user), "group": group, "at": last.at, "digest": action.digest}
    return {**stamp, "void": void, "word": _("VOID") if void else ""}


def _by(action: PendingAction, decisions: list[Decision]) -> By | None:
    last = decisions[-1] if decisions else None
    if last is None:
        why = read(action.void_reason)
        if why:
            return By(why, "", action.decided_at, "")
        return By(_("The task"), _("withdrew it"), action.decided_at, "")
    if last.user is None:
        return By(_("Time ran out"), "", last.at, "")
    words = {Verdict.REJECT: _("rejected it"), Verdict.ASK_CHANGES: _("asked for changes")}
    return By(str(last.user), words.get(Verdict(last.verdict), ""), last.at, last.comment)


def _life(
    action: PendingAction, intent: Intent | None, decisions: list[Decision], seen: Mapping[str, Any]
) -> tuple[Stage, ...]:
    agent = agent_name(str(seen.get("agent") or ""))
    stages = [Stage(_("Proposed"), action.opened_at, agent)]
    stages += [
        Stage(_("Approved"), one.at, ", ".join(part for part in (str(one.user), _signed_in(one)) if part))
        for one in decisions
        if one.verdict == Verdict.APPROVE
    ]
    if action.status == Status.VOIDED:
        stages.append(Stage(_("Void"), None, read(action.void_reason)))
    elif action.status == Status.APPROVED or intent is None:
        stages.append(Stage(_("Waiting to be sent"), None, ""))
    else:
        count = ngettext("%s attempt", "%s attempts", intent.dispatches) % intent.dispatches
        stages.append(Stage(_("Sent"), intent.dispatched_at, count))
        stages += _ending(intent)
    last = stages.pop()
    return (*stages, Stage(last.title, last.at, last.note, here=True))


def _ending(intent: Intent) -> list[Stage]:
    if intent.status == Sent.CONFIRMED:
        return [Stage(_("Confirmed"), intent.ended_at, _said(intent) or intent.reference)]
    if intent.status == Sent.UNKNOWN:
        return [Stage(_("Unknown outcome"), intent.unknown_since, _("a person settles it"))]
    if intent.status == Sent.REJECTED:
        return [Stage(_("Did not happen"), None, "")]
    if intent.status == Sent.ABANDONED:
        return [Stage(_("Nobody can know"), intent.ended_at, "")]
    return []


def _signed_in(decision: Decision) -> str:
    """How the person proved who they are, and through which door."""
    if decision.channel == "api":
        return _("through the API")
    return _("signed in with second factor") if "mfa" in decision.authenticated else ""


def bounced(evidence: Any) -> list[Fact]:
    """What mail servers reported about the letter later. It was handed over all the same."""
    found = [one for one in evidence or () if isinstance(one, Mapping) and one.get("kind") == "bounce"]
    words = {"failed": _("Not delivered"), "delayed": _("Delayed"), "delivered": _("Delivered")}
    facts = [
        Fact(
            words.get(str(one.get("action")), _("A report about it")),
            " ".join(str(one.get(name) or "") for name in ("recipient", "status", "text")).strip(),
        )
        for one in found
    ]
    if facts:
        facts.append(
            Fact(
                _("What that means"),
                _("A mail server reported this afterwards. The record stays: the letter was handed over."),
            )
        )
    return facts


def _said(intent: Intent) -> str:
    """The words of the far side, e.g. ``250 OK``; "" when it gave none."""
    return str((intent.answer or {}).get("server") or "")


def _record(
    action: PendingAction, intent: Intent | None, decisions: list[Decision], seen: Mapping[str, Any]
) -> tuple[Fact, ...]:
    approvals = [one for one in decisions if one.verdict == Verdict.APPROVE]
    facts: list[Fact] = []
    if approvals:
        edited = seen.get("edited") or {}
        unchanged = _("Approved as changed by %s") % edited["name"] if edited else _("Approved unchanged")
        facts.append(Fact(_("Decision"), unchanged))
        facts += [
            Fact(_("By what right"), words, str(one.user) if len(approvals) > 1 else "")
            for one in approvals
            if (words := right_of(action, one))
        ]
        if seen.get("second_gesture"):
            facts.append(Fact(_("Second gesture"), _("Typed %s") % seen["second_gesture"]))
    if intent is not None and intent.reference:
        mail_id = str((intent.answer or {}).get("message_id") or "")
        if mail_id:
            facts.append(Fact(_("Message-ID"), mail_id, mono=True))
            facts.append(Fact(_("The server said"), _said(intent), mono=True))
        else:
            facts.append(Fact(_("Reference"), intent.reference, mono=True))
    if intent is not None:
        facts += bounced(intent.evidence)
    if seen.get("tool"):
        version = _("%(tool)s, version %(version)s")
        facts.append(
            Fact(_("Contract"), version % {"tool": seen["tool"], "version": seen["contract_version"]})
        )
    newer = PendingAction.everywhere.filter(successor_of=action).first()
    if newer is not None:
        facts.append(Fact(_("Newer version"), read(newer.sentence), url=links.action(newer.pk)))
    if action.successor_of_id:
        facts.append(Fact(_("Version before"), _("open it"), url=links.action(action.successor_of_id)))
    facts += [Fact(_("Comment of %s") % one.user, one.comment) for one in approvals if one.comment]
    return tuple(facts)

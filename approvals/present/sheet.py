"""The sheet to be signed. Everything that is decided on comes from the shown bytes."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import ids
from accounts.said import read
from approvals import links, rules, shown
from approvals.folding import shown_above
from approvals.models import PendingAction, Verdict
from approvals.present import parameters as params
from approvals.present import people
from approvals.present.attention import Look, look
from approvals.present.parts import Fact, May, Sign, agent_name
from approvals.present.preview import Preview, preview
from approvals.present.quotes import Quote, quotes
from approvals.present.tool import ToolFacts, tool
from tools.models import Risk
from tools.reasons import told

Status = PendingAction.Status


@dataclass(frozen=True, slots=True)
class Head:
    """The sentence in three parts with its target underlined, and what stands around it."""

    id: str
    status: str
    is_open: bool
    irreversible: bool
    before: str
    target: str
    after: str
    result: str
    agent: str
    opened_at: datetime
    expires_at: datetime | None
    expiry: str
    claim: str


@dataclass(frozen=True, slots=True)
class Gesture:
    """What must be typed before Approve: ``expected`` is compared on the server as well."""

    label: str
    expected: str
    placeholder: str


@dataclass(frozen=True, slots=True)
class Button:
    """The words on Approve: short, and what follows where there is room."""

    words: str
    more: str


@dataclass(frozen=True, slots=True)
class Way:
    """A further way to answer."""

    url: str
    note: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """Who changed this version, and why; ``by_reader`` when it is who reads it: approving it then takes a reason."""

    name: str
    why: str
    by_reader: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything on the page of one question of kind *approve*."""

    action: Head
    look: Look | None
    stakes: tuple[Fact, ...]
    preview: Preview
    parameters: tuple[params.Parameter, ...]
    parameters_note: str
    difference: params.Difference | None
    edited: Edited | None
    sent_back: Edited | None
    rationale: str
    evidence: tuple[Quote, ...]
    contract: ToolFacts
    may: May
    signs: tuple[Sign, ...]
    technical: tuple[Fact, ...]
    gesture: Gesture | None
    approve: Button | None
    verdicts: tuple[str, ...]
    digest: str
    generation: int
    decide_url: str
    edit: Way | None
    claim: Way | None
    release: Way | None


def sheet(action: PendingAction, user_id: uuid.UUID) -> Sheet:
    """The page of one action for one person."""
    seen = shown.read(action.shown)
    found = params.parameters(seen["arguments"], shown_above(seen))
    allowed = people.may(action, user_id)
    free = action.status == Status.OPEN and (allowed.ok or allowed.refuse)
    held = _held(action)
    verdicts = _verdicts(action, seen, user_id, allowed)
    return Sheet(
        action=head(action, seen, user_id),
        look=look(action, seen) if action.status == Status.OPEN else None,
        stakes=_stakes(action, seen, user_id),
        preview=preview(seen),
        parameters=tuple(found),
        parameters_note=params.note(found),
        difference=_difference(action, seen),
        edited=_edited(action, seen, user_id),
        sent_back=_sent_back(seen),
        rationale=str(seen.get("rationale") or ""),
        evidence=quotes(action.run_id, seen.get("evidence")),
        contract=tool(seen),
        may=allowed,
        signs=tuple(people.signs(action, user_id)),
        technical=technical(action, seen),
        gesture=_gesture(seen),
        approve=_button(action, seen) if allowed.ok and Verdict.APPROVE.value in seen["verdicts"] else None,
        verdicts=verdicts,
        digest=shown.digest_of(action.shown),
        generation=int(seen["generation"]),
        decide_url=links.verb("decide", action.pk),
        edit=_edit(action, verdicts),
        claim=Way(links.verb("claim", action.pk), _("for 20 minutes, so that nobody reads it twice"))
        if free and held is None
        else None,
        release=Way(links.verb("release", action.pk)) if free and held == user_id else None,
    )


def head(action: PendingAction, seen: Mapping[str, Any], user_id: uuid.UUID) -> Head:
    """The sentence and its surroundings."""
    sentence, target = read(str(seen["sentence"])), str(seen.get("target") or "")
    before, found, after = sentence.partition(target) if target else (sentence, "", "")
    return Head(
        id=ids.public("pendingaction", action.pk),
        status=action.status,
        is_open=action.status == Status.OPEN,
        irreversible=bool(seen.get("irreversible")),
        before=before.strip() if found else sentence,
        target=found,
        after=after.strip() if found else "",
        result=_result(seen),
        agent=str(seen.get("agent") or ""),
        opened_at=action.opened_at,
        expires_at=action.expires_at,
        expiry=_("then nothing is sent"),
        claim=_claim(action, user_id),
    )


def _result(seen: Mapping[str, Any]) -> str:
    if not seen.get("irreversible"):
        return _("It can be undone afterwards.")
    if (seen.get("contract") or {}).get("adapter") == "smtp":
        return _("Once sent, it cannot be called back.")
    return _("Once done, it cannot be taken back.")


def _claim(action: PendingAction, user_id: uuid.UUID) -> str:
    held = _held(action)
    if held is None or action.claimed_until is None:
        return ""
    until = timezone.localtime(action.claimed_until).strftime("%H:%M")
    if held == user_id:
        return _("claimed by you until %s") % until
    return _("claimed by %(name)s until %(until)s") % {"name": action.claimed_by, "until": until}


def _verdicts(
    action: PendingAction, seen: Mapping[str, Any], user_id: uuid.UUID, allowed: May
) -> tuple[str, ...]:
    """The answers that this person may give now."""
    if allowed.ok:
        return tuple(seen["verdicts"])
    if not allowed.refuse:
        return ()
    no = [Verdict.ASK_CHANGES.value, Verdict.REJECT.value]
    return tuple(
        one
        for one in no
        if one in seen["verdicts"] and not rules.refusals(action=action, user_id=user_id, verdict=one)
    )


def _edited(action: PendingAction, seen: Mapping[str, Any], user_id: uuid.UUID) -> Edited | None:
    said = seen.get("edited")
    if not said:
        return Edited("", "", by_reader=True) if user_id in action.editors else None
    return Edited(str(said.get("name")), str(said.get("why") or ""), by_reader=user_id in action.editors)


def _sent_back(seen: Mapping[str, Any]) -> Edited | None:
    """Who asked for changes to the proposal before this one, and in which words."""
    said = seen.get("sent_back")
    return Edited(str(said.get("name")), str(said.get("why") or ""), by_reader=False) if said else None


def _edit(action: PendingAction, verdicts: tuple[str, ...]) -> Way | None:
    """Where what would be sent is changed, by those who may ask for changes. An undo is made from its effect."""
    intent = action.intent
    if Verdict.ASK_CHANGES.value not in verdicts or intent is None or intent.compensates_id is not None:
        return None
    url = links.edit(action.pk) if action.status == Status.OPEN else ""
    alone = action.policy.get("editor_may_approve") is True
    words = _("Edit and approve…") if alone else _("Edit…")
    return Way(url, _("a new version is asked"), words) if url else None


def _held(action: PendingAction) -> uuid.UUID | None:
    """Who holds the claim now."""
    held = action.claimed_until is not None and action.claimed_until > timezone.now()
    return action.claimed_by_id if held else None


def _stakes(action: PendingAction, seen: Mapping[str, Any], user_id: uuid.UUID) -> tuple[Fact, ...]:
    agent = agent_name(str(seen.get("agent") or "")) or _("An agent")
    must, of_whom = people.who_must_agree(action, user_id)
    contract: Mapping[str, Any] = seen.get("contract") or {}
    return (
        Fact(_("Who wants it"), agent, _wanted(seen)),
        Fact(
            _("What it does"),
            _(str(contract.get("title") or seen.get("tool"))),
            _("%s, once") % seen.get("tool"),
        ),
        Fact(_("How bad a wrong one is"), _risk(str(seen.get("risk"))), _undo(seen)),
        Fact(_("Who must agree"), must, of_whom),
        *_why_asked(seen),
    )


def _why_asked(seen: Mapping[str, Any]) -> tuple[Fact, ...]:
    """What made the gate ask, and what an approval before this one does not cover any more."""
    asked, lapsed = told(seen["policy"].get("reasons")), told(seen["policy"].get("lapsed"))
    facts = [(_("Why a person is asked"), asked), (_("Why it is asked again"), lapsed)]
    return tuple(Fact(name, words[0], " ".join(words[1:])) for name, words in facts if words)


def _wanted(seen: Mapping[str, Any]) -> str:
    """For whom, and as part of which task."""
    person, task = seen["submitter"]["name"], str((seen.get("preview") or {}).get("task") or "")
    return (
        _("for %(person)s, task: %(task)s") % {"person": person, "task": task}
        if task
        else _("for %s") % person
    )


def _risk(risk: str) -> str:
    return str(Risk(risk).label) if risk in Risk.values else risk


def _undo(seen: Mapping[str, Any]) -> str:
    return _("cannot be undone") if seen.get("irreversible") else _("can be undone")


def _gesture(seen: Mapping[str, Any]) -> Gesture | None:
    expected = str(seen.get("second_gesture") or "")
    if not expected:
        return None
    label = (
        _("Type the receiver’s address to approve") if "@" in expected else _("Type the target to approve")
    )
    return Gesture(label, expected, expected)


def _button(action: PendingAction, seen: Mapping[str, Any]) -> Button:
    needed = max(1, int(seen["policy"].get("quorum") or 1))
    if needed > 1:
        given = len(rules.signatures(action))
        return Button(_("Approve"), _(", %(mine)s of %(needed)s") % {"mine": given + 1, "needed": needed})
    mail = (seen.get("contract") or {}).get("adapter") == "smtp"
    return Button(_("Approve"), _(" and send") if mail else "")


def _difference(action: PendingAction, seen: Mapping[str, Any]) -> params.Difference | None:
    """To the generation before, or else to the last one of this tool that was carried out."""
    if action.successor_of_id:
        then = shown.read(PendingAction.everywhere.get(pk=action.successor_of_id).shown)
        title = _("Different from what was asked before")
        return params.difference(
            title=title,
            then=_comparable(then),
            now=_comparable(seen),
            then_label=_("Before"),
            now_label=_("Now"),
        )
    if back := seen.get("sent_back"):
        then = shown.read(PendingAction.everywhere.get(pk=uuid.UUID(str(back["action"]))).shown)
        return params.difference(
            title=_("Different from what %s sent back") % (back.get("name") or _("an approver")),
            then=then["arguments"],
            now=seen["arguments"],
            then_label=_("Before"),
            now_label=_("Now"),
        )
    assert action.intent is not None
    last = (
        PendingAction.everywhere.filter(
            tenant_id=action.tenant_id,
            kind=PendingAction.Kind.APPROVE,
            status=Status.CONSUMED,
            intent__tool_id=action.intent.tool_id,
            decided_at__lt=action.opened_at,
        )
        .order_by("-decided_at")
        .first()
    )
    if last is None:
        return None
    then = shown.read(last.shown)
    return params.difference(
        title=_("Different from the last one, to %s") % (last.target or read(last.sentence)),
        then=then["arguments"],
        now=seen["arguments"],
    )


def _comparable(seen: Mapping[str, Any]) -> dict[str, Any]:
    sender = seen.get("sender") or {}
    return {
        **seen["arguments"],
        _("target"): seen.get("target"),
        _("sender"): sender.get("mail_from"),
        _("answers go to"): sender.get("mail_reply_to"),
        _("tool and version"): f"{seen.get('tool')} v{seen.get('contract_version')}",
        _("rules for approving"): {
            name: value
            for name, value in (seen.get("policy") or {}).items()
            if name not in ("reasons", "lapsed")
        },
        _("credentials"): ", ".join(
            f"{one['name']} ({one['set_at'] or _('not set')})" for one in seen.get("credentials") or ()
        ),
    }


def technical(action: PendingAction, seen: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Ids and digests, whole."""
    step = f" · {ids.public('step', action.step_id)}" if action.step_id else ""
    facts = (
        Fact(_("Action"), ids.public("pendingaction", action.pk), mono=True),
        Fact(_("Run, step"), f"{ids.public('run', action.run_id)}{step}", mono=True),
        Fact(_("Key"), str(seen.get("intent_key") or ""), mono=True),
        Fact(_("Epoch, generation"), f"{seen.get('epoch')} · {seen.get('generation')}", mono=True),
        Fact(_("Digest"), action.digest, mono=True),
        Fact(_("Contract digest"), str(seen.get("definition_digest") or ""), mono=True),
    )
    return tuple(fact for fact in facts if fact.value)

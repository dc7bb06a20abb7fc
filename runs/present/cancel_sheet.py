"""The cancel sheet: what stays, what stops, what cannot be taken back, worst first. Filled in afterwards,
the same groups are the record of the cancelled run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accounts.said import read
from approvals.models import PendingAction
from runs.models import Artifact, Run, Step
from runs.present import way_back
from runs.present.names import step_name
from runs.present.people import waited_for
from runs.selectors.fates import Effect
from runs.states import RUN_TERMINAL
from tools.models import EffectClass, Intent


@dataclass(frozen=True, slots=True)
class Item:
    """One thing and what becomes of it."""

    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """A kind of outcome; ``key`` names it for ``runs/partials/outcome_groups.html``."""

    key: str
    count: str
    items: list[Item] = field(default_factory=list)
    empty_text: str = ""


def groups(
    run: Run,
    steps: Sequence[Step],
    intents: Sequence[Intent],
    actions: Sequence[PendingAction],
    files: Sequence[Artifact],
    effects: Sequence[Effect],
) -> list[Group]:
    """All groups of a run that may be cancelled, or of one that was."""
    record = run.status in RUN_TERMINAL
    by_step = {intent.step_id: intent for intent in intents}
    asked = {action.step_id: action for action in actions if action.status == "OPEN"}
    names = {step.pk: step_name(step) for step in steps}
    found = [_gone(intents, names), _unknown(intents, names, effects)]
    if not record:
        found.append(_flying(steps, by_step))
    stopped = run.cancel_requested_at is not None
    found.append(_not_happening(steps, asked, by_step, record=record, stopped=stopped))
    if back := _way_back(effects, names, record=record):
        found.append(back)
    found.append(_stays(steps, files, effects, names))
    return found


def button_words(groups_: Sequence[Group]) -> str:
    """All that the button does."""
    dropped = next((len(group.items) for group in groups_ if group.key == "will_not_happen"), 0)
    undone = next((len(group.items) for group in groups_ if group.key == "will_be_undone"), 0)
    if undone:
        return ngettext(
            "Cancel the task and undo %(n)s effect", "Cancel the task and undo %(n)s effects", undone
        ) % {"n": undone}
    if not dropped:
        return _("Cancel the task")
    return ngettext(
        "Cancel the task and drop %(n)s step", "Cancel the task and drop %(n)s steps", dropped
    ) % {"n": dropped}


def note(run: Run) -> str:
    """Who cancelled it, when and why: the line above the record."""
    if run.cancel_requested_at is None:
        return ""
    at = date_format(timezone.localtime(run.cancel_requested_at), pgettext("date format", "j M Y, H:i"))
    who = run.cancel_requested_by or _("the system")
    told = _("by %(who)s, %(at)s") % {"who": who, "at": at}
    return f"{told}: “{run.cancel_reason}”" if run.cancel_reason else told


def _gone(intents: Sequence[Intent], names: Mapping[Any, str]) -> Group:
    """What happened in the world and has no way back."""
    items = [
        Item(_what(intent, names), _reference(intent))
        for intent in intents
        if intent.status == "CONFIRMED"
        and intent.contract.effect_class == EffectClass.IRREVERSIBLE
        and intent.compensates_id is None
    ]
    return Group("irreversible", str(len(items)), items, _("Nothing that cannot be taken back has happened."))


def _unknown(intents: Sequence[Intent], names: Mapping[Any, str], effects: Sequence[Effect]) -> Group:
    items = [
        Item(way_back.name(effect, names), way_back.line(effect))
        for effect in effects
        if effect.fate == "undo_unknown"
    ]
    for intent in intents:
        if intent.status == "UNKNOWN":
            items.append(
                Item(_what(intent, names), _("Stays open: a person settles it, then the task ends."))
            )
        elif intent.status == "ABANDONED":
            items.append(Item(_what(intent, names), _("Settled as not to be known.")))
    return Group("unknown", str(len(items)), items, _("Every call so far has a known outcome."))


def _flying(steps: Sequence[Step], by_step: Mapping[Any, Intent]) -> Group:
    items = []
    for step in steps:
        if step.status != "RUNNING":
            continue
        intent = by_step.get(step.pk)
        most = {"most": step.timeout_seconds}
        if intent is not None and intent.status == "DISPATCHED":
            words = _("Being sent now and cannot be stopped. Its outcome is recorded, in %(most)s s at most.")
        elif intent is not None:
            words = _("Not sent yet: it stops before sending.")
        else:
            words = _("Read-only. Its result is dropped; it ends in %(most)s s at most.")
        items.append(Item(step_name(step), words % most))
    return Group("in_flight", str(len(items)), items, _("Nothing is running at this moment."))


def _not_happening(
    steps: Sequence[Step],
    asked: Mapping[Any, PendingAction],
    by_step: Mapping[Any, Intent],
    *,
    record: bool,
    stopped: bool,
) -> Group:
    """What is left out. While a cancelled run still undoes, that is what the cancel took away; undoing itself goes on."""
    items = []
    wanted = ("CANCELLED",) if record or stopped else ("PENDING", "WAITING_APPROVAL", "WAITING_EXTERNAL")
    for step in steps:
        if step.kind == Step.Kind.UNDO:
            continue
        if record and step.error_code == "not_happened":
            items.append(Item(step_name(step), _("It did not happen, and it was not sent again.")))
            continue
        if step.status not in wanted:
            continue
        action = asked.get(step.pk)
        if action is not None:
            words = _("The question to %(who)s is withdrawn.") % {"who": waited_for(action)}
            items.append(Item(read(action.sentence), words))
        elif step.status == "CANCELLED" and step.pk in by_step:
            items.append(Item(step_name(step), _("Never sent.")))
        else:
            items.append(Item(step_name(step), _("Not begun.") if step.started_at is None else _("Stopped.")))
    key = "did_not_happen" if record else "will_not_happen"
    return Group(key, str(len(items)), items, _("No step was left."))


def _way_back(effects: Sequence[Effect], names: Mapping[Any, str], *, record: bool) -> Group | None:
    """What is undone, the last effect first."""
    wanted = ("undone",) if record else (*way_back.COMING, "undone")
    items = [
        Item(way_back.name(effect, names), way_back.line(effect))
        for effect in reversed(effects)
        if effect.fate in wanted
    ]
    return Group("undone" if record else "will_be_undone", str(len(items)), items) if items else None


def _stays(
    steps: Sequence[Step], files: Sequence[Artifact], effects: Sequence[Effect], names: Mapping[Any, str]
) -> Group:
    back = {effect.intent.step_id for effect in effects if effect.fate in (*way_back.COMING, "undone")}
    done = [
        step
        for step in steps
        if step.status == "SUCCEEDED" and step.kind != Step.Kind.UNDO and step.pk not in back
    ]
    made = [file for file in files if file.kind not in ("upload", "input") and not file.quarantined]
    items = []
    if done:
        shown = ", ".join(step_name(step) for step in done[:8])
        more = len(done) - 8
        if more > 0:
            shown += " " + ngettext("and %(n)s more", "and %(n)s more", more) % {"n": more}
        items.append(Item(shown, _("Done work is kept.")))
    if made:
        items.append(Item(", ".join(file.name for file in made[:8]), _("Files stay under Results.")))
    items += [
        Item(way_back.name(effect, names), way_back.line(effect))
        for effect in effects
        if effect.fate == "left"
    ]
    steps_words = ngettext("%(n)s step", "%(n)s steps", len(done)) % {"n": len(done)}
    files_words = ngettext("%(n)s file", "%(n)s files", len(made)) % {"n": len(made)}
    nothing = _("Nothing else is done.") if back else _("Nothing is done yet.")
    return Group("stays", f"{steps_words}, {files_words}", items, nothing)


def _what(intent: Intent, names: Mapping[Any, str]) -> str:
    name = names.get(intent.step_id) or intent.tool.title or intent.tool.name
    return f"{name}: {intent.target}" if intent.target and intent.target not in name else name


def _reference(intent: Intent) -> str:
    if intent.ended_at is None:
        return intent.reference
    at = date_format(timezone.localtime(intent.ended_at), pgettext("date format", "H:i:s"))
    told = _("confirmed %(at)s") % {"at": at}
    return f"{told}, {intent.reference}" if intent.reference else told

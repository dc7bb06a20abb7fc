"""Who must agree, and why this person may or may not."""

import uuid

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Role
from accounts.said import read
from approvals import rules
from approvals.models import Decision, PendingAction, Verdict
from approvals.present.parts import May, Sign
from approvals.staff import group_of, role_of


def may(action: PendingAction, user_id: uuid.UUID) -> May:
    """Whether this person may give the main answer of this kind of question, in words."""
    main = Verdict.APPROVE if action.kind == PendingAction.Kind.APPROVE else Verdict(action.verdicts[0])
    reasons = rules.refusals(action=action, user_id=user_id, verdict=main)
    if any(decision.user_id == user_id for decision in rules.given(action)):
        return May(False, _("You have given your answer. It waits for the others who must agree."))
    if reasons:
        refuse = Verdict.REJECT.value in action.verdicts and not rules.refusals(
            action=action, user_id=user_id, verdict=Verdict.REJECT
        )
        text = " ".join(str(reason) for reason in reasons)
        still = _("You may still reject it.")
        return May(False, f"{text} {still}" if refuse else text, refuse)
    if action.undecidable_since and (
        rules.authority(action=action, user_id=user_id).code == rules.ESCALATION
    ):
        words = _("Nobody else can decide it, so it has come to you. You did not submit the task.")
        return May(True, words, refuse=True)
    if action.kind == PendingAction.Kind.TAKE_OVER and user_id == action.submitter_id:
        return May(True, _("You submitted this task."), refuse=True)
    if action.kind == PendingAction.Kind.ANSWER:
        return May(True, _("Your answer is what the task goes on with."), refuse=True)
    right = rules.authority(action=action, user_id=user_id)
    if right.code == rules.STAND_IN:
        words = _("It was handed to %(name)s, who is away, and you stand in. You could decide it anyway.")
        return May(True, words % {"name": right.stands_for}, refuse=True)
    if right.code == rules.DELEGATED:
        return May(True, _("It was handed to you, and nobody else is asked."), refuse=True)
    words = _("You are one of the %(role)s and did not submit the task. %(name)s may not decide on it.")
    return May(True, words % {"role": _group(action), "name": action.submitter}, refuse=True)


def signs(action: PendingAction, user_id: uuid.UUID) -> list[Sign]:
    """One frame for each person who must agree; nothing when one is enough."""
    needed = rules.quorum(action)
    if needed < 2:
        return []
    given = rules.signatures(action)
    frames = [
        Sign(
            _order(number),
            str(decision.user),
            stamp={"name": str(decision.user), "group": "", "at": decision.at, "digest": action.digest},
        )
        for number, decision in enumerate(given, 1)
    ]
    mine = may(action, user_id).ok and action.status == PendingAction.Status.OPEN
    for number in range(len(given) + 1, min(needed, 20) + 1):
        if mine and number == len(given) + 1:
            note = _("Alone it does nothing. It counts when %s people have signed.") % needed
            frames.append(Sign(_order(number), _("You, if you approve"), note, mine=True))
        else:
            frames.append(
                Sign(
                    _order(number), _("One of the %s") % _group(action), _("They decide on the same digest.")
                )
            )
    return frames


def who_must_agree(action: PendingAction, user_id: uuid.UUID) -> tuple[str, str]:
    """Value and note of the fourth of the deciding facts."""
    needed, given = rules.quorum(action), len(rules.signatures(action))
    note = _("%(needed)s of the %(role)s") % {"needed": needed, "role": _group(action)}
    if needed > 1:
        note = _("%(given)s of %(needed)s have signed") % {"given": given, "needed": needed}
    if not may(action, user_id).ok:
        return ngettext("%s person", "%s people", needed) % needed, note
    more = needed - given - 1
    if more > 0:
        return ngettext("You and %s more", "You and %s more", more) % more, note
    return (_("You, as the last one") if given else _("You alone")), note


def right_of(action: PendingAction, decision: Decision) -> str:
    """With which right an answer was given, in words; empty when that was not kept."""
    if decision.authority == rules.STAND_IN and decision.stands_for is not None:
        return _("stood in for %s") % decision.stands_for
    words = {
        rules.DELEGATED: _("it was handed to them"),
        rules.ESCALATION: _("nobody else could decide it"),
        rules.SUBMITTER: _("submitted the task"),
        rules.ROLE: _("one of the %s") % _group(action),
        rules.GROUP: _("one of the %s") % _group(action),
    }
    return words.get(decision.authority, "")


def _group(action: PendingAction) -> str:
    groups = {
        Role.APPROVER.value: _("approvers"),
        Role.ADMINISTRATOR.value: _("administrators"),
        Role.SUBMITTER.value: _("submitters"),
    }
    role, group = role_of(action), group_of(action)
    words = groups.get(role, role)
    return _("%(role)s in the group %(group)s") % {"role": words, "group": read(group)} if group else words


def _order(number: int) -> str:
    return {1: _("First"), 2: _("Second"), 3: _("Third")}.get(number, str(number))

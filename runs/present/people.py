"""Who a run waits for, and who took part in it."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from accounts.models import Role, User
from accounts.said import read
from approvals.models import PendingAction, Verdict
from runs.models import Event, Run

_DEEDS = {
    Verdict.APPROVE: gettext_noop("approved: %(what)s"),
    Verdict.REJECT: gettext_noop("rejected: %(what)s"),
    Verdict.HAPPENED: gettext_noop("settled as happened: %(what)s"),
    Verdict.NOT_HAPPENED: gettext_noop("settled as not happened: %(what)s"),
    Verdict.NOBODY_KNOWS: gettext_noop("settled as not to be known: %(what)s"),
    Verdict.CONTINUE: gettext_noop("let it go on: %(what)s"),
    Verdict.FAIL: gettext_noop("ended it: %(what)s"),
}


def group(policy: Mapping[str, Any]) -> str:
    """The people a question goes to: "one of the approvers", "2 of the approvers"."""
    quorum = int(policy.get("quorum") or 1)
    if str(policy.get("role") or Role.APPROVER.value) == Role.ADMINISTRATOR:
        return ngettext("one of the administrators", "%(n)s of the administrators", quorum) % {"n": quorum}
    return ngettext("one of the approvers", "%(n)s of the approvers", quorum) % {"n": quorum}


def waited_for(action: PendingAction) -> str:
    """Person first, else the group."""
    if action.claimed_by:
        return _("%(group)s, claimed by %(name)s") % {
            "group": group(action.policy),
            "name": action.claimed_by,
        }
    if action.assignee:
        return str(action.assignee)
    return group(action.policy)


def involved(run: Run, actions: Iterable[PendingAction]) -> list[dict[str, str]]:
    """Everybody who took part, once each, in the order in which they came."""
    notes: dict[str, list[str]] = {str(run.submitter): [_("submitted")]}
    for action in actions:
        for decision in action.decisions.all():
            if decision.user:
                deed = _DEEDS.get(Verdict(decision.verdict), gettext_noop("answered: %(what)s"))
                notes.setdefault(str(decision.user), []).append(_(deed) % {"what": read(action.sentence)})
        if action.status == "OPEN" and action.claimed_by:
            notes.setdefault(str(action.claimed_by), []).append(
                _("claimed: %(what)s") % {"what": read(action.sentence)}
            )
    if run.cancel_requested_by:
        notes.setdefault(str(run.cancel_requested_by), []).append(_("cancelled it"))
    found = [{"name": name, "note": "; ".join(dict.fromkeys(told))} for name, told in notes.items()]
    waiting = [action for action in actions if action.status == "OPEN"]
    found += [
        {
            "name": group(action.policy),
            "group": "yes",
            "note": _("asked: %(what)s") % {"what": read(action.sentence)},
        }
        for action in waiting[:3]
    ]
    return found


def actors(events: Iterable[Event]) -> dict[str, str]:
    """Names of the people among the actors of events; machines keep their own words. One query."""
    wanted = {event.actor: parsed for event in events if (parsed := _user_id(event.actor))}
    found = (
        {user.pk: str(user) for user in User.objects.filter(pk__in=set(wanted.values()))} if wanted else {}
    )
    return {actor: found[user_id] for actor, user_id in wanted.items() if user_id in found}


def _user_id(actor: str) -> uuid.UUID | None:
    head, _colon, rest = actor.partition(":")
    try:
        return uuid.UUID(rest) if head == "user" else None
    except ValueError:
        return None

"""What has waited for long: ``action.reminder``, ``action.escalated``, ``action.undecidable``, one writer each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from accounts.letters import Letter
from accounts.models import Role, User
from accounts.rights import escalation_owners, people_with
from approvals.models import PendingAction
from approvals.notes import common
from outbox.kinds import ESCALATED, REMINDER, UNDECIDABLE


def _owners(action: PendingAction) -> list[User]:
    return escalation_owners(tenant_id=action.tenant_id)


@dataclass(frozen=True, slots=True)
class Reminder:
    """Those who may decide hear of it once more."""

    kinds: tuple[str, ...] = field(default=(REMINDER,))

    def kind_of(self, payload: Mapping[str, Any], user: User | None) -> str:
        return REMINDER

    def path(self, payload: Mapping[str, Any]) -> str:
        return common.path(payload)

    def recipients(self, payload: Mapping[str, Any]) -> list[User]:
        action = common.find_open(payload)
        return common.deciders(action) if action is not None else []

    def letter(self, payload: Mapping[str, Any], user: User) -> Letter | None:
        action = common.find_open(payload)
        if action is None:
            return None
        lead = _("This has waited for you since %(since)s, in a task of %(who)s:")
        facts = {"since": common.moment(action.opened_at, user)}
        return common.letter(action, user, subject=_("Still to decide: %(sentence)s"), lead=lead, facts=facts)


@dataclass(frozen=True, slots=True)
class Escalated:
    """It goes to the escalation owner; without one, to the administrators. Escalating gives nobody a right."""

    kinds: tuple[str, ...] = field(default=(ESCALATED,))

    def kind_of(self, payload: Mapping[str, Any], user: User | None) -> str:
        return ESCALATED

    def path(self, payload: Mapping[str, Any]) -> str:
        return common.path(payload)

    def recipients(self, payload: Mapping[str, Any]) -> list[User]:
        action = common.find_open(payload)
        if action is None:
            return []
        return _owners(action)

    def letter(self, payload: Mapping[str, Any], user: User) -> Letter | None:
        action = common.find_open(payload)
        if action is None:
            return None
        lead = _("Nobody has decided this since %(since)s, so it comes to you, in a task of %(who)s:")
        facts = {"since": common.moment(action.opened_at, user)}
        return common.letter(action, user, subject=_("Escalated: %(sentence)s"), lead=lead, facts=facts)


@dataclass(frozen=True, slots=True)
class Undecidable:
    """Nobody can decide it: the escalation owner and the administrators are told, as long as that is so."""

    kinds: tuple[str, ...] = field(default=(UNDECIDABLE,))

    def kind_of(self, payload: Mapping[str, Any], user: User | None) -> str:
        return UNDECIDABLE

    def path(self, payload: Mapping[str, Any]) -> str:
        return common.path(payload)

    def recipients(self, payload: Mapping[str, Any]) -> list[User]:
        action = common.find_open(payload)
        if action is None or action.undecidable_since is None:
            return []
        return [*_owners(action), *people_with(tenant_id=action.tenant_id, role=Role.ADMINISTRATOR)]

    def letter(self, payload: Mapping[str, Any], user: User) -> Letter | None:
        action = common.find_open(payload)
        if action is None or action.undecidable_since is None:
            return None
        lead = _(
            "Nobody can decide this any more: its rules ask for people who are not there. It waits in a task of %(who)s:"
        )
        return common.letter(action, user, subject=_("Nobody can decide: %(sentence)s"), lead=lead, facts={})


REMINDER_NOTE, ESCALATED_NOTE, UNDECIDABLE_NOTE = Reminder(), Escalated(), Undecidable()

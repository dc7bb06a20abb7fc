"""One of several people has signed: ``action.signed``. The others are next."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.letters import Letter
from accounts.models import User
from approvals import rules
from approvals.notes import common
from approvals.notes.common import path
from outbox.kinds import WAITS

__all__ = ["kind_of", "kinds", "letter", "path", "recipients"]

kinds = (WAITS,)


def kind_of(payload: Mapping[str, Any], user: User | None) -> str:
    return WAITS


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """Who may decide it now and has not signed."""
    action = common.find_open(payload)
    return common.deciders(action) if action is not None else []


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """Who has signed, and how many are missing."""
    action = common.find_open(payload)
    if action is None:
        return None
    signers = [one.user.name for one in rules.signatures(action) if one.user is not None]
    missing = max(1, rules.quorum(action) - len(signers))
    lead = ngettext(
        "%(signers)s has signed; %(missing)d signature is missing, in a task of %(who)s:",
        "%(signers)s has signed; %(missing)d signatures are missing, in a task of %(who)s:",
        missing,
    )
    if not signers:
        return None
    facts = {"signers": ", ".join(signers), "missing": missing}
    return common.letter(action, user, subject=_("To sign next: %(sentence)s"), lead=lead, facts=facts)

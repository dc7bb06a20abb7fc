"""A task waits for somebody else, or is paused: ``run.waiting``."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from accounts import ids
from accounts.letters import Letter, page
from accounts.models import User
from accounts.rights import membership
from outbox.kinds import TASK_WAITS
from runs.models import Run
from runs.notes.ended import path

__all__ = ["kind_of", "kinds", "letter", "path", "recipients"]

kinds = (TASK_WAITS,)
#: Waiting for a time or a free place is nothing to tell.
_TOLD = (Run.Status.WAITING_APPROVAL, Run.Status.PAUSED)


def kind_of(payload: Mapping[str, Any], user: User | None) -> str:
    return TASK_WAITS


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """The submitter, while it waits so and they belong to the tenant."""
    run = _waiting(payload)
    if run is None or membership(user_id=run.submitter_id, tenant_id=run.tenant_id) is None:
        return []
    return [run.submitter]


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """What it waits for; None when it goes on."""
    run = _waiting(payload)
    if run is None:
        return None
    paused = run.status == Run.Status.PAUSED
    lead = _("Your task is paused:") if paused else _("Your task waits for a person:")
    subject = _("Paused: %(goal)s") if paused else _("Waits for a person: %(goal)s")
    link = {"link": page("runs:task_detail", ids.public("run", run.pk))}
    parts = [lead, run.goal, _("Everything about it is here:\n%(link)s") % link]
    return Letter(user.email, subject % {"goal": run.goal}, "\n\n".join(parts))


def _waiting(payload: Mapping[str, Any]) -> Run | None:
    rows = Run.everywhere.select_related("submitter")
    found: Run | None = rows.filter(
        pk=uuid.UUID(str(payload["run_id"])), status=payload["status"], status__in=_TOLD
    ).first()
    return found

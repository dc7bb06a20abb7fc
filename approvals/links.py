"""Addresses of pages in the rooms above, by the name of their route; empty where no such page exists."""

import uuid

from django.urls import NoReverseMatch, reverse

from accounts import ids


def action(action_id: uuid.UUID) -> str:
    """The page of an action."""
    return reverse("approvals:action", args=[ids.public("pendingaction", action_id)])


def verb(name: str, action_id: uuid.UUID) -> str:
    """Where a form about an action is posted: ``decide``, ``take_back``, ``claim``, ``release``."""
    return reverse(f"approvals:{name}", args=[ids.public("pendingaction", action_id)])


def task(run_id: uuid.UUID) -> str:
    """The page of the task behind an action."""
    return _maybe("runs:task_detail", ids.public("run", run_id))


def check_again(action_id: uuid.UUID) -> str:
    """Where a person has the far side asked what became of an effect."""
    return _maybe("runs:check_again", ids.public("pendingaction", action_id))


def edit(action_id: uuid.UUID) -> str:
    """Where an approver changes what would be sent."""
    return _maybe("runs:edit_proposal", ids.public("pendingaction", action_id))


def file(run_id: uuid.UUID, sha256: str) -> str:
    """A file of a task by its checksum."""
    return _maybe("runs:file", ids.public("run", run_id), sha256)


def _maybe(name: str, *args: str) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""

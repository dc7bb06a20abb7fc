"""A task has ended: ``run.finished``."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import ids
from accounts.letters import Letter, page
from accounts.models import User
from accounts.rights import membership
from accounts.said import read
from approvals.models import Decision, PendingAction, Verdict
from outbox.kinds import TASK_ENDED, TASK_FAILED
from runs.models import Run

kinds = (TASK_ENDED, TASK_FAILED)

Status = PendingAction.Status


def kind_of(payload: Mapping[str, Any], user: User | None) -> str:
    """A failure is a kind of its own."""
    run = _run(payload)
    return TASK_FAILED if run is not None and run.status == Run.Status.FAILED else TASK_ENDED


def path(payload: Mapping[str, Any]) -> str:
    """The page of the task."""
    return reverse("runs:task_detail", args=[ids.public("run", uuid.UUID(str(payload["run_id"])))])


def recipients(payload: Mapping[str, Any]) -> list[User]:
    """The submitter, while they still belong to the tenant."""
    run = _run(payload)
    if run is None or membership(user_id=run.submitter_id, tenant_id=run.tenant_id) is None:
        return []
    return [run.submitter]


def letter(payload: Mapping[str, Any], user: User) -> Letter | None:
    """How the task ended and why, and the address of its page."""
    run = _run(payload)
    if run is None:
        return None
    refusals = _refusals(run)
    subject, text = _words(run, refused=bool(refusals))
    facts = {
        "goal": run.goal,
        "why": str((run.failure or {}).get("text", "")).rstrip(".") or _("the reason is on its page"),
        "reason": run.cancel_reason.rstrip(".") or _("no reason was given"),
        "who": run.cancel_requested_by.name if run.cancel_requested_by else "",
    }
    parts = [text % facts, run.goal, *refusals]
    parts.append(
        _("Everything about it is here:\n%(link)s")
        % {"link": page("runs:task_detail", ids.public("run", run.pk))}
    )
    return Letter(user.email, subject % facts, "\n\n".join(parts))


def _words(run: Run, *, refused: bool) -> tuple[str, str]:
    if run.status == Run.Status.FAILED:
        return _("Failed: %(goal)s"), _("Your task failed: %(why)s.")
    if run.status == Run.Status.CANCELLED:
        return _("Cancelled: %(goal)s"), _(
            "Your task was cancelled by %(who)s: %(reason)s. What was done stays."
        )
    if refused:
        return _("Rejected: %(goal)s"), _("Your task is done, without what was rejected.")
    return _("Done: %(goal)s"), _("Your task is done.")


def _refusals(run: Run) -> list[str]:
    """One sentence for each proposal that people turned down, or nobody answered."""
    rows = PendingAction.everywhere.filter(
        run_id=run.pk, kind=PendingAction.Kind.APPROVE, status__in=[Status.REJECTED, Status.EXPIRED]
    )
    return [_refusal(action) for action in rows.order_by("decided_at")]


def _refusal(action: PendingAction) -> str:
    answers = Decision.everywhere.select_related("user").filter(action=action, verdict=Verdict.REJECT)
    said = answers.order_by("at").last()
    if said is None or said.user is None:
        return _("Not done, because nobody decided in time: %(sentence)s") % {
            "sentence": read(action.sentence)
        }
    facts = {"who": said.user.name, "sentence": read(action.sentence), "comment": said.comment}
    return _("Rejected by %(who)s: %(sentence)s\nReason: %(comment)s") % facts


def _run(payload: Mapping[str, Any]) -> Run | None:
    found: Run | None = (
        Run.everywhere.select_related("submitter", "cancel_requested_by")
        .filter(pk=uuid.UUID(str(payload["run_id"])))
        .first()
    )
    return found

"""An answer of high risk by somebody who has not proved lately who they are: to the proof and back, with everything that was
typed. Nothing is decided on the way: the page is read again, and posted again."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from accounts import drafts, proof
from approvals import links
from approvals.forms import DecisionForm
from approvals.models import PendingAction
from approvals.present.parts import Notice


def prove_first(request: HttpRequest, action: PendingAction) -> HttpResponse:
    """Keep the form and ask for the proof. Raises PermissionDenied for who has none to give."""
    page = links.action(action.pk)
    drafts.keep(request, of=page)
    return proof.ask(request, back=page)


def returned(request: HttpRequest, action: PendingAction) -> tuple[DecisionForm, Notice] | None:
    """The form as it was left, and what to say about it; nothing for a question that has changed meanwhile."""
    kept = drafts.find(request, of=links.action(action.pk))
    if kept is None or not proof.fresh(request) or not _same(kept, action):
        return None
    notice = Notice(
        "running",
        "info",
        _("It is you."),
        _("Nothing was decided yet. What you had typed is here: look once more, then answer."),
    )
    return DecisionForm(kept), notice


def _same(kept: Mapping[str, Any], action: PendingAction) -> bool:
    seen = (kept.get("digest"), kept.get("generation"))
    return action.status == PendingAction.Status.OPEN and seen == (action.digest, str(action.generation))

"""What the pages of the desk share: finding an action, and saying calmly what was not taken."""

from dataclasses import fields
from typing import Any, cast

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from accounts import ids
from accounts.access import MemberRequest
from approvals import errors
from approvals.models import PendingAction
from approvals.present.parts import Notice
from approvals.present.rows import outcome

Kind = PendingAction.Kind
PAGES = {
    Kind.APPROVE: ("approvals/action.html", "approvals/partials/desk.html"),
    Kind.SETTLE: ("approvals/settle.html", "approvals/partials/known.html"),
    Kind.TAKE_OVER: ("approvals/takeover.html", ""),
    Kind.ANSWER: ("approvals/question.html", ""),
}


def find(request: HttpRequest, action_id: str) -> PendingAction:
    """The action of this tenant; 404 for any other, as for one that does not exist."""
    try:
        pk = ids.parse("pendingaction", action_id)
    except ids.BadId:
        raise Http404 from None
    rows = PendingAction.objects.select_related(
        "intent__contract__tool", "intent__sender", "submitter", "claimed_by", "assignee", "delegated_by"
    )
    action: PendingAction | None = rows.filter(pk=pk, kind__in=list(PAGES)).first()
    if action is None:
        raise Http404
    return action


def notice_of(error: errors.DeskError) -> Notice:
    """Calmly: who was faster, what was decided, what to do next."""
    if isinstance(error, errors.AlreadyDecided) and error.first is not None:
        who = str(error.first.user) if error.first.user else ""
        lead = _("%s was faster.") % who if who else _("Time was faster.")
        return Notice("running", "info", lead, f"{outcome(error.action)}. {error}")
    if isinstance(error, errors.Superseded):
        return Notice("waiting", "info", _("There is a newer question."), str(error))
    if isinstance(error, errors.TooLate):
        return Notice("failed", "waiting", _("Too late."), str(error))
    if isinstance(error, errors.Expired):
        return Notice("waiting", "waiting", _("Too late."), str(error))
    if isinstance(error, errors.NotAllowed):
        return Notice("failed", "lock", _("Nothing was decided."), str(error))
    return Notice("waiting", "info", _("Nothing was decided."), str(error))


def plain(view: Any) -> dict[str, Any]:
    """The fields of a view-model as template names, one level deep."""
    return {field.name: getattr(view, field.name) for field in fields(view)}


def asked_of(request: HttpRequest) -> MemberRequest:
    return cast(MemberRequest, request)

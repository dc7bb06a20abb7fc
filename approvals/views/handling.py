"""Around a decision: take it back, hold an action, give it back."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.access import member
from approvals import claim as claims
from approvals import errors, links, viewing
from approvals.models import PendingAction
from approvals.take_back import take_back as void_grant
from approvals.views.action import page_of
from approvals.views.shared import asked_of, find, notice_of


@require_POST
@member()
def take_back(request: HttpRequest, action_id: str) -> HttpResponse:
    """Take an approval back while nothing was sent; the page says whether it was in time."""
    asked, action = asked_of(request), find(request, action_id)
    try:
        void_grant(action_id=action.pk, user_id=asked.user.pk, channel="web")
    except errors.NotAllowed as error:
        return page_of(request, find(request, action_id), notice=notice_of(error), status=403)
    except errors.DeskError as error:
        return page_of(request, find(request, action_id), notice=notice_of(error), status=409)
    messages.success(request, _("In time: nothing was sent, and nothing is until somebody approves it anew."))
    return redirect(links.action(action.pk))


@require_POST
@member()
def seen(request: HttpRequest, action_id: str) -> HttpResponse:
    """The page reports that it was opened, or that nothing on it is folded any more. Without scripts a person presses *Show
    everything*, and the page comes back unfolded."""
    asked, action = asked_of(request), find(request, action_id)
    if action.status == PendingAction.Status.OPEN and request.POST.get("digest") == action.digest:
        viewing.looked(action=action, user_id=asked.user.pk, everything="everything" in request.POST)
    if request.headers.get("X-Seen"):
        return HttpResponse(status=204)
    return redirect(links.action(action.pk))


@require_POST
@member()
def claim(request: HttpRequest, action_id: str) -> HttpResponse:
    """Hold an action for a while."""
    asked, action = asked_of(request), find(request, action_id)
    if not claims.claim(action_id=action.pk, user_id=asked.user.pk):
        messages.warning(request, _("Somebody else holds it, or it is closed. Nothing has changed."))
    return redirect(links.action(action.pk))


@require_POST
@member()
def release(request: HttpRequest, action_id: str) -> HttpResponse:
    """Give a claim back."""
    asked, action = asked_of(request), find(request, action_id)
    claims.release(action_id=action.pk, user_id=asked.user.pk)
    return redirect(links.action(action.pk))

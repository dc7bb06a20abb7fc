"""Around a decision: take it back, hold a question, hand it to somebody, set it aside."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.access import member
from approvals import claim as claims
from approvals import delegate as handing
from approvals import errors, inbox, links, viewing
from approvals import set_aside as later
from approvals.forms import AsideForm, HandOverForm
from approvals.models import PendingAction
from approvals.take_back import take_back as void_grant
from approvals.views.action import page_of
from approvals.views.shared import asked_of, find, notice_of


@require_POST
@member()
def take_back(request: HttpRequest, action_id: str) -> HttpResponse:
    """Take an approval back while nothing was sent; the page says whether it was in time."""
    said = _("In time: nothing was sent, and nothing is until somebody approves it anew.")
    return _do(request, action_id, void_grant, said)


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
    return _do(request, action_id, claims.claim)


@require_POST
@member()
def release(request: HttpRequest, action_id: str) -> HttpResponse:
    """Give a claim back; administrators end anybody's."""
    return _do(request, action_id, claims.release)


@require_POST
@member()
def delegate(request: HttpRequest, action_id: str) -> HttpResponse:
    """Hand it to one person who may decide it."""
    find(request, action_id)
    form = HandOverForm(request.POST)
    if not form.is_valid():
        return _wrong(request, action_id, form)
    to = form.cleaned_data["to"]
    return _do(
        request,
        action_id,
        handing.delegate,
        _("Handed over. It stands under “My groups” now."),
        on=True,
        to_id=to,
        note=form.cleaned_data["note"],
    )


@require_POST
@member()
def undelegate(request: HttpRequest, action_id: str) -> HttpResponse:
    """Nobody in particular is asked any more."""
    said = _("It is for everybody again who may decide it.")
    return _do(request, action_id, handing.undelegate, said)


@require_POST
@member()
def set_aside(request: HttpRequest, action_id: str) -> HttpResponse:
    """Out of one's own list until a time."""
    find(request, action_id)
    form = AsideForm(request.POST)
    if not form.is_valid():
        return _wrong(request, action_id, form)
    said = _("Set aside. It comes back to your list by itself.")
    return _do(request, action_id, later.set_aside, said, on=True, until=form.cleaned_data["until"])


@require_POST
@member()
def take_up(request: HttpRequest, action_id: str) -> HttpResponse:
    """Back into one's own list."""
    return _do(request, action_id, later.take_up, _("It is back in your list."))


def _do(
    request: HttpRequest,
    action_id: str,
    verb: Callable[..., PendingAction],
    said: str = "",
    on: bool = False,
    **given: Any,
) -> HttpResponse:
    """Call a verb; to the page of the action, with ``on`` to the next thing to decide, or the page again with why not."""
    asked, action = asked_of(request), find(request, action_id)
    try:
        verb(action_id=action.pk, user_id=asked.user.pk, channel="web", **given)
    except errors.BadAnswer as error:
        return _again(request, action_id, error, 422)
    except errors.NotAllowed as error:
        return _again(request, action_id, error, 403)
    except errors.DeskError as error:
        return _again(request, action_id, error, 409)
    if said:
        messages.success(request, said)
    going = inbox.next_for(user_id=asked.user.pk, tenant_id=asked.tenant.pk, after=action.pk) if on else None
    return redirect(links.action(going.pk if going else action.pk))


def _again(request: HttpRequest, action_id: str, error: errors.DeskError, status: int) -> HttpResponse:
    return page_of(request, find(request, action_id), notice=notice_of(error), status=status)


def _wrong(request: HttpRequest, action_id: str, form: HandOverForm | AsideForm) -> HttpResponse:
    """Back to the page with what cannot be used."""
    text = " ".join(str(one) for errors_ in form.errors.values() for one in errors_)
    return _again(request, action_id, errors.BadAnswer("", text), 422)

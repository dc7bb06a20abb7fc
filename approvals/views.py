"""The pages of the desk. A GET never changes anything; the one POST that decides goes to the decision service."""

import uuid
from dataclasses import fields
from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts import ids
from accounts.access import MemberRequest, member
from accounts.addresses import client_address
from approvals import claim as claims
from approvals import errors, inbox, links, present, rules, shown
from approvals.answers import schema_of
from approvals.decide import decide as record
from approvals.forms import AnswerForm, DecisionForm
from approvals.models import Decision, PendingAction, Verdict
from approvals.present.parts import Notice
from approvals.present.rows import outcome
from approvals.take_back import take_back as void_grant

Kind = PendingAction.Kind
PAGES = {
    Kind.APPROVE: ("approvals/action.html", "approvals/partials/desk.html"),
    Kind.SETTLE: ("approvals/settle.html", "approvals/partials/known.html"),
    Kind.TAKE_OVER: ("approvals/takeover.html", ""),
    Kind.ANSWER: ("approvals/question.html", ""),
}


@require_safe
@member()
def inbox_page(request: HttpRequest) -> HttpResponse:
    """The list of one tab, beside nothing yet; the list alone for a live page."""
    asked = _asked(request)
    tab = request.GET.get("tab", "mine")
    if tab not in inbox.TABS:
        raise Http404
    found = present.listing(user_id=asked.user.pk, tenant_id=asked.tenant.pk, tab=tab)
    live = {"url": "/ws/inbox/", "seq": 0, "fragment_url": request.get_full_path()}
    context = {**_plain(found), "live": live, "heading": "h1"}
    if request.headers.get("X-Live"):
        return render(request, "approvals/partials/list.html", context)
    return render(request, "approvals/inbox.html", context)


@require_safe
@member()
def action_page(request: HttpRequest, action_id: str) -> HttpResponse:
    """One action: to be decided, or as it went on living."""
    return _page(request, _find(request, action_id))


@require_POST
@member()
def decide(request: HttpRequest, action_id: str) -> HttpResponse:
    """Post one answer. 303 to the next thing to decide, or the same page again with what was wrong."""
    asked, action = _asked(request), _find(request, action_id)
    form = DecisionForm(request.POST)
    value = AnswerForm(schema_of(action), request.POST) if action.kind == Kind.ANSWER else None
    if not form.is_valid() or (value is not None and not value.is_valid()):
        return _page(request, action, form=form, value=value, status=422)
    given = form.cleaned_data
    try:
        decision = record(
            action_id=action.pk,
            user_id=asked.user.pk,
            verdict=given["verdict"],
            digest=given["digest"],
            generation=given["generation"],
            channel="web",
            authenticated=_authenticated(request),
            comment=given["comment"],
            reference=given["reference"],
            evidence=[given["evidence"]] if given["evidence"] else [],
            gesture=given["gesture"],
            # The field stands on the page whatever is chosen; it belongs to one answer.
            more=given["more"] if given["verdict"] == Verdict.CONTINUE else "",
            answer=value.value if value is not None else None,
            address=client_address(request.META),
        )
    except errors.BadAnswer as error:
        (form if value is None else value).refuse(error.field, error.text)
        return _page(request, _find(request, action_id), form=form, value=value, status=422)
    except errors.NotAllowed as error:
        return _page(request, _find(request, action_id), notice=_notice(error), status=403)
    except errors.DeskError as error:
        return _page(request, _find(request, action_id), notice=_notice(error), status=409)
    messages.success(request, _said(decision))
    following = inbox.next_for(user_id=asked.user.pk, tenant_id=asked.tenant.pk, after=action.pk)
    return redirect(links.action(following.pk if following else action.pk))


@require_POST
@member()
def take_back(request: HttpRequest, action_id: str) -> HttpResponse:
    """Take an approval back while nothing was sent; the page says whether it was in time."""
    asked, action = _asked(request), _find(request, action_id)
    try:
        void_grant(action_id=action.pk, user_id=asked.user.pk, channel="web")
    except errors.NotAllowed as error:
        return _page(request, _find(request, action_id), notice=_notice(error), status=403)
    except errors.DeskError as error:
        return _page(request, _find(request, action_id), notice=_notice(error), status=409)
    messages.success(request, _("In time: nothing was sent, and nothing is until somebody approves it anew."))
    return redirect(links.action(action.pk))


@require_POST
@member()
def claim(request: HttpRequest, action_id: str) -> HttpResponse:
    """Hold an action for a while."""
    asked, action = _asked(request), _find(request, action_id)
    if not claims.claim(action_id=action.pk, user_id=asked.user.pk):
        messages.warning(request, _("Somebody else holds it, or it is closed. Nothing has changed."))
    return redirect(links.action(action.pk))


@require_POST
@member()
def release(request: HttpRequest, action_id: str) -> HttpResponse:
    """Give a claim back."""
    asked, action = _asked(request), _find(request, action_id)
    claims.release(action_id=action.pk, user_id=asked.user.pk)
    return redirect(links.action(action.pk))


def _page(
    request: HttpRequest,
    action: PendingAction,
    *,
    form: DecisionForm | None = None,
    value: AnswerForm | None = None,
    notice: Notice | None = None,
    status: int = 200,
) -> HttpResponse:
    asked = _asked(request)
    page, fragment = PAGES[Kind(action.kind)]
    context: dict[str, Any] = {**_view(action, asked), "form": form, "notice": notice}
    if action.kind == Kind.APPROVE:
        tab = "mine" if action.status == PendingAction.Status.OPEN else "decided"
        found = present.listing(user_id=asked.user.pk, tenant_id=asked.tenant.pk, tab=tab, current=action.pk)
        run = ids.public("run", action.run_id)
        live = {"url": f"/ws/runs/{run}/", "seq": 0, "fragment_url": links.action(action.pk)}
        context |= {
            **_plain(found),
            "live": live if status == 200 else None,
            "reject_form": _reject_form(form),
        }
    elif action.kind == Kind.ANSWER:
        context["value"] = value or AnswerForm(schema_of(action))
    elif action.kind == Kind.SETTLE:
        run = ids.public("run", action.run_id)
        live = {"url": f"/ws/runs/{run}/", "seq": 0, "fragment_url": links.action(action.pk)}
        context |= {"live": live if status == 200 else None, "fresh": bool(request.headers.get("X-Live"))}
    if form is not None and action.kind not in (Kind.APPROVE, Kind.ANSWER):
        context["chosen"] = form.data.get("verdict", "")
    live_fragment = request.headers.get("X-Live") and fragment
    return render(request, fragment if live_fragment else page, context, status=status)


def _view(action: PendingAction, asked: MemberRequest) -> dict[str, Any]:
    user_id = asked.user.pk
    if action.kind == Kind.SETTLE:
        return _plain(present.known(action, user_id))
    if action.kind == Kind.ANSWER:
        return _plain(present.question(action, user_id))
    if action.kind == Kind.TAKE_OVER:
        return _plain(present.paused(action, user_id))
    view = {**_plain(present.sheet(action, user_id)), "take_back": _take_back(action, user_id)}
    if action.status != PendingAction.Status.OPEN:
        view["decided"] = present.after(action, shown.read(action.shown), user_id)
    return view


def _take_back(action: PendingAction, user_id: uuid.UUID) -> dict[str, str] | None:
    """Where the approval, or one's own signature, is taken back while it was not used."""
    open_, granted = (
        action.status == status for status in (PendingAction.Status.OPEN, PendingAction.Status.APPROVED)
    )
    signed = open_ and any(one.user_id == user_id for one in rules.signatures(action))
    if not (granted or signed) or rules.refusals(action=action, user_id=user_id, verdict=Verdict.REJECT):
        return None
    return {"url": links.verb("take_back", action.pk)}


def _reject_form(form: DecisionForm | None) -> DecisionForm | None:
    """The form, when it was a rejection that came back."""
    return form if form is not None and form.data.get("verdict") == Verdict.REJECT else None


def _find(request: HttpRequest, action_id: str) -> PendingAction:
    """The action of this tenant; 404 for any other, as for one that does not exist."""
    try:
        pk = ids.parse("pendingaction", action_id)
    except ids.BadId:
        raise Http404 from None
    rows = PendingAction.objects.select_related(
        "intent__contract__tool", "intent__sender", "submitter", "claimed_by", "assignee"
    )
    action: PendingAction | None = rows.filter(pk=pk, kind__in=list(PAGES)).first()
    if action is None:
        raise Http404
    return action


def _notice(error: errors.DeskError) -> Notice:
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


def _said(decision: Decision) -> str:
    """What the answer did, for the top of the next page."""
    action = PendingAction.everywhere.get(pk=decision.action_id)
    sentence = str(action.sentence)
    if decision.verdict == Verdict.APPROVE and action.status == PendingAction.Status.OPEN:
        return _("Signed: %s. It counts when the others have signed too.") % sentence
    words = {
        Verdict.APPROVE: _("Approved: %s"),
        Verdict.REJECT: _("Rejected: %s"),
        Verdict.HAPPENED: _("Recorded, it happened: %s"),
        Verdict.NOT_HAPPENED: _("Recorded, it did not happen: %s"),
        Verdict.NOBODY_KNOWS: _("Recorded, nobody can know: %s"),
        Verdict.CONTINUE: _("The task goes on: %s"),
        Verdict.FAIL: _("The task ends as failed: %s"),
        Verdict.ANSWER: _("Answered: %s"),
    }
    return words.get(Verdict(decision.verdict), _("Recorded: %s")) % sentence


def _authenticated(request: HttpRequest) -> str:
    """How this session was opened: ``password``, ``password+mfa`` …"""
    records = request.session.get("account_authentication_methods") or []
    methods = [str(record.get("method", "")) for record in records if isinstance(record, dict)]
    return "+".join(dict.fromkeys(method for method in methods if method))[:40] or "session"


def _plain(view: Any) -> dict[str, Any]:
    """The fields of a view-model as template names, one level deep."""
    return {field.name: getattr(view, field.name) for field in fields(view)}


def _asked(request: HttpRequest) -> MemberRequest:
    return cast(MemberRequest, request)

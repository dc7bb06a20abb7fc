"""One action, and the one POST that decides it."""

import uuid
from collections.abc import Mapping
from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts import drafts, ids, proof
from accounts.access import MemberRequest, member
from accounts.addresses import client_address
from approvals import errors, evidence, inbox, links, present, rules, shown, viewing
from approvals.answers import schema_of
from approvals.decide import decide as record
from approvals.forms import AnswerForm, DecisionForm
from approvals.models import Decision, PendingAction, Verdict
from approvals.present.handling import handling
from approvals.present.parts import Notice
from approvals.present.told import told
from approvals.views.proving import prove_first, returned
from approvals.views.shared import PAGES, asked_of, find, notice_of, plain

Kind = PendingAction.Kind


@require_safe
@member()
def action_page(request: HttpRequest, action_id: str) -> HttpResponse:
    """One action: to be decided, or as it went on living."""
    action = find(request, action_id)
    form, notice = returned(request, action) or (None, None)
    return page_of(request, action, form=form, notice=notice)


@require_POST
@member()
def decide(request: HttpRequest, action_id: str) -> HttpResponse:
    """Post one answer. 303 to the next thing to decide, or the same page again with what was wrong."""
    asked, action = asked_of(request), find(request, action_id)
    drafts.drop(request, of=links.action(action.pk))
    form = DecisionForm(request.POST, request.FILES)
    value = AnswerForm(schema_of(action), request.POST) if action.kind == Kind.ANSWER else None
    if not form.is_valid() or (value is not None and not value.is_valid()):
        return page_of(request, action, form=form, value=value, status=422)
    given = form.cleaned_data
    if given["everything"] and given["digest"] == action.digest:
        # The report of the page may be behind the answer on the way.
        viewing.looked(action=action, user_id=asked.user.pk, everything=True)
    try:
        file = _file(request, action, form)
        decision = record(
            action_id=action.pk,
            user_id=asked.user.pk,
            verdict=given["verdict"],
            digest=given["digest"],
            generation=given["generation"],
            channel="web",
            authenticated=proof.how(request),
            fresh=proof.fresh(request),
            comment=given["comment"],
            reference=given["reference"],
            evidence=[*([given["evidence"]] if given["evidence"] else []), *([file] if file else [])],
            gesture=given["gesture"],
            # The field stands on the page whatever is chosen; it belongs to one answer.
            more=given["more"] if given["verdict"] == Verdict.CONTINUE else "",
            answer=value.value if value is not None else _entry(given),
            address=client_address(request.META),
        )
    except errors.BadAnswer as error:
        (form if value is None else value).refuse(error.field, error.text)
        return page_of(request, find(request, action_id), form=form, value=value, status=422)
    except errors.NeedsProof:
        return prove_first(request, action)
    except errors.NotAllowed as error:
        return page_of(request, find(request, action_id), notice=notice_of(error), status=403)
    except errors.DeskError as error:
        return page_of(request, find(request, action_id), notice=notice_of(error), status=409)
    messages.success(request, _said(decision))
    following = inbox.next_for(user_id=asked.user.pk, tenant_id=asked.tenant.pk, after=action.pk)
    return redirect(links.action(following.pk if following else action.pk))


def _entry(given: Mapping[str, Any]) -> dict[str, str] | None:
    """Where a run that is continued goes on, where there is a choice."""
    chosen = given["entry"] if given["verdict"] == Verdict.CONTINUE else ""
    return {"entry": chosen} if chosen else None


def _file(request: HttpRequest, action: PendingAction, form: DecisionForm) -> dict[str, Any] | None:
    """The file that comes with an answer about an outcome, or came with it before; of people who may give one. It is named
    in the form that may come back, so that nobody chooses it again. Raises BadAnswer."""
    given, user_id = form.cleaned_data, asked_of(request).user.pk
    if action.kind != Kind.SETTLE or rules.refusals(action=action, user_id=user_id, verdict=given["verdict"]):
        return None
    if given["file"] is None:
        return evidence.of_ticket(given["kept"], action)
    kept = evidence.keep(
        action=action, user_id=user_id, name=given["file"].name or "", stream=given["file"].file
    )
    typed = request.POST.copy()
    typed["kept"] = evidence.ticket(kept, action)
    form.data = cast(Any, request).POST = typed
    return kept


def page_of(
    request: HttpRequest,
    action: PendingAction,
    *,
    form: DecisionForm | None = None,
    value: AnswerForm | None = None,
    notice: Notice | None = None,
    status: int = 200,
) -> HttpResponse:
    asked = asked_of(request)
    mine = viewing.of(action, asked.user.pk)
    page, fragment = PAGES[Kind(action.kind)]
    context: dict[str, Any] = {**_view(action, asked), "form": form, "notice": notice}
    if action.status == PendingAction.Status.OPEN:
        context |= {
            "seen_url": links.verb("seen", action.pk),
            "folded": viewing.folded(action),
            "unfolded": mine is not None and mine.payload_at is not None,
        }
    context["chased"] = present.chased(action, asked.user.pk)
    context["handling"] = handling(action, asked.user.pk)
    context["told"] = told(tenant_id=action.tenant_id, action_id=action.pk)
    if action.kind == Kind.APPROVE:
        tab = "mine" if action.status == PendingAction.Status.OPEN else "decided"
        found = present.listing(user_id=asked.user.pk, tenant_id=asked.tenant.pk, tab=tab, current=action.pk)
        run = ids.public("run", action.run_id)
        live = {"url": f"/ws/runs/{run}/", "seq": 0, "fragment_url": links.action(action.pk)}
        context |= {
            **plain(found),
            "live": live if status == 200 else None,
            "reject_form": _reject_form(form),
        }
    elif action.kind == Kind.ANSWER:
        context["value"] = value or AnswerForm(schema_of(action))
    elif action.kind == Kind.SETTLE:
        run = ids.public("run", action.run_id)
        live = {"url": f"/ws/runs/{run}/", "seq": 0, "fragment_url": links.action(action.pk)}
        context |= {"live": live if status == 200 else None, "fresh": bool(request.headers.get("X-Live"))}
        ticket = str(form.data.get("kept", "")) if form is not None else ""
        if ticket and (kept := evidence.of_ticket(ticket, action)):
            context["kept"] = {**kept, "ticket": ticket}
    if form is not None and action.kind not in (Kind.APPROVE, Kind.ANSWER):
        context["chosen"] = form.data.get("verdict", "")
    live_fragment = request.headers.get("X-Live") and fragment
    return render(request, fragment if live_fragment else page, context, status=status)


def _view(action: PendingAction, asked: MemberRequest) -> dict[str, Any]:
    user_id = asked.user.pk
    if action.kind == Kind.SETTLE:
        return plain(present.known(action, user_id))
    if action.kind == Kind.ANSWER:
        return plain(present.question(action, user_id))
    if action.kind == Kind.TAKE_OVER:
        return plain(present.paused(action, user_id))
    view = {**plain(present.sheet(action, user_id)), "take_back": _take_back(action, user_id)}
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


def _said(decision: Decision) -> str:
    """What the answer did, for the top of the next page."""
    action = PendingAction.everywhere.get(pk=decision.action_id)
    sentence = str(action.sentence)
    if decision.verdict == Verdict.APPROVE and action.status == PendingAction.Status.OPEN:
        return _("Signed: %s. It counts when the others have signed too.") % sentence
    if action.kind == Kind.SETTLE and action.status == PendingAction.Status.OPEN:
        return _("Recorded: %s. It counts when somebody else gives the same answer.") % sentence
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

"""Edit what waits for an approval: a form of its arguments, and the next version of the question."""

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import MemberRequest, member
from accounts.ids import public
from accounts.said import read
from approvals import errors, rules
from approvals.models import PendingAction, Verdict
from approvals.views.shared import find, notice_of
from runs.edit_form import EditForm
from runs.verbs.edit_proposal import edit_proposal
from tools.selectors import by_id

STATUS = {errors.NotAllowed: 403, errors.BadAnswer: 422}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member()
def edit(request: MemberRequest, action_id: str) -> HttpResponse:
    """GET shows the arguments as they were proposed; POST asks the next version, or says what was wrong."""
    action = find(request, action_id)
    if action.kind != PendingAction.Kind.APPROVE or action.intent is None:
        raise Http404
    page = reverse("approvals:action", args=[action_id])
    if action.status != PendingAction.Status.OPEN and request.method != "POST":
        return HttpResponseRedirect(page)
    seen = {"digest": action.digest, "generation": action.generation}
    schema = by_id(action.intent.contract_id).input_schema
    form = EditForm(schema, action.intent.arguments, request.POST or None, initial=seen)
    notice, status = None, 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                asked = edit_proposal(
                    action_id=action.pk,
                    user_id=request.user.pk,
                    arguments=form.arguments,
                    why=form.cleaned_data["comment"],
                    digest=form.cleaned_data["digest"],
                    generation=form.cleaned_data["generation"],
                    channel="web",
                )
            except errors.BadAnswer as bad:
                form.refuse(bad.field, bad.text)
            except errors.DeskError as error:
                notice, status = notice_of(error), STATUS.get(type(error), 409)
            else:
                messages.success(request, _said(asked, request))
                return HttpResponseRedirect(
                    reverse("approvals:action", args=[public("pendingaction", asked.pk)])
                )
    refusals = rules.refusals(action=action, user_id=request.user.pk, verdict=Verdict.ASK_CHANGES)
    context = {
        "form": form,
        "sentence": read(action.sentence),
        "page": page,
        "notice": notice,
        "refusals": refusals,
        "signed": len(rules.signatures(action)),
        "alone": action.policy.get("editor_may_approve") is True,
    }
    return render(request, "runs/edit_proposal.html", context, status=status)


def _said(asked: PendingAction, request: MemberRequest) -> str:
    if rules.refusals(action=asked, user_id=request.user.pk, verdict=Verdict.APPROVE):
        return _("The new version is asked. You changed it, so somebody else has to approve it.")
    return _("The new version is asked. Read it once more before you approve it.")

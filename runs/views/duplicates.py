"""Say that an effect happened twice, and let another person look at it."""

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import MemberRequest, member
from runs.present.effects import state
from runs.selectors import effects
from runs.views.lookup import run_or_404
from tools import duplicates
from tools.models import DuplicateReport, Intent

PER_PAGE = 50


class ReportForm(forms.Form):
    """What somebody saw at the far side."""

    evidence = forms.CharField(
        max_length=duplicates.LONGEST,
        label=gettext_lazy("What did you see?"),
        help_text=gettext_lazy("What the other side has twice, and how you know that both came from here."),
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    reference = forms.CharField(
        max_length=duplicates.LONGEST_REFERENCE,
        required=False,
        label=gettext_lazy("Reference of the second one"),
        help_text=gettext_lazy("What the other side calls it: an order number, a Message-ID."),
    )


class AnswerForm(forms.Form):
    """Why a report is confirmed or dismissed."""

    reason = forms.CharField(
        max_length=duplicates.LONGEST_REASON,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("What you checked yourself."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )


@never_cache
@member()
@require_safe
def all_reports(request: MemberRequest) -> HttpResponse:
    """Every report of the tenant, and the rate."""
    page = Paginator(effects.reports(), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "next_url": f"?page={page.next_page_number()}" if page.has_next() else "",
        "previous_url": f"?page={page.previous_page_number()}" if page.has_previous() else "",
        "rate": duplicates.rate(tenant_id=request.tenant.pk),
        "days": duplicates.DAYS,
    }
    return render(request, "runs/duplicates.html", context)


@never_cache
@member()
@require_http_methods(["GET", "HEAD", "POST"])
def duplicate(request: MemberRequest, run_id: uuid.UUID, intent_id: uuid.UUID) -> HttpResponse:
    """One effect with all that was reported of it; POST reports."""
    effect = effect_or_404(run_id, intent_id)
    form = ReportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            duplicates.report(
                tenant_id=request.tenant.pk, intent_id=effect.pk, user_id=request.user.pk, **form.cleaned_data
            )
        except duplicates.NotReported as refused:
            form.add_error(None, refused.text)
        else:
            messages.success(request, _("It is reported. Another person looks at it."))
            return redirect("runs:duplicate", run_id, intent_id)
    return render(request, "runs/duplicate.html", _context(request, effect, form, AnswerForm()))


@member()
@require_POST
def answer(request: MemberRequest, report_id: uuid.UUID) -> HttpResponse:
    """Confirm or dismiss a report."""
    found = effects.reports().filter(pk=report_id).first()
    if found is None:
        raise Http404
    form = AnswerForm(request.POST)
    if form.is_valid():
        try:
            duplicates.answer(
                tenant_id=request.tenant.pk,
                report_id=report_id,
                user_id=request.user.pk,
                confirmed=request.POST.get("answer") == "confirm",
                reason=form.cleaned_data["reason"],
            )
        except duplicates.NotReported as refused:
            messages.error(request, refused.text)
        else:
            messages.success(request, _("Your answer is recorded."))
        return redirect("runs:duplicate", found.intent.run_id, found.intent_id)
    effect = effect_or_404(found.intent.run_id, found.intent_id)
    return render(request, "runs/duplicate.html", _context(request, effect, ReportForm(), form))


def effect_or_404(run_id: uuid.UUID, intent_id: uuid.UUID) -> Intent:
    """An effect of a task of the current tenant that was sent."""
    run_or_404(run_id)
    found: Intent | None = effects.sent(run_id).filter(pk=intent_id).first()
    if found is None:
        raise Http404
    return found


def _context(
    request: MemberRequest, effect: Intent, form: forms.Form, answer_form: forms.Form
) -> dict[str, Any]:
    reports: list[DuplicateReport] = list(effect.duplicates.all())
    standing = next((one for one in reports if one.confirmed is None), None)
    words, tone, mark = state(reports)
    return {
        "effect": effect,
        "task": run_or_404(effect.run_id),
        "reports": reports,
        "standing": standing,
        "state": {"words": words, "tone": tone, "mark": mark},
        "may_answer": standing is not None
        and standing.reported_by_id != request.user.pk
        and duplicates.may_answer(tenant_id=request.tenant.pk, user_id=request.user.pk),
        "form": form,
        "answer_form": answer_form,
    }

"""What ran without a person and was drawn to be looked at afterwards: the list, and one of it with its answer."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts import ids
from accounts.access import member
from accounts.models import Role
from approvals import errors, links, sampling
from approvals.models import Sample
from approvals.present.parameters import parameters
from approvals.present.preview import preview
from approvals.shown import contract_facts
from approvals.views.shared import asked_of
from tools import previews
from tools.reasons import told

MOST = 200


class AnswerForm(forms.Form):
    """What a person says of an effect."""

    fits = forms.TypedChoiceField(choices=[("yes", "yes"), ("no", "no")], coerce=lambda value: value == "yes")
    comment = forms.CharField(required=False, max_length=sampling.MOST_SIGNS)


@require_safe
@member(Role.APPROVER, Role.ADMINISTRATOR)
def listed(request: HttpRequest) -> HttpResponse:
    """What nobody has looked at yet, the oldest first, and beside it what was said lately."""
    rows = Sample.objects.select_related("intent__tool", "answered_by")
    context = {
        "room": "samples",
        "waiting": [_row(one) for one in rows.filter(answered_at=None).order_by("drawn_at", "pk")[:MOST]],
        "answered": [
            _row(one) for one in rows.filter(answered_at__isnull=False).order_by("-answered_at")[:50]
        ],
    }
    return render(request, "approvals/samples.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.APPROVER, Role.ADMINISTRATOR)
def sample(request: HttpRequest, sample_id: str) -> HttpResponse:
    """One effect as it was sent, why it ran alone, and whether it should have."""
    found = _find(sample_id)
    if request.method != "POST":
        return _page(request, found)
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _page(request, found, error=_("Choose one of the two answers."), status=400)
    given = form.cleaned_data
    try:
        sampling.answer(
            sample_id=found.pk,
            user_id=asked_of(request).user.pk,
            fits=given["fits"],
            comment=given["comment"],
            channel="web",
        )
    except errors.BadAnswer as error:
        return _page(request, found, error=error.text, status=400)
    except errors.NotAllowed as error:
        return _page(request, found, error=str(error), status=403)
    except errors.AlreadyLookedAt as error:
        return _page(request, _find(sample_id), error=str(error), status=409)
    if given["fits"]:
        messages.success(request, _("Recorded: as it should be."))
        return redirect("quality:samples")
    return redirect("quality:sample", sample_id=ids.public("sample", found.pk))


def _find(sample_id: str) -> Sample:
    try:
        pk = ids.parse("sample", sample_id)
    except ids.BadId:
        raise Http404 from None
    rows = Sample.objects.select_related("intent__contract__tool", "intent__tool", "answered_by", "tenant")
    found: Sample | None = rows.filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _page(request: HttpRequest, found: Sample, *, error: str = "", status: int = 200) -> HttpResponse:
    effect = found.intent
    seen = previews.render(contract=effect.contract, arguments=effect.arguments, tenant=found.tenant)
    shown = preview(
        {
            "preview": seen,
            "sentence": seen["sentence"],
            "run": effect.run_id.hex,
            "arguments": effect.arguments,
            "contract": contract_facts(effect.contract),
        }
    )
    refused = sampling.refusals(sample=found, user_id=asked_of(request).user.pk)
    tool = effect.tool
    context: dict[str, Any] = {
        "sample": found,
        "question": seen["sentence"],
        "error": error,
        "comment": request.POST.get("comment", ""),
        "chosen": request.POST.get("fits", ""),
        "why_alone": told(effect.verdict.get("reasons")),
        "facts": [
            {"label": _("Tool"), "value": tool.title or tool.name},
            {"label": _("To"), "value": effect.target or "–"},
            {"label": _("Sent"), "value": "", "at": effect.dispatched_at or effect.ended_at},
            {"label": _("Contract"), "value": _("version %s") % effect.contract.version},
            {"label": _("Why this one"), "value": found.get_reason_display()},
            {
                "label": _("Task"),
                "value": ids.public("run", effect.run_id),
                "url": links.task(effect.run_id),
                "mono": True,
            },
        ],
        "preview": shown,
        "parameters": parameters(effect.arguments, shown.text),
        "refused": " ".join(map(str, refused)),
        "tool_url": reverse("tools:tool", args=[tool.name]),
    }
    return render(request, "approvals/sample.html", context, status=status)


def _row(one: Sample) -> dict[str, Any]:
    return {
        "sample": one,
        "tool": one.intent.tool.title or one.intent.tool.name,
        "target": one.intent.target,
        "sent_at": one.intent.ended_at,
        "url": reverse("quality:sample", args=[ids.public("sample", one.pk)]),
    }

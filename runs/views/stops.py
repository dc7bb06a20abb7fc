"""Stop switches: everything of the organisation, one task; tools are paused on their own page. Each asks twice."""

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.views.answer import attempt
from runs.engine.halt import halt, let_go_on
from runs.engine.unblock import unblock
from runs.errors import AlreadyEnded
from runs.models import Run
from runs.present import stops as present
from runs.views.lookup import run_or_404
from tools import switches

SURE = gettext_lazy("Yes, stop it")


class StopForm(forms.Form):
    """Why, and a second gesture."""

    reason = forms.CharField(
        max_length=500,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("Shown wherever it bites, with your name."),
    )
    sure = forms.BooleanField(label=SURE)


class LiftForm(forms.Form):
    """A second gesture."""

    sure = forms.BooleanField(label=gettext_lazy("Yes, let it go on"))


@never_cache
@require_safe
@member(Role.ADMINISTRATOR)
def stops(request: MemberRequest) -> HttpResponse:
    """What is stopped now, by whom and why."""
    rows = present.rows(tenant_id=request.tenant.pk)
    everything = any(row.stop.scope == "tenant" for row in rows)
    return render(request, "runs/stops.html", {"rows": rows, "everything": everything})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def stop_everything(request: MemberRequest) -> HttpResponse:
    """Stop every task and every tool of the organisation."""
    form = StopForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        done = attempt(
            request,
            lambda: switches.stop_tenant(
                tenant_id=request.tenant.pk, by=request.user.pk, reason=form.cleaned_data["reason"]
            ),
            form,
        )
        if done is not None:
            _told_stopped(request, done, switches.sending(tenant_id=request.tenant.pk))
            return redirect("runs:stops")
    return _ask(
        request,
        form,
        title=_("Stop everything"),
        text=_(
            "No step of any task starts and nothing is sent until somebody lifts the stop. "
            "Approvals can still be given; what they allow waits. Tasks can still be cancelled."
        ),
        under_way=switches.sending(tenant_id=request.tenant.pk),
        button=_("Stop everything"),
        back=reverse("runs:stops"),
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def lift_everything(request: MemberRequest) -> HttpResponse:
    """Let everything go on that nothing else stops."""
    form = LiftForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if switches.lift_tenant(tenant_id=request.tenant.pk, by=request.user.pk):
            unblock(tenant_id=request.tenant.pk)
            messages.success(request, _("The stop is lifted. What waited goes on by itself."))
        else:
            messages.warning(request, _("It was lifted already. Nothing was changed."))
        return redirect("runs:stops")
    return _ask(
        request,
        form,
        title=_("Let everything go on"),
        text=_("What waits is taken up again by itself. Single tasks and tools that are stopped stay so."),
        button=_("Lift the stop"),
        back=reverse("runs:stops"),
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def stop_run(request: MemberRequest, run_id: uuid.UUID) -> HttpResponse:
    """Stop one task without cancelling it."""
    run = run_or_404(run_id)
    form = StopForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            done = attempt(
                request,
                lambda: halt(
                    run_id=run.pk, user_id=request.user.pk, reason=form.cleaned_data["reason"], channel="page"
                ),
                form,
            )
        except AlreadyEnded as ended:
            return _ended(request, run, ended)
        if done is not None:
            _told_stopped(request, done, switches.sending(tenant_id=run.tenant_id, run_id=run.pk))
            return redirect("runs:task_detail", run.pk)
    return _ask(
        request,
        form,
        title=_("Stop this task"),
        text=_(
            "No step of it starts and nothing of it is sent until somebody lifts the stop. What it waits for is kept. "
            "To end it for good, cancel it instead."
        ),
        under_way=switches.sending(tenant_id=run.tenant_id, run_id=run.pk),
        button=_("Stop the task"),
        run=run,
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def go_on(request: MemberRequest, run_id: uuid.UUID) -> HttpResponse:
    """Lift the stop of one task."""
    run = run_or_404(run_id)
    form = LiftForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            done = let_go_on(run_id=run.pk, user_id=request.user.pk)
        except AlreadyEnded as ended:
            return _ended(request, run, ended)
        if done:
            messages.success(request, _("The stop is lifted. The task goes on by itself."))
        else:
            messages.warning(request, _("It was not stopped. Nothing was changed."))
        return redirect("runs:task_detail", run.pk)
    return _ask(
        request,
        form,
        title=_("Let this task go on"),
        text=_("What waits is taken up again by itself."),
        button=_("Lift the stop"),
        run=run,
    )


def _told_stopped(request: MemberRequest, done: bool, sending: int) -> None:
    if not done:
        messages.warning(request, _("It was stopped already, for the reason that is shown."))
        return
    told = [_("Stopped. Nothing new starts."), present.under_way(sending)]
    messages.success(request, " ".join(filter(None, told)))


def _ended(request: MemberRequest, run: Run, ended: AlreadyEnded) -> HttpResponse:
    messages.warning(request, ended.text)
    return redirect("runs:task_detail", run.pk)


def _ask(
    request: MemberRequest, form: forms.Form, *, run: Run | None = None, under_way: int = 0, **words: Any
) -> HttpResponse:
    back = {"back": reverse("runs:task_detail", args=[run.pk])} if run else {}
    context = {"form": form, "run": run, "under_way": present.under_way(under_way), **back, **words}
    return render(request, "runs/stop.html", context)

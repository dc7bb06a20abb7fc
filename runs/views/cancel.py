"""Cancel: the sheet says what becomes of everything; only its button stops anything."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import MemberRequest, member
from accounts.ids import BadId, parse
from accounts.models import Role
from runs.engine.cancel import cancel
from runs.errors import AlreadyEnded, NotFound
from runs.models import Run
from runs.present import cancel_sheet, header
from runs.selectors import actions, artifacts, fates, intents, runs, steps
from runs.states import RUN_TERMINAL
from runs.views.lookup import run_or_404

MOST = 50


@member(Role.SUBMITTER, Role.ADMINISTRATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def one(request: MemberRequest, run_id: uuid.UUID) -> HttpResponse:
    """The sheet of one task, and its button."""
    run = run_or_404(run_id)
    if request.method == "POST":
        try:
            cancel(
                run_id=run.pk,
                user_id=request.user.pk,
                reason=request.POST.get("reason", "").replace("\x00", ""),
            )
        except AlreadyEnded:
            return _ended(request, run_or_404(run_id))
        except NotFound:
            raise Http404 from None
        messages.success(request, _("Nothing new starts any more. What is done stays; see below."))
        return HttpResponseRedirect(reverse("runs:task_detail", args=[run.pk]))
    if run.status in RUN_TERMINAL:
        return _ended(request, run)
    groups = _groups(run)
    context = {
        "task": header.task(run, []),
        "task_url": reverse("runs:task_detail", args=[run.pk]),
        "cancel_url": reverse("runs:cancel", args=[run.pk]),
        "outcome_groups": groups,
        "button_words": cancel_sheet.button_words(groups),
        "snapshot_at": timezone.now(),
    }
    return render(request, "runs/cancel_sheet.html", context)


@member(Role.SUBMITTER, Role.ADMINISTRATOR)
@require_POST
def several(request: MemberRequest) -> HttpResponse:
    """First what becomes of each of the chosen tasks; with ``confirmed``, the stop."""
    chosen = [run for run in map(_find, dict.fromkeys(request.POST.getlist("run")[:MOST])) if run is not None]
    if not chosen:
        messages.warning(request, _("No task was chosen. Nothing was stopped."))
        return HttpResponseRedirect(reverse("runs:task_list"))
    if "confirmed" not in request.POST:
        sheets = [
            {"task": header.task(run, []), "id": run.pk.hex, "outcome_groups": _groups(run)}
            for run in chosen
            if run.status not in RUN_TERMINAL
        ]
        context = {"sheets": sheets, "ended": len(chosen) - len(sheets), "snapshot_at": timezone.now()}
        return render(request, "runs/cancel_several.html", context)
    stopped = ended = 0
    for run in chosen:
        try:
            cancel(
                run_id=run.pk,
                user_id=request.user.pk,
                reason=request.POST.get("reason", "").replace("\x00", ""),
            )
            stopped += 1
        except (AlreadyEnded, NotFound):
            ended += 1
    told = ngettext("%(n)s task stops.", "%(n)s tasks stop.", stopped) % {"n": stopped}
    if ended:
        told += " " + ngettext("%(n)s had ended already.", "%(n)s had ended already.", ended) % {"n": ended}
    messages.success(request, told)
    return HttpResponseRedirect(reverse("runs:task_list"))


def _find(text: str) -> Run | None:
    """A run of this tenant; anything else was not chosen."""
    try:
        return runs.get(parse("run", text))
    except (BadId, Run.DoesNotExist):
        return None


def _groups(run: Run) -> list[cancel_sheet.Group]:
    return cancel_sheet.groups(
        run,
        steps.of_run(run.pk, live_end=True).rows,
        intents.of_run(run.pk),
        actions.of_run(run.pk),
        artifacts.of_run(run.pk),
        fates.of_run(run.pk),
    )


def _ended(request: MemberRequest, run: Run) -> HttpResponse:
    """Too late to stop: said calmly, with the way back."""
    words = _("The task has ended already: %(state)s. Nothing was changed.") % {
        "state": run.get_status_display()
    }
    context = {
        "title": _("Nothing to stop"),
        "text": words,
        "url": reverse("runs:task_detail", args=[run.pk]),
        "action": _("Back to the task"),
    }
    return render(request, "runs/message.html", context, status=409)

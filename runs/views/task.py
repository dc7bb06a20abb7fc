"""The page of one task. It is one live region: after every event it is drawn again as a whole and morphed
in."""

import uuid
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.access import MemberRequest, member
from accounts.ids import public
from accounts.models import Role
from runs.agents import registry
from runs.models import Run
from runs.present import (
    aside,
    cancel_sheet,
    effects,
    findings,
    header,
    history,
    people,
    results,
    stops,
    timeline,
)
from runs.present import steps as step_rows
from runs.present.names import step_name
from runs.selectors import actions, artifacts, corrections, damages, events, fates, intents, reviews, steps
from runs.selectors import effects as sent_effects
from runs.states import RUN_TERMINAL
from runs.timeline import verify
from runs.views.lookup import run_or_404

LATEST = 8
#: A longer history is checked on its own page, not after every event.
CHECKED_HERE = 300


@member()
@require_safe
def task_detail(request: MemberRequest, run_id: uuid.UUID) -> HttpResponse:
    """Everything about one run; as a fragment for a live page."""
    run = run_or_404(run_id)
    context = _context(request, run)
    template = "runs/partials/task_body.html" if request.headers.get("X-Live") else "runs/task_detail.html"
    answer = render(request, template, context)
    answer["X-Live-Seq"] = str(run.event_seq)
    answer["Vary"] = "X-Live, Cookie"
    answer["Cache-Control"] = "no-store"
    return answer


@member()
@require_safe
def all_steps(request: MemberRequest, run_id: uuid.UUID) -> HttpResponse:
    """The steps of a long run, page by page."""
    run = run_or_404(run_id)
    after = request.GET.get("after", "0")
    place = int(after) if after.isdecimal() and len(after) < 10 else 0
    found = steps.of_run(run.pk, after=place, answers=registry.any_tool(run.agent, run.agent_version))
    files = artifacts.of_run(run.pk)
    more = found.rows[-1].seq if len(found.rows) == steps.MOST else 0
    context = {
        "task": header.task(run, []),
        "task_url": reverse("runs:task_detail", args=[run.pk]),
        "steps": step_rows.rows(found.rows, actions.of_run(run.pk), files),
        "steps_note": _steps_note(found.total),
        "next_url": f"?after={more}" if more else "",
    }
    return render(request, "runs/task_steps.html", context)


def _context(request: MemberRequest, run: Run) -> dict[str, Any]:
    now = timezone.now()
    answers = registry.any_tool(run.agent, run.agent_version)
    found = steps.of_run(run.pk, live_end=True, answers=answers)
    asked = actions.of_run(run.pk)
    files = artifacts.of_run(run.pk)
    proposed = intents.of_run(run.pk)
    latest = events.page(run.pk, size=LATEST)
    told = events.of_steps(run.pk, [step.pk for step in found.rows])
    names = {step.pk: step_name(step) for step in found.rows}
    documents = findings.documents(run, reviews.of_files(files), corrections.of_run(run.pk))
    damaged = damages.of_run(run.pk)
    cards = results.cards(files, damaged)
    may_act = bool({Role.SUBMITTER, Role.ADMINISTRATOR} & set(request.membership.roles))
    may_stop = Role.ADMINISTRATOR in request.membership.roles
    stopped = stops.of_run(run, found.rows)
    context: dict[str, Any] = {
        "task": header.task(run, asked),
        "banner": header.banner(run, asked, found.rows),
        "stop_banner": stops.banner(run, stopped, may_lift=may_stop),
        "stop_url": header.stop_url(run) if may_stop and not any(one.run_id for one in stopped) else "",
        "primary": header.primary(run, asked),
        "cancel_url": header.cancel_url(run) if may_act else "",
        "now_line": stops.now(stopped, found.rows) or header.now(run, found.rows, asked),
        "timeline_rows": timeline.rows(
            found.rows, told, asked, [file for file in files if file.quarantined], now=now
        ),
        "snapshot_at": now if run.status not in RUN_TERMINAL else run.finished_at,
        "documents": documents,
        "may_correct": True,
        "artifacts": cards,
        "other_files": results.others(files, damaged),
        "steps": step_rows.rows(found.rows, asked, files),
        "steps_note": _steps_note(found.total),
        "steps_url": reverse("runs:steps", args=[run.pk]) if found.total > len(found.rows) else "",
        "meters": aside.meters(run),
        "coverage": aside.coverage(proposed, names),
        "effects": effects.lines(sent_effects.sent(run.pk)[: sent_effects.MOST], names),
        "people": people.involved(run, asked),
        "technical": aside.technical(run, found.rows),
        "live": {
            "url": f"/ws/runs/{public('run', run.pk)}/",
            "seq": run.event_seq,
            "fragment_url": reverse("runs:task_detail", args=[run.pk]),
        },
    }
    context |= _history(run, latest, names)
    if run.status in ("CANCELLED", "CANCEL_REQUESTED", "COMPENSATING") or (run.failure or {}).get("undo"):
        undone = fates.of_run(run.pk)
        context["outcome_groups"] = cancel_sheet.groups(run, found.rows, proposed, asked, files, undone)
        context["outcome_note"] = cancel_sheet.note(run)
    context["sections"] = _sections(context, found.total, run.event_seq)
    return context


def _history(run: Run, latest: list[Any], names: dict[uuid.UUID, str]) -> dict[str, Any]:
    """The end of the history. A short one is verified here."""
    short = run.event_seq <= CHECKED_HERE
    return {
        "events": history.lines(latest, names, people.actors(latest)),
        "events_total": run.event_seq,
        "chain": history.chain(verify(run.pk)) if short else None,
        "export_url": reverse("runs:history_export", args=[run.pk]),
        "more_url": reverse("runs:history", args=[run.pk])
        if run.event_seq > len(latest) or not short
        else "",
    }


def _steps_note(total: int) -> str:
    return ngettext("%(n)s step", "%(n)s steps", total) % {"n": total}


def _sections(context: dict[str, Any], total: int, seq: int) -> list[dict[str, Any]]:
    tabs: list[dict[str, Any]] = [{"label": _("Timeline"), "url": "#timeline", "current": True}]
    if context["documents"]:
        tabs.append(
            {
                "label": _("Findings"),
                "url": "#findings",
                "count": sum(len(d.findings) for d in context["documents"]),
            }
        )
    tabs += [
        {"label": _("Results"), "url": "#results", "count": len(context["artifacts"])},
        {"label": _("Steps"), "url": "#steps", "count": total},
        {"label": _("History"), "url": "#history", "count": seq},
        {"label": _("Technical"), "url": "#technical"},
    ]
    return tabs

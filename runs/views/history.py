"""The whole history of a task: page by page, verified, and as JSON."""

import json
import uuid
from collections.abc import Iterator

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import MemberRequest, member
from accounts.ids import public
from accounts.scope import tenant_scope
from runs.present import header, people
from runs.present import history as present
from runs.present.names import step_name
from runs.selectors import events, steps
from runs.timeline import verify
from runs.views.lookup import run_or_404


@member()
@require_safe
def history(request: MemberRequest, run_id: uuid.UUID) -> HttpResponse:
    """Events newest first, by family, with the verdict on the chain."""
    run = run_or_404(run_id)
    family = request.GET.get("family", "")
    family = family if family in present.FAMILIES else ""
    before = request.GET.get("before", "")
    found = events.page(
        run.pk, before=int(before) if before.isdecimal() and len(before) < 18 else 0, family=family
    )
    step_ids = [event.step_id for event in found if event.step_id]
    names = {step.pk: step_name(step) for step in steps.named(run.pk, step_ids)}
    last = found[-1].sequence if len(found) == events.PAGE else 0
    chips = [
        {"label": _("All"), "url": "?", "count": run.event_seq if not family else "", "current": not family}
    ]
    chips += [
        {"label": _(label), "url": f"?family={name}", "count": "", "current": name == family}
        for name, label in present.FAMILIES.items()
    ]
    context = {
        "task": header.task(run, []),
        "task_url": reverse("runs:task_detail", args=[run.pk]),
        "chips": chips,
        "events": present.lines(found, names, people.actors(found)),
        "events_total": run.event_seq,
        "chain": present.chain(verify(run.pk)),
        "export_url": reverse("runs:history_export", args=[run.pk]),
        "next_url": f"?before={last}" + (f"&family={family}" if family else "") if last > 1 else "",
    }
    return render(request, "runs/task_history.html", context)


@member()
@require_safe
def export(request: MemberRequest, run_id: uuid.UUID) -> StreamingHttpResponse:
    """Every event with its hash, streamed: enough to verify the chain elsewhere."""
    run = run_or_404(run_id)
    tenant_id = request.tenant.pk

    def parts() -> Iterator[str]:
        yield (
            json.dumps({"run": public("run", run.pk), "goal": run.goal, "events_total": run.event_seq})[:-1]
            + ', "events": ['
        )
        with tenant_scope(tenant_id):
            for place, event in enumerate(events.stream(run.pk)):
                yield ("," if place else "") + "\n" + json.dumps(present.as_json(event), ensure_ascii=False)
        yield "\n]}\n"

    answer = StreamingHttpResponse(parts(), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{public("run", run.pk)}-history.json"'
    answer["Cache-Control"] = "no-store"
    return answer

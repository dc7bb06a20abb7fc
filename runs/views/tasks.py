"""The list of tasks, and its export."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import MemberRequest, member
from accounts.ids import public
from accounts.models import Role
from accounts.scope import tenant_scope
from accounts.sheets import lines as table
from runs.present import task_rows
from runs.samples import SAMPLES
from runs.selectors import live, runs
from runs.selectors.filters import STATES, TaskFilter
from runs.selectors.runs import PAGE

_CHIPS = (
    ("", "", ""),
    ("person", "waiting", "person"),
    ("unknown", "unknown", "unknown"),
    ("running", "running", "running"),
    ("waiting", "waiting", "waiting"),
    ("done", "done", "done"),
    ("failed", "failed", "failed"),
    ("cancelled", "stopped", "stopped"),
)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The tasks are the home of everybody."""
    return HttpResponseRedirect(reverse("runs:task_list"))


@member()
@require_safe
def task_list(request: MemberRequest) -> HttpResponse:
    """All tasks of the tenant, newest first; as a fragment for a live page."""
    drawn = live.tasks_drawn()
    asked = _filter(request)
    page = runs.page(asked.qs, cursor=request.GET.get("cursor", ""), size=PAGE)
    everything = _filter(request, without_state=True)
    counts = runs.counts(everything.qs)
    may_submit = bool({Role.SUBMITTER, Role.ADMINISTRATOR} & set(request.membership.roles))
    state = asked.data.get("state", "")
    context = {
        "rows": task_rows.rows(page.rows, runs.live(page.rows)),
        "chips": _chips(request, counts, state),
        "live_count": counts["running"] + counts["waiting"],
        "finished_count": counts["done"] + counts["failed"] + counts["cancelled"],
        "shown": len(page.rows),
        "total": counts.get(state or "all", counts["all"]),
        "search_text": asked.data.get("q", ""),
        "next_url": _url(request, cursor=page.older) if page.older else "",
        "previous_url": _url(request, cursor="") if request.GET.get("cursor") else "",
        "export_url": reverse("runs:export") + _query(request, cursor=""),
        "new_url": reverse("runs:new_task") if may_submit else "",
        "bulk_url": reverse("runs:cancel_several") if may_submit else "",
        "samples": _samples() if may_submit else [],
        "filter": asked,
        "state": state,
        "live": {"url": "/ws/tasks/", "seq": drawn, "fragment_url": request.get_full_path()},
    }
    if request.headers.get("X-Live"):
        answer = render(request, "runs/partials/task_table.html", context)
        answer["X-Live-Seq"] = str(drawn)
    else:
        answer = render(request, "runs/task_list.html", context)
    answer["Vary"] = "X-Live, Cookie"
    answer["Cache-Control"] = "no-store"
    return answer


@member()
@require_safe
def export(request: MemberRequest) -> StreamingHttpResponse:
    """The filtered list as CSV that no spreadsheet runs (fault B85), streamed."""
    rows = _filter(request).qs.select_related("submitter").defer(*runs.HEAVY).order_by("-id")
    tenant_id = request.tenant.pk

    head = (
        _("Task"),
        _("Goal"),
        _("Agent"),
        _("State"),
        _("Waits for"),
        _("Submitted by"),
        _("Submitted"),
        _("Ended"),
        _("Steps done"),
    )

    def cells() -> Iterator[list[str]]:
        with tenant_scope(tenant_id):
            for run in rows.iterator(chunk_size=500):
                yield [
                    public("run", run.pk),
                    run.goal,
                    task_rows.agent_title(run.agent),
                    run.get_status_display(),
                    run.waiting_on,
                    str(run.submitter),
                    run.created_at.isoformat(),
                    run.finished_at.isoformat() if run.finished_at else "",
                    str(run.steps_ended),
                ]

    answer = StreamingHttpResponse(table(head, cells()), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="tasks.csv"'
    answer["Cache-Control"] = "no-store"
    return answer


def _filter(request: MemberRequest, *, without_state: bool = False) -> TaskFilter:
    """The filter of the address; a value that cannot be used is left out, so that an old link still shows a
    list."""
    data = request.GET.copy()
    if without_state or data.get("state") not in STATES:
        data.pop("state", None)
    found = TaskFilter(data, queryset=runs.every(), request=request)
    if not found.form.is_valid():
        for name in found.form.errors:
            data.pop(name, None)
        found = TaskFilter(data, queryset=runs.every(), request=request)
    return found


def _chips(request: MemberRequest, counts: dict[str, int], state: str) -> list[dict[str, object]]:
    words = {
        "": _("All"),
        "person": _("Needs a person"),
        "unknown": _("Unknown"),
        "running": _("Running"),
        "waiting": _("Waiting"),
        "done": _("Done"),
        "failed": _("Failed"),
        "cancelled": _("Cancelled"),
    }
    return [
        {
            "label": words[name],
            "url": _url(request, state=name, cursor=""),
            "count": counts[name or "all"],
            "current": name == state,
            "tone": tone,
            "mark": mark,
        }
        for name, tone, mark in _CHIPS
    ]


def _query(request: MemberRequest, **changes: str) -> str:
    query = request.GET.copy()
    query.pop("after", None)
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query[name] = value
    return f"?{query.urlencode()}" if query else ""


def _url(request: MemberRequest, **changes: str) -> str:
    return reverse("runs:task_list") + _query(request, **changes)


def _samples() -> list[dict[str, str]]:
    return [
        {"label": str(sample.label), "url": f"{reverse('runs:new_task')}?sample={name}"}
        for name, sample in SAMPLES.items()
    ]

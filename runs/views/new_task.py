"""New task: choose an agent, fill its form, see the plan, start. Nothing is created before the start."""

import io
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import MemberRequest, member
from accounts.ids import public
from accounts.models import Role
from runs import uploads
from runs.agents.base import Agent
from runs.agents.registry import UnknownAgent, all_agents, get
from runs.call_fields import Choice
from runs.engine.submit import submit
from runs.errors import BadTask, KeyReused
from runs.forms import FILES, PREFIX, TaskForm, chosen_files
from runs.limit_fields import DEADLINE
from runs.limit_fields import PREFIX as LIMIT
from runs.models import Artifact
from runs.preview_plan import may_propose
from runs.preview_plan import preview as plan_preview
from runs.samples import SAMPLES
from runs.selectors import artifacts
from runs.selectors.filters import is_drill
from tools.selectors import in_force

ACCEPT = ".pdf,.docx,.txt,.md,.markdown"


@member(Role.SUBMITTER, Role.ADMINISTRATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def new_task(request: MemberRequest) -> HttpResponse:
    """The form, and the start of the task."""
    if request.method != "POST":
        return _page(request, _blank(request), _given(request, _wanted(request)))
    form = _form(request)
    wanted = request.POST.getlist(FILES)
    ids, samples = chosen_files(wanted)
    given = artifacts.waiting(ids, user_id=request.user.pk)
    form.full_clean()
    form.check_files(len(given) + len(samples))
    if len(given) != len(set(ids)):
        form.add_error(None, _("One of the files is no longer there. Nothing was started. Add it again."))
    if not form.is_valid():
        return _page(request, form, _given(request, wanted), status=422)
    kept = [file.pk for file in given] + [_keep_sample(request, name, place).pk for name, place in samples]
    try:
        run, created = submit(
            tenant_id=request.tenant.pk,
            submitter_id=request.user.pk,
            agent=form.of.name,
            goal=form.cleaned_data["goal"],
            input=form.cleaned_data["input"],
            submit_key=str(form.cleaned_data["submit_key"]),
            uploads=kept,
            limits=form.cleaned_data["limits"],
            deadline=form.cleaned_data[DEADLINE],
        )
    except BadTask as error:
        form.add_error(_field(form, error.field), error.text)
        return _page(request, form, _given(request, wanted), status=422)
    except KeyReused:
        form.add_error(
            None,
            _(
                "This page has started a task already. Nothing more was started. To start another, open New task again."
            ),
        )
        return _page(request, form, _given(request, wanted), status=409)
    if not created:
        messages.info(request, _("This task was started before; there is only one."))
    return HttpResponseRedirect(reverse("runs:task_detail", args=[run.pk]))


@member(Role.SUBMITTER, Role.ADMINISTRATOR)
@require_POST
def preview(request: MemberRequest) -> HttpResponse:
    """The plan for what the form holds so far; reads only, creates nothing."""
    form = _form(request)
    form.full_clean()
    context = _plan(request, form, _given(request, request.POST.getlist(FILES)))
    return render(request, "runs/partials/plan_preview.html", context)


def _field(form: TaskForm, name: str) -> str | None:
    """The field of the page that a refusal speaks of."""
    wanted = (PREFIX + name, LIMIT + name.removeprefix("limits."))
    return next((field for field in wanted if field in form.fields), None)


def _offered() -> list[Agent]:
    return [agent for agent in all_agents() if not is_drill(agent.name)]


def _agent(name: str) -> Agent:
    """The agent asked for; an unknown one, or one of a drill, becomes the first that is offered."""
    try:
        found = get(name)
    except UnknownAgent:
        return _offered()[0]
    return _offered()[0] if is_drill(found.name) else found


def _form(request: MemberRequest) -> TaskForm:
    agent = _agent(request.POST.get("agent", ""))
    data: QueryDict = request.POST.copy()
    data["agent"] = agent.name
    return TaskForm(agent, data, most_files=settings.COUNTERSIGN.max_uploads, tools=_choices(request, agent))


def _blank(request: MemberRequest) -> TaskForm:
    """A form with a fresh key: the key makes two submits of this very page one task."""
    sample = SAMPLES.get(request.GET.get("sample", ""))
    agent = _agent(sample.agent if sample else request.GET.get("agent", ""))
    initial: dict[str, Any] = {"agent": agent.name, "submit_key": uuid.uuid4()}
    if sample:
        initial["goal"] = sample.goal
        initial |= {PREFIX + name: value for name, value in sample.input.items()}
    most = settings.COUNTERSIGN.max_uploads
    return TaskForm(agent, initial=initial, most_files=most, tools=_choices(request, agent))


def _choices(request: MemberRequest, agent: Agent) -> list[Choice]:
    """The tools in force, for an agent that is told what to call."""
    if not agent.any_tool:
        return []
    return [
        Choice(one.tool.name, one.tool.title, list(one.input_schema.get("properties") or {}))
        for one in in_force(tenant_id=request.tenant.pk)
        if not is_drill(one.tool.name.replace(".", "-"))
    ]


def _wanted(request: MemberRequest) -> list[str]:
    name = request.GET.get("sample", "")
    return [f"sample-{name}-{place}" for place in range(len(SAMPLES[name].files))] if name in SAMPLES else []


def _given(request: MemberRequest, wanted: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of the drop zone, so that nothing is lost when the form comes back."""
    ids, samples = chosen_files(wanted)
    rows = [_row(file) for file in artifacts.waiting(ids, user_id=request.user.pk)]
    today = timezone.localdate()
    for name, place in samples:
        file = SAMPLES[name].files[place]
        size = len(file.make(today))
        rows.append(
            {
                "id": f"sample-{name}-{place}",
                "name": file.name,
                "size": size,
                "note": _("a sample"),
                "verdict": "done",
                "sha256": "",
            }
        )
    return rows


def _row(file: Artifact) -> dict[str, Any]:
    return {
        "id": public("artifact", file.pk),
        "name": file.name,
        "size": file.size,
        "note": "",
        "verdict": "done",
        "sha256": file.sha256,
        "media_type": file.media_type,
        "uri": file.uri,
    }


def _keep_sample(request: MemberRequest, name: str, place: int) -> Artifact:
    file = SAMPLES[name].files[place]
    stream = io.BytesIO(file.make(timezone.localdate()))
    return uploads.keep(tenant_id=request.tenant.pk, user_id=request.user.pk, name=file.name, stream=stream)


def _plan(request: MemberRequest, form: TaskForm, given: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the plan preview is drawn from."""
    words = ngettext("Start with %(n)s file", "Start with %(n)s files", len(given)) % {"n": len(given)}
    context: dict[str, Any] = {"plan": [], "submit_words": words if given else _("Start the task")}
    if not form.wants_files:
        context["plan_problem"] = _("Say what is to be done, and the plan appears here.")
    if form.wants_files and not given:
        return context
    typed = {}
    if form.is_bound:
        typed = {name: form.cleaned_data.get(PREFIX + name) for name in form.properties}
    else:
        typed = {name: form.initial.get(PREFIX + name) for name in form.properties}
    known = {name: value for name, value in typed.items() if value not in (None, "", [])}
    files = [{"name": f["name"], "sha256": f["sha256"] or f["id"], "size": f["size"]} for f in given]
    found = plan_preview(
        tenant_id=request.tenant.pk, agent=form.of, input={**known, FILES: files} if files else known
    )
    context |= {"plan": found.steps, "plan_warnings": found.warnings, "plan_note": _limits(form.of)}
    context["plan_coverage"] = found.coverage
    return context


def _limits(agent: Agent) -> str:
    """What a run of this agent may use at most."""
    most = int(agent.budget.get("steps") or 0)
    return ngettext("at most %(n)s step", "at most %(n)s steps", most) % {"n": most} if most else ""


def _page(
    request: MemberRequest, form: TaskForm, given: list[dict[str, Any]], *, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "agents": [_card(request, agent, form.of) for agent in _offered()],
        "input_fields": form.input_fields,
        "limit_fields": form.limit_fields,
        "upload_url": reverse("runs:upload") if form.wants_files else "",
        "remove_url": reverse("runs:upload"),
        "files_label": _(
            str(dict(form.of.input_schema.get("properties") or {}).get(FILES, {}).get("title", "Files"))
        ),
        "files_hint": _("PDF, DOCX, TXT or Markdown, %(size)s MB each, %(count)s files at most.")
        % {"size": settings.COUNTERSIGN.max_upload_mb, "count": settings.COUNTERSIGN.max_uploads},
        "accept": ACCEPT,
        "max_bytes": uploads.limit_bytes(),
        "files": given,
        "plan_url": reverse("runs:plan_preview"),
        **_plan(request, form, given),
    }
    answer = render(request, "runs/new_task.html", context, status=status)
    answer["Cache-Control"] = "no-store" if status != 200 else "private, no-cache"
    return answer


def _free(agent: Agent) -> dict[str, Any]:
    if agent.any_tool:
        return {"mark": "person", "text": _("Whatever you choose; what cannot be undone asks first")}
    return {"mark": "eye", "text": _("Changes nothing by itself")}


def _card(request: MemberRequest, agent: Agent, chosen: Agent) -> dict[str, Any]:
    """A card: what it does, what it needs, which irreversible actions it may propose."""
    wants = cast(Mapping[str, Any], agent.input_schema.get("properties") or {}).get(FILES)
    may = [
        {"mark": "seal", "text": _("May propose: %(what)s") % {"what": _(contract.tool.title)}}
        for contract in may_propose(tenant_id=request.tenant.pk, agent=agent)
    ]
    return {
        "name": agent.name,
        "title": _(agent.title),
        "summary": _(agent.description),
        "needs": [{"mark": "file-text", "text": _(str(wants.get("description") or "Needs files"))}]
        if wants
        else [],
        "may": may or [_free(agent)],
        "checked": agent.name == chosen.name,
    }

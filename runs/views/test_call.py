"""Test calls in the editor of a contract: start one, and say how it goes until it has ended."""

import json
import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.access import MemberRequest, member
from accounts.canonical import BadInput, strict_loads
from accounts.errors import Refused
from accounts.models import Role
from accounts.said import read
from runs.agents.tool_test import CALL, ToolTest
from runs.models import Run, Step
from runs.states import RUN_TERMINAL
from runs.verbs.test_call import test_call
from runs.views.lookup import run_or_404
from tools.models import Tool

#: Characters of an answer that are shown; the whole of it stands in the task.
SHOWN = 10_000


@require_POST
@member(Role.ADMINISTRATOR)
def start(request: MemberRequest, name: str) -> HttpResponse:
    """Call the version in force with the arguments that were typed."""
    if not Tool.objects.filter(name=name).exists():
        raise Http404
    try:
        arguments = strict_loads(request.POST.get("example") or "{}")
    except BadInput as bad:
        return _said(request, _("The example is no JSON: %s") % bad.text)
    if not isinstance(arguments, dict):
        return _said(request, _("The example is a JSON object, in braces."))
    try:
        run = test_call(tenant_id=request.tenant.pk, by=request.user.pk, tool=name, arguments=arguments)
    except Refused as refused:
        return _said(request, str(refused.text))
    return render(request, "runs/partials/test_call.html", _context(run))


@never_cache
@require_safe
@member(Role.ADMINISTRATOR)
def state(request: MemberRequest, run_id: uuid.UUID) -> HttpResponse:
    """How it goes; asked again until it has ended."""
    run = run_or_404(run_id)
    if run.agent != ToolTest.name:
        raise Http404
    return render(request, "runs/partials/test_call.html", _context(run))


def _said(request: MemberRequest, words: str) -> HttpResponse:
    return render(request, "runs/partials/test_call.html", {"refused": words})


def _context(run: Run) -> dict[str, Any]:
    step = Step.objects.select_related("contract").filter(run=run, key=CALL).first()
    over = run.status in RUN_TERMINAL or run.status == "PAUSED"
    text = (
        "" if step is None or step.output is None else json.dumps(step.output, indent=2, ensure_ascii=False)
    )
    took = (
        (step.finished_at - step.started_at).total_seconds()
        if step and step.finished_at and step.started_at
        else None
    )
    return {
        "run": run,
        "step": step,
        "over": over or (step is not None and step.finished_at is not None),
        "answer": text[:SHOWN],
        "cut": len(text) > SHOWN,
        "took": took,
        "why": read(step.error_text) if step else "",
    }

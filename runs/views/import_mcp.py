"""Tools from an MCP server: name it, a node asks it for its list, choose, and get drafts to confirm.

The web process starts nothing and waits for nobody: asking for the list is a task like any other.
"""

import uuid
from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import MemberRequest, member
from accounts.models import Role
from accounts.views.answer import attempt
from runs.engine.submit import submit
from runs.models import Run, Step
from runs.states import RUN_TERMINAL
from runs.views.lookup import run_or_404
from tools import connections, drifts
from tools.errors import ContractRefused
from tools.forms.tool import RESERVED
from tools.mcp.definition import differences
from tools.models import Contract, Secret, Tool
from tools.selectors import by_id, in_force
from tools.views.importing import import_as_drafts

ADDRESS = ""


class SourceForm(forms.Form):
    """Which server, and what the names of its tools begin with."""

    begins = forms.RegexField(
        r"^[a-z][a-z0-9_]*$",
        max_length=20,
        label=gettext_lazy("Names begin with"),
        help_text=gettext_lazy(
            "One word in small letters, like git: its tools are called git.status and so on."
        ),
    )
    server = forms.ChoiceField(
        label=gettext_lazy("Server"),
        required=False,
        help_text=gettext_lazy(
            "Servers that are started here are named by this deployment, never by a contract."
        ),
    )
    url = forms.URLField(
        label=gettext_lazy("Address"),
        required=False,
        max_length=500,
        assume_scheme="https",
        help_text=gettext_lazy("Of streamable HTTP, like https://mcp.linden.example/mcp."),
    )
    secret = forms.ChoiceField(
        label=gettext_lazy("Proves who we are with"),
        required=False,
        help_text=gettext_lazy("A secret of yours, sent as a bearer token with every request."),
    )
    submit_key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, slug: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(name, name) for name in connections.servers_for(slug)]
        secrets = Secret.objects.order_by("name").values_list("name", flat=True)
        _choose(self.fields["server"], [*named, (ADDRESS, _("at an address"))])
        _choose(self.fields["secret"], [("", _("nothing")), *((name, name) for name in secrets)])

    def clean_begins(self) -> str:
        begins = str(self.cleaned_data["begins"])
        if begins in RESERVED:
            raise forms.ValidationError(_("This name is taken by a page."))
        return begins

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        if not found.get("server") and not found.get("url") and "url" not in self.errors:
            self.add_error("url", _("Give an address, or choose a server."))
        return found


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def import_mcp(request: MemberRequest) -> HttpResponse:
    """The source. POST makes its connection and asks for the list."""
    initial = {"submit_key": uuid.uuid4()}
    form = SourceForm(request.POST or None, initial=initial, slug=request.tenant.slug)
    if request.method == "POST" and form.is_valid():
        run = _asked(request, form)
        if run is not None:
            return redirect("runs:import_mcp_list", run.pk)
    return render(request, "runs/import_mcp.html", {"form": form})


def _asked(request: MemberRequest, form: SourceForm) -> Run | None:
    typed = form.cleaned_data
    try:
        connection = attempt(
            request,
            lambda: connections.connect(
                tenant_id=request.tenant.pk,
                by=request.user.pk,
                **{name: typed[name] for name in ("begins", "server", "url", "secret")},
            ),
            form,
        )
    except ContractRefused as refused:
        for problem in refused.problems:
            form.add_error(None, str(problem))
        return None
    if connection is None:
        return None
    run, _created = submit(
        tenant_id=request.tenant.pk,
        submitter_id=request.user.pk,
        agent="steps",
        goal=_("Ask for the tools of “%s”") % typed["begins"],
        input={"steps": [{"tool": connection.tool.name, "arguments": {}}]},
        submit_key=f"mcp-list:{typed['submit_key']}",
    )
    return run


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@member(Role.ADMINISTRATOR)
def import_mcp_list(request: MemberRequest, run_id: uuid.UUID) -> HttpResponse:
    """What the server offers, once a node has asked. POST makes drafts of what is chosen; nothing is in force afterwards."""
    run = run_or_404(run_id)
    connection = _connection(run)
    step = Step.objects.filter(run=run, key="step/1").first()
    output = step.output if step and step.status == "SUCCEEDED" and isinstance(step.output, dict) else {}
    found = connections.offered(definitions=output.get("tools") or [], connection=connection)
    known = set(Tool.objects.values_list("name", flat=True))
    if request.method == "POST" and found:
        chosen = set(request.POST.getlist("tool"))
        made = [one for one in found if one.name in chosen and one.name not in known]
        if made:
            return import_as_drafts(request, made)
    context = {
        "run": run,
        "connection": connection,
        "rows": _rows(request, found, known),
        "waits": not output and run.status not in RUN_TERMINAL,
        "failure": (step.error_text if step else "") or str((run.failure or {}).get("text") or ""),
        "left_out": bool(output.get("left_out")),
    }
    return render(request, "runs/import_mcp_list.html", context)


def _rows(request: MemberRequest, found: list[connections.Offered], known: set[str]) -> list[dict[str, Any]]:
    """With a word on those that are confirmed as something else: their next call would stop them."""
    live = {one.tool.name: one for one in in_force(tenant_id=request.tenant.pk)} if known else {}
    return [
        {
            "offered": one,
            "known": one.name in known,
            "differs": bool(
                (pinned := drifts.pinned_by(live.get(one.name))) and differences(pinned, one.definition)
            ),
        }
        for one in found
    ]


def _connection(run: Run) -> Contract:
    """The contract under which the run asks. 404 for any other run."""
    steps = run.input.get("steps") if run.agent == "steps" else None
    name = str(steps[0].get("tool")) if isinstance(steps, list) and steps else ""
    pinned = run.contracts.get(name)
    if not name.endswith(connections.ENDS) or not pinned:
        raise Http404
    contract = by_id(uuid.UUID(pinned))
    if contract.adapter != "mcp":
        raise Http404
    return contract


def _choose(field: forms.Field, choices: list[tuple[str, str]]) -> None:
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices

"""The audit chain, read only, for administrators: searched, and exported."""

import uuid
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts import audit_reads, ids, selectors, sheets
from accounts.access import MemberRequest, member
from accounts.audit_reads import Search
from accounts.models import Role
from accounts.scope import tenant_scope


class SearchForm(forms.Form):
    """What is looked for. Every field may be empty."""

    who = forms.CharField(label=_("Who"), required=False, max_length=60)
    act = forms.CharField(label=_("Act"), required=False, max_length=60)
    run = forms.CharField(label=_("Task"), required=False, max_length=60)
    tool = forms.CharField(label=_("Tool"), required=False, max_length=80)
    since = forms.DateField(
        label=_("Since"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    until = forms.DateField(
        label=_("Until"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )

    def __init__(self, *args: Any, people: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["who"] = forms.ChoiceField(
            label=_("Who"),
            required=False,
            choices=[("", _("Everybody")), *people, ("engine", _("The engine"))],
        )

    def clean_run(self) -> uuid.UUID | None:
        """``run_…``, or a bare id."""
        text = self.cleaned_data["run"].strip()
        try:
            return ids.parse("run", text) if text else None
        except ids.BadId:
            raise forms.ValidationError(
                _("This is no id of a task: it looks like run_ and 32 signs.")
            ) from None

    @property
    def search(self) -> Search:
        """Only after it was found valid. Days are those of the reader's zone; the last one belongs to it."""
        given = self.cleaned_data
        until = given["until"]
        return Search(
            act=given["act"].strip(),
            who=given["who"],
            run_id=given["run"],
            tool=given["tool"].strip(),
            since=_midnight(given["since"]) if given["since"] else None,
            until=_midnight(until + timedelta(days=1)) if until else None,
        )


@require_safe
@member(Role.ADMINISTRATOR)
def audit(request: MemberRequest) -> HttpResponse:
    """A page of what was looked for, the newest first."""
    asked = request.GET.get("before", "")
    if asked and not (asked.isdecimal() and len(asked) < 19):
        raise Http404
    form = _form(request)
    found = form.is_valid()
    rows = []
    if found:
        rows = audit_reads.page(
            tenant_id=request.tenant.pk, search=form.search, before=int(asked) if asked else None
        )
    shown = rows[: audit_reads.PAGE]
    given = {name: str(value) for name, value in request.GET.items() if name in form.fields and value}
    older = urlencode({**given, "before": shown[-1].sequence}) if len(rows) > len(shown) else ""
    first = not asked and not given
    context = {
        "room": "audit",
        "form": form,
        "searching": bool(given),
        "entries": shown,
        "older": older,
        "exports": _exports(given) if found else [],
        "alerts": selectors.alerts(tenant_id=request.tenant.pk) if first else [],
    }
    return render(request, "accounts/audit.html", context)


@require_safe
@member(Role.ADMINISTRATOR)
def audit_jsonl(request: MemberRequest) -> StreamingHttpResponse:
    """Lines of JSON; everything, without a search, can be verified (``manage.py verify_audit``)."""
    search, tenant_id = _search(request), request.tenant.pk

    def lines() -> Iterator[bytes]:
        with tenant_scope(tenant_id):
            yield from audit_reads.dump(tenant_id=tenant_id, search=search)

    return _file(lines(), "application/jsonl", "audit.jsonl")


@require_safe
@member(Role.ADMINISTRATOR)
def audit_csv(request: MemberRequest) -> StreamingHttpResponse:
    """A table that no spreadsheet runs."""
    search, tenant_id = _search(request), request.tenant.pk
    end = int(audit_reads.head(tenant_id=tenant_id)["sequence"])

    def lines() -> Iterator[bytes]:
        with tenant_scope(tenant_id):
            rows = audit_reads.entries(tenant_id=tenant_id, search=search, end=end)
            for line in sheets.lines(audit_reads.COLUMNS, map(audit_reads.cells, rows)):
                yield line.encode()

    return _file(lines(), "text/csv; charset=utf-8", "audit.csv")


def _form(request: MemberRequest) -> SearchForm:
    people = [(one.pk.hex, one.name) for one in audit_reads.people(tenant_id=request.tenant.pk)]
    return SearchForm(request.GET, people=people)


def _search(request: MemberRequest) -> Search:
    form = _form(request)
    if not form.is_valid():
        raise Http404
    return form.search


def _exports(given: dict[str, str]) -> list[dict[str, str]]:
    query = f"?{urlencode(given)}" if given else ""
    return [
        {"label": label, "url": reverse(f"accounts:{name}") + query}
        for name, label in (("audit_jsonl", "JSONL"), ("audit_csv", "CSV"))
    ]


def _file(lines: Iterator[bytes], kind: str, name: str) -> StreamingHttpResponse:
    answer = StreamingHttpResponse(lines, content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["Cache-Control"] = "no-store"
    return answer


def _midnight(day: Any) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))

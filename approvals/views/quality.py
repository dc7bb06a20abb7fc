"""How people decide, for administrators: a page, and the same as a table for spreadsheets."""

import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts import audit_reads, sheets
from accounts.access import MemberRequest, member
from accounts.models import Role
from approvals import quality
from tools.models import Tool

COLUMNS = (
    *("kind", "name", "answers", "approved", "rejected", "changes_asked", "edited", "taken_back"),
    *("waited_p50_s", "waited_p95_s", "looked_p50_s", "looked_p95_s", "looked_known"),
    *("payload_opened", "payload_not_opened", "payload_unknown", "high_risk_under_5_s"),
)


class PeriodForm(forms.Form):
    """Which answers are counted."""

    days = forms.TypedChoiceField(label=_("Period"), coerce=int)
    tool = forms.ChoiceField(label=_("Tool"), required=False)
    who = forms.ChoiceField(label=_("Who"), required=False)

    def __init__(self, *args: Any, tenant_id: uuid.UUID, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = [(n, ngettext("the last day", "the last %s days", n) % n) for n in quality.PERIODS]
        people = [(one.pk.hex, one.name) for one in audit_reads.people(tenant_id=tenant_id)]
        found = Tool.everywhere.filter(tenant_id=tenant_id).exclude(name__startswith=Tool.DRILL)
        tools = found.order_by("name").values_list("name", "title")
        self._choose("days", days, initial=30)
        self._choose("tool", [("", _("every tool")), *((name, f"{title} ({name})") for name, title in tools)])
        self._choose("who", [("", _("everybody")), *people])

    def _choose(self, name: str, choices: list[Any], initial: Any = "") -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices, field.initial = choices, initial


@require_safe
@member(Role.ADMINISTRATOR)
def page(request: MemberRequest) -> HttpResponse:
    """The answers of a period, by person and by tool."""
    form, found = _read(request)
    given = {name: str(value) for name, value in form.cleaned_data.items() if value}
    context = {
        "room": "quality",
        "form": form,
        "people": found.people,
        "tools": found.tools,
        "export": f"{reverse('quality:export')}?{urlencode(given)}",
    }
    return render(request, "approvals/quality.html", context)


@require_safe
@member(Role.ADMINISTRATOR)
def export(request: MemberRequest) -> StreamingHttpResponse:
    """The same numbers as a table that no spreadsheet runs (fault B85)."""
    _form, found = _read(request)
    rows = [("person", one) for one in found.people] + [("tool", one) for one in found.tools]
    lines: Iterator[bytes] = (
        line.encode() for line in sheets.lines(COLUMNS, (_cells(kind, one) for kind, one in rows))
    )
    answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="decisions.csv"'
    return answer


def _read(request: MemberRequest) -> tuple[PeriodForm, quality.Quality]:
    form = PeriodForm({"days": "30", **request.GET.dict()}, tenant_id=request.tenant.pk)
    if not form.is_valid():
        raise Http404
    given = form.cleaned_data
    who = uuid.UUID(given["who"]) if given["who"] else None
    return form, quality.read(tenant_id=request.tenant.pk, days=given["days"], tool=given["tool"], who=who)


def _cells(kind: str, one: quality.Line) -> list[str]:
    times = [*(one.waited or ("", "")), *(one.looked or ("", ""))]
    return [
        kind,
        one.name,
        *map(str, (one.answers, one.approved, one.rejected, one.sent_back, one.edited, one.taken_back)),
        *(f"{seconds:.1f}" if seconds != "" else "" for seconds in times),
        *map(str, (one.looked_at, one.opened, one.unopened, one.unknown, one.hasty)),
    ]

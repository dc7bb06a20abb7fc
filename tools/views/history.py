"""All versions of a contract: who, when, why, and the difference between any two."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.access import MemberRequest, member
from accounts.models import Role
from tools.models import Contract, Review, Tool
from tools.present import changes as differences
from tools.views.register import one
from tools.views.sheet import frame, sheet_of

#: Versions on one page; older ones are reached by choosing them for comparison.
SHOWN = 50


@never_cache
@require_safe
@member(Role.ADMINISTRATOR)
def history(request: MemberRequest, name: str) -> HttpResponse:
    """Newest first, each with what it changed. ``then`` and ``now`` choose two versions to compare."""
    sheet = sheet_of(one(name), None)
    rows = list(
        Contract.objects.select_related("tool", "published_by", "created_by")
        .filter(tool=sheet.tool)
        .order_by("-version")
    )
    asked = _reviews(sheet.tool)
    earlier = [*rows[1:], None]
    versions = [
        {
            "contract": row,
            "changes": differences.changes(before, row),
            "asked_by": asked.get(row.version) if row.published_by_id else None,
        }
        for row, before in list(zip(rows, earlier, strict=True))[:SHOWN]
    ]
    context = {**frame(sheet, "history"), "versions": versions, "numbers": [row.version for row in rows]}
    return render(request, "tools/history.html", {**context, **_compared(request, rows)})


def _compared(request: MemberRequest, rows: list[Contract]) -> dict[str, Any]:
    """The difference between two chosen versions; the newest two are chosen before anybody chooses."""
    known = {str(row.version): row for row in rows}
    then, now = known.get(request.GET.get("then", "")), known.get(request.GET.get("now", ""))
    if then is None or now is None:
        newest = [row.version for row in rows[:2]]
        return {"then": newest[-1] if newest else None, "now": newest[0] if newest else None}
    return {
        "then": then.version,
        "now": now.version,
        "compared": differences.changes(then, now),
        "asked": True,
    }


def _reviews(tool: Tool) -> dict[int, str]:
    """Who asked for the review that ended in each version."""
    rows = Review.everywhere.filter(tool=tool, outcome=Review.Outcome.PUBLISHED)
    return dict(rows.values_list("version", "asked_by__name"))

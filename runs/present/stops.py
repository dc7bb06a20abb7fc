"""What people stopped, in words: who, why, since when, and what a stop does not call back."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs.models import Run, Step
from runs.present.header import Banner, Now
from runs.states import RUN_TERMINAL
from tools import switches
from tools.switches import Standing


@dataclass(frozen=True, slots=True)
class Row:
    """One open stop on the page of stops. ``lift_url``: where it is lifted."""

    stop: Standing
    what: str
    what_url: str
    under_way: str
    lift_url: str


def rows(*, tenant_id: uuid.UUID) -> list[Row]:
    """Every open stop of the tenant."""
    standing = switches.standing(tenant_id=tenant_id)
    goals = dict(Run.objects.filter(pk__in=[one.run_id for one in standing]).values_list("pk", "goal"))
    return [_row(tenant_id, one, goals) for one in standing]


def under_way(count: int) -> str:
    """What was let go before, truthfully; empty when nothing was."""
    if not count:
        return ""
    return ngettext(
        "%(n)s call is already being sent; a stop does not call it back.",
        "%(n)s calls are already being sent; a stop does not call them back.",
        count,
    ) % {"n": count}


def of_run(run: Run, steps: Sequence[Step]) -> list[Standing]:
    """The open stops that hold up this run: its own, that of everything, and those of tools that it is about to call."""
    if run.status in RUN_TERMINAL:
        return []
    next_ = {step.tool for step in steps if step.tool and step.status in ("PENDING", "WAITING_EXTERNAL")}
    return [
        one
        for one in switches.standing(tenant_id=run.tenant_id)
        if one.scope == "tenant" or one.run_id == run.pk or one.tool in next_
    ]


def banner(run: Run, standing: Sequence[Standing], *, may_lift: bool) -> Banner | None:
    """The widest stop, with what is under way."""
    if not standing:
        return None
    first = standing[0]
    lead = {
        "tenant": _("%(by)s stopped everything."),
        "tool": _("%(by)s stopped a tool that it needs."),
        "run": _("%(by)s stopped this task."),
    }[first.scope] % {"by": first.by}
    if first.scope == "tool":
        rest = _("Steps that need %(tool)s wait until somebody lets it go on.") % {"tool": first.title}
    else:
        rest = _("Nothing new starts until somebody lifts it.")
    told = [f"“{first.reason}”", rest, under_way(switches.sending(tenant_id=run.tenant_id, run_id=run.pk))]
    url = ""
    if may_lift:
        url = reverse("runs:go_on", args=[run.pk]) if first.scope == "run" else reverse("runs:stops")
    return Banner("waiting", "paused", lead, " ".join(filter(None, told)), url, _("Lift…") if url else "")


def now(standing: Sequence[Standing], steps: Sequence[Step]) -> Now | None:
    """What happens in a task that is stopped as a whole: nothing, unless something was under way."""
    whole = next((one for one in standing if one.scope != "tool"), None)
    if whole is None or any(step.status == "RUNNING" for step in steps):
        return None
    return Now(_("Stopped by %(by)s") % {"by": whole.by}, whole.at)


def _row(tenant_id: uuid.UUID, one: Standing, goals: dict[uuid.UUID, str]) -> Row:
    if one.run_id is not None:
        what, what_url = goals.get(one.run_id, _("a task")), reverse("runs:task_detail", args=[one.run_id])
        lift_url = reverse("runs:go_on", args=[one.run_id])
    elif one.scope == "tool":
        what, what_url, lift_url = one.title, reverse("tools:tool", args=[one.tool]), ""
    else:
        what, what_url, lift_url = _("Everything"), "", reverse("runs:lift_everything")
    count = switches.sending(tenant_id=tenant_id, run_id=one.run_id, tool=one.tool)
    return Row(one, what, what_url, under_way(count), lift_url)

"""A house whose tools have limits, and hands that call them. For tests of quotas, of the order on a resource and of the rule
when another worker may take a step."""

from __future__ import annotations

from typing import Any

from django.db.models.functions import Now

from accounts.models import Role
from runs.engine.types import Claimed
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools import samples
from tools.models import Contract, Intent, QuotaWindow

ACCOUNT = {
    "type": "object",
    "properties": {"account": {"type": "string"}, "answer": {"type": "string"}},
}
EFFECT: dict[str, Any] = {
    "target": "drill.effect",
    "effect_class": "compensable",
    "compensating_tool": "drill.undo",
    "isolation": "thread",
    "input_schema": ACCOUNT,
}
READ: dict[str, Any] = {"target": "drill.noop", "effect_class": "read_only", "isolation": "io"}
STRICT: dict[str, Any] = {"fence_rule": "strict", "resource": "account/{account}"}


class House:
    """A tenant with its people and tools, and a worker."""

    def __init__(self) -> None:
        self.tenant = make.tenant()
        self.approver = make.person(self.tenant, Role.APPROVER)
        self.ada = make.person(self.tenant, Role.SUBMITTER, name="Ada")
        samples.seed(self.tenant)
        self.me = hands.worker()

    def effect(self, name: str = "drill.effect", **limits: Any) -> Contract:
        return make.contract(self.tenant, name, **{**EFFECT, "target": name, **limits})

    def read(self, name: str = "drill.noop", **limits: Any) -> Contract:
        return make.contract(self.tenant, name, **{**READ, "target": name, **limits})

    def run(self, tool: str = "drill.effect", account: str = "7", steps: int = 1) -> Run:
        arguments = {"account": account} if tool.startswith("drill.effect") else {}
        return hands.counter_run(self.tenant, self.ada, steps=steps, tool=tool, arguments=arguments)

    def asked(self, *runs: Run) -> list[Claimed]:
        """Their calls, planned and claimed, in the order of the runs."""
        claimed = {one.run_id: one for one in self.planned()}
        return [claimed[run.pk] for run in runs]

    def planned(self) -> list[Claimed]:
        """Plans whatever is to be planned; the calls that are claimed then."""
        calls: list[Claimed] = []
        while found := hands.take(self.me):
            calls += [one for one in found if one.kind != "plan"]
            hands.put(self.me, *[hands.done(one) for one in found if one.kind == "plan"])
        return calls


def step(run: Run) -> Step:
    found: Step = Step.everywhere.get(run=run, kind="call")
    return found


def again(run: Run) -> Run:
    found: Run = Run.everywhere.get(pk=run.pk)
    return found


def intent(run: Run) -> Intent:
    found: Intent = Intent.everywhere.get(run_id=run.pk)
    return found


def pass_time(minutes: int = 61) -> None:
    """The calls that were counted are so much older, and so is what was promised."""
    for window in QuotaWindow.everywhere.all():
        older = window.first - minutes * 60 // (window.seconds // 60)
        QuotaWindow.everywhere.filter(pk=window.pk).update(first=older)
    Step.everywhere.filter(status="WAITING_EXTERNAL").update(not_before=Now())

"""One run with one effect whose far side is of a class: what its contract says is what the test gives. The far side and the
processes are missing; the test says what they said."""

from __future__ import annotations

from typing import Any

from accounts.ids import new_id
from accounts.models import Role
from approvals.decide import decide
from approvals.models import PendingAction
from runs.engine.begin import begin
from runs.engine.resume import resume_decided
from runs.engine.types import Claimed, Go, Outcome
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools.models import EffectClass, Intent, WorkerProcess
from tools.workers import gone

ASKED = {
    "result_query": "drill.noop",
    "query_arguments": {
        "key": {"from": "key"},
        "number": {"from": "argument", "pointer": "/invoice/number"},
    },
    "query_answer": {"pointer": "/state", "yes": ["booked"], "no": ["none"], "reference": "/id"},
}
KEYS = {"native_idempotency": True, "retry_safe": True}
READING = {"effect_class": EffectClass.READ_ONLY, "target": "drill.noop"}


class Doubtful:
    """``declared`` is added to a contract that can be undone, so that nobody has to approve it."""

    def __init__(self, **declared: Any) -> None:
        self.tenant = make.tenant()
        self.approver = make.person(self.tenant, Role.APPROVER)
        self.ada = make.person(self.tenant, Role.SUBMITTER, name="Ada")
        make.contract(self.tenant, "drill.noop", **READING)
        self.contract = make.contract(
            self.tenant,
            "drill.effect",
            **{
                "target": "drill.effect",
                "effect_class": EffectClass.COMPENSABLE,
                "compensating_tool": "drill.undo",
                "backoff_seconds": 0,
                **declared,
            },
        )
        self.me = hands.worker()
        self.children: list[Any] = []
        call = {"do": "call", "key": "pay", "tool": "drill.effect", "arguments": {"invoice": {"number": 7}}}
        self.run_id = hands.script_run(self.tenant, self.ada, [call]).pk
        (planning,) = hands.take(self.me)
        hands.put(self.me, hands.done(planning))

    @property
    def run(self) -> Run:
        found: Run = Run.everywhere.get(pk=self.run_id)
        return found

    @property
    def step(self) -> Step:
        found: Step = Step.everywhere.get(run_id=self.run_id, kind="call")
        return found

    @property
    def intent(self) -> Intent:
        found: Intent = Intent.everywhere.get(run_id=self.run_id, compensates__isnull=True)
        return found

    @property
    def queries(self) -> list[Step]:
        return list(Step.everywhere.filter(run_id=self.run_id, kind="query").order_by("seq"))

    @property
    def settles(self) -> list[PendingAction]:
        rows = PendingAction.everywhere.filter(run_id=self.run_id, kind="settle")
        return list(rows.order_by("opened_at"))

    def claim(self, kind: str) -> Claimed:
        (claimed,) = [one for one in hands.take(self.me) if one.kind == kind]
        return claimed

    def send(self) -> tuple[Claimed, Go]:
        """A new child is told to send."""
        claimed = self.claim("call")
        self.children.append(new_id())
        go = begin(
            claimed=claimed, worker_id=self.me.pk, sender=self.children[-1], pid=70 + len(self.children)
        )
        assert isinstance(go, Go), go
        return claimed, go

    def lost(self, ending: Any = "lost", **more: Any) -> tuple[Claimed, Go]:
        """It was sent, and the answer is lost: its child died, or says itself that nobody can tell (``unknown``)."""
        claimed, go = self.send()
        hands.put(self.me, Outcome(claimed, ending, dispatch_id=go.dispatch_id, **more))
        return claimed, go

    def child_is_gone(self) -> None:
        """Long ago, so that the quiet time is over."""
        gone(worker_id=self.children[-1], how="supervisor")
        WorkerProcess.objects.filter(pk=self.children[-1]).update(stopped_at="2020-01-01T00:00:00Z")

    def due(self) -> None:
        """Time passes: what is planned for later may be claimed."""
        Step.everywhere.filter(run_id=self.run_id, status="PENDING").update(not_before="2020-01-01T00:00:00Z")

    def answer(self, output: Any) -> None:
        """The far side answers the question that is on its way."""
        self.due()
        asking = self.claim("query")
        hands.put(self.me, Outcome(asking, "succeeded", output))

    def settle(self, verdict: str, **more: Any) -> None:
        action = self.settles[-1]
        decide(
            action_id=action.pk,
            user_id=self.approver.pk,
            verdict=verdict,
            digest=action.digest,
            generation=action.generation,
            channel="web",
            authenticated="session",
            fresh=True,
            **more,
        )
        resume_decided()

    def finish(self) -> None:
        hands.run_all(self.me, lambda one: hands.sent(self.me, one) if one.intent_id else hands.done(one))

"""Plain builders for tasks: a house with its contracts, and reviews that have come this far or that far. The engine's own
verbs and the real tools make every row; only the processes of a node are missing."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db import transaction

from accounts.ids import new_id
from accounts.models import Role, Tenant, User
from accounts.scope import tenant_scope
from approvals.decide import decide
from approvals.models import PendingAction
from runs import uploads
from runs.agents.contract_review import tools as review_tools
from runs.engine.begin import begin
from runs.engine.resume import resume_decided
from runs.engine.submit import submit
from runs.engine.types import Claimed, Go, Outcome, Stored
from runs.models import Artifact, Run, Step
from runs.node.tool_context import StepContext
from tests.make import people
from tests.runs.engine import hands
from tools import samples
from tools.models import WorkerProcess

ADDRESS = "legal@halden-freight.example"
CONTRACT = """MASTER SERVICES AGREEMENT

This Master Services Agreement (the "Agreement") is entered into as of January 1, 2026 (the "Effective Date") by and
between Linden Instruments Ltd. ("Customer") and Halden Freight Ltd. ("Supplier").

1. Term. This Agreement shall continue until December 31, 2099 and shall automatically renew for successive one (1) year
periods unless either party gives written notice of non-renewal at least ninety (90) days prior to the end of the
then-current term.

2. Governing Law. This Agreement shall be governed by the laws of the State of New York.
"""
CAST = {"Ada": Role.SUBMITTER, "Ben": Role.APPROVER, "Jonas": Role.ADMINISTRATOR}


class _Work:
    """What a tool's context needs of a claimed step."""

    def __init__(self, claimed: Claimed, given: dict[str, Any]) -> None:
        self.key, self.intent_key, self.run, self.tenant = claimed.key, "", claimed.run_id, claimed.tenant_id
        self.fence, self.timeout, self.given, self.spec = claimed.fence, 60.0, given, claimed.spec
        self.lease_until = float("inf")


@dataclass
class House:
    """A tenant with its cast and contracts, an outsider, and hands that do the work of a node."""

    tenant: Tenant
    other: Tenant
    ada: User  # submitter
    ben: User  # approver
    jonas: User  # administrator
    otto: User  # all roles, in another tenant
    me: WorkerProcess = field(default_factory=hands.worker)

    def upload(
        self, text: str | bytes = CONTRACT, name: str = "halden.txt", *, by: User | None = None
    ) -> Artifact:
        data = text.encode() if isinstance(text, str) else text
        owner = by or self.ada
        return uploads.keep(tenant_id=self.tenant.pk, user_id=owner.pk, name=name, stream=io.BytesIO(data))

    def submitted(
        self, *files: Artifact, goal: str = "Review the Halden contract", notify: str = ADDRESS
    ) -> Run:
        """A task that no worker has seen yet."""
        run, _ = submit(
            tenant_id=self.tenant.pk,
            submitter_id=self.ada.pk,
            agent="contract-review",
            goal=goal,
            input={"notify": notify} if notify else {},
            submit_key=new_id().hex,
            uploads=[file.pk for file in files or (self.upload(),)],
        )
        return run

    def reviewed(self, *files: Artifact, **given: Any) -> Run:
        """A task whose documents are read: it waits for the approval of its letter, or is done when it has none."""
        run = self.submitted(*files, **given)
        hands.run_all(self.me, work)
        return again(run)

    def counted(self, steps: int = 2, *, goal: str = "Count", by: User | None = None, **given: Any) -> Run:
        """A task of steps that do nothing; not begun."""
        run = hands.counter_run(self.tenant, by or self.ada, steps=steps, **given)
        Run.everywhere.filter(pk=run.pk).update(goal=goal)
        return again(run)

    def finish(self) -> None:
        hands.run_all(self.me, work)

    def action(self, run: Run, kind: str = "approve") -> PendingAction:
        found: PendingAction = PendingAction.everywhere.filter(run_id=run.pk, kind=kind).latest("opened_at")
        return found

    def answer(self, run: Run, verdict: str, kind: str = "approve", **more: Any) -> None:
        asked = self.action(run, kind)
        seen = {"digest": asked.digest, "generation": asked.generation, "gesture": asked.second_gesture}
        decide(
            action_id=asked.pk,
            verdict=verdict,
            channel="web",
            authenticated="password",
            fresh=True,
            **{"user_id": self.ben.pk, **seen, **more},
        )
        resume_decided()

    def sending(self, run: Run) -> tuple[Claimed, Go]:
        """Approved and begun: on its way to the mail server."""
        self.answer(run, "approve")
        (claimed,) = hands.take(self.me)
        go = begin(claimed=claimed, worker_id=self.me.pk, sender=new_id(), pid=77)
        assert isinstance(go, Go)
        return claimed, go

    def sent(self, run: Run) -> Run:
        claimed, go = self.sending(run)
        answer = {"reply": "250 ok"}
        hands.put(
            self.me,
            Outcome(
                claimed, "succeeded", answer, dispatch_id=go.dispatch_id, reference="<id@linden.example>"
            ),
        )
        self.finish()
        return again(run)

    def lost(self, run: Run) -> Run:
        """Its worker died while sending: nobody can tell."""
        claimed, go = self.sending(run)
        hands.put(self.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
        return again(run)

    def scope(self) -> Any:
        return tenant_scope(self.tenant.pk)


def house() -> House:
    tenant, other = people.tenant(), people.tenant("aldergate")
    ada, ben, jonas = (people.person(tenant, role, name=name) for name, role in CAST.items())
    otto = people.person(other, *Role.values, name="Otto Fremd")
    people.person(other, Role.APPROVER, name="Olga Fremd")
    with transaction.atomic():
        samples.seed(tenant)
    return House(tenant=tenant, other=other, ada=ada, ben=ben, jonas=jonas, otto=otto)


def work(claimed: Claimed) -> Outcome:
    """What a node's child does with a step of the contract reviewer."""
    tool = {"contracts.review": review_tools.review, "contracts.join": review_tools.join}.get(claimed.tool)
    if tool is None:
        return hands.done(claimed)
    given = orjson.loads(claimed.arguments)
    ctx = StepContext(_Work(claimed, given))  # type: ignore[arg-type]
    output = tool(ctx, given["arguments"])
    files = [Stored(**stored) for stored in ctx.files]
    return Outcome(
        claimed,
        "succeeded",
        output,
        artifacts=files,
        plan=hands.planned(claimed, output=output),
        milliseconds=1200,
    )


def again(run: Run) -> Run:
    found: Run = Run.everywhere.get(pk=run.pk)
    return found


def steps_of(run: Run) -> list[Step]:
    return list(Step.everywhere.filter(run=run).exclude(kind="plan").order_by("seq"))

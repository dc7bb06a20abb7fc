"""An effect before a step that waits: whatever becomes of the wait, it happens one time."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.ids import new_id
from accounts.models import Role
from approvals.decide import decide
from approvals.models import PendingAction
from runs.engine.begin import begin
from runs.engine.cancel import cancel
from runs.engine.reclaim import reclaim
from runs.engine.resume import resume_decided
from runs.engine.types import Claimed, Go, Outcome, Plan
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools import samples
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)

MAIL = {"to": "legal@halden.example", "subject": "Notice", "text": "We do not renew."}
FIRST = {"do": "call", "key": "first", "tool": "drill.effect", "arguments": {}}
GATED = {"do": "call", "key": "gated", "tool": "mail.send", "arguments": MAIL, "after": {}}


class Story:
    """An effect that needs nobody (A), then one that a person has to allow (B). Every send is counted."""

    def __init__(self) -> None:
        self.tenant = make.tenant()
        self.approver = make.person(self.tenant, Role.APPROVER)
        self.submitter = make.person(self.tenant, Role.SUBMITTER, name="Ada")
        samples.seed(self.tenant)
        self.me = hands.worker()
        self.sends: list[str] = []
        self.plans = 0
        self.run_id = hands.counter_run(self.tenant, self.submitter, steps=2, tool="drill.effect").pk
        hands.run_all(self.me, self.act)

    def plan(self, claimed: Claimed) -> Plan:
        """Every plan names both steps again, from the top, as an agent that forgot would."""
        self.plans += 1
        ended = Step.everywhere.filter(run_id=self.run_id, kind="call", finished_at__isnull=False)
        keys = set(ended.values_list("key", flat=True)) | {claimed.key}
        both = [FIRST, GATED] if "first" in keys else [FIRST]
        if "gated" in keys:
            both.append({"do": "finish", "result": {}})
        return Plan(claimed.version, both)

    def act(self, claimed: Claimed) -> Outcome:
        if claimed.kind == "plan":
            return Outcome(claimed, "succeeded", None, plan=self.plan(claimed))
        go = begin(claimed=claimed, worker_id=self.me.pk, sender=new_id(), pid=77)
        assert isinstance(go, Go)
        self.sends.append(claimed.key)
        return Outcome(
            claimed,
            "succeeded",
            {"ok": True},
            dispatch_id=go.dispatch_id,
            reference="x",
            plan=self.plan(claimed),
        )

    def decide(self, verdict: str, **more: Any) -> None:
        action = PendingAction.everywhere.get(run_id=self.run_id, status="OPEN")
        decide(
            action_id=action.pk,
            user_id=self.approver.pk,
            verdict=verdict,
            digest=action.digest,
            generation=action.generation,
            channel="web",
            authenticated="session",
            fresh=True,
            gesture=action.second_gesture,
            **more,
        )
        resume_decided()
        resume_decided()
        hands.run_all(self.me, self.act)

    @property
    def status(self) -> str:
        return str(Run.everywhere.get(pk=self.run_id).status)


def waiting() -> Story:
    """A has happened, B waits. No fixture: that the agent says A again is part of what is tested."""
    story = Story()
    assert story.sends == ["first"]
    assert story.status == "WAITING_APPROVAL"
    return story


def intents() -> dict[str, int]:
    keys = dict(Step.everywhere.values_list("pk", "key"))
    return {keys[one.step_id]: one.dispatches for one in Intent.everywhere.all()}


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_b16_the_effect_before_the_wait_is_not_repeated_after_it(verdict):
    """Guards runs/engine/planner.py, `apply`: a key that the run has already is not planned again, so nothing before the
    wait runs a second time although the agent says everything again."""
    story = waiting()
    story.decide(verdict, **({"comment": "No."} if verdict == "reject" else {}))
    assert story.plans >= 3
    assert story.status == "SUCCEEDED"
    assert story.sends == (["first", "gated"] if verdict == "approve" else ["first"])
    assert intents()["first"] == 1
    assert Step.everywhere.filter(run_id=story.run_id, kind="call").count() == 2


def test_b16_a_lost_worker_after_the_wait_repeats_only_its_own_step():
    """Guards runs/engine/ending.py `resume_step` and reclaim: the resumed step alone goes on, with a new epoch."""
    story = waiting()
    action = PendingAction.everywhere.get(run_id=story.run_id, status="OPEN")
    decide(
        action_id=action.pk,
        user_id=story.approver.pk,
        verdict="approve",
        digest=action.digest,
        generation=action.generation,
        channel="web",
        authenticated="session",
        fresh=True,
        gesture=action.second_gesture,
    )
    resume_decided()
    (claimed,) = hands.take(story.me)
    assert (claimed.key, claimed.epoch) == ("gated", 2)
    Step.everywhere.filter(pk=claimed.step_id).update(lease_until="2020-01-01T00:00:00Z")
    assert reclaim() == 1
    hands.run_all(story.me, story.act)
    assert story.sends == ["first", "gated"]
    assert intents() == {"first": 1, "gated": 1}


def test_b16_a_cancel_during_the_wait_does_not_repeat_it():
    """Guards runs/engine/cancel.py: what waits ends; what is done is undone under a key of its own, never sent again."""
    story = waiting()
    cancel(run_id=story.run_id, user_id=story.submitter.pk)
    hands.run_all(story.me, story.act)
    assert story.status == "CANCELLED"
    assert story.sends == ["first", "undo/first"]
    assert intents()["first"] == 1

"""Effects: a proposal waits for a person, is sent once, and what became of it is recorded."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.ids import new_id
from accounts.models import Role
from approvals.decide import decide
from approvals.models import PendingAction
from runs import timeline
from runs.engine.begin import begin
from runs.engine.cancel import cancel
from runs.engine.expire import expire_due
from runs.engine.reclaim import reclaim, release
from runs.engine.resume import resume_decided
from runs.engine.types import Claimed, Ending, Go, Outcome, Stop
from runs.engine.unblock import unblock
from runs.errors import AlreadyEnded
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools import samples, workers
from tools.models import Contract, Intent, WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)

MAIL = {"to": "legal@halden.example", "subject": "Notice", "text": "We do not renew."}


class Story:
    """One run of one step that sends a mail."""

    def __init__(self) -> None:
        self.tenant = make.tenant()
        self.approver = make.person(self.tenant, Role.APPROVER)
        self.submitter = make.person(self.tenant, Role.SUBMITTER, name="Ada")
        samples.seed(self.tenant)
        self.me = hands.worker()
        self.child = new_id()
        self.run_id = hands.counter_run(
            self.tenant, self.submitter, steps=1, tool="mail.send", arguments=MAIL
        ).pk
        hands.run_all(self.me)

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
        found: Intent = Intent.everywhere.get(run_id=self.run_id)
        return found

    def action(self, kind: str = "approve") -> PendingAction:
        rows = PendingAction.everywhere.filter(run_id=self.run_id, kind=kind)
        found: PendingAction = rows.latest("opened_at")
        return found

    def decide(self, verdict: str, kind: str = "approve", **more: Any) -> None:
        action = self.action(kind)
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

    def claim(self) -> Claimed:
        (claimed,) = hands.take(self.me)
        return claimed

    def begin(self, claimed: Claimed) -> Go | Stop:
        return begin(claimed=claimed, worker_id=self.me.pk, sender=self.child, pid=77)

    def sent(self) -> tuple[Claimed, Go]:
        self.decide("approve")
        claimed = self.claim()
        go = self.begin(claimed)
        assert isinstance(go, Go)
        return claimed, go

    def finish(self) -> None:
        hands.run_all(self.me)


@pytest.fixture
def story() -> Story:
    return Story()


def answered(claimed: Claimed, go: Go, ending: Ending = "succeeded", **more: Any) -> Outcome:
    return Outcome(
        claimed, ending, {"reply": "250 ok"}, dispatch_id=go.dispatch_id, reference="<id@x>", **more
    )


def test_a_proposal_waits_for_a_person(story):
    assert story.run.status == "WAITING_APPROVAL"
    assert story.step.status == "WAITING_APPROVAL"
    assert story.intent.status == "PROPOSED"
    assert "legal@halden.example" in story.run.waiting_on
    assert hands.take(story.me) == []


def test_an_approved_mail_is_sent_and_recorded(story):
    claimed, go = story.sent()
    assert story.intent.status == "DISPATCHED"
    assert story.action().status == "CONSUMED"
    hands.put(story.me, answered(claimed, go))
    story.finish()
    assert story.intent.status == "CONFIRMED"
    assert story.run.status == "SUCCEEDED"
    assert timeline.verify(story.run_id) == []


def test_a_rejected_proposal_ends_with_its_reason(story):
    story.decide("reject", comment="Wrong address")
    assert story.step.status == "FAILED"
    assert (story.step.error_code, story.step.error_text) == ("rejected", "Wrong address")
    assert story.intent.status == "VOIDED"
    story.finish()
    assert story.run.status == "SUCCEEDED"


def test_an_expired_approval_denies_and_ends_the_wait_at_once(story):
    """B54: expire.py closes the action and ends the step in one transaction."""
    PendingAction.everywhere.filter(pk=story.action().pk).update(expires_at="2020-01-01T00:00:00Z")
    assert expire_due() == 1
    assert story.action().status == "EXPIRED"
    assert story.step.error_code == "approval_expired"
    assert story.run.status == "RUNNING"
    story.finish()
    assert story.run.status == "SUCCEEDED"


@pytest.mark.parametrize(
    ("verdict", "more", "step", "intent"),
    [
        ("happened", {"reference": "seen in the log"}, "SUCCEEDED", "CONFIRMED"),
        ("nobody_knows", {"comment": "log is gone"}, "FAILED", "ABANDONED"),
    ],
)
def test_a_lost_answer_is_unknown_until_a_person_settles(story, verdict, more, step, intent):
    claimed, go = story.sent()
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
    assert story.intent.status == "UNKNOWN"
    assert story.run.status == "WAITING_APPROVAL"
    assert hands.take(story.me) == []
    story.decide(verdict, kind="settle", **more)
    assert (story.step.status, story.intent.status) == (step, intent)
    story.finish()
    assert story.run.status == "SUCCEEDED"
    assert timeline.verify(story.run_id) == []


def test_did_not_happen_waits_until_the_sender_is_gone(story):
    """The trap of section 5: resume.py asks tools.workers.may_go_on."""
    claimed, go = story.sent()
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
    story.decide("not_happened", kind="settle", comment="not in the log")
    assert story.intent.status == "UNKNOWN"
    assert story.step.status == "UNKNOWN"
    assert "may still send" in story.step.waiting_on
    workers.gone(worker_id=story.child, how="supervisor")
    WorkerProcess.objects.filter(pk=story.child).update(stopped_at="2020-01-01T00:00:00Z")
    resume_decided()
    assert story.intent.status == "AUTHORISED"
    again = story.claim()
    assert again.epoch > claimed.epoch
    assert isinstance(story.begin(again), Stop)
    story.child = new_id()
    second = story.begin(again)
    assert isinstance(second, Go)
    assert second.key == go.key
    hands.put(story.me, answered(again, second))
    story.finish()
    assert story.run.status == "SUCCEEDED"


def test_who_looked_while_it_could_still_be_sent_is_asked_once_more(story):
    """Guards resume.py `_not_happened`: the old sender may have sent between the look and its death (EARLYLOOK in
    tests/model/settle.pml)."""
    claimed, go = story.sent()
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
    story.decide("not_happened", kind="settle", comment="not in the log yet")
    early = story.action("settle")
    workers.gone(worker_id=story.child, how="supervisor")
    quiet_since = early.decided_at - timedelta(seconds=60) + timedelta(milliseconds=1)
    WorkerProcess.objects.filter(pk=story.child).update(stopped_at=quiet_since)
    resume_decided()
    assert (story.intent.status, story.step.status) == ("UNKNOWN", "UNKNOWN")
    again = story.action("settle")
    assert again.pk != early.pk
    assert again.status == "OPEN"
    WorkerProcess.objects.filter(pk=story.child).update(stopped_at="2020-01-01T00:00:00Z")
    story.decide("not_happened", kind="settle", comment="still not in the log")
    assert (story.intent.status, story.step.status) == ("AUTHORISED", "PENDING")
    assert timeline.verify(story.run_id) == []


def test_a_late_no_says_that_its_sender_has_stopped(story):
    """Guards record.py `_late`: what else the sender says is evidence that it sends no more."""
    claimed, go = story.sent()
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
    hands.put(story.me, answered(claimed, go, "failed", error_code="smtp_refused"))
    assert story.intent.status == "UNKNOWN"
    assert story.intent.sender_done_at is not None


def test_a_late_yes_ends_the_unknown_by_itself(story):
    """Section 5, 3: record.py takes CONFIRMED from any sender."""
    claimed, go = story.sent()
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
    hands.put(story.me, answered(claimed, go))
    assert story.intent.status == "CONFIRMED"
    assert story.step.status == "SUCCEEDED"
    assert story.action("settle").status == "WITHDRAWN"
    story.finish()
    assert story.run.status == "SUCCEEDED"


def test_an_expired_lease_after_sending_is_unknown_and_before_it_is_not(story):
    story.decide("approve")
    first = story.claim()
    Step.everywhere.filter(pk=first.step_id).update(lease_until="2020-01-01T00:00:00Z")
    assert reclaim() == 1
    assert story.step.status == "PENDING"
    claimed = story.claim()
    assert isinstance(story.begin(first), Stop)
    assert isinstance(story.begin(claimed), Go)
    Step.everywhere.filter(pk=claimed.step_id).update(lease_until="2020-01-01T00:00:00Z")
    assert reclaim() == 1
    assert reclaim() == 0
    assert story.step.status == "UNKNOWN"
    assert story.intent.status == "UNKNOWN"


def test_steps_of_a_worker_that_is_gone_are_released_before_their_leases_end(story):
    story.decide("approve")
    story.claim()
    assert release(worker_id=story.me.pk) == 0
    assert story.step.status == "RUNNING"
    workers.gone(worker_id=story.me.pk, how="lock")
    release(worker_id=story.me.pk)
    assert story.step.status == "PENDING"


@pytest.mark.parametrize("field", ["arguments", "target"])
def test_b52_what_changed_after_the_approval_is_not_sent(story, field):
    """Guards begin.py: grants.check before dispatch."""
    story.decide("approve")
    claimed = story.claim()
    changed = {"arguments": {**MAIL, "text": "We renew."}, "target": "other@halden.example"}[field]
    Intent.everywhere.filter(pk=story.intent.pk).update(**{field: changed})
    stopped = story.begin(claimed)
    assert isinstance(stopped, Stop)
    assert stopped.why == "waiting"
    assert story.intent.dispatches == 0
    assert story.step.status == "WAITING_APPROVAL"
    again = story.action()
    assert (again.status, again.generation) == ("OPEN", 2)


def test_a_paused_tool_is_not_used_though_it_was_approved(story):
    story.decide("approve")
    claimed = story.claim()
    tool = Contract.everywhere.get(pk=story.intent.contract_id).tool
    type(tool).everywhere.filter(pk=tool.pk).update(
        paused_at="2026-01-01T00:00:00Z", paused_by=story.approver, paused_reason="wrong bank"
    )
    stopped = story.begin(claimed)
    assert isinstance(stopped, Stop)
    assert "wrong bank" in stopped.text
    assert story.step.status == "WAITING_EXTERNAL"
    assert unblock() == 0
    type(tool).everywhere.filter(pk=tool.pk).update(paused_at=None, paused_by=None, paused_reason="")
    assert unblock() == 1
    assert isinstance(story.begin(story.claim()), Go)


def test_cancel_closes_the_question_and_ends_the_run(story):
    """B57: cancel.py withdraws open actions in its transaction."""
    cancel(run_id=story.run_id, user_id=story.submitter.pk, reason="changed my mind")
    assert story.run.status == "CANCELLED"
    assert story.action().status == "WITHDRAWN"
    assert story.intent.status == "VOIDED"
    with pytest.raises(AlreadyEnded):
        cancel(run_id=story.run_id, user_id=story.submitter.pk)
    assert timeline.verify(story.run_id) == []


def test_cancel_while_a_mail_is_under_way_waits_for_the_truth(story):
    claimed, go = story.sent()
    cancel(run_id=story.run_id, user_id=story.submitter.pk)
    assert story.run.status == "CANCEL_REQUESTED"
    hands.put(story.me, answered(claimed, go))
    assert story.run.status == "CANCELLED"
    assert story.intent.status == "CONFIRMED"
    assert story.step.status == "SUCCEEDED"


def test_cancel_with_an_unknown_outcome_keeps_its_settle_open(story):
    claimed, go = story.sent()
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
    cancel(run_id=story.run_id, user_id=story.submitter.pk)
    assert story.run.status == "CANCEL_REQUESTED"
    assert story.action("settle").status == "OPEN"
    story.decide("nobody_knows", kind="settle", comment="no log")
    assert story.run.status == "CANCELLED"


def test_a_mail_known_not_sent_goes_back_to_the_agent(story):
    claimed, go = story.sent()
    hands.put(
        story.me, answered(claimed, go, "failed", error_code="smtp_refused", error_text="550 no such user")
    )
    assert story.intent.status == "VOIDED"
    assert story.step.status == "FAILED"
    story.finish()
    assert story.run.status == "SUCCEEDED"


def test_b44_a_begin_whose_answer_got_lost_is_told_again(story):
    """Guards begin.py: a dispatch of the same child under the same fence is our own."""
    story.decide("approve")
    claimed = story.claim()
    first, again = story.begin(claimed), story.begin(claimed)
    assert isinstance(first, Go)
    assert isinstance(again, Go)
    assert first.dispatch_id == again.dispatch_id
    assert story.intent.dispatches == 1


def test_what_was_begun_but_never_handed_over_is_sent_under_the_same_approval(story):
    """Guards record.py: NEVER_HANDED_OVER goes back instead of failing."""
    claimed, go = story.sent()
    hands.put(story.me, answered(claimed, go, "failed", error_code="not_sent"))
    again = story.claim()
    second = story.begin(again)
    assert isinstance(second, Go)
    hands.put(story.me, answered(again, second))
    story.finish()
    assert story.run.status == "SUCCEEDED"
    assert story.intent.dispatches == 2

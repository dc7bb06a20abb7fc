"""What follows after an ambiguous failure, by the class of the far side (architecture.md section 5, Reconcile and The trap).
Every test says itself what must follow; none asks the product's table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from runs import timeline
from runs.engine import reserve
from runs.engine.begin import begin
from runs.engine.cancel import cancel
from runs.engine.heard import ask_due
from runs.engine.resume import resume_decided
from runs.engine.types import Go, Outcome, Stop
from runs.engine.workspace import locked_one
from runs.models import Step
from tests.runs.engine import hands
from tests.runs.engine.doubtful import ASKED, KEYS, Doubtful
from tests.tools import make
from tools import intents
from tools.keys import key_for
from tools.models import EffectClass, Intent, StopSwitch, Tool, WorkerProcess
from tools.publish import retire

pytestmark = pytest.mark.django_db(transaction=True)

YES, NO = {"state": "booked", "id": "B-7"}, {"state": "none"}


def test_without_any_means_a_person_is_asked_and_nothing_is_sent():
    story = Doubtful()
    story.lost()
    assert (story.intent.status, story.step.status) == ("UNKNOWN", "UNKNOWN")
    assert [one.status for one in story.settles] == ["OPEN"]
    assert hands.take(story.me) == []
    assert story.queries == []


def test_b22_a_time_out_is_unknown_and_the_late_answer_ends_it():
    """Guards record.py `_ours` (a time-out after begin is no failure) and `_late` (the sender's yes is taken)."""
    story = Doubtful(retry_safe=True, **ASKED)
    claimed, go = story.lost("timeout", error_code="timeout")
    assert (story.intent.status, story.step.status, story.intent.dispatches) == ("UNKNOWN", "UNKNOWN", 1)
    said = {"id": "late"}
    hands.put(story.me, Outcome(claimed, "succeeded", said, dispatch_id=go.dispatch_id, reference="late"))
    assert (story.intent.status, story.step.status) == ("CONFIRMED", "SUCCEEDED")
    assert story.intent.evidence[-1]["kind"] == "late sender"
    story.finish()
    assert (story.run.status, story.intent.dispatches) == ("SUCCEEDED", 1)


def test_b77_the_key_of_an_effect_belongs_to_one_tenant_and_the_first_body_wins():
    """Guards tools/keys.py `key_for` and tools/intents.py `propose`: one effect, and the drift is kept (L9)."""
    story = Doubtful()
    first = story.intent
    same: dict[str, Any] = {"lineage": story.run.lineage, "step_key": "pay", "tool": "drill.effect"}
    assert key_for(tenant_id=story.tenant.pk, **same) == first.key
    assert key_for(tenant_id=make.tenant("other").pk, **same) != first.key
    again = intents.propose(
        tenant_id=story.tenant.pk,
        run_id=story.run_id,
        step_id=story.step.pk,
        key=first.key,
        tool="drill.effect",
        contract=story.contract,
        arguments={"invoice": {"number": 8}},
        target="",
        authorised=True,
        epoch=1,
    )
    assert (again.pk, again.arguments) == (first.pk, {"invoice": {"number": 7}})
    assert [one["arguments"] for one in again.drift] == [{"invoice": {"number": 8}}]
    assert Intent.everywhere.filter(key=first.key).count() == 1


def test_a_far_side_that_drops_repeats_gets_it_again_under_the_same_key():
    """Guards runs/engine/unknown.py `lose` and begin.py `_decide`: nobody is asked, the key stays, no fence goes twice."""
    story = Doubtful(**KEYS)
    _, first = story.lost()
    assert (story.intent.status, story.step.status, story.settles) == ("UNKNOWN", "PENDING", [])
    again, second = story.send()
    assert second.key == first.key
    assert second.fence > first.fence
    assert story.intent.status == "DISPATCHED"
    hands.put(story.me, Outcome(again, "succeeded", {"id": 1}, dispatch_id=second.dispatch_id))
    story.finish()
    assert (story.intent.status, story.run.status, story.intent.dispatches) == ("CONFIRMED", "SUCCEEDED", 2)
    assert timeline.verify(story.run_id) == []


def test_what_is_sent_again_is_sent_no_more_often_than_the_contract_says():
    story = Doubtful(**KEYS, max_attempts=3)
    for _ in range(3):
        story.lost("unknown")
    assert (story.intent.dispatches, story.step.status) == (3, "UNKNOWN")
    assert [one.status for one in story.settles] == ["OPEN"]


def test_b67_a_no_of_the_second_time_says_nothing_of_the_first():
    """Guards record.py `_earlier_is_open`: it stays UNKNOWN, because the first may have happened."""
    story = Doubtful(**KEYS, max_attempts=2)
    story.lost()
    story.lost("failed", error_code="connect_failed")
    assert (story.intent.status, story.step.status) == ("UNKNOWN", "UNKNOWN")
    assert [one.status for one in story.settles] == ["OPEN"]


def test_a_child_that_fails_before_it_begins_the_second_time_says_nothing_either():
    """Guards record.py `_earlier_is_open`: an outcome under no dispatch is none of the effect."""
    story = Doubtful(**KEYS)
    story.lost()
    claimed = story.claim("call")
    hands.put(story.me, Outcome(claimed, "failed", error_code="bad_arguments"))
    assert (story.intent.status, story.intent.dispatches) == ("UNKNOWN", 1)
    assert story.step.status == "PENDING"


def test_b67_a_key_that_may_be_forgotten_is_not_sent_again():
    """Guards tools/workers.py `_remembered`."""
    story = Doubtful(**KEYS, key_memory_seconds=300_000)
    claimed, go = story.send()
    Intent.everywhere.filter(pk=story.intent.pk).update(dispatched_at="2020-01-01T00:00:00Z")
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
    assert (story.step.status, story.intent.dispatches) == ("UNKNOWN", 1)


def test_b67_the_memory_counts_from_the_first_time_that_is_open():
    """Guards tools/workers.py `_remembered`: the second may never have arrived, then the far side forgets from the first."""
    story = Doubtful(**KEYS, key_memory_seconds=300_000, max_attempts=5)
    story.lost()
    claimed, go = story.send()
    Intent.everywhere.filter(pk=story.intent.pk).update(open_since="2020-01-01T00:00:00Z")
    hands.put(story.me, Outcome(claimed, "lost", dispatch_id=go.dispatch_id))
    assert (story.step.status, story.intent.dispatches) == ("UNKNOWN", 2)


def test_b67_begin_does_not_send_again_what_became_forbidden_meanwhile():
    """Guards begin.py `_stands`: it is not asked for anew either; first somebody says what became of the first time."""
    story = Doubtful(**KEYS)
    story.lost()
    tool = story.contract.tool
    Tool.everywhere.filter(pk=tool.pk).update(
        paused_at="2026-01-01T00:00:00Z", paused_by=story.approver, paused_reason="wrong account"
    )
    stopped = begin(claimed=story.claim("call"), worker_id=story.me.pk, sender=story.children[0], pid=9)
    assert isinstance(stopped, Stop)
    assert story.intent.dispatches == 1
    assert story.intent.status == "UNKNOWN"


def test_b67_a_paused_sender_of_the_first_time_still_counts_after_the_second():
    """Guards tools/workers.py `_sending_ended`: the last child is gone, the first is not."""
    story = Doubtful(**KEYS, key_memory_seconds=300_000, max_attempts=2)
    story.lost()
    story.lost()
    Intent.everywhere.filter(pk=story.intent.pk).update(open_since="2020-01-01T00:00:00Z")
    story.child_is_gone()
    story.settle("not_happened", comment="not in the books")
    assert story.intent.status == "UNKNOWN"
    assert "may still send" in story.step.waiting_on


def test_the_far_side_is_asked_and_a_yes_is_final():
    story = Doubtful(**ASKED)
    story.lost()
    assert (story.step.status, story.settles, len(story.queries)) == ("UNKNOWN", [], 1)
    assert story.queries[0].key == "query/pay/1"
    assert story.queries[0].input["arguments"] == {"key": story.intent.key, "number": 7}
    story.answer(YES)
    assert (story.intent.status, story.intent.reference) == ("CONFIRMED", "B-7")
    assert story.step.status == "SUCCEEDED"
    story.finish()
    assert (story.run.status, story.intent.dispatches) == ("SUCCEEDED", 1)
    assert timeline.verify(story.run_id) == []


def test_b67_a_no_while_it_can_still_be_sent_proves_nothing():
    """Guards heard.py `ask_due` and reconcile.py: the child is only silent, so the no proves nothing; when it is gone the far
    side is asked once more, and only that no counts."""
    story = Doubtful(**ASKED)
    story.lost()
    story.answer(NO)
    assert (story.intent.status, [one.status for one in story.settles]) == ("UNKNOWN", ["OPEN"])
    assert ask_due() == 0
    story.child_is_gone()
    assert ask_due() == 1
    assert ask_due() == 0
    story.answer(NO)
    assert (story.intent.status, story.step.status) == ("AUTHORISED", "PENDING")
    assert [one.status for one in story.settles] == ["WITHDRAWN"]
    story.finish()
    assert (story.run.status, story.intent.status, story.intent.dispatches) == ("SUCCEEDED", "CONFIRMED", 2)


def test_a_no_to_a_question_put_after_the_sender_had_stopped_counts_at_once():
    story = Doubtful(**ASKED)
    story.lost("unknown")
    story.answer(NO)
    assert (story.intent.status, story.step.status, story.settles) == ("AUTHORISED", "PENDING", [])


def test_a_no_within_the_quiet_time_waits_for_its_end_and_asks_once_more():
    story = Doubtful(**ASKED, quiet_seconds=3600)
    story.lost("unknown")
    story.answer(NO)
    assert (story.intent.status, story.settles) == ("UNKNOWN", [])
    assert "may still be under way" in story.step.waiting_on
    assert [one.status for one in story.queries] == ["SUCCEEDED", "PENDING"]
    assert hands.take(story.me) == []


def test_a_no_leads_to_no_more_sends_than_the_contract_says():
    story = Doubtful(**ASKED, max_attempts=2)
    for _ in range(2):
        story.lost("unknown")
        story.answer(NO)
    assert (story.intent.dispatches, story.intent.status) == (2, "VOIDED")
    assert (story.step.status, story.step.error_code) == ("FAILED", "not_happened")


@pytest.mark.parametrize("output", [{"state": "maybe"}, {}, None, [1], {"state": ["booked"]}])
def test_an_unsure_far_side_is_asked_a_bounded_number_of_times_and_then_a_person(output, settings):
    settings.COUNTERSIGN = settings.COUNTERSIGN.model_copy(update={"query_tries": 3})
    story = Doubtful(**ASKED)
    story.lost()
    for count in (1, 2, 3):
        assert (len(story.queries), story.settles) == (count, [])
        story.answer(output)
    assert len(story.queries) == 3
    assert [one.status for one in story.settles] == ["OPEN"]
    assert ask_due() == 0
    assert hands.take(story.me) == []


def test_a_question_that_fails_or_dies_leads_to_no_other_question_about_itself(settings):
    settings.COUNTERSIGN = settings.COUNTERSIGN.model_copy(update={"query_tries": 1, "max_losses": 2})
    story = Doubtful(**ASKED)
    story.lost()
    for ending in ("lost", "drained", "cancelled"):
        story.due()
        hands.put(story.me, Outcome(story.claim("query"), ending))
        assert [one.status for one in story.queries] == ["PENDING"]
    story.due()
    hands.put(story.me, Outcome(story.claim("query"), "failed", error_code="http_503"))
    assert [one.status for one in story.queries] == ["FAILED"]
    assert [one.status for one in story.settles] == ["OPEN"]
    assert Intent.everywhere.filter(run_id=story.run_id).count() == 1


def test_a_code_of_the_asking_tool_can_mean_no():
    """A far side that answers 404 to a key that it has never seen."""
    answer = {"pointer": "/state", "yes": ["booked"], "no_codes": ["http_404"]}
    story = Doubtful(**{**ASKED, "query_answer": answer})
    story.lost("unknown")
    story.due()
    hands.put(story.me, Outcome(story.claim("query"), "failed", error_code="http_404"))
    assert (story.intent.status, story.step.status) == ("AUTHORISED", "PENDING")


def test_the_sender_s_own_yes_comes_first_and_the_question_is_dropped():
    """CONFIRMED from anyone: heard.py `_still_open` takes no answer about what is known."""
    story = Doubtful(**ASKED)
    claimed, go = story.lost()
    story.due()
    asking = story.claim("query")
    said = {"id": "first"}
    hands.put(story.me, Outcome(claimed, "succeeded", said, dispatch_id=go.dispatch_id, reference="first"))
    hands.put(story.me, Outcome(asking, "succeeded", NO))
    assert (story.intent.status, story.intent.reference) == ("CONFIRMED", "first")
    story.finish()
    assert (story.run.status, story.intent.dispatches) == ("SUCCEEDED", 1)
    assert timeline.verify(story.run_id) == []


def test_a_question_that_nobody_has_taken_yet_is_dropped_when_the_outcome_is_known():
    story = Doubtful(**ASKED)
    claimed, go = story.lost()
    hands.put(story.me, Outcome(claimed, "succeeded", {"id": 1}, dispatch_id=go.dispatch_id))
    assert [one.status for one in story.queries] == ["CANCELLED"]
    story.finish()
    assert story.run.status == "SUCCEEDED"


def test_b67_an_answer_about_an_earlier_dispatch_says_nothing_of_this_one():
    """Guards heard.py `_still_open`."""
    story = Doubtful(**ASKED)
    story.lost("unknown")
    story.due()
    asking = story.claim("query")
    other = Intent.everywhere.get(run_id=story.run_id)
    Intent.everywhere.filter(pk=other.pk).update(dispatch_id=story.run_id)
    hands.put(story.me, Outcome(asking, "succeeded", YES))
    assert story.intent.status == "UNKNOWN"
    assert story.intent.said == ""


@pytest.mark.parametrize("how", ["retired", "writes now", "stopped"])
def test_a_query_that_cannot_be_put_any_more_leaves_it_to_a_person(how):
    """Guards tools/selectors.py `query_tool` and query.py `question`."""
    story = Doubtful(**ASKED)
    asks = Tool.everywhere.get(tenant=story.tenant, name="drill.noop")
    if how == "retired":
        retire(
            contract_id=asks.contracts(manager="everywhere").get(status="PUBLISHED").pk, by=story.approver.pk
        )
    elif how == "writes now":
        make.contract(
            story.tenant, "drill.noop", effect_class=EffectClass.COMPENSABLE, compensating_tool="drill.undo"
        )
    else:
        StopSwitch.everywhere.create(tenant=story.tenant, tool=asks, reason="off", set_by=story.approver)
    story.lost()
    assert (story.queries, [one.status for one in story.settles]) == ([], ["OPEN"])


def test_a_cancelled_task_still_learns_the_truth_and_sends_nothing():
    """Guards claim_steps.sql: a question is claimed although the task is being cancelled."""
    story = Doubtful(**ASKED)
    story.lost("unknown")
    cancel(run_id=story.run_id, user_id=story.ada.pk)
    assert story.run.status == "CANCEL_REQUESTED"
    story.answer(NO)
    assert (story.intent.status, story.run.status, story.intent.dispatches) == ("VOIDED", "CANCELLED", 1)
    assert timeline.verify(story.run_id) == []


def test_what_was_to_be_sent_again_is_still_unknown_when_its_task_is_cancelled():
    """Guards unknown.py `stop`: the step has not started again, but the first time may have happened."""
    story = Doubtful(**KEYS)
    story.lost()
    cancel(run_id=story.run_id, user_id=story.ada.pk)
    assert (story.run.status, story.step.status, story.intent.status) == (
        "CANCEL_REQUESTED",
        "UNKNOWN",
        "UNKNOWN",
    )
    story.settle("happened", reference="seen")
    assert (story.run.status, story.intent.status) == ("COMPENSATING", "CONFIRMED")
    assert timeline.verify(story.run_id) == []


def test_a_person_who_looked_too_early_is_spared_when_the_far_side_can_be_asked():
    """Guards resume.py `_not_happened`: the child ended only after the look."""
    story = Doubtful(**ASKED)
    story.lost()
    story.answer(NO)
    story.settle("not_happened", comment="not in the books")
    assert (story.intent.status, len(story.queries)) == ("UNKNOWN", 1)
    story.child_is_gone()
    decided = story.settles[0].decided_at
    assert decided is not None
    after = decided + timedelta(milliseconds=1)
    WorkerProcess.objects.filter(pk=story.children[-1]).update(stopped_at=after)
    resume_decided()
    assert (story.intent.status, len(story.queries), len(story.settles)) == ("UNKNOWN", 2, 1)
    story.answer(YES)
    assert (story.intent.status, story.step.status) == ("CONFIRMED", "SUCCEEDED")


def test_budgets_stay_reserved_while_it_is_unknown():
    """Guards runs/sql/reserved.sql: UNKNOWN is among the live states."""
    story = Doubtful(**ASKED, attempt_tokens=500)
    story.lost()
    with transaction.atomic():
        _, run = locked_one(story.run_id)
        assert run is not None
        assert reserve._reserved(run)["tokens"] == 500
    assert Step.everywhere.filter(run_id=story.run_id, status="UNKNOWN").count() == 1


def test_go_is_told_once_more_to_the_same_child_when_its_answer_got_lost():
    story = Doubtful(**KEYS)
    story.lost()
    claimed = story.claim("call")
    first = begin(claimed=claimed, worker_id=story.me.pk, sender=story.step.pk, pid=9)
    again = begin(claimed=claimed, worker_id=story.me.pk, sender=story.step.pk, pid=9)
    assert isinstance(first, Go)
    assert isinstance(again, Go)
    assert (first.dispatch_id, story.intent.dispatches) == (again.dispatch_id, 2)

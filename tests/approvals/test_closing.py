"""Questions that close by themselves: time, the end of the run, a truth that came late."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import errors
from approvals.expire import expire
from approvals.inbox import count_for, open_for
from approvals.models import Decision
from approvals.withdraw import withdraw_open, withdraw_settle
from outbox.models import Message
from tests.make import approvals as make
from tools import intents

pytestmark = pytest.mark.django_db

TICK = timedelta(microseconds=1)


@pytest.fixture
def house():
    return make.house()


def test_b54_approve_just_before_the_end(house):
    """Guards approvals/decide.py, the comparison with expires_at."""
    action = make.question(house)
    make.answer(action, house.ben, "approve", now=make.ends(action) - TICK)
    assert make.again(action).status == "APPROVED"


@pytest.mark.parametrize("late", [timedelta(0), TICK, timedelta(days=1)])
@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_b54_at_the_end_and_after_it_nothing_is_decided(house, late, verdict):
    """Guards approvals/decide.py: at T it is over, although nobody has closed the row yet."""
    action = make.question(house)
    with pytest.raises(errors.Expired):
        make.answer(action, house.ben, verdict, now=make.ends(action) + late)
    assert make.again(action).status == "OPEN"
    assert not Decision.everywhere.filter(action=action).exists()


@pytest.mark.parametrize(("offset", "closes"), [(-TICK, False), (timedelta(0), True), (TICK, True)])
def test_b54_expiry_closes_at_the_end_and_not_before(house, offset, closes):
    """Guards approvals/expire.py, the comparison with expires_at."""
    action = make.question(house)
    assert expire(action_id=action.pk, now=make.ends(action) + offset) is closes
    assert (make.again(action).status == "EXPIRED") is closes


def test_b54_without_a_given_time_the_clock_of_the_database_decides(house):
    """Guards approvals/clock.py: a question with no time left is over, one with time left is not."""
    over = make.question(house, policy={**make.POLICY, "ttl_seconds": -1})
    open_still = make.question(house)
    with pytest.raises(errors.Expired):
        make.answer(over, house.ben, "approve")
    assert (expire(action_id=over.pk), expire(action_id=open_still.pk)) == (True, False)


def test_b56_the_timeout_decides_under_its_own_name(house):
    """Guards approvals/expire.py: no person's name stands under what nobody decided."""
    action = make.question(house)
    expire(action_id=action.pk, now=make.ends(action))
    decision = Decision.everywhere.get(action=action)
    assert (decision.user, decision.decided_by, decision.verdict) == (None, "policy:timeout", "expire")
    with pytest.raises(errors.Expired):
        make.answer(action, house.ben, "approve")


def test_b54_badge_and_list_agree_after_the_end(house):
    """Guards approvals/inbox.py: an expired question is in no list and in no count."""
    action = make.question(house)
    who = {"user_id": house.ben.pk, "tenant_id": house.tenant.pk}
    assert (count_for(**who), len(open_for(**who))) == (1, 1)
    expire(action_id=action.pk, now=make.ends(action))
    assert (count_for(**who), len(open_for(**who))) == (0, 0)
    assert [one.pk for one in open_for(**who, tab="decided")] == [action.pk]


def test_a_settle_never_expires(house):
    action = make.settle(house)
    assert action.expires_at is None
    assert expire(action_id=action.pk) is False


def test_b57_questions_close_with_their_run(house):
    """Guards approvals/withdraw.py: nothing stays "required" after the run ended."""
    action, other = make.question(house), make.question(house)
    closed = withdraw_open(run_id=action.run_id, kinds=["approve", "take_over", "answer"])
    assert [one.pk for one in closed] == [action.pk]
    assert (make.again(action).status, make.again(other).status) == ("WITHDRAWN", "OPEN")
    with pytest.raises(errors.AlreadyDecided) as refused:
        make.answer(action, house.ben, "approve")
    assert refused.value.first is None
    assert Message.objects.filter(topic="action.closed", payload__action_id=action.pk.hex).count() == 1


def test_a_cancelled_run_keeps_its_open_settle(house):
    action = make.settle(house)
    assert withdraw_open(run_id=action.run_id, kinds=["approve", "take_over", "answer"]) == []
    assert make.again(action).status == "OPEN"


def test_a_truth_that_came_late_withdraws_the_settle(house):
    action = make.settle(house)
    intents.confirm(intent_id=make.about(action).pk, answer={}, reference="late")
    assert [one.pk for one in withdraw_settle(intent_id=make.about(action).pk)] == [action.pk]


@pytest.mark.parametrize("verdict", ["happened", "not_happened", "nobody_knows"])
def test_an_outcome_known_meanwhile_cannot_be_settled(house, verdict):
    """Guards approvals/settle.py: the answer is not written over the truth of the world."""
    action = make.settle(house)
    intents.confirm(intent_id=make.about(action).pk, answer={}, reference="late")
    with pytest.raises(errors.Stale):
        make.answer(action, house.ben, verdict)
    assert make.again(action).status == "OPEN"
    assert make.about(action).reference == "late"
    assert not Decision.everywhere.filter(action=action).exists()


@pytest.mark.parametrize(
    ("verdict", "status"),
    [("happened", "CONFIRMED"), ("not_happened", "UNKNOWN"), ("nobody_knows", "ABANDONED")],
)
def test_the_three_answers(house, verdict, status):
    action = make.settle(house)
    make.answer(action, house.mira, verdict)
    intent = make.about(action)
    assert (make.again(action).status, intent.status, intent.settled) == ("SETTLED", status, verdict)
    assert intent.evidence[-1]["by"] == house.mira.pk.hex


def test_it_happened_needs_a_reference(house):
    action = make.settle(house)
    with pytest.raises(errors.BadAnswer) as refused:
        make.answer(action, house.mira, "happened", reference="  ")
    assert refused.value.field == "reference"
    assert make.answer(action, house.mira, "happened").reference == "4KxR2p"
    assert make.about(action).reference == "4KxR2p"

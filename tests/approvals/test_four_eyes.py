"""Who may answer: the whole table of disguises × channels, generated."""

from __future__ import annotations

import pytest

from accounts.models import Membership, Role
from approvals import errors, rules
from approvals.models import Decision
from tests.make import approvals as make
from tools.models import Intent

pytestmark = pytest.mark.django_db

CHANNELS = ("web", "api", "mcp", "admin")
DISGUISES = {
    "as submitter": (),
    "through a second role": (Role.SUBMITTER, Role.APPROVER),
    "as administrator": (Role.SUBMITTER, Role.ADMINISTRATOR),
    "with every role": tuple(Role.values),
    "as approver only": (Role.APPROVER,),
}
NOT_ENTITLED = {
    "no role for it": (Role.SUBMITTER,),
    "administrator alone": (Role.ADMINISTRATOR,),
}


@pytest.fixture
def house():
    return make.house()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_b59_the_submitter_never_approves(house, disguise, channel):
    """Guards approvals/rules.py, the four-eyes line of ``refusals``."""
    if DISGUISES[disguise]:
        make.roles(house, house.ada, *DISGUISES[disguise])
    action = make.question(house)
    with pytest.raises(errors.NotAllowed) as refused:
        make.answer(action, house.ada, "approve", channel=channel, authenticated="token:abcd")
    assert [reason.code for reason in refused.value.reasons] == ["four_eyes"]
    assert make.again(action).status == "OPEN"
    assert Intent.everywhere.get(pk=action.intent_id).status == "PROPOSED"
    assert not Decision.everywhere.filter(action=action).exists()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_b59_the_submitter_may_say_no(house, disguise, channel):
    """Guards approvals/rules.py: a self-deny is allowed in every disguise."""
    if DISGUISES[disguise]:
        make.roles(house, house.ada, *DISGUISES[disguise])
    action = make.question(house)
    make.answer(action, house.ada, "reject", channel=channel)
    assert make.again(action).status == "REJECTED"


def test_b59_a_rule_that_forgets_four_eyes_changes_nothing(house):
    """Guards approvals/rules.py: four-eyes is not read from the policy."""
    make.roles(house, house.ada, Role.APPROVER)
    action = make.question(house, policy={**make.POLICY, "not_submitter": False})
    with pytest.raises(errors.NotAllowed):
        make.answer(action, house.ada, "approve")


@pytest.mark.parametrize("verdict", ["happened", "not_happened", "nobody_knows"])
def test_b59_the_submitter_does_not_settle(house, verdict):
    """Guards approvals/rules.py for questions of kind settle."""
    make.roles(house, house.ada, Role.APPROVER)
    action = make.settle(house)
    with pytest.raises(errors.NotAllowed):
        make.answer(action, house.ada, verdict)


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("who", NOT_ENTITLED)
@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_only_the_role_of_the_policy_decides(house, who, verdict, channel):
    make.roles(house, house.mira, *NOT_ENTITLED[who])
    action = make.question(house)
    with pytest.raises(errors.NotAllowed) as refused:
        make.answer(action, house.mira, verdict, channel=channel)
    assert [reason.code for reason in refused.value.reasons] == ["role"]


@pytest.mark.parametrize("channel", CHANNELS)
def test_somebody_of_another_tenant_decides_nothing(house, channel):
    action = make.question(house)
    with pytest.raises(errors.NotAllowed) as refused:
        make.answer(action, house.otto, "approve", channel=channel)
    assert [reason.code for reason in refused.value.reasons] == ["not_a_member"]


def test_rights_are_those_of_this_moment(house):
    """Guards approvals/rules.py: rights are read from the database, not from the session."""
    action = make.question(house)
    Membership.everywhere.filter(user=house.ben).update(disabled_at="2026-01-01T00:00:00Z")
    with pytest.raises(errors.NotAllowed):
        make.answer(action, house.ben, "approve")
    house.mira.is_active = False
    house.mira.save(update_fields=["is_active"])
    with pytest.raises(errors.NotAllowed):
        make.answer(action, house.mira, "approve")


def test_an_action_handed_to_one_person_waits_for_that_one(house):
    action = make.question(house)
    type(action).everywhere.filter(pk=action.pk).update(assignee=house.mira)
    with pytest.raises(errors.NotAllowed):
        make.answer(action, house.ben, "approve")
    make.answer(action, house.mira, "approve")


@pytest.mark.parametrize("quorum", ["two", None, 0, -3, []])
def test_an_unreadable_quorum_never_lets_less_than_one_person_through(house, quorum):
    action = make.question(house, policy={**make.POLICY, "quorum": quorum})
    assert rules.quorum(action) >= 1


def test_a_takeover_belongs_to_the_submitter_and_the_approvers(house):
    mine, theirs = make.takeover(house), make.takeover(house)
    assert make.answer(mine, house.ada, "continue").verdict == "continue"
    assert make.answer(theirs, house.ben, "fail").verdict == "fail"
    assert {make.again(mine).status, make.again(theirs).status} == {"ANSWERED"}

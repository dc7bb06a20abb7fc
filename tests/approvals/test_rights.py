"""Groups, delegation, standing in, escalation: rights are read when the answer comes, and again when the effect begins."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import Absence, Group, GroupMember, Membership, Role, Tenant
from approvals import errors, grants, rules
from approvals.delegate import delegate, undelegate
from approvals.models import Decision, PendingAction
from tests.make import approvals as make
from tests.make import people
from tests.make import rights as staff
from tests.tools import make as bench

pytestmark = pytest.mark.django_db
IN_FINANCE = {**make.POLICY, "group": "Finance"}


@pytest.fixture
def house():
    return make.house()


def refused(action, by, verdict="approve"):
    """The codes of the refusal; and nothing was recorded."""
    before = make.again(action).status
    with pytest.raises(errors.NotAllowed) as refusal:
        make.answer(action, by, verdict)
    assert make.again(action).status == before
    assert not Decision.everywhere.filter(action=action, user=by).exists()
    return [reason.code for reason in refusal.value.reasons]


def drift(of, action):
    """What begin would say of the grant."""
    intent = make.about(action)
    with transaction.atomic():
        found = grants.check(action_id=action.pk, intent=intent, contract=of.contract, epoch=intent.epoch)
    return [reason.code for reason in found.reasons] if found else []


def leave(of, person):
    Membership.everywhere.filter(tenant=of.tenant, user=person).update(disabled_at=timezone.now())


def third(of):
    return bench.person(of.tenant, Role.APPROVER, name="Petra Novak")


def test_b60_a_group_asks_its_members_who_hold_the_role(house):
    """Guards approvals/rules.py `_lacks`: group on top of role."""
    staff.group(house.tenant, "Finance", house.ben, house.jonas, house.ada)
    action = make.question(house, policy=IN_FINANCE)
    assert refused(action, house.mira) == ["group"]
    assert refused(action, house.jonas) == ["role"]
    assert refused(action, house.ada) == ["four_eyes"]
    assert make.answer(action, house.ben, "approve").authority == rules.GROUP


@pytest.mark.parametrize("state", ["unknown", "closed", "of another tenant", "renamed"])
def test_b60_a_group_that_is_not_there_denies_in_words(house, state):
    """Guards approvals/rules.py `_lacks`: no open group of that name."""
    tenant = house.contract.tenant
    if state == "of another tenant":
        other = Tenant.objects.exclude(pk=tenant.pk).get()
        staff.group(other, "Finance", house.otto)
    elif state != "unknown":
        group = staff.group(tenant, "Finance", house.ben)
        rows = Group.everywhere.filter(pk=group.pk)
        rows.update(closed_at=timezone.now()) if state == "closed" else rows.update(name="Money")
    action = make.question(house, policy=IN_FINANCE)
    assert refused(action, house.ben) == ["no_group"]


@pytest.mark.parametrize("how", ["out of the group", "role taken", "switched off", "unassigned"])
def test_b66_what_changed_since_the_page_was_read_is_refused_in_words(house, how):
    """Guards approvals/decide.py `judge`: rights are read when the answer comes, not when the page was drawn."""
    group = staff.group(house.tenant, "Finance", house.ben, house.mira)
    action = make.question(house, policy=IN_FINANCE)
    browser = people.browser(house.ben)
    url = f"/inbox/act_{action.pk.hex}/"
    assert 'value="approve"' in browser.get(url).content.decode()
    if how == "out of the group":
        GroupMember.everywhere.filter(group=group, user=house.ben).delete()
    elif how == "role taken":
        make.roles(house, house.ben, Role.SUBMITTER)
    elif how == "switched off":
        leave(house, house.ben)
    else:
        delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
    form = {
        "verdict": "approve",
        "digest": action.digest,
        "generation": "1",
        "gesture": action.second_gesture,
    }
    answer = browser.post(f"{url}decide/", form)
    assert answer.status_code == 403
    if how != "switched off":
        assert "Nothing was decided." in answer.content.decode()
    assert make.again(action).status == "OPEN"
    assert not Decision.everywhere.filter(action=action).exists()


def test_b66_whoever_was_asked_and_is_no_more_does_not_answer(house):
    """Guards approvals/rules.py `_judge`: the assignment is read from the row at the moment of the act."""
    action = make.question(house)
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
    undelegate(action_id=action.pk, user_id=house.jonas.pk)
    other = third(house)
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=other.pk)
    assert refused(action, house.mira) == ["assigned"]
    assert make.answer(action, other, "approve").authority == rules.DELEGATED


@pytest.mark.parametrize("how", ["left", "lost the role", "left the group"])
def test_b60_what_was_handed_to_somebody_who_may_no_more_goes_to_the_others(house, how):
    """Guards approvals/rules.py `bound_to`."""
    group = staff.group(house.tenant, "Finance", house.ben, house.mira)
    action = make.question(house, policy=IN_FINANCE)
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
    assert rules.deciders(make.again(action)).present == (house.mira,)
    if how == "left":
        leave(house, house.mira)
    elif how == "lost the role":
        make.roles(house, house.mira, Role.SUBMITTER)
    else:
        GroupMember.everywhere.filter(group=group, user=house.mira).delete()
    assert rules.deciders(make.again(action)).present == (house.ben,)
    assert make.answer(action, house.ben, "approve").verdict == "approve"


@pytest.mark.parametrize("how", ["left the group", "group closed"])
def test_b62_at_begin_the_group_is_read_again(house, how):
    """Guards approvals/rules.py `_still_counts`."""
    group = staff.group(house.tenant, "Finance", house.ben)
    action = make.question(house, policy=IN_FINANCE)
    make.answer(action, house.ben, "approve")
    assert drift(house, action) == []
    if how == "left the group":
        GroupMember.everywhere.filter(group=group).delete()
    else:
        Group.everywhere.filter(pk=group.pk).update(closed_at=timezone.now())
    assert drift(house, action) == ["approver"]


def test_b62_standing_in_and_being_asked_are_rights_of_the_moment(house):
    """A signature keeps them while its person is an active member with the role: decision 0030."""
    other = third(house)
    action = make.question(house)
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
    away = staff.absence(house.tenant, house.mira, stand_in=other)
    make.answer(action, other, "approve")
    Absence.everywhere.filter(pk=away.pk).update(cancelled_at=timezone.now())
    PendingAction.everywhere.filter(pk=action.pk).update(assignee=house.ben)
    assert drift(house, action) == []
    make.roles(house, other, Role.SUBMITTER)
    assert drift(house, action) == ["approver"]


def escalated(action):
    now = timezone.now()
    PendingAction.everywhere.filter(pk=action.pk).update(escalated_at=now, undecidable_since=now)
    return make.again(action)


def test_b60_the_escalation_owner_decides_what_nobody_else_can(house):
    """Guards approvals/rules.py `_has_escalated_to`: both instants, and nobody but the owner."""
    owner = bench.person(house.tenant, Role.SUBMITTER, name="Cleo Marchetti")
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=owner)
    action = make.question(house)
    leave(house, house.ben)
    leave(house, house.mira)
    assert refused(action, owner) == ["role"]
    PendingAction.everywhere.filter(pk=action.pk).update(escalated_at=timezone.now())
    assert refused(action, owner) == ["role"]
    escalated(action)
    assert refused(action, house.jonas) == ["role"]
    assert make.answer(action, owner, "approve").authority == rules.ESCALATION
    assert drift(house, action) == []
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=house.jonas)
    assert drift(house, action) == ["approver"]


def test_b59_escalation_opens_no_second_pair_of_eyes(house):
    """Guards approvals/rules.py `_judge`: four eyes come before every right."""
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=house.ada)
    assert refused(escalated(make.question(house)), house.ada) == ["four_eyes"]
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=house.jonas)
    edited = escalated(make.question(house))
    PendingAction.everywhere.filter(pk=edited.pk).update(editors=[house.jonas.pk])
    assert refused(edited, house.jonas) == ["editor"]


@pytest.mark.parametrize("right", ["role", "group", "delegated", "stand_in"])
def test_b59_whoever_changed_the_arguments_does_not_approve_them_by_any_right(house, right):
    """Guards approvals/rules.py `_four_eyes`, the editors; they may always say no."""
    policy = make.POLICY
    if right == "group":
        staff.group(house.tenant, "Finance", house.ben)
        policy = IN_FINANCE
    action = make.question(house, policy=policy)
    values = {"editors": [house.ben.pk]}
    if right == "delegated":
        values |= {"assignee": house.ben}
    elif right == "stand_in":
        values |= {"assignee": house.mira}
        staff.absence(house.tenant, house.mira, stand_in=house.ben)
    PendingAction.everywhere.filter(pk=action.pk).update(**values)
    assert refused(make.again(action), house.ben) == ["editor"]
    make.answer(action, house.ben, "reject")
    assert make.again(action).status == "REJECTED"


def test_b59_one_person_in_three_roles_is_one_person(house):
    """Guards approvals/rules.py `entitled_signers`: each person counts once, whatever roles they hold."""
    make.roles(house, house.ben, *Role.values)
    staff.group(house.tenant, "Finance", house.ben, house.mira)
    action = make.question(house, policy={**IN_FINANCE, "quorum": 2})
    make.answer(action, house.ben, "approve")
    with pytest.raises(errors.AlreadyDecided):
        make.answer(action, house.ben, "approve", comment="And as administrator.")
    assert make.again(action).status == "OPEN"
    make.answer(action, house.mira, "approve")
    assert make.again(action).status == "APPROVED"


def test_c19_the_card_says_by_what_right(house):
    """Guards approvals/decide.py `record` and the record on the card."""
    other = third(house)
    action = make.question(house)
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
    staff.absence(house.tenant, house.mira, stand_in=other)
    page = people.browser(other).get(f"/inbox/act_{action.pk.hex}/").content.decode()
    assert "you stand in" in page
    make.answer(action, other, "approve")
    page = people.browser(house.jonas).get(f"/inbox/act_{action.pk.hex}/").content.decode()
    assert "stood in for Mira Sandoval" in page

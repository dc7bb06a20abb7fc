"""The inbox asks the database, deciding asks the rules: both must say the same of everybody."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Absence, Group, Membership, Role, Tenant, User
from approvals import inbox, rules
from approvals.models import FollowUp, PendingAction
from tests.make import people as cast
from tests.make import rights as make

pytestmark = pytest.mark.django_db

PEOPLE, QUESTIONS = 7, 50
DAY = timedelta(days=1)


def drawn(seed: int) -> tuple[Tenant, list[User], list[PendingAction]]:
    """A house of random people, groups and absences with random questions in it."""
    dice = random.Random(seed)
    tenant = cast.tenant()
    people = [
        cast.person(tenant, *dice.sample(Role.values, dice.randint(1, 3)), name=f"Person {number}")
        for number in range(PEOPLE)
    ]
    for name in ("Finance", "Legal"):
        make.group(tenant, name, *dice.sample(people, 4))
    make.group(tenant, "Old", *people)
    Group.everywhere.filter(tenant=tenant, name="Old").update(closed_at=timezone.now())
    Membership.everywhere.filter(user=people[-1]).update(disabled_at=timezone.now())
    for _number in range(6):
        away, other = dice.sample(people, 2)
        begins = timezone.now() + dice.choice([-2 * DAY, -2 * DAY, DAY])
        make.absence(
            tenant, away, stand_in=other, begins_at=begins, ends_at=begins + dice.choice([DAY, 4 * DAY])
        )
    Tenant.objects.filter(pk=tenant.pk).update(escalation_owner=dice.choice([*people, None, people[-1]]))
    questions = [_question(dice, tenant, people) for _number in range(QUESTIONS)]
    return tenant, people, questions


def _question(dice: random.Random, tenant: Tenant, people: list[User]) -> PendingAction:
    policy: dict[str, object] = dice.choice(
        [{}, {"role": "approver"}, {"role": "administrator"}, {"role": "submitter"}]
    )
    policy = {
        **policy,
        **dice.choice([{}, {}, {"group": "Finance"}, {"group": "Old"}, {"group": "Nobody"}, {"group": ""}]),
    }
    policy |= dice.choice(
        [{}, {"editor_may_approve": True}, {"not_submitter": False}, {"editor_may_approve": False}]
    )
    escalated = dice.choice([None, None, timezone.now()])
    return make.bare(
        tenant,
        submitter=dice.choice(people),
        kind=dice.choice(["approve", "approve", "settle", "take_over", "answer"]),
        policy=policy,
        assignee=dice.choice([None, *people]),
        editors=[one.pk for one in dice.sample(people, dice.choice([0, 0, 1, 2]))],
        escalated_at=escalated,
        undecidable_since=dice.choice([None, escalated]),
    )


@pytest.mark.parametrize("seed", range(5))
def test_b60_the_inbox_holds_exactly_what_the_rules_allow(seed):
    """Guards approvals/reach.py, every line of ``may_decide`` and ``_bound``, against approvals/rules.py."""
    tenant, people, questions = drawn(seed)
    may = {one.pk: {person.pk for person in rules.deciders(one).everybody} for one in questions}
    for person in people:
        mine = inbox.open_for(user_id=person.pk, tenant_id=tenant.pk)
        assert {one.pk for one in mine} == {pk for pk, allowed in may.items() if person.pk in allowed}
        assert inbox.count_for(user_id=person.pk, tenant_id=tenant.pk) == len(mine)
    assert 0 < sum(map(len, may.values())) < PEOPLE * QUESTIONS


def test_the_deciders_are_those_whom_the_rules_allow(django_assert_max_num_queries):
    tenant, people, questions = drawn(8)
    now = timezone.now()
    gone = {
        one.user_id for one in Absence.everywhere.filter(tenant=tenant, begins_at__lte=now, ends_at__gt=now)
    }
    for one in questions:
        with django_assert_max_num_queries(4):
            found = rules.deciders(one)
        may = {
            person.pk
            for person in people
            if not rules.refusals(action=one, user_id=person.pk, verdict=rules.main_verdict(one))
        }
        owner = {person.pk for person in found.owners}
        assert {person.pk for person in found.everybody} == may
        assert {person.pk for person in found.away} == (may & gone) - owner
        assert set(found.until) == {person.pk for person in found.away}


@pytest.mark.parametrize("seed", [5, 9])
def test_nothing_that_a_role_and_group_answer_for_is_out_of_reach(seed):
    """Whatever somebody's role and group answer for stands in one of their tabs, whoever holds it."""
    tenant, people, questions = drawn(seed)
    dice = random.Random(seed)
    for one in questions:
        holder, signer = dice.sample(people, 2)
        if dice.random() < 0.5:
            make.held(one, holder)
        if dice.random() < 0.3:
            make.signed(one, signer)
        if dice.random() < 0.3:
            FollowUp.everywhere.create(tenant=tenant, action=one, user=signer, at=timezone.now() + DAY)
    for person in people:
        shown = {
            one.pk
            for tab in ("mine", "groups", "claimed", "aside")
            for one in inbox.open_for(user_id=person.pk, tenant_id=tenant.pk, tab=tab)
        }
        answers_for = {one.pk for one in questions if make.answers_for(one, person)}
        assert answers_for <= shown


@pytest.fixture
def house():
    return make.small()


def in_tab(of, person, tab):
    return [one.pk for one in inbox.open_for(user_id=person.pk, tenant_id=of.tenant.pk, tab=tab)]


def test_what_was_set_aside_is_out_of_sight_for_that_person_alone_until_its_time(house):
    one = make.bare(house.tenant, submitter=house.ada)
    later = FollowUp.everywhere.create(
        tenant=house.tenant, action=one, user=house.ben, at=timezone.now() + DAY
    )
    assert in_tab(house, house.ben, "mine") == []
    assert in_tab(house, house.ben, "aside") == [one.pk]
    assert in_tab(house, house.mira, "mine") == [one.pk]
    assert in_tab(house, house.mira, "aside") == []
    FollowUp.everywhere.filter(pk=later.pk).update(at=timezone.now() - DAY)
    assert in_tab(house, house.ben, "mine") == [one.pk]
    assert in_tab(house, house.ben, "aside") == []


def test_what_was_handed_to_a_colleague_stands_under_my_groups(house):
    one = make.bare(house.tenant, submitter=house.ada, assignee=house.mira)
    assert in_tab(house, house.ben, "mine") == []
    assert in_tab(house, house.ben, "groups") == [one.pk]
    assert in_tab(house, house.mira, "mine") == [one.pk]
    assert in_tab(house, house.mira, "groups") == []


def test_what_waits_for_a_second_signature_stands_under_my_groups(house):
    one = make.bare(house.tenant, submitter=house.ada, policy={"role": "approver", "quorum": 2})
    make.signed(one, house.ben)
    assert in_tab(house, house.ben, "mine") == []
    assert in_tab(house, house.ben, "groups") == [one.pk]


def test_the_inbox_asks_little_of_a_large_house(house, django_assert_max_num_queries):
    for _number in range(5):
        make.bare(house.tenant, submitter=house.ada, assignee=house.mira)
    for tab in inbox.TABS:
        with django_assert_max_num_queries(4):
            inbox.open_for(user_id=house.ben.pk, tenant_id=house.tenant.pk, tab=tab)

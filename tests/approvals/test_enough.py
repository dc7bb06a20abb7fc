"""Whether enough people can still decide a question: what finds it in the database and what the rules say."""

from __future__ import annotations

import contextlib
import random
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import AuditEntry, Membership, Tenant, User
from approvals import chase, enough, errors, rules
from approvals.models import Decision, PendingAction
from outbox.models import Message
from tests.approvals.test_inbox_agrees import drawn
from tests.make import approvals as make
from tests.make import rights

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.mark.parametrize("seed", range(20, 26))
def test_b60_the_database_finds_exactly_what_the_rules_find(seed):
    """Guards approvals/sql/stuck.sql, every line of ``counted``, against approvals/enough.py `lack`."""
    _tenant, people, questions = drawn(seed)
    dice = random.Random(seed)
    for one in questions:
        if one.kind == "approve":
            one.policy["quorum"] = dice.choice([1, 1, 2, 3, "2", "many", None])
        one.expires_at = (
            dice.choice([one.expires_at, None]) if one.kind in ("settle", "take_over") else one.expires_at
        )
        one.expires_at = dice.choice([one.expires_at, timezone.now() + DAY / 2])
        one.save()
        if one.kind == "approve" and dice.random() < 0.4:
            signed = rights.signed(one, dice.choice(people))
            if dice.random() < 0.5:
                with connection.cursor() as cursor:
                    cursor.execute("SET session_replication_role = replica")
                    Decision.everywhere.filter(pk=signed.pk).update(authority="escalation")
                    cursor.execute("SET session_replication_role = origin")
    wrong = set(chase.stuck(limit=1000))
    lacking = {one.pk for one in questions if enough.lack(one)}
    marked = {one.pk for one in questions if one.undecidable_since}
    assert wrong == lacking ^ marked, [
        (one.kind, one.policy, one.editors, one.pk in lacking, enough.lack(one))
        for one in questions
        if one.pk in wrong ^ lacking ^ marked
    ]
    assert lacking - marked
    assert marked - lacking
    for one in questions:
        assert chase.stuck(only=one.pk) == ([one.pk] if one.pk in wrong else [])


@pytest.fixture
def house() -> make.House:
    return make.house()


def leaves(of: make.House, *people: User) -> None:
    Membership.everywhere.filter(tenant=of.tenant, user__in=people).update(disabled_at=timezone.now())


def look(one: PendingAction) -> bool:
    with transaction.atomic():
        return chase.look(action_id=one.pk)


def why(one: PendingAction) -> str:
    lacking = enough.lack(make.again(one))
    assert lacking is not None
    return str(lacking.reason)


def told(one: PendingAction, topic: str) -> list[Message]:
    return list(Message.objects.filter(topic=topic, payload__action_id=one.pk.hex))


def noted(one: PendingAction, act: str) -> int:
    return AuditEntry.everywhere.filter(act=act, run_id=one.run_id).count()


def test_b60_when_the_last_approver_leaves_it_goes_to_the_owner_who_decides_it(house):
    """Guards approvals/chase.py `look`: marked once, told once, noted once; the owner decides with that right alone."""
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=house.jonas)
    one = make.question(house)
    assert look(one) is False
    with pytest.raises(Exception, match="approvers"):
        make.answer(one, house.jonas, "approve")
    leaves(house, house.ben, house.mira)
    assert chase.stuck() == [one.pk]
    assert look(one) is True
    assert look(one) is False, "it is marked and told once"
    marked = make.again(one)
    assert marked.undecidable_since is not None
    assert marked.escalated_at == marked.undecidable_since
    (message,) = told(one, "action.undecidable")
    assert message.payload["to"] == [house.jonas.pk.hex]
    assert message.payload["why"] == "nobody"
    assert noted(one, "action.undecidable") == 1
    with pytest.raises(Exception, match="submitted"):
        make.answer(one, house.ada, "approve")
    decision = make.answer(one, house.jonas, "approve")
    assert decision.authority == rules.ESCALATION
    assert make.again(one).status == "APPROVED"
    assert chase.stuck() == [], "what is decided is looked at no more"


def test_b60_the_mark_goes_when_there_are_enough_again_and_with_it_the_right_of_the_owner(house):
    """Guards approvals/chase.py `look` and approvals/rules.py `_has_escalated_to`."""
    one = make.question(house, policy={**make.POLICY, "quorum": 2})
    leaves(house, house.mira)
    assert look(one) is True
    assert make.again(one).undecidable_since is not None
    Membership.everywhere.filter(user=house.mira).update(disabled_at=None)
    assert look(one) is True
    assert make.again(one).undecidable_since is None
    assert (len(told(one, "action.decidable")), noted(one, "action.decidable")) == (1, 1)
    with pytest.raises(Exception, match="approvers"):
        make.answer(make.again(one), house.jonas, "approve")


def test_b60_without_an_owner_or_when_they_have_left_every_administrator_is(house):
    """Guards accounts/rights.py `escalation_owners`: somebody is always told."""
    leaves(house, house.ben, house.mira)
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=house.ben)
    one = make.question(house)
    assert one.undecidable_since is not None, "said as soon as it opens"
    assert told(one, "action.undecidable")[0].payload["to"] == [house.jonas.pk.hex]
    assert make.answer(one, house.jonas, "approve").authority == rules.ESCALATION


def test_b60_a_signature_of_who_may_no_more_does_not_count_and_one_who_still_may_does(house):
    """Guards approvals/enough.py `lack`: two must agree; one has, and the other one left."""
    one = make.question(house, policy={**make.POLICY, "quorum": 2})
    make.answer(one, house.ben, "approve")
    assert look(one) is False
    leaves(house, house.ben)
    assert look(one) is True
    lacking = enough.lack(make.again(one))
    assert lacking is not None
    assert (lacking.needed, lacking.people, lacking.owners_are_enough) == (2, 1, True)


@pytest.mark.parametrize(("days", "stuck"), [(2, False), (4, True)])
def test_b60_away_counts_as_gone_only_when_everybody_is_back_too_late(house, days, stuck):
    """Guards approvals/enough.py `lack` and approvals/sql/stuck.sql: who is back before it expires can still decide it."""
    ends = timezone.now() + 3 * DAY
    one = make.question(house, policy={**make.POLICY, "ttl_seconds": int(3 * DAY.total_seconds())})
    rights.absence(house.tenant, house.ben, ends_at=ends + 30 * DAY)
    assert look(one) is False
    rights.absence(house.tenant, house.mira, ends_at=timezone.now() + days * DAY)
    assert look(one) is stuck
    if stuck:
        assert "Ben Okafor, Mira Sandoval" in why(one)
        assert make.answer(one, house.ben, "approve").authority == rules.ROLE, "away is no bar"


@pytest.mark.parametrize(
    "rule", [{"quorum": "many"}, {"quorum": None, "role": "emperor"}, {"group": "Nobody"}, {"quorum": 99}]
)
def test_b64_a_rule_that_cannot_be_met_denies_and_says_so(house, rule):
    """Guards approvals/sql/stuck.sql `quorum` and approvals/rules.py `quorum`: what cannot be read lets nothing through."""
    one = make.question(house, policy={**make.POLICY, **rule})
    assert one.undecidable_since is not None
    assert why(one)
    for person in (house.ben, house.mira):
        with contextlib.suppress(errors.DeskError):
            make.answer(one, person, "approve")
    assert make.again(one).status == "OPEN"

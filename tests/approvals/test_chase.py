"""Reminders and escalation in time, the escalation owner, and what the pages say of both."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from accounts.models import AuditEntry, Membership, Tenant
from approvals import announce, chase, links
from approvals.clock import db_now
from approvals.expire import expire
from approvals.models import PendingAction
from outbox.models import Message
from runs.engine import chase as sweeps
from tests.make import approvals as make
from tests.make import people as cast

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
TIMED = {**make.POLICY, "ttl_seconds": 36_000, "remind_after_seconds": 3600, "escalate_after_seconds": 14_400}


@pytest.fixture
def house() -> make.House:
    return make.house()


def at(one: PendingAction, column: str) -> datetime:
    """A time of a question, which it has."""
    found = getattr(one, column)
    assert isinstance(found, datetime)
    return found


def due(one: PendingAction, **times: Any) -> None:
    PendingAction.everywhere.filter(pk=one.pk).update(**times)


def told(one: PendingAction) -> list[str]:
    rows = Message.objects.filter(payload__action_id=one.pk.hex).order_by("pk")
    return [
        row.topic.removeprefix("action.")
        for row in rows
        if row.topic not in ("action.opened", "decision.recorded")
    ]


def test_the_times_of_the_policy_are_set_by_the_clock_of_the_database(house):
    """Guards approvals/open.py and approvals/chase.py `times`."""
    before = db_now()
    one = make.question(house, policy=TIMED)
    assert before + HOUR <= at(one, "remind_at") <= db_now() + HOUR
    assert at(one, "escalate_at") - at(one, "remind_at") == 3 * HOUR
    late = make.question(house, policy={**TIMED, "ttl_seconds": 3600})
    assert (late.remind_at, late.escalate_at) == (None, None), "nothing is told after the end"
    plain = make.question(house)
    assert (plain.remind_at, plain.escalate_at) == (None, None)


@pytest.mark.parametrize("opened", [make.settle, make.takeover])
def test_what_never_expires_is_reminded_and_escalated_after_the_times_of_the_installation(
    house, opened, settings
):
    """Guards approvals/open.py: a question without an end is not forgotten."""
    one = opened(house)
    engine = settings.COUNTERSIGN
    assert one.expires_at is None
    assert one.remind_at - one.opened_at < timedelta(seconds=engine.remind_seconds + 60)
    assert one.escalate_at - one.remind_at == timedelta(
        seconds=engine.escalate_seconds - engine.remind_seconds
    )


def test_reminders_come_three_times_each_after_twice_as_long_and_once_each(house):
    """Guards approvals/chase.py `remind`, `_next_reminder`."""
    one = make.question(house, policy=TIMED)
    assert sweeps.remind() == 0, "it is not due"
    for number, next_in in ((1, 1), (2, 2), (3, None)):
        due(one, remind_at=db_now() - timedelta(seconds=1))
        now = db_now()
        assert sweeps.remind() == 1
        assert sweeps.remind() == 0
        fresh = make.again(one)
        assert fresh.reminders == number
        assert (fresh.remind_at is None) is (next_in is None)
        if next_in:
            assert abs(at(fresh, "remind_at") - now - next_in * HOUR) < timedelta(minutes=5)
    assert told(one) == ["reminder"] * 3


def test_it_is_escalated_once_with_an_entry_in_the_audit_log(house):
    """Guards approvals/chase.py `escalate`: told gives no right."""
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=house.mira)
    one = make.question(house, policy=TIMED)
    due(one, escalate_at=db_now() - timedelta(seconds=1))
    assert sweeps.escalate() == 1
    assert sweeps.escalate() == 0
    fresh = make.again(one)
    assert fresh.escalate_at is None
    assert fresh.escalated_at is not None
    assert fresh.undecidable_since is None
    assert told(one) == ["escalated"]
    entry = AuditEntry.everywhere.get(act="action.escalated", run_id=one.run_id)
    assert entry.payload["to"] == [house.mira.pk.hex]
    with pytest.raises(Exception, match="approvers"):
        make.answer(fresh, house.jonas, "approve")


def _decided(house: make.House, one: PendingAction) -> None:
    make.answer(one, house.ben, "reject")


def _expired(house: make.House, one: PendingAction) -> None:
    with transaction.atomic():
        expire(action_id=one.pk, now=make.ends(one))


def _superseded(house: make.House, one: PendingAction) -> None:
    other = make.question(house)
    PendingAction.everywhere.filter(pk=other.pk).update(successor_of=one)


def _past_its_end(house: make.House, one: PendingAction) -> None:
    due(one, expires_at=db_now() - timedelta(seconds=1))


@pytest.mark.parametrize("became", [_decided, _expired, _superseded, _past_its_end])
@pytest.mark.parametrize("verb", ["remind", "escalate", "look"])
def test_b54_nothing_is_told_of_what_is_closed_superseded_or_past_its_end(
    house, became: Callable[..., None], verb
):
    """Guards approvals/chase.py `_open`: status, successor and end are read under the lock, whatever the sweep had found."""
    one = make.question(house, policy=TIMED)
    due(one, remind_at=db_now() - HOUR, escalate_at=db_now() - HOUR)
    became(house, one)
    Membership.everywhere.filter(user__in=[house.ben, house.mira]).update(roles=["submitter"])
    before = told(one)
    getattr(sweeps, verb)()
    with transaction.atomic():
        assert getattr(chase, verb)(action_id=one.pk) is False
    assert told(one) == before


@pytest.mark.django_db(transaction=True)
def test_b54_a_question_that_somebody_is_deciding_is_left_and_found_again(house):
    """Guards approvals/chase.py `_open`: the row that is held is skipped, not waited for."""
    one = make.question(house, policy=TIMED)
    due(one, remind_at=db_now() - HOUR)

    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            PendingAction.everywhere.select_for_update(of=("self",)).get(pk=one.pk)
            held.set()
            go.wait(30)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(30)
        assert sweeps.remind() == 0
    finally:
        go.set()
        thread.join(30)
    assert sweeps.remind() == 1


def test_one_that_fails_does_not_stop_the_others(house, monkeypatch):
    """Guards runs/engine/chase.py: each has a transaction of its own."""
    first, second = make.question(house, policy=TIMED), make.question(house, policy=TIMED)
    for minutes, one in ((2, first), (1, second)):
        due(one, remind_at=db_now() - timedelta(minutes=minutes))
    real = announce.reminded

    def fails(action: PendingAction) -> None:
        if action.pk == first.pk:
            raise ValueError("no room")
        real(action)

    monkeypatch.setattr(announce, "reminded", fails)
    assert sweeps.remind() == 1
    assert make.again(first).reminders == 0
    assert told(second) == ["reminder"]


def page(person: Any, address: str) -> str:
    answer = cast.browser(person).get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_b60_the_only_approver_is_switched_off_the_page_says_so_and_the_owner_decides_it(house):
    """From the people page to the decision, as people do it: nothing but pages and one sweep of the coordinator."""
    jonas = cast.browser(house.jonas)
    jonas.post("/people/escalation/", {"owner": str(house.jonas.pk)})
    assert f'value="{house.jonas.pk}" selected' in page(house.jonas, "/people/")
    one = make.question(house, policy=TIMED)
    address = links.action(one.pk)
    for person in (house.ben, house.mira):
        member = Membership.everywhere.get(tenant=house.tenant, user=person)
        jonas.post(f"/people/{member.pk}/disable/")
    ada = page(house.ada, address)
    assert "Nobody can decide this." in ada, "said before the sweep comes round"
    assert "Nobody who may decide it holds the role Approver any more." in ada
    assert "It has gone to Jonas Weber, the escalation owner." in ada
    assert 'name="verdict" value="approve"' not in page(house.jonas, address)
    assert sweeps.look() == 1
    assert "nobody can decide this" in page(house.jonas, "/inbox/")
    mine = page(house.jonas, address)
    assert "You may decide it now, with that right alone." in mine
    assert "Nobody else can decide it, so it has come to you." in mine
    assert 'name="verdict" value="approve"' in mine
    answer = jonas.post(
        f"{address}decide/", {"verdict": "approve", "digest": one.digest, "generation": one.generation}
    )
    assert answer.status_code == 302
    assert make.again(one).status == "APPROVED"
    assert "Nobody can decide this." not in page(house.ada, address)


def test_b60_when_the_owner_is_not_enough_the_page_says_what_helps(house):
    """Guards approvals/present/chased.py `_advice`: one owner is one person, and who submitted it is none."""
    Membership.everywhere.filter(user__in=[house.ben, house.mira]).update(roles=["submitter"])
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=house.jonas)
    two = make.question(house, policy={**TIMED, "quorum": 2})
    said = page(house.jonas, links.action(two.pk))
    assert "That is not enough: 1 more must be given the role Approver." in said
    assert 'href="/people/"' in said
    Tenant.objects.filter(pk=house.tenant.pk).update(escalation_owner=house.ada)
    own = make.question(house)
    assert "That is not enough: 1 more must be given the role Approver." in page(
        house.ada, links.action(own.pk)
    )


def test_the_page_says_when_people_were_and_will_be_reminded(house):
    """Guards templates/approvals/partials/chased.html."""
    one = make.question(house, policy=TIMED)
    first = page(house.ben, links.action(one.pk))
    assert "reminder:" in first
    assert "the escalation owner is told:" in first
    due(one, remind_at=db_now() - HOUR, escalate_at=db_now() - HOUR)
    assert (sweeps.remind(), sweeps.escalate()) == (1, 1)
    later = page(house.ben, links.action(one.pk))
    assert "Reminded once, last:" in later
    assert "next:" in later
    assert "the escalation owner was told:" in later
    for opened in (make.settle, make.takeover):
        assert "the escalation owner is told:" in page(house.ben, links.action(opened(house).pk))


def test_the_operator_names_the_owner_and_only_a_member_can_be(house, capsys):
    """Guards accounts/verbs/set_escalation_owner.py."""
    slug = house.tenant.slug
    call_command("tenant_terms", slug, escalation_owner=house.ben.email.upper())
    assert f"escalation_owner: {house.ben.email}" in capsys.readouterr().out
    entry = AuditEntry.everywhere.get(tenant=house.tenant, act="tenant.escalation_owner_set")
    assert (entry.actor_kind, entry.payload["owner"]) == ("operator", house.ben.pk.hex)
    for address in (house.otto.email, "nobody@nowhere.example"):
        with pytest.raises(CommandError):
            call_command("tenant_terms", slug, escalation_owner=address)
    cast.browser(house.jonas).post("/people/escalation/", {"owner": str(house.otto.pk)})
    assert Tenant.objects.get(pk=house.tenant.pk).escalation_owner == house.ben
    cast.browser(house.ben).post("/people/escalation/", {"owner": ""})
    assert Tenant.objects.get(pk=house.tenant.pk).escalation_owner == house.ben, "administrators alone"
    call_command("tenant_terms", slug, escalation_owner="none")
    assert Tenant.objects.get(pk=house.tenant.pk).escalation_owner is None

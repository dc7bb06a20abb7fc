"""Questions to people and the post room: what is late, gone or over never decides, and is told and recorded as what it was."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from accounts.models import AuditEntry
from accounts.verbs.change_roles import change_roles
from accounts.verbs.disable_person import disable_person
from approvals import errors, grants
from approvals.expire import expire
from approvals.models import Decision, PendingAction
from approvals.reopen import reopen
from outbox.models import Message, Notification
from outbox.relay import drain
from outbox.routes import MAIL
from outbox.webhooks import events
from tests.make import approvals as make
from tests.make import people
from tests.outbox.conftest import PostOffice
from tools import previews
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def deliver() -> None:
    drain(limit=100)
    drain(limit=10, lane=MAIL)


def told(topic: str) -> list[events.Event]:
    rows = Message.objects.filter(topic=topic).order_by("id")
    found = [events.translated(row.topic, row.payload) for row in rows]
    return [one for one in found if one is not None]


def test_b53_an_answer_to_an_older_question_authorises_nothing_and_is_no_entry(house: make.House) -> None:
    """Guards approvals/decide.py: a question that was asked anew takes no answer, and the chain says nothing of one."""
    first = make.question(house)
    make.answer(first, house.ben, "approve")
    with transaction.atomic():
        grants.void(action_id=first.pk, reason="The target changed.")
        intent = Intent.everywhere.get(pk=first.intent_id)
        second = reopen(
            action_id=first.pk,
            intent=intent,
            contract=house.contract,
            epoch=intent.epoch,
            preview=previews.render(contract=house.contract, arguments=intent.arguments, tenant=house.tenant),
            policy=make.POLICY,
        )
    entries = AuditEntry.everywhere.count()
    with pytest.raises(errors.Superseded) as refused:
        make.answer(first, house.mira, "approve")
    assert refused.value.by.pk == second.pk
    assert AuditEntry.everywhere.count() == entries
    intent.refresh_from_db()
    assert intent.status != "AUTHORISED"
    assert [one.data["action"] for one in told("action.opened")] == [
        f"act_{one.pk.hex}" for one in (first, second)
    ]


def test_b55_a_mail_server_that_hangs_takes_no_time_from_the_person(
    house: make.House, office: PostOffice
) -> None:
    """Guards approvals/announce.py: telling is a message. The end of the question counts from its opening, and it can be
    decided while no letter has left."""
    office.hang.update({house.ben.email, house.mira.email})
    action = make.question(house)
    lasts = PendingAction.everywhere.annotate(lasts=F("expires_at") - F("opened_at")).get(pk=action.pk).lasts
    deliver()
    assert office.letters == []
    assert Notification.everywhere.filter(status="pending").count() == 2
    after = PendingAction.everywhere.get(pk=action.pk)
    assert (after.status, after.expires_at) == ("OPEN", action.expires_at)
    assert lasts.total_seconds() == pytest.approx(make.POLICY["ttl_seconds"], abs=1)
    make.answer(action, house.ben, "approve")
    assert PendingAction.everywhere.get(pk=action.pk).status == "APPROVED"


def test_b56_nobody_stands_under_what_a_timeout_decided(house: make.House) -> None:
    """Guards approvals/expire.py: record, chain and event name the policy and no person."""
    action = make.question(house)
    with transaction.atomic():
        expire(action_id=action.pk, now=make.ends(action))
    decision = Decision.everywhere.get(action=action)
    entry = AuditEntry.everywhere.get(act="action.expired")
    assert (decision.user, entry.actor, entry.actor_kind) == (None, None, "policy:timeout")
    (event,) = told("action.closed")
    assert event.data["status"] == "EXPIRED"
    assert "by" not in event.data


def test_b60_who_left_is_not_told_and_cannot_answer(house: make.House, office: PostOffice) -> None:
    """Guards accounts/rights.py: rights are read when a note is written and when an answer comes; the others are told."""
    action = make.question(house)
    tenant, by = house.tenant.pk, house.jonas.pk
    people_ = {user.pk: people.membership(house.tenant, user).pk for user in (house.ben, house.mira)}
    change_roles(
        tenant_id=tenant, actor_id=by, membership_id=people_[house.ben.pk], roles=["approver", "submitter"]
    )
    disable_person(tenant_id=tenant, actor_id=by, membership_id=people_[house.ben.pk])
    deliver()
    assert {letter["To"] for letter in office.letters} == {house.mira.email}
    with pytest.raises(errors.NotAllowed):
        make.answer(action, house.ben, "approve")
    assert PendingAction.everywhere.get(pk=action.pk).status == "OPEN"
    make.answer(action, house.mira, "approve")


def test_b60_who_leaves_between_the_note_and_the_letter_gets_none(
    house: make.House, office: PostOffice
) -> None:
    make.question(house)
    drain(limit=100)
    type(house.ben).objects.filter(pk=house.ben.pk).update(is_active=False)
    Message.objects.update(next_attempt_at=Now())
    drain(limit=10, lane=MAIL)
    assert {letter["To"] for letter in office.letters} == {house.mira.email}

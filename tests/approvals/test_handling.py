"""Hold, hand over, set aside: verbs that move a question between people and decide nothing."""

from __future__ import annotations

import zoneinfo
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import AuditEntry, Role
from approvals import errors, inbox, rules
from approvals.claim import claim, release
from approvals.delegate import delegate, undelegate
from approvals.models import FollowUp, PendingAction
from approvals.set_aside import set_aside, take_up
from outbox.models import Message
from tests.make import approvals as make
from tests.make import people
from tests.make import rights as staff
from tests.tools import make as bench

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def house():
    return make.house()


def mine(of, person):
    return [one.pk for one in inbox.open_for(user_id=person.pk, tenant_id=of.tenant.pk)]


def acts(action):
    return list(
        AuditEntry.everywhere.filter(run_id=action.run_id).order_by("sequence").values_list("act", flat=True)
    )


def told(topic):
    return [message.payload for message in Message.objects.filter(topic=topic)]


def test_handing_over_asks_one_person_alone(house):
    action = make.question(house)
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk, note="  You know  Halden. ")
    handed = make.again(action)
    assert (handed.assignee, handed.delegated_by, handed.handed_note) == (
        house.mira,
        house.ben,
        "You know Halden.",
    )
    assert mine(house, house.mira) == [action.pk]
    assert mine(house, house.ben) == []
    assert acts(action)[-1] == "action.delegated"
    assert told("action.delegated")[0]["user_id"] == house.mira.pk.hex
    with pytest.raises(errors.NotAllowed) as refused:
        make.answer(action, house.ben, "approve")
    assert [reason.code for reason in refused.value.reasons] == ["assigned"]
    assert "Mira Sandoval" in str(refused.value)
    assert make.answer(action, house.mira, "approve").authority == rules.DELEGATED


@pytest.mark.parametrize("who", ["ada", "jonas", "otto", "ben"])
def test_it_is_handed_to_nobody_who_may_not_decide(house, who):
    """The submitter, somebody without the role, a stranger, and oneself."""
    action = make.question(house)
    with pytest.raises(errors.NotAllowed):
        delegate(action_id=action.pk, user_id=house.ben.pk, to_id=getattr(house, who).pk)
    assert make.again(action).assignee is None
    assert told("action.delegated") == []


@pytest.mark.parametrize("who", ["ada", "jonas", "otto"])
def test_nobody_hands_over_claims_or_sets_aside_what_they_may_not_decide(house, who):
    action, person = make.question(house), getattr(house, who)
    later = timezone.now() + timedelta(minutes=5)
    for act in (
        lambda: delegate(action_id=action.pk, user_id=person.pk, to_id=house.mira.pk),
        lambda: claim(action_id=action.pk, user_id=person.pk),
        lambda: set_aside(action_id=action.pk, user_id=person.pk, until=later),
    ):
        with pytest.raises(errors.NotAllowed):
            act()
    still = make.again(action)
    assert still.assignee is None
    assert still.claimed_by is None
    assert not FollowUp.everywhere.exists()


def test_who_was_asked_gives_it_back_and_an_administrator_takes_it_back(house):
    for taker in (house.mira, house.ben, house.jonas):
        action = make.question(house)
        delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
        undelegate(action_id=action.pk, user_id=taker.pk)
        assert make.again(action).assignee is None
        assert action.pk in mine(house, house.ben)
        assert acts(action)[-1] == "action.undelegated"


def test_a_colleague_does_not_take_back_what_was_handed_to_another(house):
    action = make.question(house)
    third = bench.person(house.tenant, Role.APPROVER, name="Petra Novak")
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
    with pytest.raises(errors.NotAllowed):
        undelegate(action_id=action.pk, user_id=third.pk)
    assert make.again(action).assignee == house.mira


def test_after_the_signature_of_who_was_asked_the_next_is_for_anybody(house):
    action = make.question(house, policy={**make.POLICY, "quorum": 2})
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
    make.answer(action, house.mira, "approve")
    assert make.again(action).assignee is None
    make.answer(action, house.ben, "approve")
    assert make.again(action).status == "APPROVED"


def test_what_is_decided_is_handed_to_nobody(house):
    action = make.question(house)
    make.answer(action, house.ben, "approve")
    with pytest.raises(errors.AlreadyDecided):
        delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)


def test_a_claim_is_held_by_one_and_runs_out(house):
    action = make.question(house)
    claim(action_id=action.pk, user_id=house.ben.pk)
    claim(action_id=action.pk, user_id=house.ben.pk)
    with pytest.raises(errors.Held) as held:
        claim(action_id=action.pk, user_id=house.mira.pk)
    assert "Ben Okafor" in str(held.value)
    assert mine(house, house.mira) == []
    PendingAction.everywhere.filter(pk=action.pk).update(claimed_until=timezone.now() - DAY)
    assert mine(house, house.mira) == [action.pk]
    claim(action_id=action.pk, user_id=house.mira.pk)
    assert make.again(action).claimed_by == house.mira


def test_an_administrator_ends_the_claim_of_somebody_else(house):
    action = make.question(house)
    claim(action_id=action.pk, user_id=house.ben.pk)
    with pytest.raises(errors.NotHeld):
        release(action_id=action.pk, user_id=house.mira.pk)
    release(action_id=action.pk, user_id=house.jonas.pk)
    assert make.again(action).claimed_by is None
    assert acts(action)[-1] == "action.released"
    assert [payload["act"] for payload in told("action.handled")] == ["claimed", "released"]


def test_what_was_set_aside_comes_back_by_itself_or_at_once(house):
    action = make.question(house)
    claim(action_id=action.pk, user_id=house.ben.pk)
    set_aside(action_id=action.pk, user_id=house.ben.pk, until=timezone.now() + timedelta(minutes=30))
    assert mine(house, house.ben) == []
    assert mine(house, house.mira) == [action.pk]
    take_up(action_id=action.pk, user_id=house.ben.pk)
    assert mine(house, house.ben) == [action.pk]
    assert acts(action)[-2:] == ["action.set_aside", "action.taken_up"]


@pytest.mark.parametrize("days", [-1, 0.5, 91])
def test_it_is_set_aside_neither_into_the_past_nor_beyond_its_end(house, days):
    """Its time runs out in an hour, and what has run out is denied unseen."""
    action = make.question(house)
    with pytest.raises(errors.BadAnswer):
        set_aside(action_id=action.pk, user_id=house.ben.pk, until=timezone.now() + days * DAY)
    assert not FollowUp.everywhere.exists()


def test_whoever_stands_in_decides_while_the_other_is_away_and_no_longer(house):
    third = bench.person(house.tenant, Role.APPROVER, name="Petra Novak")
    action = make.question(house)
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
    away = staff.absence(house.tenant, house.mira, stand_in=third)
    with pytest.raises(errors.NotAllowed):
        make.answer(action, house.ben, "approve")
    away.__class__.everywhere.filter(pk=away.pk).update(cancelled_at=timezone.now())
    with pytest.raises(errors.NotAllowed):
        make.answer(action, third, "approve")
    away.__class__.everywhere.filter(pk=away.pk).update(cancelled_at=None)
    given = make.answer(action, third, "approve")
    assert (given.authority, given.stands_for) == (rules.STAND_IN, house.mira)


def test_standing_in_gives_no_right(house):
    action = make.question(house)
    delegate(action_id=action.pk, user_id=house.ben.pk, to_id=house.mira.pk)
    staff.absence(house.tenant, house.mira, stand_in=house.jonas)
    with pytest.raises(errors.NotAllowed) as refused:
        make.answer(action, house.jonas, "approve")
    assert [reason.code for reason in refused.value.reasons] == ["role"]


def test_the_page_offers_who_else_may_decide_and_takes_the_answer(house):
    action = make.question(house)
    staff.absence(house.tenant, house.mira, note="at sea")
    browser = people.browser(house.ben)
    page = browser.get(f"/inbox/act_{action.pk.hex}/").content.decode()
    assert "Mira Sandoval" in page
    assert "away until" in page
    assert "Ada Lindqvist</option>" not in page
    to = {"to": f"usr_{house.mira.pk.hex}", "note": "You know Halden."}
    assert browser.post(f"/inbox/act_{action.pk.hex}/delegate/", to).status_code == 302
    page = browser.get(f"/inbox/act_{action.pk.hex}/").content.decode()
    assert "You handed this to Mira Sandoval." in page
    assert "You know Halden." in page
    refused = browser.post(f"/inbox/act_{action.pk.hex}/claim/")
    assert refused.status_code == 403
    assert "This was handed to Mira Sandoval" in refused.content.decode()
    boss = people.browser(house.jonas)
    assert "Ask everybody again" in boss.get(f"/inbox/act_{action.pk.hex}/").content.decode()
    assert boss.post(f"/inbox/act_{action.pk.hex}/undelegate/").status_code == 302
    assert make.again(action).assignee is None


@pytest.mark.parametrize("kind", ["settle", "takeover"])
def test_the_other_pages_offer_it_too(house, kind):
    action = getattr(make, kind)(house)
    browser = people.browser(house.ben)
    page = browser.get(f"/inbox/act_{action.pk.hex}/").content.decode()
    assert "Hand to somebody" in page
    assert "Set aside until" in page


def test_a_time_is_read_in_the_zone_of_the_person(house):
    type(house.ben).objects.filter(pk=house.ben.pk).update(time_zone="Asia/Shanghai")
    action = make.takeover(house)
    browser = people.browser(house.ben)
    wanted = timezone.localtime(timezone.now() + DAY, zoneinfo.ZoneInfo("Asia/Shanghai")).replace(
        second=0, microsecond=0
    )
    url = f"/inbox/act_{action.pk.hex}/set-aside/"
    assert browser.post(url, {"until": wanted.strftime("%Y-%m-%dT%H:%M")}).status_code == 302
    assert FollowUp.everywhere.get(action=action).at == wanted
    assert browser.post(url, {"until": "soon"}).status_code == 422

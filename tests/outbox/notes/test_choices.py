"""How a person wants to be told: one list of kinds, what was chosen, and what nobody can switch off."""

from __future__ import annotations

import pytest

from accounts.errors import Refused
from outbox.kinds import KINDS
from outbox.models import Channel, Notification, NotificationPreference, Timing
from outbox.notify import choices, writers
from outbox.relay import drain
from outbox.routes import MAIL
from outbox.verbs.choose_notes import choose_notes, set_digest_time
from tests.make import approvals as make
from tests.make import people
from tests.outbox.conftest import PostOffice

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def choose(house: make.House, user_id: object, **timings: str) -> None:
    """``waits_for_me__mail="off"``"""
    wanted = {(key.split("__")[0], key.split("__")[1]): value for key, value in timings.items()}
    by = house.jonas.pk if user_id is None else user_id
    choose_notes(tenant_id=house.tenant.pk, by=by, user_id=user_id, choices=wanted)  # type: ignore[arg-type]


def channels(house: make.House) -> dict[str, set[str]]:
    """Name → channels over which somebody was told of the question."""
    found: dict[str, set[str]] = {}
    for row in Notification.everywhere.filter(kind="waits_for_me").select_related("user"):
        assert row.user is not None
        found.setdefault(row.user.name, set()).add(row.channel)
    return found


def test_every_kind_has_a_writer_and_every_writer_a_kind() -> None:
    """Guards outbox/kinds.py `KINDS`: what people choose by is what is written; neither list grows alone."""
    written = {kind for writer in writers.registered().values() for kind in writer.kinds}
    assert written == set(KINDS)


def test_a_person_chooses_for_themselves_alone(house: make.House) -> None:
    choose(house, house.ben.pk, waits_for_me__mail="off")
    make.question(house)
    drain(limit=100)
    assert channels(house) == {"Ben Okafor": {"page"}, "Mira Sandoval": {"mail", "page"}}


def test_what_the_tenant_sets_holds_for_who_chose_nothing(house: make.House) -> None:
    """Guards outbox/notify/choices.py `timing`: the person's own choice comes first."""
    choose(house, None, waits_for_me__mail="off")
    choose(house, house.ben.pk, waits_for_me__mail="at_once")
    make.question(house)
    drain(limit=100)
    assert channels(house) == {"Ben Okafor": {"mail", "page"}, "Mira Sandoval": {"page"}}


def test_choosing_what_holds_anyway_keeps_no_choice(house: make.House) -> None:
    """Guards outbox/verbs/choose_notes.py: who is content with the default follows it."""
    choose(house, house.ben.pk, waits_for_me__mail="off")
    choose(house, house.ben.pk, waits_for_me__mail="at_once")
    assert NotificationPreference.everywhere.count() == 0
    choose(house, None, waits_for_me__mail="digest")
    make.question(house)
    drain(limit=100)
    found = Notification.everywhere.filter(channel="mail", kind="waits_for_me")
    assert set(found.values_list("status", flat=True)) == {"waiting"}


def test_what_was_escalated_stays_in_the_page(house: make.House) -> None:
    """Guards outbox/kinds.py `Kind.choices` and outbox/verbs/choose_notes.py: neither a person nor the tenant can switch it
    off, and nothing of a choice that holds it is kept."""
    with pytest.raises(Refused):
        choose(house, house.ben.pk, waits_for_me__mail="off", escalated_to_me__page="off")
    assert choices.of(tenant_id=house.tenant.pk, user_ids=[house.ben.pk]).chosen == {}
    found = choices.Choices({(house.ben.pk, "escalated_to_me", "page"): "off"})
    assert found.timing(house.ben.pk, KINDS["escalated_to_me"], Channel.PAGE) == Timing.AT_ONCE


@pytest.mark.parametrize("choice", [{"nothing__mail": "off"}, {"waits_for_me__fax": "off"}, {"waits_for_me__page": "digest"}, {"waits_for_me__mail": "never"}])  # fmt: skip
def test_what_is_not_offered_cannot_be_chosen(house: make.House, choice: dict[str, str]) -> None:
    with pytest.raises(Refused):
        choose(house, house.ben.pk, **choice)


def test_only_administrators_choose_for_everybody(house: make.House) -> None:
    for user_id in (None, house.mira.pk):
        with pytest.raises(Refused):
            choose_notes(tenant_id=house.tenant.pk, by=house.ben.pk, user_id=user_id, choices={})
    with pytest.raises(Refused):
        set_digest_time(tenant_id=house.tenant.pk, user_id=house.ben.pk, every="daily", hour=24)


def test_b65_with_every_channel_off_the_inbox_works(house: make.House, office: PostOffice) -> None:
    """Guards approvals/inbox.py: what waits is a query; no note has to arrive for it."""
    for user in (house.ben, house.mira):
        choose(house, user.pk, waits_for_me__mail="off", waits_for_me__page="off")
    action = make.question(house)
    drain(limit=100)
    drain(limit=10, lane=MAIL)
    assert office.letters == []
    assert people.browser(house.ben).get("/inbox/").content.decode().count(action.sentence.split()[0])
    assert make.answer(action, house.ben, "approve").verdict == "approve"

"""The digest: once a period, by the reader's clock, with what still stands; and none when nothing does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread
from zoneinfo import ZoneInfo

import pytest
from django.db import connection

from accounts.models import Membership, Role, User
from outbox.models import Digest, DigestTime, Message, Notification
from outbox.notify.digests import due, make_digests
from outbox.relay import drain
from outbox.routes import MAIL
from outbox.verbs.choose_notes import choose_notes, set_digest_time
from tests.make import approvals as make
from tests.outbox.conftest import PostOffice
from tests.outbox.test_relay import due_now

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    """Ben reads a digest, Mira nothing by mail."""
    made = make.house()
    for user, timing in ((made.ben, "digest"), (made.mira, "off")):
        kinds = ("waits_for_me", "outcome_unknown", "lapsed")
        chosen = {(kind, "mail"): timing for kind in kinds}
        choose_notes(tenant_id=made.tenant.pk, by=user.pk, user_id=user.pk, choices=chosen)
    set_digest_time(tenant_id=made.tenant.pk, user_id=made.ben.pk, every="hourly", hour=8)
    return made


def later() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def post() -> None:
    drain(limit=100)
    drain(limit=10, lane=MAIL)


def test_what_still_stands_comes_in_one_mail(house: make.House, office: PostOffice) -> None:
    """Guards outbox/notify/digests.py `_digest`: what was decided meanwhile is left out, at the last moment."""
    first, second, third = (make.question(house) for _ in range(3))
    post()
    assert office.to(house.ben.email) == []
    assert make_digests(now=later()) == 1
    make.answer(second, house.mira, "reject")
    post()
    assert not list(Message.objects.exclude(last_error="").values_list("topic", "last_error"))
    (letter,) = office.to(house.ben.email)
    text = letter.get_content()
    assert letter["Subject"] == "2 notes from Linden"
    for action, there in ((first, True), (second, False), (third, True)):
        assert (f"act_{action.pk.hex}" in text) is there
    assert letter["Message-ID"].startswith(f"<{Digest.everywhere.get().pk.hex}@")
    states = Notification.everywhere.filter(user=house.ben, channel="mail").values_list("status", flat=True)
    assert sorted(states) == ["dropped", "sent", "sent"]


def test_a_digest_that_is_told_twice_has_the_same_id_and_is_sent_once(
    house: make.House, office: PostOffice
) -> None:
    make.question(house)
    drain(limit=100)
    make_digests(now=later())
    post()
    Message.objects.filter(topic="note.digest").update(published_at=None)
    due_now()
    post()
    assert len(office.to(house.ben.email)) == 1


def test_nothing_left_no_mail(house: make.House, office: PostOffice) -> None:
    action = make.question(house)
    drain(limit=100)
    make_digests(now=later())
    make.answer(action, house.mira, "reject")
    post()
    assert office.to(house.ben.email) == []
    assert make_digests(now=later() + timedelta(hours=1)) == 0


def test_who_may_no_more_see_it_is_not_told_of_it(house: make.House, office: PostOffice) -> None:
    """Guards outbox/notify/writers.py `write_now`: rights of the moment it leaves, not of the moment it happened."""
    make.question(house)
    drain(limit=100)
    make_digests(now=later())
    Membership.everywhere.filter(user=house.ben).update(roles=[Role.SUBMITTER])
    post()
    assert office.to(house.ben.email) == []


def test_a_server_that_refuses_is_seen_and_sent_again(house: make.House, office: PostOffice) -> None:
    office.later.add(house.ben.email)
    make.question(house)
    drain(limit=100)
    make_digests(now=later())
    post()
    assert office.letters == []
    office.later.clear()
    due_now()
    post()
    assert len(office.to(house.ben.email)) == 1


def test_two_coordinators_make_one(house: make.House) -> None:
    """Guards outbox/models/notification.py `digest_once_a_period`."""
    make.question(house)
    drain(limit=100)
    moment, together = later(), Barrier(2)
    made: list[int] = []

    def coordinate() -> None:
        together.wait()
        made.append(make_digests(now=moment))
        connection.close()

    both = [Thread(target=coordinate) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert sorted(made) == [0, 1]
    assert Digest.everywhere.count() == Message.objects.filter(topic="note.digest").count() == 1


def test_what_came_after_the_hour_waits_for_the_next(house: make.House) -> None:
    make.question(house)
    drain(limit=100)
    assert make_digests() == 0 or datetime.now(UTC).minute == 0


@pytest.mark.parametrize(
    ("zone", "hour", "now", "expected"),
    [
        ("UTC", 8, "2026-03-10T08:00", "2026-03-10T08:00"),
        ("UTC", 8, "2026-03-10T07:59", "2026-03-09T08:00"),
        ("Asia/Tokyo", 8, "2026-03-10T00:00", "2026-03-09T23:00"),
        # The hour that a clock change leaves out, and the day after it.
        ("Europe/Berlin", 2, "2026-03-29T12:00", "2026-03-29T01:00"),
        ("Europe/Berlin", 8, "2026-03-30T06:00", "2026-03-30T06:00"),
        # The hour that comes twice counts the first time.
        ("Europe/Berlin", 2, "2026-10-25T12:00", "2026-10-25T00:00"),
    ],
)
def test_daily_by_the_readers_clock(zone: str, hour: int, now: str, expected: str) -> None:
    """Guards outbox/notify/digests.py `due`."""
    when = DigestTime(every="daily", hour=hour)
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    assert due(when, ZoneInfo(zone), moment) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_the_zone_is_that_of_the_person(house: make.House) -> None:
    set_digest_time(tenant_id=house.tenant.pk, user_id=house.ben.pk, every="daily", hour=8)
    User.objects.filter(pk=house.ben.pk).update(time_zone="Asia/Tokyo")
    make.question(house)
    drain(limit=100)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    make_digests(now=tomorrow)
    assert Digest.everywhere.get().period.astimezone(ZoneInfo("Asia/Tokyo")).hour == 8

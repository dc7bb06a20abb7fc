"""Away: said by oneself or by an administrator, seen by others, ended at once."""

from __future__ import annotations

import zoneinfo
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import rights
from accounts.errors import Refused
from accounts.models import Absence, AuditEntry
from accounts.verbs.end_absence import end_absence
from accounts.verbs.set_absence import set_absence
from tests.make import people as make

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def cast():
    return make.cast()


def away(cast, of, *, by=None, **values):
    now = timezone.now()
    given = {"begins_at": now - DAY, "ends_at": now + DAY, "stand_in_id": None, **values}
    actor = by or of
    return set_absence(tenant_id=cast.tenant.pk, actor_id=actor.pk, user_id=of.pk, **given)


def absent(cast):
    return [one.user_id for one in rights.away(tenant_id=cast.tenant.pk)]


def test_who_is_away_comes_back_at_once_and_both_are_on_record(cast):
    one = away(cast, cast.ben, stand_in_id=cast.mira.pk, note="at sea")
    assert absent(cast) == [cast.ben.pk]
    end_absence(tenant_id=cast.tenant.pk, actor_id=cast.ben.pk, absence_id=one.pk)
    assert absent(cast) == []
    acts = AuditEntry.everywhere.filter(tenant=cast.tenant).order_by("sequence").values_list("act", flat=True)
    assert list(acts) == ["absence.set", "absence.ended"]


def test_it_counts_between_its_instants_alone(cast):
    now = timezone.now()
    away(cast, cast.ben, begins_at=now + DAY, ends_at=now + 2 * DAY)
    assert absent(cast) == []


def test_an_administrator_says_it_of_anybody_and_nobody_else_does(cast):
    away(cast, cast.ben, by=cast.jonas)
    for somebody in (cast.ada, cast.mira, cast.otto):
        with pytest.raises(Refused):
            away(cast, cast.ada if somebody is not cast.ada else cast.mira, by=somebody)
        with pytest.raises(Refused):
            end_absence(
                tenant_id=cast.tenant.pk, actor_id=somebody.pk, absence_id=Absence.everywhere.get().pk
            )
    assert absent(cast) == [cast.ben.pk]


@pytest.mark.parametrize("wrong", ["ends first", "over", "oneself", "stranger", "overlaps"])
def test_what_makes_no_sense_is_refused(cast, wrong):
    now = timezone.now()
    values = {
        "ends first": {"begins_at": now + DAY, "ends_at": now},
        "over": {"begins_at": now - 2 * DAY, "ends_at": now - DAY},
        "oneself": {"stand_in_id": cast.ben.pk},
        "stranger": {"stand_in_id": cast.otto.pk},
        "overlaps": {},
    }[wrong]
    if wrong == "overlaps":
        away(cast, cast.ben)
    before = Absence.everywhere.count()
    with pytest.raises(Refused):
        away(cast, cast.ben, **values)
    assert Absence.everywhere.count() == before


def test_the_page_reads_times_in_the_zone_of_the_person_and_shows_them_to_others(cast):
    type(cast.ben).objects.filter(pk=cast.ben.pk).update(time_zone="Asia/Shanghai")
    zone = zoneinfo.ZoneInfo("Asia/Shanghai")
    begins = timezone.localtime(timezone.now() - DAY, zone).replace(second=0, microsecond=0)
    typed = {
        "begins_at": begins.strftime("%Y-%m-%dT%H:%M"),
        "ends_at": (begins + 3 * DAY).strftime("%Y-%m-%dT%H:%M"),
        "stand_in": str(cast.mira.pk),
        "note": "at sea",
    }
    browser = make.browser(cast.ben)
    assert browser.post("/settings/away/", {**typed, "stand_in": str(cast.ben.pk)}).status_code == 200
    assert browser.post("/settings/away/", typed).status_code == 302
    one = Absence.everywhere.get()
    assert (one.begins_at, one.stand_in, one.note) == (begins, cast.mira, "at sea")
    assert "at sea" in browser.get("/settings/away/").content.decode()
    boss = make.browser(cast.jonas)
    assert "away until" in boss.get("/people/").content.decode()
    stranger = make.browser(cast.mira)
    assert stranger.post(f"/settings/away/{one.pk}/back/").status_code == 404
    assert boss.post(f"/settings/away/{one.pk}/back/").status_code == 302
    assert absent(cast) == []
    page = f"/people/{make.membership(cast.tenant, cast.ben).pk}/away/"
    assert boss.post(page, typed).status_code == 302
    assert absent(cast) == [cast.ben.pk]

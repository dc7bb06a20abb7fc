"""How people decide, in numbers that can be counted by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F

from accounts.models import Membership
from approvals import quality
from approvals.models import Decision, PendingAction, Viewing
from approvals.viewing import looked
from tests.approvals.test_pages import page, signed_in
from tests.make import approvals as make
from tools.models import Tool

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house():
    return make.house()


def asked(house, *, minutes: int = 10) -> PendingAction:
    made = make.question(house)
    PendingAction.everywhere.filter(pk=made.pk).update(opened_at=F("opened_at") - timedelta(minutes=minutes))
    return made


def seen(house, action: PendingAction, by, *, seconds: int) -> None:
    """This person opened the page so long ago."""
    looked(action=action, user_id=by.pk, everything=True)
    Viewing.everywhere.filter(action=action).update(first_at=F("first_at") - timedelta(seconds=seconds))


def test_the_numbers_are_those_of_the_answers(house):
    """Guards approvals/sql/quality.sql: each column, by person and by tool."""
    for seconds in (60, 2):
        action = asked(house)
        seen(house, action, house.ben, seconds=seconds)
        make.answer(action, house.ben, "approve")
    make.answer(asked(house, minutes=30), house.ben, "reject")
    make.answer(asked(house), house.mira, "ask_changes", comment="Shorter", channel="api")
    found = quality.read(tenant_id=house.tenant.pk, days=7)
    ben, mira = found.people
    assert (ben.name, ben.answers, ben.approved, ben.rejected, ben.sent_back, ben.rate) == (
        "Ben Okafor",
        3,
        2,
        1,
        0,
        67,
    )
    assert ben.waited is not None
    assert 595 < ben.waited[0] < 660
    assert 1500 < ben.waited[1] < 1860
    assert (ben.looked_at, ben.opened, ben.unopened, ben.unknown, ben.hasty) == (2, 2, 0, 1, 1)
    assert (mira.sent_back, mira.unknown, mira.looked) == (1, 1, None)
    (mail,) = found.tools
    assert (mail.key, mail.answers, mail.approved, mail.hasty) == ("mail.send", 4, 2, 1)


def test_a_filter_leaves_what_it_names(house):
    """Guards approvals/quality.py `read`: period, person and tool."""
    make.answer(asked(house), house.ben, "approve")
    make.answer(asked(house), house.mira, "approve")
    assert [
        one.name for one in quality.read(tenant_id=house.tenant.pk, days=7, who=house.mira.pk).people
    ] == ["Mira Sandoval"]
    assert quality.read(tenant_id=house.tenant.pk, days=7, tool="other").people == []
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE approvals_decision DISABLE TRIGGER USER")
        cursor.execute("UPDATE approvals_decision SET at = at - interval '8 days'")
        cursor.execute("ALTER TABLE approvals_decision ENABLE TRIGGER USER")
    assert quality.read(tenant_id=house.tenant.pk, days=7).people == []
    assert len(quality.read(tenant_id=house.tenant.pk, days=30).people) == 2


def test_another_tenant_is_not_counted(house):
    make.answer(asked(house), house.ben, "approve")
    assert quality.read(tenant_id=Membership.everywhere.get(user=house.otto).tenant_id, days=7).people == []


def test_the_page_is_for_administrators_and_its_table_runs_nowhere(house):
    """Guards approvals/views/quality.py and the neutral cells of the export (B85)."""
    make.answer(asked(house), house.ben, "approve")
    Tool.everywhere.filter(tenant=house.tenant).update(title='=cmd|"/c calc"!A1')
    assert "Ben Okafor" in page(signed_in(house.jonas), "/quality/")
    page(signed_in(house.ben), "/quality/", status=403)
    page(signed_in(house.jonas), "/quality/?days=8", status=404)
    got = signed_in(house.jonas).get("/quality/export.csv?days=7").getvalue().decode()
    assert "\r\ntool,\"'=cmd|" in got
    assert Decision.everywhere.count() == 1

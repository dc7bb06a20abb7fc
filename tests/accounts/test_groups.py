"""Groups of people: made, filled, renamed and closed by administrators, on record."""

from __future__ import annotations

import pytest

from accounts import rights
from accounts.errors import Refused
from accounts.models import AuditEntry, Group, GroupMember
from accounts.verbs.add_group import add_group
from accounts.verbs.change_group import change_group
from accounts.verbs.close_group import close_group
from tests.make import people as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast():
    return make.cast()


def who(cast, actor=None):
    return {"tenant_id": cast.tenant.pk, "actor_id": (actor or cast.jonas).pk}


def acts(cast):
    return list(
        AuditEntry.everywhere.filter(tenant=cast.tenant).order_by("sequence").values_list("act", flat=True)
    )


def test_a_group_is_made_filled_renamed_and_closed(cast):
    group = add_group(**who(cast), name="  Finance   team ")
    assert group.name == "Finance team"
    change_group(**who(cast), group_id=group.pk, name="Finance", user_ids=[cast.ben.pk, cast.mira.pk])
    inside = rights.group_members(tenant_id=cast.tenant.pk, name="Finance")
    assert inside == frozenset({cast.ben.pk, cast.mira.pk})
    assert rights.group_members(tenant_id=cast.tenant.pk, name="Finance team") is None
    change_group(**who(cast), group_id=group.pk, name="Finance", user_ids=[cast.mira.pk])
    assert rights.groups_of(user_id=cast.ben.pk, tenant_id=cast.tenant.pk) == []
    close_group(**who(cast), group_id=group.pk)
    assert rights.group_members(tenant_id=cast.tenant.pk, name="Finance") is None
    assert acts(cast) == ["group.added", "group.changed", "group.changed", "group.closed"]
    entry = AuditEntry.everywhere.filter(tenant=cast.tenant, act="group.changed").order_by("sequence")[1]
    assert entry.payload["removed"] == [cast.ben.pk.hex]


@pytest.mark.parametrize("actor", ["ada", "ben", "otto"])
def test_only_administrators_change_groups(cast, actor):
    somebody = getattr(cast, actor)
    group = add_group(**who(cast), name="Finance")
    for act in (
        lambda: add_group(**who(cast, somebody), name="Legal"),
        lambda: change_group(**who(cast, somebody), group_id=group.pk, name="X", user_ids=[somebody.pk]),
        lambda: close_group(**who(cast, somebody), group_id=group.pk),
    ):
        with pytest.raises(Refused):
            act()
    assert list(Group.everywhere.values_list("name", "closed_at")) == [("Finance", None)]
    assert not GroupMember.everywhere.exists()


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "FINANCE"])
def test_a_name_is_needed_and_free(cast, name):
    add_group(**who(cast), name="Finance")
    with pytest.raises(Refused):
        add_group(**who(cast), name=name)
    assert acts(cast) == ["group.added"]


def test_nobody_from_outside_is_put_into_a_group(cast):
    group = add_group(**who(cast), name="Finance")
    with pytest.raises(Refused):
        change_group(**who(cast), group_id=group.pk, name="Finance", user_ids=[cast.ben.pk, cast.otto.pk])
    assert not GroupMember.everywhere.exists()


def test_the_pages_do_it_too(cast):
    browser = make.browser(cast.jonas)
    assert browser.post("/people/groups/", {"name": "<b>Finance</b>"}).status_code == 302
    group = Group.everywhere.get()
    url = f"/people/groups/{group.pk}/"
    assert "Ben Okafor" in browser.get(url).content.decode()
    refused = browser.post(url, {"name": "Finance", "members": [str(cast.otto.pk)]})
    assert refused.status_code == 200
    assert not GroupMember.everywhere.exists()
    assert browser.post(url, {"name": "Finance", "members": [str(cast.ben.pk)]}).status_code == 302
    page = browser.get("/people/groups/").content.decode()
    assert "Finance" in page
    assert "Ben Okafor" in page
    assert "Finance" in browser.get("/people/").content.decode()
    assert browser.post(f"{url}close/").status_code == 302
    assert browser.get(url).status_code == 404

"""The sample cast exists in a house of its own, and only there."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from accounts import audit
from accounts.models import Membership, Tenant, User
from config.management.commands.seed_samples import refuse_elsewhere
from tests.make import people as make

pytestmark = pytest.mark.django_db


def seed() -> list[dict[str, str]]:
    out = StringIO()
    call_command("seed_samples", stdout=out)
    accounts: list[dict[str, str]] = json.loads(out.getvalue().splitlines()[-1])
    return accounts


@override_settings(EMBEDDED=True)
def test_the_cast_can_sign_in_and_a_second_seeding_changes_nothing() -> None:
    accounts = seed()
    assert [one["role"] for one in accounts] == [
        "submitter",
        "approver",
        "approver",
        "administrator",
        "administrator",
        "outsider",
    ]
    for one in accounts:
        given = {"login": one["email"], "password": one["password"]}
        assert make.browser().post("/sign-in/", given).status_code == 302
    tenants = {one["tenant"] for one in accounts}
    assert {tenant.name for tenant in Tenant.objects.all()} == tenants == {"Linden Instruments", "Aldergate"}

    jonas = User.objects.get(email="jonas@linden.example")
    jonas.set_password("chosen by Jonas 1")
    jonas.save()
    assert seed() == accounts
    jonas.refresh_from_db()
    assert jonas.check_password("chosen by Jonas 1")
    assert Membership.everywhere.count() == 6
    for tenant in Tenant.objects.all():
        assert audit.verify(tenant_id=tenant.pk) == []


@override_settings(EMBEDDED=False)
def test_elsewhere_nothing_is_made() -> None:
    with pytest.raises(CommandError, match="Nothing was made"):
        call_command("seed_samples")
    assert User.objects.count() == 0


@pytest.mark.parametrize(
    ("embedded", "host", "refused"),
    [
        (True, "127.0.0.1", False),
        (True, "::1", False),
        (True, "/run/postgresql", False),
        (False, "127.0.0.1", True),
        (True, "db.example.org", True),
        (True, "10.0.0.4", True),
        (True, "", True),
    ],
)
def test_only_a_database_of_this_machine_is_seeded(embedded: bool, host: str, refused: bool) -> None:
    """Guards config/management/commands/seed_samples.py `refuse_elsewhere`."""
    if refused:
        with pytest.raises(CommandError):
            refuse_elsewhere(embedded=embedded, host=host)
    else:
        refuse_elsewhere(embedded=embedded, host=host)

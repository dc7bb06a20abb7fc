"""A tenant on real servers begins with one person, who can invite the rest."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from accounts.models import AuditEntry, Membership, Role, Tenant
from tools.models import Contract

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = (
    "open_tenant",
    "linden",
    "Linden Instruments",
    "ada@linden.example",
    "--mail-from=office@linden.example",
)


def run(monkeypatch: pytest.MonkeyPatch, *words: str, password: str = "quince-harbour-19") -> str:
    said = io.StringIO()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    call_command(*words, stdout=said)
    return said.getvalue()


def test_the_first_person_can_sign_in_and_everything_is_there(
    monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    assert "Linden Instruments is open" in run(monkeypatch, *WORDS)
    tenant = Tenant.objects.get(slug="linden")
    member = Membership.everywhere.get(tenant=tenant)
    assert set(member.roles) == {str(role) for role in Role}
    assert client.login(email="ada@linden.example", password="quince-harbour-19")
    tools = set(Contract.everywhere.filter(tenant=tenant).values_list("tool__name", flat=True))
    assert "mail.send" in tools
    assert not [name for name in tools if name.startswith("drill.")]
    assert AuditEntry.everywhere.filter(tenant=tenant, act="membership.added").count() == 1


@pytest.mark.parametrize(
    ("words", "password", "why"),
    [
        (WORDS, "short", "too short"),
        ((*WORDS[:3], "no address", WORDS[4]), "quince-harbour-19", "valid email"),
        (("open_tenant", "Lin den", *WORDS[2:]), "quince-harbour-19", "valid"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_made(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], password: str, why: str
) -> None:
    with pytest.raises(CommandError, match=rf"{why}.*Nothing was made"):
        run(monkeypatch, *words, password=password)
    assert not Tenant.objects.exists()


def test_a_short_name_in_use_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, *WORDS)
    with pytest.raises(CommandError, match="exists"):
        run(monkeypatch, *WORDS)
    assert Membership.everywhere.count() == 1

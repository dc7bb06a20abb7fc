"""Credentials of tools: encrypted at rest, each tenant for itself, replaceable, and told to nobody but the call."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from accounts.errors import Refused
from accounts.models import AuditEntry, Role
from tests.tools import make
from tools import publish, selectors, vault
from tools.errors import ContractRefused
from tools.models import Secret
from tools.present.consequences import consequences

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "canary-7f3a-value"
CALL = {"adapter": "http", "isolation": "thread", "target": "https://crm.example/orders"}


@pytest.fixture
def house():
    tenant = make.tenant()
    return tenant, make.person(tenant, Role.ADMINISTRATOR, Role.APPROVER)


def kept(house, name: str = "crm", value: str = CANARY) -> None:
    tenant, admin = house
    vault.keep(tenant_id=tenant.pk, name=name, value=value, by=admin.pk)


def test_what_is_kept_opens_and_stands_nowhere_in_plain_text(house):
    kept(house)
    tenant, _ = house
    assert vault.opened(tenant_id=tenant.pk, names=["crm", "other"]) == {"crm": CANARY}
    assert CANARY.encode() not in bytes(Secret.everywhere.get().ciphertext)
    assert CANARY not in str(list(AuditEntry.everywhere.values()))
    assert AuditEntry.everywhere.filter(act="secret.set").count() == 1


def test_a_new_value_replaces_the_old_one(house):
    kept(house)
    kept(house, value="second")
    tenant, _ = house
    assert vault.opened(tenant_id=tenant.pk, names=["crm"]) == {"crm": "second"}
    assert Secret.everywhere.count() == 1


@pytest.mark.parametrize("field", ["tenant", "name"])
def test_a_row_that_was_moved_does_not_open(house, field):
    """A person with rights on the database alone gains nothing by giving a secret another owner or another name."""
    kept(house)
    other = make.tenant("aldergate")
    Secret.everywhere.update(**({"tenant": other} if field == "tenant" else {"name": "mine"}))
    row = Secret.everywhere.get()
    with pytest.raises(vault.Sealed):
        vault.opened(tenant_id=row.tenant_id, names=[row.name])


def test_keys_are_changed_without_a_pause(house, settings):
    tenant, _ = house
    settings.VAULT_KEYS = ["old"]
    kept(house)
    settings.VAULT_KEYS = ["new", "old"]
    assert vault.opened(tenant_id=tenant.pk, names=["crm"]) == {"crm": CANARY}
    call_command("rotate_secrets", stdout=io.StringIO())
    settings.VAULT_KEYS = ["new"]
    assert vault.opened(tenant_id=tenant.pk, names=["crm"]) == {"crm": CANARY}
    settings.VAULT_KEYS = ["third"]
    with pytest.raises(CommandError, match="Put the old key back"):
        call_command("rotate_secrets", stdout=io.StringIO())


@pytest.mark.parametrize(
    ("name", "value"), [("", "x"), ("a" * 81, "x"), ("crm", ""), ("crm", "a\nb"), ("crm", "é")]
)
def test_what_makes_no_credential_is_refused(house, name, value):
    with pytest.raises(Refused):
        kept(house, name=name, value=value)
    assert not Secret.everywhere.exists()


def test_a_call_gets_the_secret_that_its_contract_names_as_it_is_now(house):
    tenant, admin = house
    config = {"method": "POST", "auth": {"secret": "crm"}}
    contract = make.contract(tenant, "crm.order", config=config, **CALL)
    assert selectors.spec(contract)["secrets"] == {}
    kept(house)
    assert selectors.spec(contract)["secrets"] == {"crm": CANARY}
    kept(house, value="second")
    assert selectors.spec(contract)["secrets"] == {"crm": "second"}
    assert "secrets" not in selectors.spec(make.contract(tenant, "mail.note"))
    with pytest.raises(Refused) as refused:
        vault.forget(tenant_id=tenant.pk, name="crm", by=admin.pk)
    assert "Contracts in force use it: crm.order" in str(refused.value.text)
    assert selectors.spec(contract)["secrets"] == {"crm": "second"}
    publish.retire(contract_id=contract.pk, by=admin.pk)
    assert vault.forget(tenant_id=tenant.pk, name="crm", by=admin.pk)
    assert selectors.spec(contract)["secrets"] == {}


def test_a_person_does_not_publish_a_contract_whose_secret_is_not_set(house):
    """Guards ``tools/vault.py`` (``missing``): an approver is never asked for a call that could only fail."""
    tenant, admin = house
    make.person(tenant)
    config = {"method": "POST", "auth": {"secret": "crm"}}
    with transaction.atomic():
        declared = {**make.DECLARED, **CALL, "config": config}
        drafted = publish.draft(tool=make.tool(tenant, "crm.order"), **declared)
    told = consequences(draft=drafted, live=None, example="{}")
    assert [problem.code for problem in told.problems] == ["secret_missing"]
    with pytest.raises(ContractRefused, match="no secret called crm") as refused:
        publish.publish(contract_id=drafted.pk, by=admin.pk)
    assert [problem.code for problem in refused.value.problems] == ["secret_missing"]
    kept(house)
    assert consequences(draft=drafted, live=None, example="{}").publishable
    assert publish.publish(contract_id=drafted.pk, by=admin.pk).status == "PUBLISHED"


def test_a_secret_tells_when_it_was_last_used_and_no_call_waits_for_that(house):
    """Guards ``tools/sql/note_secret_use.sql``: a second call within ten minutes writes nothing."""
    kept(house)
    tenant, _ = house
    assert Secret.everywhere.get().used_at is None
    vault.opened(tenant_id=tenant.pk, names=["crm"])
    first = Secret.everywhere.get().used_at
    assert first is not None
    vault.opened(tenant_id=tenant.pk, names=["crm"])
    assert Secret.everywhere.get().used_at == first


def test_b75_the_key_of_the_installation_is_changed_and_each_tenant_keeps_its_own(house, settings):
    """Checklist 26. Guards ``tools/vault.py``: ``rotate`` seals everything anew with the first key, and a key of one tenant
    opens nothing of another."""
    tenant, _ = house
    other = make.tenant("aldergate")
    anna = make.person(other, Role.ADMINISTRATOR)
    settings.VAULT_KEYS = ["old"]
    kept(house)
    vault.keep(tenant_id=other.pk, name="crm", value="another-value", by=anna.pk)
    settings.VAULT_KEYS = ["new", "old"]
    assert vault.rotate() == 2
    settings.VAULT_KEYS = ["new"]
    assert vault.opened(tenant_id=tenant.pk, names=["crm"]) == {"crm": CANARY}
    assert vault.opened(tenant_id=other.pk, names=["crm"]) == {"crm": "another-value"}
    mine = bytes(Secret.everywhere.get(tenant=tenant).ciphertext)
    Secret.everywhere.filter(tenant=other).update(ciphertext=mine)
    with pytest.raises(vault.Sealed):
        vault.opened(tenant_id=other.pk, names=["crm"])


def test_a_secret_that_does_not_open_leaves_the_claim_alive(house, settings, caplog):
    tenant, _ = house
    contract = make.contract(
        tenant, "crm.order", config={"method": "POST", "auth": {"secret": "crm"}}, **CALL
    )
    kept(house)
    settings.VAULT_KEYS = ["another"]
    assert selectors.spec(contract)["secrets"] == {}
    assert "does not open" in caplog.text
    assert CANARY not in caplog.text


def test_the_console_sets_and_deletes(house, monkeypatch):
    tenant, admin = house
    monkeypatch.setattr("sys.stdin", io.StringIO(CANARY + "\n"))
    out = io.StringIO()
    call_command("set_secret", "crm", by=admin.email, stdout=out)
    assert vault.opened(tenant_id=tenant.pk, names=["crm"]) == {"crm": CANARY}
    assert CANARY not in out.getvalue()
    call_command("set_secret", "crm", by=admin.email, forget=True, stdout=out)
    assert not Secret.everywhere.exists()


def test_the_console_refuses_who_is_no_administrator(house, monkeypatch):
    tenant, _ = house
    monkeypatch.setattr("sys.stdin", io.StringIO(CANARY + "\n"))
    with pytest.raises(CommandError):
        call_command("set_secret", "crm", by=make.person(tenant).email)

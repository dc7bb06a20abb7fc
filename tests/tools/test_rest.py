"""Tools over REST: administrators read what is in force, and no credential is among it."""

from __future__ import annotations

import pytest

from accounts.models import Role
from tests.rest.client import Rest
from tests.tools import make
from tools import samples, vault

pytestmark = pytest.mark.django_db(transaction=True)


def test_administrators_read_the_register_and_a_contract():
    tenant = make.tenant()
    ben, jonas = make.person(tenant), make.person(tenant, Role.ADMINISTRATOR)
    samples.seed(tenant)
    vault.keep(tenant_id=tenant.pk, name="crm", value="canary-7f3a", by=jonas.pk)
    config = {"method": "GET", "auth": {"secret": "crm"}}
    call = {"adapter": "http", "isolation": "thread", "target": "https://crm.example/orders"}
    make.contract(tenant, "crm.read", effect_class="read_only", config=config, **call)
    rest = Rest(jonas, tenant, "read")
    listed = {row["name"]: row for row in rest.get("tools/").json()["results"]}
    assert (listed["crm.read"]["version"], listed["crm.read"]["effect_class"]) == (1, "read_only")
    one = rest.get("tools/crm.read/")
    assert one.json()["contract"]["config"] == config
    assert "canary" not in one.content.decode()
    assert rest.get("tools/nothing/").status_code == 404
    assert Rest(ben, tenant, "read").get("tools/").status_code == 403
    other = make.tenant("other")
    outsider = Rest(make.person(other, Role.ADMINISTRATOR), other, "read")
    assert outsider.get("tools/crm.read/").status_code == 404

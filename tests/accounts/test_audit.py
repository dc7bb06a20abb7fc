"""The audit chain: whole after honest work, broken after any meddling, and never with two ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, connections, transaction

from accounts import audit
from accounts.models import AuditEntry, AuditHead, Tenant
from tests.make import people as make

pytestmark = pytest.mark.django_db(transaction=True)


def write(tenant: Tenant, number: int, **values: object) -> None:
    for place in range(number):
        with transaction.atomic():
            audit.append(
                tenant_id=tenant.pk,
                act="thing.done",
                subject=("thing", str(place)),
                payload={"n": place, "large": 1e16, "text": "é\x00", **values},
            )


def test_a_chain_of_honest_acts_is_whole() -> None:
    tenant, other = make.tenant(), make.tenant("aldergate")
    write(tenant, 5)
    write(other, 2)
    assert audit.verify(tenant_id=tenant.pk) == []
    assert audit.verify(tenant_id=other.pk) == []
    assert list(AuditEntry.everywhere.filter(tenant=tenant).order_by("sequence").values_list("sequence", flat=True)) == [
        1, 2, 3, 4, 5,
    ]  # fmt: skip


def meddle(sql: str, *values: Any) -> None:
    """What somebody with the database in their hands could do: the guard is taken off first."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_auditentry DISABLE TRIGGER audit_append_only")
        try:
            cursor.execute(sql, values)
        finally:
            cursor.execute("ALTER TABLE accounts_auditentry ENABLE TRIGGER audit_append_only")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE accounts_auditentry SET act = 'other' WHERE sequence = 3 AND tenant_id = %s",
        "UPDATE accounts_auditentry SET payload = '{}' WHERE sequence = 3 AND tenant_id = %s",
        "UPDATE accounts_auditentry SET at = at + interval '1 second' WHERE sequence = 3 AND tenant_id = %s",
        "DELETE FROM accounts_auditentry WHERE sequence = 3 AND tenant_id = %s",
        "DELETE FROM accounts_auditentry WHERE sequence = 5 AND tenant_id = %s",
        "DELETE FROM accounts_auditentry WHERE sequence = 1 AND tenant_id = %s",
        (
            "UPDATE accounts_auditentry SET sequence = CASE sequence WHEN 5 THEN 60 ELSE 50 END"
            " WHERE sequence IN (4, 5) AND tenant_id = %s"
        ),
    ],
)
def test_edit_delete_reorder_and_a_cut_tail_are_found(sql: str) -> None:
    tenant = make.tenant()
    write(tenant, 5)
    meddle(sql, tenant.pk)
    assert audit.verify(tenant_id=tenant.pk)


def test_a_forged_tail_needs_the_key() -> None:
    """Whoever edits the last entry and the head but does not know SECRET_KEY is found."""
    tenant = make.tenant()
    write(tenant, 2)
    meddle(
        "UPDATE accounts_auditentry SET hash = sha256('x') WHERE sequence = 2 AND tenant_id = %s", tenant.pk
    )
    last = AuditEntry.everywhere.get(tenant=tenant, sequence=2)
    AuditHead.objects.filter(tenant=tenant).update(hash=last.hash)
    assert audit.verify(tenant_id=tenant.pk) == ["Entry 2 does not match its hash."]


@pytest.mark.parametrize(
    "change", ["UPDATE accounts_auditentry SET act = 'x'", "DELETE FROM accounts_auditentry"]
)
def test_b43_the_database_refuses_to_change_an_entry(change: str) -> None:
    """Guards accounts/migrations/0002_guards.py `audit_append_only`, whatever path the SQL takes."""
    tenant = make.tenant()
    write(tenant, 1)
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(change)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEntry.everywhere.filter(tenant=tenant).update(act="x")


def test_an_act_that_is_rolled_back_leaves_no_gap() -> None:
    tenant = make.tenant()
    write(tenant, 1)
    with transaction.atomic():
        audit.append(tenant_id=tenant.pk, act="thing.done", subject=("thing", "x"))
        transaction.set_rollback(True)
    write(tenant, 1)
    assert audit.verify(tenant_id=tenant.pk) == []


def test_two_writers_queue_at_the_head(blocked: Callable[[], int]) -> None:
    """Danger: two transactions read the same end of the chain and fork it. The second waits at the head row."""
    tenant = make.tenant()
    write(tenant, 1)

    def second() -> None:
        try:
            write(tenant, 1, who="second")
        finally:
            connections.close_all()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        audit.append(tenant_id=tenant.pk, act="thing.done", subject=("thing", "first"))
        thread.start()
        assert blocked() == 1
    thread.join()
    assert audit.verify(tenant_id=tenant.pk) == []
    assert AuditEntry.everywhere.filter(tenant=tenant).count() == 3

"""An exported chain is verified without a database; whatever was done to it is found (checklist 20 and 22)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from accounts import audit, audit_reads, chain, heads
from accounts.models import AuditEntry, AuditHead, Tenant
from tests.accounts.test_audit import meddle, write
from tests.make import people
from tests.needs import ROOT

pytestmark = pytest.mark.django_db(transaction=True)


def ring(*keys: str, secret: str = "") -> chain.Keyring:
    return chain.Keyring.of(keys or settings.AUDIT_KEYS, secret or settings.SECRET_KEY)


def dumped(tenant: Tenant) -> list[bytes]:
    return list(audit_reads.dump(tenant_id=tenant.pk))


@pytest.fixture
def tenant() -> Tenant:
    made = people.tenant()
    write(made, 6)
    return made


def test_an_honest_dump_is_whole(tenant: Tenant) -> None:
    found = chain.verify_dump(dumped(tenant), ring())
    assert (found.problems, found.entries, found.heads) == ([], 6, 1)


def changed(line: bytes, **values: Any) -> bytes:
    return json.dumps({**json.loads(line), **values}).encode()


MEDDLING: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "an edited payload": lambda lines: [*lines[:2], changed(lines[2], payload={}), *lines[3:]],
    "an edited act": lambda lines: [*lines[:5], changed(lines[5], act="other"), *lines[6:]],
    "another person": lambda lines: [changed(lines[0], actor="0" * 32), *lines[1:]],
    "a field more": lambda lines: [changed(lines[0], note="x"), *lines[1:]],
    "the first deleted": lambda lines: lines[1:],
    "one in the middle deleted": lambda lines: [*lines[:3], *lines[4:]],
    "deleted and numbered anew": lambda lines: [
        *lines[:3], *(changed(line, sequence=number) for number, line in enumerate(lines[4:6], 4)), lines[6],
    ],
    "one inserted": lambda lines: [*lines[:3], lines[2], *lines[3:]],
    "two exchanged": lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]],
    "exchanged and numbered anew": lambda lines: [
        *lines[:2], changed(lines[3], sequence=3), changed(lines[2], sequence=4), *lines[4:],
    ],
    "the tail cut": lambda lines: [*lines[:4], lines[6]],
    "the tail cut with its head": lambda lines: lines[:4],
    "a head of one's own": lambda lines: [*lines[:4], changed(lines[6], sequence=4, hash=json.loads(lines[3])["hash"])],
    "no line of JSON": lambda lines: [*lines[:2], b"{", *lines[2:]],
}  # fmt: skip


@pytest.mark.parametrize("how", MEDDLING)
def test_c22_whatever_was_done_to_a_dump_is_found(tenant: Tenant, how: str) -> None:
    """Guards accounts/chain.py ``verify_dump``."""
    assert chain.verify_dump(MEDDLING[how](dumped(tenant)), ring()).problems


def test_c22_a_tail_that_was_cut_in_the_database_is_found_by_an_earlier_head(
    tenant: Tenant, tmp_path: Path, settings: Any
) -> None:
    """Guards accounts/chain.py ``_ends`` and accounts/heads.py: whoever has the database and the program can make a dump
    that is whole in itself, but not the head that was exported before."""
    settings.AUDIT_HEADS = str(tmp_path / "heads")
    assert heads.export() >= 1
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_audithead DISABLE TRIGGER USER")
        meddle("DELETE FROM accounts_auditentry WHERE sequence > 4 AND tenant_id = %s", tenant.pk)
        last = AuditEntry.everywhere.get(tenant=tenant, sequence=4)
        AuditHead.objects.filter(tenant=tenant).update(sequence=4, hash=last.hash)
        cursor.execute("ALTER TABLE accounts_audithead ENABLE TRIGGER USER")
    assert audit.verify(tenant_id=tenant.pk) == []
    assert chain.verify_dump(dumped(tenant), ring()).problems == []
    before = (tmp_path / "heads").read_bytes().splitlines()
    (problem,) = chain.verify_dump(dumped(tenant), ring(), heads=before).problems
    assert "reached entry 6" in problem
    assert "ends at 4" in problem

    write(tenant, 5, other="history")
    (problem,) = chain.verify_dump(dumped(tenant), ring(), heads=before).problems
    assert problem.startswith("Entry 6 is not the one that was the head")


def test_c20_the_key_is_not_that_of_sessions(tenant: Tenant) -> None:
    """Guards accounts/chain.py ``Keyring.of``: with SECRET_KEY alone nobody can make or check an entry."""
    forged = chain.Keyring.of([settings.SECRET_KEY], settings.SECRET_KEY)
    found = chain.verify_dump(dumped(tenant), forged)
    assert "not among AUDIT_KEYS" in found.problems[0]
    lines = [json.loads(line) for line in dumped(tenant)]
    plain = chain.Keyring("", {"": forged.keys[""]})
    before = chain.START
    for line in lines[:-1]:
        del line["key"]
        before = chain.digest(before, line, plain)
        line["hash"] = before.hex()
    made = [json.dumps(line).encode() for line in lines]
    assert chain.verify_dump(made, ring()).problems, (
        "a chain under the old key has another last entry than its head"
    )


def test_keys_change_without_a_break(tenant: Tenant, settings: Any) -> None:
    """A new key first: it hashes, the old one still verifies. Without the old one the old part cannot be checked."""
    old = settings.AUDIT_KEYS
    settings.AUDIT_KEYS = ["another", *old]
    write(tenant, 2)
    assert audit.verify(tenant_id=tenant.pk) == []
    assert chain.verify_dump(dumped(tenant), ring()).problems == []
    assert "not among" in chain.verify_dump(dumped(tenant), ring("another")).problems[0]
    keys = list(AuditEntry.everywhere.order_by("sequence").values_list("key", flat=True))
    assert keys == [chain.key_id(old[0])] * 6 + [chain.key_id("another")] * 2


def test_entries_from_before_there_were_keys_still_verify(settings: Any) -> None:
    keys, settings.AUDIT_KEYS = settings.AUDIT_KEYS, []
    tenant = people.tenant()
    write(tenant, 2)
    settings.AUDIT_KEYS = keys
    write(tenant, 1)
    assert audit.verify(tenant_id=tenant.pk) == []
    assert chain.verify_dump(dumped(tenant), ring()).problems == []


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE accounts_audithead SET sequence = sequence - 1",
        "DELETE FROM accounts_audithead",
        "TRUNCATE accounts_audithead",
        "TRUNCATE accounts_auditentry",
    ],
)
def test_c20_heads_only_move_forward_and_nothing_is_emptied(tenant: Tenant, sql: str) -> None:
    """Guards accounts/migrations/0007_audit_keys.py ``audit_head_forward`` and 0002_guards.py ``audit_no_truncate``."""
    with (
        pytest.raises(DatabaseError, match=r"only moves forward|append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)


def test_heads_are_written_when_they_move(tenant: Tenant, tmp_path: Path, settings: Any) -> None:
    settings.AUDIT_HEADS = str(tmp_path / "heads")

    def mine() -> list[str]:
        return [line for line in (tmp_path / "heads").read_text().splitlines() if tenant.pk.hex in line]

    heads.export()
    heads.export()
    assert len(mine()) == 1
    write(tenant, 1)
    heads.export()
    assert [json.loads(line)["sequence"] for line in mine()] == [6, 7]


def test_c20_the_commands_export_and_verify_without_a_database(tenant: Tenant, tmp_path: Path) -> None:
    """In a process that has keys and no database."""
    file = tmp_path / "dump.jsonl"
    call_command("export_audit", tenant.slug, out=str(file))
    env = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL")}

    def verify() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", "verify_audit", str(file)],
            cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    good = verify()
    assert good.returncode == 0, good.stderr
    assert "6 entries verified" in good.stdout
    file.write_bytes(file.read_bytes().replace(b'"n":3', b'"n":4'))
    bad = verify()
    assert bad.returncode == 1
    assert "Entry 4 does not match its hash" in bad.stdout


def test_c23_no_secret_is_in_the_log(tenant: Tenant) -> None:
    """Guards accounts/audit.py ``_without_secrets``: a keyed hash stands in its place, the same for the same secret."""
    payload = {
        "auth": {"password": "hunter2", "user": "ada"},
        "headers": [{"Authorization": "Bearer hunter2"}],
        "api_key": "hunter2",
        "x-api-key": "hunter2",
        "tokens": 500,
        "secret": "",
    }
    with transaction.atomic():
        entry = audit.append(tenant_id=tenant.pk, act="thing.done", subject=("thing", "1"), payload=payload)
    entry.refresh_from_db()
    assert "hunter2" not in json.dumps(entry.payload)
    assert entry.payload["auth"]["user"] == "ada"
    assert entry.payload["tokens"] == 500
    assert entry.payload["api_key"] == audit.masked("hunter2") == entry.payload["auth"]["password"]
    assert audit.masked("hunter3") != entry.payload["api_key"]
    assert audit.verify(tenant_id=tenant.pk) == []

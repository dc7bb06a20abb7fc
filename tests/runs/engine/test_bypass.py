"""Around the verbs: bulk updates, plain SQL and an admin cannot rewrite what has ended or what was decided."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import DatabaseError, connection, models, transaction
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import AuditEntry
from approvals.models import Decision, PendingAction
from runs.models import Event, Run, Step
from tests.make import runs as make
from tools.models import Contract, Intent

pytestmark = pytest.mark.django_db(transaction=True)

ENDED: dict[str, tuple[type[models.Model], str, str]] = {
    "run": (Run, "SUCCEEDED", "RUNNING"),
    "step": (Step, "FAILED", "PENDING"),
    "question": (PendingAction, "REJECTED", "APPROVED"),
    "intent": (Intent, "VOIDED", "AUTHORISED"),
}
HISTORY: dict[str, tuple[type[models.Model], str]] = {
    "decision": (Decision, "comment"),
    "event": (Event, "type"),
    "audit": (AuditEntry, "act"),
}


@pytest.fixture
def house() -> make.House:
    """One review that ended: its letter was rejected."""
    house = make.house()
    run = house.reviewed()
    house.answer(run, "reject", comment="Wrong year.")
    house.finish()
    assert make.again(run).status == "SUCCEEDED"
    return house


def refused(words: str, change: Any) -> None:
    with pytest.raises(DatabaseError, match=words), transaction.atomic():
        change()


def execute(sql: str, *values: Any) -> Any:
    def change() -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)

    return change


@pytest.mark.parametrize("what", ENDED)
def test_b43_no_path_opens_again_what_has_ended(house, what):
    """Guards runs/migrations/0015_lean_rows.py, approvals/ and tools/migrations/0002_guards.py: the triggers `run_terminal`,
    `step_terminal`, `action_terminal` and `intent_terminal`. The end goes with the state: a constraint would see that too."""
    model, end, other = ENDED[what]
    rows: Any = model.everywhere.all()  # type: ignore[attr-defined]
    row = rows.filter(status=end).first()
    assert row is not None
    ends = [field.name for field in model._meta.get_fields() if field.name == "finished_at"]
    refused("final", lambda: rows.filter(pk=row.pk).update(status=other, **dict.fromkeys(ends)))
    changes = ", ".join(["status = %s", *(f"{name} = NULL" for name in ends)])
    refused("final", execute(f"UPDATE {model._meta.db_table} SET {changes} WHERE id = %s", other, row.pk))
    changed = rows.get(pk=row.pk)
    changed.__dict__.update(status=other, **dict.fromkeys(ends))
    refused("final", lambda: model._base_manager.bulk_update([changed], ["status", *ends]))
    assert rows.get(pk=row.pk).status == end


@pytest.mark.parametrize("what", HISTORY)
def test_b43_no_path_rewrites_what_was_written_down(house, what):
    """Guards `decision_append_only`, `event_append_only` and `audit_append_only` in migrations/0002_guards.py."""
    model, field = HISTORY[what]
    table, rows = model._meta.db_table, model.everywhere  # type: ignore[attr-defined]
    row = rows.order_by("pk").first()
    before = getattr(row, field)
    refused("append-only", lambda: rows.filter(pk=row.pk).update(**{field: "forged"}))
    refused("append-only", lambda: rows.filter(pk=row.pk).delete())
    refused("append-only", execute(f"DELETE FROM {table}"))
    refused("append-only", execute(f"TRUNCATE {table} CASCADE"))
    setattr(row, field, "forged")
    refused("append-only", row.save)
    assert getattr(rows.get(pk=row.pk), field) == before


def test_b43_a_published_contract_stays_as_it_was_approved(house):
    """Guards tools/migrations/0003: the trigger `contract_published_stays`."""
    row = Contract.everywhere.filter(status="PUBLISHED").first()
    assert row is not None
    refused("only be retired", lambda: Contract.everywhere.filter(pk=row.pk).update(timeout_seconds=1))
    refused("only be retired", lambda: Contract.everywhere.filter(pk=row.pk).update(status="DRAFT"))


def paths(resolver: URLResolver, before: str = "") -> list[str]:
    found: list[str] = []
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            found += paths(pattern, before + str(pattern.pattern))
        elif isinstance(pattern, URLPattern):
            found.append(f"{before}{pattern.pattern} {pattern.lookup_str}")
    return found


def test_b43_no_admin_edits_the_tables_of_the_engine():
    """Guards every `admin.py` and config/urls.py: no page of Django's admin is mounted, and none knows our tables."""
    ours = {
        model
        for room in ("runs", "approvals", "tools", "outbox")
        for model in apps.get_app_config(room).get_models()
    }
    assert ours
    assert ours & set(admin.site._registry) == set()
    assert [path for path in paths(get_resolver()) if "django.contrib.admin" in path] == []

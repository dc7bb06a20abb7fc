"""The audit page: searched by person, task, tool, act and time; exported whole or in part."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import audit, chain, ids
from accounts.models import User
from tests.make import people

pytestmark = pytest.mark.django_db(transaction=True)
RUN = ids.new_id()


@pytest.fixture
def cast() -> people.Cast:
    made = people.cast()
    act(made, "contract.published", {"tool": "mail.send"}, made.jonas)
    act(made, "intent.dispatched", {"tool": "mail.send"}, run=True)
    act(made, "action.approved", {"comment": "=cmd|' /C calc'!A0"}, made.ben, run=True)
    act(made, "action.rejected", {"comment": "no"}, made.mira)
    with transaction.atomic():
        audit.append(
            tenant_id=made.other.pk, act="action.approved", subject=("action", "foreign"), actor=made.otto
        )
    return made


def act(cast: people.Cast, name: str, payload: Any, who: User | None = None, *, run: bool = False) -> None:
    with transaction.atomic():
        audit.append(
            tenant_id=cast.tenant.pk,
            act=name,
            subject=("thing", "@home"),
            payload=payload,
            actor=who,
            run_id=RUN if run else None,
        )


def exported(cast: people.Cast, kind: str, **search: str) -> bytes:
    answer: Any = people.browser(cast.jonas).get(f"/audit/export.{kind}", search)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def acts(cast: people.Cast, **search: str) -> list[str]:
    return [json.loads(line)["act"] for line in exported(cast, "jsonl", **search).splitlines()]


def test_each_field_finds_what_it_names(cast: people.Cast) -> None:
    assert acts(cast, act="action") == ["action.approved", "action.rejected"]
    assert acts(cast, act="action.rejected") == ["action.rejected"]
    assert acts(cast, who=cast.ben.pk.hex) == ["action.approved"]
    assert acts(cast, who="engine") == ["intent.dispatched"]
    assert acts(cast, run=ids.public("run", RUN)) == ["intent.dispatched", "action.approved"]
    assert acts(cast, tool="mail.send") == ["contract.published", "intent.dispatched"]
    assert acts(cast, tool="mail.send", who="engine") == ["intent.dispatched"]
    tomorrow = (timezone.now() + timedelta(days=2)).date().isoformat()
    yesterday = (timezone.now() - timedelta(days=2)).date().isoformat()
    assert acts(cast, since=tomorrow) == []
    assert len(acts(cast, since=yesterday, until=tomorrow, act="action")) == 2
    page = people.browser(cast.jonas).get("/audit/", {"act": "action.rejected"}).content.decode()
    assert "action.rejected" in page
    assert "contract.published" not in page
    odd = people.browser(cast.jonas).get("/audit/", {"run": "nothing"})
    assert "This is no id of a task" in odd.content.decode()
    assert people.browser(cast.jonas).get("/audit/export.csv", {"run": "nothing"}).status_code == 404


def test_c20_the_whole_export_is_a_dump_that_verifies(cast: people.Cast) -> None:
    ring = chain.Keyring.of(settings.AUDIT_KEYS, settings.SECRET_KEY)
    found = chain.verify_dump(exported(cast, "jsonl").splitlines(), ring)
    assert (found.problems, found.entries) == ([], 4)
    assert "foreign" not in exported(cast, "jsonl").decode()


def test_b85_no_cell_of_the_export_is_a_formula(cast: people.Cast) -> None:
    """Guards accounts/sheets.py ``neutral`` in the export of the audit log; JSON keeps the words as they were."""
    rows = list(csv.reader(io.StringIO(exported(cast, "csv").decode("utf-8-sig"))))
    assert len(rows) == 5
    assert all(cell[:1] not in "=+-@\t\r" for row in rows for cell in row if cell)
    assert {row[7] for row in rows[1:]} == {"'@home"}
    assert "=cmd|' /C calc'!A0" in exported(cast, "jsonl").decode()


def test_pages_follow_each_other(cast: people.Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.audit_reads.PAGE", 2)
    monkeypatch.setattr("accounts.audit_reads.BATCH", 1)
    jonas = people.browser(cast.jonas)
    first = jonas.get("/audit/")
    assert [one.sequence for one in first.context["entries"]] == [4, 3]
    second = jonas.get(f"/audit/?{first.context['older']}")
    assert [one.sequence for one in second.context["entries"]] == [2, 1]
    assert second.context["older"] == ""
    assert len(acts(cast, act="action")) == 2

"""A fact is written with the change it speaks of, or not at all."""

from __future__ import annotations

import uuid

import pytest
from django.db import transaction

from outbox.append import Fact, append, append_many
from outbox.models import Message
from tests.make import people as make

pytestmark = pytest.mark.django_db


def test_b12_no_commit_no_message() -> None:
    """Guards outbox/append.py: the row joins the caller's transaction, nothing is sent from it."""
    with transaction.atomic():
        append(topic="run.submitted", payload={"run_id": "a"})
        transaction.set_rollback(True)
    assert Message.objects.count() == 0


def test_ids_are_written_as_hex_and_odd_text_visibly() -> None:
    run, tenant = uuid.uuid4(), make.tenant()
    event = append(
        topic="run.finished", key=run.hex, tenant_id=tenant.pk, payload={"run_id": run, "reason": "a\x00b"}
    )
    message = Message.objects.get(pk=event)
    assert message.payload == {"run_id": run.hex, "reason": "a\\u0000b"}
    assert (message.topic, message.key, message.tenant_id) == ("run.finished", run.hex, tenant.pk)
    assert (message.published_at, message.attempts) == (None, 0)


def test_many_are_one_statement_in_order(django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        ids = append_many(Fact(topic="run.progress", key="k", payload={"seq": n}) for n in range(50))
    rows = Message.objects.order_by("id")
    assert [row.pk for row in rows] == ids
    assert [row.payload["seq"] for row in rows] == list(range(50))
    assert append_many([]) == []

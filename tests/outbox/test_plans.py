"""The relay asks five times a second: its question must not grow with what was delivered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection

from accounts.statements import statement
from outbox.routes import PROMPT, topics_of

pytestmark = pytest.mark.django_db

FILL = """
INSERT INTO outbox_message (id, topic, key, payload, published_at, attempts, last_error)
SELECT uuidv7(), 'thing', 'run' || (n % 500), '{}', CASE WHEN n % 400 > 0 THEN now() END, 0, ''
FROM generate_series(1, 40000) AS n
"""


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for below in plan.get("Plans", []) for node in nodes(below))]


def test_the_claim_reads_only_what_is_unpublished() -> None:
    """Guards the partial indexes ``message_unpublished`` and ``message_key_head`` of outbox/models/message.py."""
    topics, these = topics_of(PROMPT)
    parameters: dict[str, Any] = {"topics": topics, "these": these, "limit": 100, "hidden": 10.0}
    with connection.cursor() as cursor:
        cursor.execute(FILL)
        cursor.execute("ANALYZE outbox_message")
        cursor.execute("EXPLAIN (FORMAT JSON) " + statement("outbox", "claim_messages"), parameters)
        row = cursor.fetchone()
    assert row is not None
    found = json.loads(row[0]) if isinstance(row[0], str) else row[0]
    used = [node for node in nodes(found[0]["Plan"]) if node.get("Relation Name") == "outbox_message"]
    assert not [node for node in used if node["Node Type"] == "Seq Scan"]
    indexes = {node.get("Index Name") for node in nodes(found[0]["Plan"])}
    assert {"message_unpublished", "message_key_head"} <= indexes

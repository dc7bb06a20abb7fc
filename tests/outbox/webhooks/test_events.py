"""The list of events: the page, the code and the states of the engine agree."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from django.utils import translation

from approvals.models import PendingAction
from config import routes, webhook_events
from outbox.webhooks import events
from runs.models import Run
from tests.make import runs as make
from tests.needs import ROOT

PAGE = ROOT / "docs" / "reference" / "webhooks.md"


def test_the_page_lists_every_event_in_its_words() -> None:
    rows = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \| (.*) \|$", PAGE.read_text(), flags=re.MULTILINE)
    with translation.override("en"):
        assert rows == [(one.name, str(one.words)) for one in events.known()]


#: What happens to an action while it waits, by the column that says when.
MOMENTS = {
    "remind_at": "action.reminder",
    "escalate_at": "action.escalated",
    "escalated_at": "action.escalated",
    "undecidable_since": "action.undecidable",
}


def test_every_waiting_state_has_an_event() -> None:
    """What a run or a person can wait for, from the models: a new state needs an event of its own."""
    going = {"PENDING", "RUNNING", "CANCEL_REQUESTED", "COMPENSATING"}
    assert set(webhook_events.RUN_STATES) == set(Run.Status.values) - going
    assert set(webhook_events.ACTION_KINDS) == set(PendingAction.Kind.values)
    columns = {
        field.name for field in PendingAction._meta.concrete_fields if field.name.endswith(("_at", "_since"))
    }
    assert set(MOMENTS) == columns - {"opened_at", "expires_at", "decided_at", "applied_at"}
    named = {*webhook_events.RUN_STATES.values(), *webhook_events.ACTION_KINDS.values(), *MOMENTS.values()}
    assert named <= {one.name for one in events.known()}


def test_every_topic_that_is_translated_reaches_the_webhooks() -> None:
    from outbox.routes import route

    assert set(events.topics()) <= set(routes.TOLD)
    for topic in events.topics():
        assert "webhooks" in {consumer.name for consumer in route(topic)}, topic


@pytest.mark.parametrize("kind", PendingAction.Kind.values)
def test_what_is_told_of_an_action_is_thin(kind: str) -> None:
    run, action = uuid.uuid4(), uuid.uuid4()
    payload: dict[str, Any] = {"run_id": run.hex, "action_id": action.hex, "step_id": None}
    told = events.translated("action.opened", {**payload, "kind": kind, "status": "OPEN"})
    assert told is not None
    assert set(told.data) == {"action", "run", "kind", "status", "link"}
    assert told.data["link"].endswith(f"/inbox/act_{action.hex}/")


@pytest.mark.parametrize(
    ("act", "type"),
    [("contract.review_asked", "contract.review_requested"), ("contract.sent_back", "contract.sent_back")],
)
def test_a_contract_that_waits_for_a_second_administrator_is_told(act: str, type: str) -> None:
    payload = {"review_id": "0" * 32, "act": act, "tool": "mail.send", "version": 3}
    told = events.translated("contract.review", payload)
    assert told == events.Event(type, {"tool": "mail.send", "version": 3})


@pytest.mark.django_db(transaction=True)
def test_a_story_is_told_from_its_submission_to_its_first_question() -> None:
    """The messages that the engine and the desk really write have what the translation needs."""
    from outbox.models import Message

    house = make.house()
    run = house.reviewed()
    told = [
        event.type
        for message in Message.objects.order_by("id")
        if (event := events.translated(message.topic, message.payload)) is not None
    ]
    assert told[0] == "run.submitted"
    assert {"run.waiting_for_person", "action.approval_requested"} <= set(told)
    assert Run.everywhere.get(pk=run.pk).status == "WAITING_APPROVAL"

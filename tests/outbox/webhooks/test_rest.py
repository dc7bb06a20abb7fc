"""Webhooks over REST."""

from __future__ import annotations

from typing import Any

import orjson

from accounts.models import IdempotentRequest
from outbox.models import WebhookEndpoint
from tests.outbox.webhooks.conftest import House
from tests.outbox.webhooks.receiver import Receiver
from tests.rest.client import Rest


def test_made_read_changed_tried_and_deleted(house: House, receiver: Receiver) -> None:
    rest = Rest(house.cast.jonas, house.cast.tenant, "webhooks")
    names = {row["name"] for row in rest.get("webhook-events/").json()["results"]}
    assert {"run.succeeded", "action.approval_requested", "webhook.test"} <= names
    made = rest.post("webhooks/", {"name": "ERP", "url": receiver.url, "events": ["run.failed"]}, key="one")
    assert made.status_code == 201
    secret, path = made.json()["secret"], f"webhooks/{made.json()['id']}/"
    assert rest.get(path).json()["events"] == ["run.failed"]

    queued = rest.post(f"{path}test/").json()
    house.carry()
    assert receiver.verified(secret)[0]["type"] == "webhook.test"
    detail = rest.get(f"webhooks/deliveries/{queued['id']}/").json()
    assert (detail["state"], detail["tries"][0]["status"]) == ("delivered", 204)
    assert detail["event"] == receiver.got[0][0]
    again = rest.post(f"webhooks/deliveries/{queued['id']}/again/")
    assert (again.status_code, again.json()["state"]) == (202, "waiting")
    assert rest.get(f"{path}deliveries/", state="waiting").json()["results"][0]["id"] == queued["id"]
    waiting = rest.post(f"webhooks/deliveries/{queued['id']}/again/")
    assert (waiting.status_code, waiting.json()["code"]) == (422, "on_its_way")

    rotated = rest.post(f"{path}rotate/").json()
    assert rotated["secret"] != secret
    changed = change(rest, path, {"name": "Stores", "active": False})
    assert (changed.json()["name"], changed.json()["active"]) == ("Stores", False)
    assert rest.client.delete(f"/api/v1/{path}").status_code == 204
    assert rest.get(path).status_code == 404


def change(rest: Rest, path: str, body: dict[str, Any]) -> Any:
    return rest.client.patch(f"/api/v1/{path}", orjson.dumps(body), content_type="application/json")


def test_a_repeat_shows_no_secret_and_none_is_kept(house: House, receiver: Receiver) -> None:
    """Guards outbox/api/views.py ``_with``: the kept answer of the first POST holds no secret."""
    rest = Rest(house.cast.jonas, house.cast.tenant, "webhooks")
    body = {"name": "ERP", "url": receiver.url}
    first = rest.post("webhooks/", body, key="same")
    second = rest.post("webhooks/", body, key="same")
    assert first.json().pop("secret").startswith("whsec_")
    assert second.status_code == 201
    assert "secret" not in second.json()
    assert WebhookEndpoint.everywhere.count() == 1
    assert "whsec_" not in str(list(IdempotentRequest.everywhere.values_list("body", flat=True)))


def test_who_is_no_administrator_is_refused(house: House) -> None:
    """The scope alone opens nothing."""
    rest = Rest(house.cast.ben, house.cast.tenant, "webhooks")
    assert rest.get("webhooks/").json()["code"] == "role_missing"
    assert rest.post("webhooks/", {"name": "ERP", "url": "https://erp.example/"}).status_code == 403


def test_bad_bodies_are_refused_with_the_reason(house: House) -> None:
    rest = Rest(house.cast.jonas, house.cast.tenant, "webhooks")
    answers = [
        rest.post("webhooks/", body)
        for body in (
            {"name": "ERP", "url": "https://erp.example/", "events": ["run.unheard"]},
            {"name": "ERP", "url": "http://erp.example/"},
            {"name": "\u202eERP", "url": "https://erp.example/"},
            {"name": "ERP"},
        )
    ]
    assert [(one.status_code, one.json()["code"]) for one in answers] == [
        (422, "unknown_event"),
        (422, "bad_url"),
        (422, "bad_name"),
        (400, "invalid"),
    ]
    assert not WebhookEndpoint.everywhere.exists()

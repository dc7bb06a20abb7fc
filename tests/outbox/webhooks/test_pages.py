"""Pages of webhooks: made, tried, changed, rotated, switched off, deleted; and dead letters."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db.models.functions import Now

from accounts.models import AuditEntry
from outbox.models import Message, WebhookDelivery, WebhookEndpoint
from tests.make import people
from tests.outbox.webhooks.conftest import House
from tests.outbox.webhooks.receiver import Receiver


def shown_secret(answer: Any) -> str:
    found = re.search(r"whsec_[A-Za-z0-9+/=]+", answer.content.decode())
    assert found, answer.content.decode()[-2000:]
    return found[0]


def test_from_the_form_to_a_test_event_and_back(house: House, receiver: Receiver) -> None:
    jonas = people.browser(house.cast.jonas)
    made = jonas.post(
        "/settings/webhooks/new/", {"name": "ERP", "url": receiver.url, "events": ["run.failed"]}
    )
    secret = shown_secret(made)
    endpoint = WebhookEndpoint.everywhere.get()
    page = f"/settings/webhooks/{endpoint.pk}/"
    assert "whsec_" not in jonas.get(page).content.decode()
    assert "ERP" in jonas.get("/settings/webhooks/").content.decode()

    receiver.answer = (500, b"<b>broken</b>", {})
    sent = jonas.post(f"{page}test/")
    house.carry()
    shown = jonas.get(sent["Location"]).content.decode()
    assert "&lt;b&gt;broken" in shown
    assert "webhook.test" in shown
    receiver.answer = (204, b"", {})
    house.due()
    house.carry()
    assert receiver.verified(secret)[-1]["type"] == "webhook.test"
    assert "Send it again" in jonas.get(sent["Location"]).content.decode()
    jonas.post(f"{sent['Location']}again/")
    house.carry()
    assert len({one for one, _, _ in receiver.got}) == 1
    assert len(receiver.got) == 3

    new = shown_secret(jonas.post(f"{page}rotate/"))
    assert new != secret
    jonas.post(page, {"name": "Stores", "url": receiver.url, "events": []})
    endpoint.refresh_from_db()
    assert (endpoint.name, endpoint.events) == ("Stores", [])
    jonas.post(f"{page}switch/", {"on": "0"})
    assert "Switch on again" in jonas.get(page).content.decode()
    jonas.post(f"{page}switch/", {"on": "1"})
    jonas.post(f"{page}delete/")
    assert not WebhookEndpoint.everywhere.exists()
    acts = [
        one.removeprefix("webhook.")
        for one in AuditEntry.everywhere.order_by("sequence").values_list("act", flat=True)
    ]
    assert acts == ["created", "tested", "redelivered", "secret_rotated", "changed", "disabled", "enabled", "deleted"]  # fmt: skip


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "https://127.0.0.2/hook",
        "https://[::1]/hook",
        "https://169.254.169.254/",
        "https://[::ffff:10.0.0.1]/",
        "https://example.com:8443/",
        "https://who:secret@example.com/",
        "ftp://example.com/",
        "https://",
        "https://example.com/#part",
    ],
)
def test_an_address_that_nothing_is_sent_to_is_refused_with_the_reason(house: House, url: str) -> None:
    jonas = people.browser(house.cast.jonas)
    answer = jonas.post("/settings/webhooks/new/", {"name": "ERP", "url": url})
    assert "Nothing is sent to this address" in answer.content.decode()
    assert not WebhookEndpoint.everywhere.exists()


def test_a_second_webhook_to_one_address_is_refused(house: House, receiver: Receiver) -> None:
    house.endpoint(receiver)
    jonas = people.browser(house.cast.jonas)
    answer = jonas.post("/settings/webhooks/new/", {"name": "Again", "url": receiver.url})
    assert "There is a webhook to this address already" in answer.content.decode()


def test_dead_letters_are_sent_again_from_their_page(house: House) -> None:
    house.tell()
    Message.objects.update(published_at=None, dead_at=Now(), attempts=12, last_error="Nobody was there.")
    message = Message.objects.get()
    foreign = people.browser(house.cast.otto)
    assert "Nobody was there" not in foreign.get("/settings/dead-letters/").content.decode()
    assert foreign.post(f"/settings/dead-letters/{message.pk}/again/").status_code == 404
    jonas = people.browser(house.cast.jonas)
    assert "Nobody was there" in jonas.get("/settings/dead-letters/").content.decode()
    assert jonas.post(f"/settings/dead-letters/{message.pk}/again/").status_code == 302
    message.refresh_from_db()
    assert (message.dead_at, message.attempts) == (None, 0)
    assert AuditEntry.everywhere.get().act == "message.redelivered"
    assert jonas.post(f"/settings/dead-letters/{message.pk}/again/").status_code == 404


def test_deliveries_are_chosen_by_state(house: House, receiver: Receiver) -> None:
    endpoint, _ = house.endpoint(receiver)
    house.tell(2)
    first = WebhookDelivery.everywhere.order_by("event_id")[:1].get()
    WebhookDelivery.everywhere.filter(pk=first.pk).update(dead_at=Now(), last_error="It answered 500.")
    jonas = people.browser(house.cast.jonas)
    page = f"/settings/webhooks/{endpoint.pk}/"
    found = {name: jonas.get(page, {"shown": name}).content.decode().count("/settings/webhooks/deliveries/") for name in ("all", "waiting", "dead", "delivered")}  # fmt: skip
    assert found == {"all": 2, "waiting": 1, "dead": 1, "delivered": 0}
    assert jonas.get(page, {"shown": "others"}).status_code == 404

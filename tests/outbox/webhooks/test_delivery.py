"""From a fact to the receiver: signed, at least once, in order, and never held up by a neighbour."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from accounts.models import AuditEntry
from outbox import metrics
from outbox.append import append
from outbox.models import Message, WebhookAttempt, WebhookDelivery, WebhookEndpoint
from outbox.relay import drain
from outbox.verbs.reseal_webhooks import reseal_webhooks
from outbox.verbs.rotate_webhook_secret import rotate_webhook_secret
from outbox.verbs.send_again import send_again
from outbox.verbs.switch_webhook import switch_webhook
from outbox.verbs.try_webhook import try_webhook
from outbox.webhooks import record, secrets
from outbox.webhooks.courier import Courier
from tests.outbox.webhooks.conftest import House
from tests.outbox.webhooks.receiver import Receiver
from tests.runs.node.real import until


def test_the_official_library_accepts_what_is_sent(house: House, receiver: Receiver) -> None:
    _, secret = house.endpoint(receiver)
    (event,) = house.tell()
    house.carry()
    (body,) = receiver.verified(secret)
    assert body["type"] == "alert.raised"
    assert body["data"] == {"code": "n0"}
    assert receiver.got[0][0] == event
    with pytest.raises(WebhookVerificationError):
        receiver.verified(secrets.new())
    _, sent, headers = receiver.got[0]
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(sent.replace(b"n0", b"n1"), headers)
    row = house.only()
    assert (row.delivered_at is not None, row.last_status, row.attempts) == (True, 204, 1)


def test_an_endpoint_hears_of_its_tenant_and_its_choice_alone(
    house: House, receiver: Receiver, other: Receiver
) -> None:
    house.endpoint(receiver, "run.submitted")
    house.endpoint(other, name="All")
    append(topic="run.submitted", tenant_id=house.cast.tenant.pk, payload={"run_id": "0" * 32})
    house.tell(tenant=house.cast.other)
    house.tell()
    house.carry()
    assert [body["type"] for body in receiver.bodies()] == ["run.submitted"]
    assert sorted(body["type"] for body in other.bodies()) == ["alert.raised", "run.submitted"]


def test_what_was_told_twice_is_one_delivery(house: House, receiver: Receiver) -> None:
    """A relay that was killed before it could note tells again: the pair of endpoint and event is unique."""
    house.endpoint(receiver)
    house.tell()
    Message.objects.update(published_at=None, next_attempt_at=Now())
    assert drain(limit=10) == 1
    assert WebhookDelivery.everywhere.count() == 1


def test_a_subject_stays_in_order_behind_a_failing_delivery(house: House, receiver: Receiver) -> None:
    """Guards outbox/sql/claim_deliveries.sql: the second waits until the first was taken, another subject does not."""
    house.endpoint(receiver)
    receiver.answer = (500, b"no", {})
    first, second = house.tell(2, key="a")
    (third,) = house.tell(1, key="b")
    house.carry()
    assert {one for one, _, _ in receiver.got} == {first, third}
    receiver.answer = (204, b"", {})
    receiver.got.clear()
    house.due()
    house.carry()
    seen = [one for one, _, _ in receiver.got]
    assert sorted(seen) == sorted([first, second, third])
    assert seen.index(first) < seen.index(second)


def test_b65_an_endpoint_that_hangs_holds_up_no_other(
    house: House, receiver: Receiver, other: Receiver
) -> None:
    """Guards outbox/webhooks/courier.py ``EACH``: more wait for the one that hangs than there are slots."""
    house.endpoint(receiver, name="Hangs")
    house.endpoint(other, name="Quick")
    receiver.hold = threading.Event()
    house.tell(24)
    until(lambda: (house.courier.turn(), len(other.got))[1] == 24, what="the quick one has them all")
    assert len(receiver.got) <= 4
    receiver.hold.set()
    house.carry()
    assert len(receiver.got) == 24


def test_a_failure_is_tried_again_later_with_the_same_id(house: House, receiver: Receiver) -> None:
    house.endpoint(receiver)
    receiver.answer = (503, b"busy \x00 now", {"Retry-After": "600"})
    house.tell()
    house.carry()
    row = house.only()
    assert row.delivered_at is None
    assert row.dead_at is None
    assert WebhookDelivery.everywhere.filter(next_attempt_at__gt=Now() + timedelta(seconds=500)).exists()
    attempt = WebhookAttempt.everywhere.get()
    assert (attempt.status, attempt.answer) == (503, "busy \\u0000 now")
    assert attempt.error == "It answered 503."
    house.due()
    house.carry()
    assert len({one for one, _, _ in receiver.got}) == 1
    assert len(receiver.got) == 2


def test_waits_grow_and_differ() -> None:
    """Guards outbox/webhooks/record.py ``wait``: jitter, so that a crowd does not come back at once."""
    assert len({record.wait(2) for _ in range(20)}) > 1
    means = [sum(record.wait(attempt) for _ in range(50)) / 50 for attempt in range(1, 6)]
    assert means == sorted(means)
    assert record.wait(1, asked=10**9) == record.LONGEST_ASKED


def test_the_last_attempt_leaves_a_dead_letter_that_can_be_sent_again(
    house: House, receiver: Receiver
) -> None:
    endpoint, _ = house.endpoint(receiver)
    receiver.answer = (500, b"", {})
    first, second = house.tell(2, key="a")
    oldest = WebhookDelivery.everywhere.order_by("event_id")[:1].get()
    WebhookDelivery.everywhere.filter(pk=oldest.pk).update(attempts=len(record.WAITS))
    house.carry()
    dead = WebhookDelivery.everywhere.get(dead_at__isnull=False)
    assert f"evt_{dead.event_id.hex}" == first
    assert {one for one, _, _ in receiver.got} == {first, second}, "a dead one frees its key"
    receiver.answer = (200, b"", {})
    send_again(tenant_id=house.cast.tenant.pk, by=house.cast.jonas.pk, delivery_id=dead.pk)
    house.carry()
    dead.refresh_from_db()
    assert (dead.dead_at, dead.last_status) == (None, 200)
    assert dead.delivered_at is not None
    acts = AuditEntry.everywhere.filter(subject_id=f"whe_{endpoint.pk.hex}").values_list("act", flat=True)
    assert list(acts.order_by("sequence")) == ["webhook.created", "webhook.redelivered"]


def test_for_a_day_both_secrets_are_good(house: House, receiver: Receiver) -> None:
    """Guards outbox/webhooks/signing.py: a receiver that has not changed yet accepts, and one that has does too."""
    endpoint, old = house.endpoint(receiver)
    new = rotate_webhook_secret(
        tenant_id=house.cast.tenant.pk, by=house.cast.jonas.pk, endpoint_id=endpoint.pk
    )
    house.tell()
    house.carry()
    assert receiver.verified(old) == receiver.verified(new)
    WebhookEndpoint.everywhere.update(old_secrets_until=Now() - timedelta(seconds=1))
    receiver.got.clear()
    house.tell()
    house.carry()
    assert receiver.verified(new)
    with pytest.raises(WebhookVerificationError):
        receiver.verified(old)


def test_one_that_takes_nothing_for_long_is_switched_off_and_told_of(
    house: House, receiver: Receiver
) -> None:
    endpoint, _ = house.endpoint(receiver)
    receiver.answer = (500, b"", {})
    house.tell(2)
    house.carry()
    endpoint.refresh_from_db()
    assert endpoint.active
    assert endpoint.failing_since is not None
    WebhookEndpoint.everywhere.update(failing_since=Now() - timedelta(days=6))
    house.due()
    house.carry()
    switched_off = WebhookEndpoint.everywhere.get()
    assert not switched_off.active
    assert "It answered 500." in switched_off.disabled_why
    assert Message.objects.filter(topic="webhook.disabled").count() == 1
    acts = AuditEntry.everywhere.order_by("sequence").values_list("act", flat=True)
    assert list(acts) == ["webhook.created", "webhook.disabled", "alert.raised"]
    sent = len(receiver.got)
    house.due()
    house.tell()
    house.carry()
    assert len(receiver.got) == sent, "nothing goes to one that is off"
    receiver.answer = (200, b"", {})
    assert switch_webhook(
        tenant_id=house.cast.tenant.pk, by=house.cast.jonas.pk, endpoint_id=endpoint.pk, on=True
    )
    house.carry()
    assert len(receiver.got) == sent + 2, "what waited goes out"


def test_what_waits_and_what_fails_is_counted(house: House, receiver: Receiver) -> None:
    """Guards outbox/sql/metrics_outbox.sql."""

    def counted() -> dict[str, float]:
        return {one.name.removeprefix("countersign_"): one.samples[0].value for one in metrics.read()}

    house.endpoint(receiver)
    receiver.answer = (500, b"", {})
    house.tell(2)
    assert (counted()["webhooks_pending"], counted()["webhooks_failing"]) == (2, 0)
    house.carry()
    assert (counted()["webhooks_pending"], counted()["webhooks_failing"]) == (2, 1)
    receiver.answer = (204, b"", {})
    house.due()
    house.carry()
    assert (counted()["webhooks_pending"], counted()["webhooks_failing"]) == (0, 0)


def test_a_success_ends_the_failing_time(house: House, receiver: Receiver) -> None:
    endpoint, _ = house.endpoint(receiver)
    receiver.answer = (500, b"", {})
    house.tell()
    house.carry()
    receiver.answer = (204, b"", {})
    house.due()
    house.carry()
    endpoint.refresh_from_db()
    assert endpoint.failing_since is None


def test_gone_is_gone_at_once(house: House, receiver: Receiver) -> None:
    endpoint, _ = house.endpoint(receiver)
    receiver.answer = (410, b"", {})
    house.tell()
    house.carry()
    endpoint.refresh_from_db()
    assert not endpoint.active
    assert house.only().dead_at is not None


def test_a_redirect_is_not_followed(house: House, receiver: Receiver, other: Receiver) -> None:
    house.endpoint(receiver)
    receiver.answer = (307, b"", {"Location": other.url})
    house.tell()
    house.carry()
    assert other.got == []
    assert house.only().delivered_at is None


def test_b76_an_address_inside_is_never_connected_to(house: House, receiver: Receiver, settings: Any) -> None:
    """Guards config/webhook_way.py ``Out.post``: also for an endpoint that was allowed when it was made."""
    house.endpoint(receiver)
    settings.COUNTERSIGN = settings.COUNTERSIGN.model_copy(update={"webhook_hosts": ""})
    WebhookEndpoint.everywhere.update(url="https://localhost/hook")
    house.tell()
    house.carry()
    assert "this machine" in house.only().last_error
    WebhookEndpoint.everywhere.update(url=receiver.url)
    house.due()
    house.carry()
    assert house.only().last_error == "The address is not allowed. Nothing was sent."
    assert receiver.got == []


def test_the_test_button_goes_the_same_way(house: House, receiver: Receiver) -> None:
    endpoint, secret = house.endpoint(receiver, "run.failed")
    try_webhook(tenant_id=house.cast.tenant.pk, by=house.cast.jonas.pk, endpoint_id=endpoint.pk)
    house.carry()
    (body,) = receiver.verified(secret)
    assert body["type"] == "webhook.test"


def test_a_courier_that_was_overtaken_changes_nothing(house: House, receiver: Receiver) -> None:
    """Its failure arrives after another courier's attempt has begun."""
    house.endpoint(receiver)
    house.tell()
    receiver.answer = (500, b"", {})
    receiver.hold = threading.Event()
    house.courier.turn()
    receiver.arrived.acquire()
    house.due()
    second = Courier()
    second.turn()
    receiver.arrived.acquire()
    receiver.hold.set()
    house.carry()
    row = house.only()
    assert row.attempts == 2
    second.close()
    row.refresh_from_db()
    assert (row.attempts, row.dead_at, row.last_status) == (2, None, 500)


def test_b75_no_secret_is_kept_in_the_clear(house: House, receiver: Receiver) -> None:
    """Guards outbox/webhooks/secrets.py ``seal``."""
    endpoint, secret = house.endpoint(receiver)
    plain = secret.removeprefix("whsec_").encode()
    endpoint.refresh_from_db()
    assert all(plain not in bytes(one) for one in endpoint.secrets)
    assert "/hook" not in str(list(AuditEntry.everywhere.values_list("payload", flat=True)))
    assert secret not in str(list(AuditEntry.everywhere.values_list("payload", flat=True)))
    with pytest.raises(secrets.Sealed):
        secrets.opened(house.cast.other.pk, [bytes(one) for one in endpoint.secrets])


def test_secrets_of_webhooks_move_to_a_new_key(house: House, receiver: Receiver, settings: Any) -> None:
    """``manage.py rotate_secrets``: afterwards the old key may go."""
    _, secret = house.endpoint(receiver)
    settings.VAULT_KEYS = ["another", *settings.VAULT_KEYS]
    assert reseal_webhooks() == 1
    settings.VAULT_KEYS = ["another"]
    house.tell()
    house.carry()
    assert receiver.verified(secret)

"""What the post room says and takes over REST."""

from typing import Any

from rest_framework import serializers

from accounts.ids import public
from outbox import reads
from outbox.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from outbox.webhooks import events


class WebhookBody(serializers.Serializer[Any]):
    """A new webhook. ``events`` empty: all of them."""

    name = serializers.CharField(max_length=80)
    url = serializers.CharField(max_length=500)
    events = serializers.ListField(child=serializers.CharField(max_length=60), default=list, max_length=100)


class WebhookChange(serializers.Serializer[Any]):
    """What is left out stays."""

    name = serializers.CharField(max_length=80, required=False)
    url = serializers.CharField(max_length=500, required=False)
    events = serializers.ListField(child=serializers.CharField(max_length=60), required=False, max_length=100)
    active = serializers.BooleanField(required=False)


class WebhookRow(serializers.ModelSerializer[WebhookEndpoint]):
    """One webhook, without its secret."""

    id = serializers.SerializerMethodField()
    waiting = serializers.IntegerField(default=0)
    dead = serializers.IntegerField(default=0)

    class Meta:
        model = WebhookEndpoint
        fields: tuple[str, ...] = (
            *("id", "name", "url", "events", "active", "disabled_why", "failing_since"),
            *("old_secrets_until", "created_at", "waiting", "dead"),
        )

    def get_id(self, row: WebhookEndpoint) -> str:
        return public("webhookendpoint", row.pk)


class WebhookMade(WebhookRow):
    """``secret`` is in the first answer alone."""

    secret = serializers.CharField(required=False)

    class Meta(WebhookRow.Meta):
        fields = (*WebhookRow.Meta.fields, "secret")


class SecretRow(serializers.Serializer[Any]):
    """The new secret is in the first answer alone."""

    secret = serializers.CharField(required=False)
    old_secrets_until = serializers.DateTimeField()


class EventTypeRow(serializers.Serializer[Any]):
    """A kind of event and when it is sent."""

    name = serializers.CharField()
    words = serializers.CharField()


class DeliveryRow(serializers.ModelSerializer[WebhookDelivery]):
    """One event for one webhook. ``event`` is the ``webhook-id``."""

    id = serializers.SerializerMethodField()
    event = serializers.SerializerMethodField()
    state = serializers.SerializerMethodField()

    class Meta:
        model = WebhookDelivery
        fields: tuple[str, ...] = (
            *("id", "event", "type", "state", "attempts", "created_at", "next_attempt_at"),
            *("delivered_at", "dead_at", "last_status", "last_error"),
        )

    def get_id(self, row: WebhookDelivery) -> str:
        return public("webhookdelivery", row.pk)

    def get_event(self, row: WebhookDelivery) -> str:
        return events.public_id(row.event_id)

    def get_state(self, row: WebhookDelivery) -> str:
        return reads.state_of(row).name


class AttemptRow(serializers.ModelSerializer[WebhookAttempt]):
    """One POST and what the far side said, cut short."""

    class Meta:
        model = WebhookAttempt
        fields = ("at", "milliseconds", "status", "error", "answer")


class DeliveryDetail(DeliveryRow):
    """With the body that is sent, and every attempt."""

    document = serializers.SerializerMethodField()
    tries = serializers.SerializerMethodField()

    class Meta(DeliveryRow.Meta):
        fields = (*DeliveryRow.Meta.fields, "document", "tries")

    def get_document(self, row: WebhookDelivery) -> dict[str, Any]:
        return events.document(row.event_id, row.type, row.body)

    def get_tries(self, row: WebhookDelivery) -> list[dict[str, Any]]:
        return list(AttemptRow(reads.attempts(row), many=True).data)

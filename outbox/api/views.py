"""Webhooks and deliveries."""

import uuid
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_auth import needs
from accounts.errors import Refused
from accounts.models import Role, TokenScope
from accounts.rest.base import IsMember, NewestFirst, asked, found_or_404, need_role
from accounts.rest.idempotency import once
from accounts.rest.problems import Problem, register
from outbox import reads
from outbox.api.serializers import (
    DeliveryDetail,
    DeliveryRow,
    EventTypeRow,
    SecretRow,
    WebhookBody,
    WebhookChange,
    WebhookMade,
    WebhookRow,
)
from outbox.models import WebhookDelivery, WebhookEndpoint
from outbox.verbs.change_webhook import change_webhook
from outbox.verbs.close_webhook import close_webhook
from outbox.verbs.open_webhook import open_webhook
from outbox.verbs.rotate_webhook_secret import rotate_webhook_secret
from outbox.verbs.send_again import send_again
from outbox.verbs.switch_webhook import switch_webhook
from outbox.verbs.try_webhook import try_webhook
from outbox.webhooks import events

register({Refused: 422})
KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)


class IsAdministrator(BasePermission):
    """The person behind the token is an administrator at this moment."""

    message = "This needs the role Administrator. Nothing was done."

    def has_permission(self, request: Request, view: APIView) -> bool:
        need_role(request, Role.ADMINISTRATOR)
        return True


class Door(APIView):
    """What all of them ask for."""

    permission_classes = (IsMember, needs(TokenScope.WEBHOOKS), IsAdministrator)


class EventTypesView(Door):
    """What a webhook can be told."""

    @extend_schema(responses=EventTypeRow(many=True), tags=["webhooks"])
    def get(self, request: Request) -> Response:
        return Response({"results": EventTypeRow(events.known(), many=True).data})


class WebhooksView(Door):
    """All webhooks of the tenant, and new ones."""

    @extend_schema(responses=WebhookRow(many=True), tags=["webhooks"])
    def get(self, request: Request) -> Response:
        rows = reads.webhooks(tenant_id=asked(request).tenant.pk)
        return Response({"results": WebhookRow(rows, many=True).data})

    @extend_schema(request=WebhookBody, responses={201: WebhookMade}, parameters=[KEY], tags=["webhooks"])
    def post(self, request: Request) -> Response:
        body = WebhookBody(data=request.data)
        body.is_valid(raise_exception=True)
        shown: dict[str, str] = {}

        def work() -> Response:
            made, shown["secret"] = open_webhook(**_who(request), **body.validated_data)
            return Response(WebhookRow(made).data, status=201)

        return _with(once(request, work), shown)


class WebhookView(Door):
    """One webhook: read, change, delete."""

    @extend_schema(responses=WebhookRow, tags=["webhooks"])
    def get(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        return Response(WebhookRow(_found(request, endpoint_id)).data)

    @extend_schema(request=WebhookChange, responses=WebhookRow, tags=["webhooks"])
    def patch(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        row = _found(request, endpoint_id)
        body = WebhookChange(data=request.data)
        body.is_valid(raise_exception=True)
        given = dict(body.validated_data)
        on = given.pop("active", None)
        if given:
            change_webhook(**_who(request), endpoint_id=row.pk, **given)
        if on is not None:
            switch_webhook(**_who(request), endpoint_id=row.pk, on=on)
        return Response(WebhookRow(_found(request, row.pk)).data)

    @extend_schema(responses={204: None}, tags=["webhooks"])
    def delete(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        close_webhook(**_who(request), endpoint_id=_found(request, endpoint_id).pk)
        return Response(status=204)


class RotateView(Door):
    """A new signing secret; the one before signs too for 24 hours."""

    @extend_schema(request=None, responses=SecretRow, parameters=[KEY], tags=["webhooks"])
    def post(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        row = _found(request, endpoint_id)
        shown: dict[str, str] = {}

        def work() -> Response:
            shown["secret"] = rotate_webhook_secret(**_who(request), endpoint_id=row.pk)
            return Response(
                {"old_secrets_until": WebhookRow(_found(request, row.pk)).data["old_secrets_until"]}
            )

        return _with(once(request, work), shown)


class TestView(Door):
    """Sends the event ``webhook.test``; the delivery says what came of it."""

    @extend_schema(request=None, responses={202: DeliveryRow}, parameters=[KEY], tags=["webhooks"])
    def post(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        row = _found(request, endpoint_id)

        def work() -> Response:
            return Response(DeliveryRow(try_webhook(**_who(request), endpoint_id=row.pk)).data, status=202)

        return once(request, work)


class DeliveriesView(Door):
    """Deliveries of one webhook, the newest first; ``state`` chooses."""

    @extend_schema(
        parameters=[OpenApiParameter("state", enum=list(reads.SHOWN)), OpenApiParameter("cursor", str)],
        responses=DeliveryRow(many=True),
        tags=["webhooks"],
    )
    def get(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        row = _found(request, endpoint_id)
        shown = request.query_params.get("state", "all")
        if shown not in reads.SHOWN:
            raise Problem(400, "unknown_state", f"There are the states {', '.join(reads.SHOWN)}.")
        pages = NewestFirst()
        found: Any = pages.paginate_queryset(reads.deliveries(endpoint=row, shown=shown), request, view=self)
        return pages.get_paginated_response(DeliveryRow(found, many=True).data)


class DeliveryView(Door):
    """One delivery, with its body and attempts."""

    @extend_schema(responses=DeliveryDetail, tags=["webhooks"])
    def get(self, request: Request, delivery_id: uuid.UUID) -> Response:
        return Response(DeliveryDetail(_delivery(request, delivery_id)).data)


class AgainView(Door):
    """Sends a delivery that was taken or given up once more, under the same ``webhook-id``."""

    @extend_schema(request=None, responses={202: DeliveryRow}, parameters=[KEY], tags=["webhooks"])
    def post(self, request: Request, delivery_id: uuid.UUID) -> Response:
        row = _delivery(request, delivery_id)

        def work() -> Response:
            return Response(DeliveryRow(send_again(**_who(request), delivery_id=row.pk)).data, status=202)

        return once(request, work)


def _who(request: Request) -> dict[str, Any]:
    who = asked(request)
    return {"tenant_id": who.tenant.pk, "by": who.user.pk, "channel": "api"}


def _with(response: Response, shown: dict[str, str]) -> Response:
    """Adds the secret after the answer was kept for repeats, so that it is kept nowhere."""
    if shown:
        response.data = {**response.data, **shown}
    return response


def _found(request: Request, endpoint_id: uuid.UUID) -> WebhookEndpoint:
    found: WebhookEndpoint = found_or_404(
        reads.webhook(tenant_id=asked(request).tenant.pk, endpoint_id=endpoint_id)
    )
    return found


def _delivery(request: Request, delivery_id: uuid.UUID) -> WebhookDelivery:
    found: WebhookDelivery = found_or_404(
        reads.delivery(tenant_id=asked(request).tenant.pk, delivery_id=delivery_id)
    )
    return found

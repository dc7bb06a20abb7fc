"""The same answer to several actions at once."""

import uuid
from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import ids
from accounts.addresses import client_address
from accounts.api_auth import needs
from accounts.models import TokenScope
from accounts.rest.base import IsMember, asked, token_of
from accounts.rest.idempotency import once
from accounts.rest.problems import problem
from accounts.rest.rates import limited
from approvals import alike
from approvals.api.serializers import ActionRow
from approvals.decide_many import VERDICTS, Row, decide_many
from approvals.errors import RowRefused
from approvals.models import PendingAction
from approvals.rates import DECIDE


class RowBody(serializers.Serializer[Any]):
    """One action as it was read: its ``digest`` and ``generation`` are compared."""

    action = serializers.CharField(max_length=40)
    digest = serializers.RegexField(r"^[0-9a-f]{64}$")
    generation = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class BatchBody(serializers.Serializer[Any]):
    """The same answer to all of them. ``gesture`` is their sum, or how many they are, where one of them asks for a second
    gesture."""

    items = serializers.ListField(child=RowBody(), min_length=1, max_length=alike.MOST)
    verdict = serializers.ChoiceField(choices=[verdict.value for verdict in VERDICTS])
    comment = serializers.CharField(required=False, allow_blank=True, max_length=10_000, default="")
    gesture = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class BatchResult(serializers.Serializer[Any]):
    """What became of each, in the order of ``items``."""

    batch = serializers.UUIDField()
    results = ActionRow(many=True)


class BatchView(APIView):
    """The same answer to several actions: all are recorded, or none. Same tool, same version, same risk class. Needs a token
    with the scope ``decide`` and ``Idempotency-Key``."""

    permission_classes = (IsMember, needs(TokenScope.DECIDE))
    throttle_classes = (limited(DECIDE),)

    @extend_schema(
        request=BatchBody,
        responses=BatchResult,
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)],
        tags=["inbox"],
    )
    def post(self, request: Request) -> Response:
        body = BatchBody(data=request.data)
        body.is_valid(raise_exception=True)
        rows = [
            Row(_known(one["action"]), one["digest"], one["generation"])
            for one in body.validated_data["items"]
        ]
        _all_here(rows)
        return once(request, lambda: _decide(request, rows, body.validated_data))


def _decide(request: Request, rows: list[Row], given: dict[str, Any]) -> Response:
    try:
        decisions = decide_many(
            rows=rows,
            user_id=asked(request).user.pk,
            verdict=given["verdict"],
            channel="api",
            authenticated=f"token:{token_of(request).prefix}",
            fresh=TokenScope.DECIDE_HIGH_RISK in token_of(request).scopes,
            comment=given["comment"],
            gesture=given["gesture"],
            address=client_address(request.META) or None,
        )
    except RowRefused as error:
        named = {"row": error.number, "action": ids.public("pendingaction", error.action.pk)}
        return problem(409, error.code, str(error), **named, cause=error.cause.code)
    found = PendingAction.objects.in_bulk([row.action_id for row in rows])
    result = {"batch": decisions[0].batch, "results": [found[row.action_id] for row in rows]}
    return Response(BatchResult(result).data)


def _known(text: str) -> uuid.UUID:
    try:
        return ids.parse("pendingaction", text)
    except ids.BadId:
        raise Http404 from None


def _all_here(rows: list[Row]) -> None:
    """Every one is of this tenant; 404 as for one that does not exist."""
    wanted = {row.action_id for row in rows}
    if PendingAction.objects.filter(pk__in=wanted).count() != len(wanted):
        raise Http404

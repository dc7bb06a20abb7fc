"""Signals: facts from outside that a task waits for."""

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_auth import needs
from accounts.models import TokenScope
from accounts.rest.base import IsMember, asked
from accounts.rest.idempotency import once
from runs.api.tasks import KEY
from runs.engine.signal import signal
from runs.views.lookup import run_or_404


class SignalBody(serializers.Serializer[Any]):
    """``external_id`` names the fact where it comes from: of several with the same id the first counts. ``epoch``: that of
    the task when the sender was asked, if it knows."""

    name = serializers.CharField(max_length=80)
    external_id = serializers.CharField(max_length=120)
    payload = serializers.DictField(required=False, default=dict)
    epoch = serializers.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, default=None, allow_null=True
    )


class SignalRow(serializers.Serializer[Any]):
    """``received``: taken by a wait, kept for one to come, repeated, or late (then it stands in the audit log alone)."""

    received = serializers.ChoiceField(choices=["taken", "kept", "repeated", "late"])


class SignalsView(APIView):
    """Tell a task what it waits for. Needs a token with the scope ``signal``."""

    permission_classes = (IsMember, needs(TokenScope.SIGNAL))

    @extend_schema(request=SignalBody, responses={202: SignalRow}, parameters=[KEY], tags=["tasks"])
    def post(self, request: Request, run_id: uuid.UUID) -> Response:
        run_or_404(run_id)
        body = SignalBody(data=request.data)
        body.is_valid(raise_exception=True)
        return once(request, lambda: self._signal(request, run_id, body.validated_data))

    def _signal(self, request: Request, run_id: uuid.UUID, given: dict[str, Any]) -> Response:
        who = asked(request)
        received = signal(
            tenant_id=who.tenant.pk,
            run_id=run_id,
            name=given["name"],
            external_id=given["external_id"],
            payload=given["payload"],
            epoch=given["epoch"],
            user_id=who.user.pk,
            channel="api",
        )
        return Response({"received": received}, status=202)

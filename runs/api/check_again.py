"""Check again, over REST."""

import uuid
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_auth import needs
from accounts.models import TokenScope
from accounts.rest.base import IsMember, asked
from approvals.models import PendingAction
from runs.engine.heard import check_again


class AskedRow(serializers.Serializer[Any]):
    """``asked``: a question is on its way. False: nothing can be asked, or it is known already."""

    asked = serializers.BooleanField()


class CheckAgainView(APIView):
    """Ask the far side now what became of an effect; the answer becomes evidence of the action. One question is on its way
    at a time, so repeating the request changes nothing. Needs a token with the scope ``decide``."""

    permission_classes = (IsMember, needs(TokenScope.DECIDE))

    @extend_schema(request=None, responses={202: AskedRow}, tags=["inbox"])
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        rows = PendingAction.objects.filter(pk=action_id, kind=PendingAction.Kind.SETTLE)
        if not rows.exists():
            raise Http404
        return Response(
            {"asked": check_again(action_id=action_id, user_id=asked(request).user.pk, channel="api")},
            status=202,
        )

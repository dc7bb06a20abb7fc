"""Edit a proposal, over REST."""

import uuid
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_auth import needs
from accounts.models import TokenScope
from accounts.rest.base import IsMember, asked
from accounts.rest.idempotency import once
from accounts.rest.rates import limited
from approvals.api.serializers import ActionDetail
from approvals.api.views import detail, etag, find, seen
from runs.rates import EDIT
from runs.verbs.edit_proposal import edit_proposal


class EditBody(serializers.Serializer[Any]):
    """``arguments``: all of them, as they should be; ``comment``: why, for whoever approves."""

    arguments = serializers.JSONField()
    comment = serializers.CharField(required=False, allow_blank=True, max_length=10_000, default="")

    def validate_arguments(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise serializers.ValidationError("This is a JSON object with every argument.")
        return value


class EditView(APIView):
    """Ask the next version of a question, with other arguments. Whoever edits does not approve it, unless the rules of the
    tool say so. Needs a token with the scope ``decide``, ``If-Match`` and ``Idempotency-Key``."""

    permission_classes = (IsMember, needs(TokenScope.DECIDE))
    throttle_classes = (limited(EDIT),)

    @extend_schema(
        request=EditBody,
        responses={201: ActionDetail},
        parameters=[
            OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, required=True),
            OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True),
        ],
        tags=["inbox"],
    )
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        find(action_id)
        body = EditBody(data=request.data)
        body.is_valid(raise_exception=True)
        digest, generation = seen(request)

        def work() -> Response:
            made = edit_proposal(
                action_id=action_id,
                user_id=asked(request).user.pk,
                arguments=body.validated_data["arguments"],
                why=body.validated_data["comment"],
                digest=digest,
                generation=generation,
                channel="api",
            )
            now = find(made.pk)
            return Response(detail(request, now), status=201, headers={"ETag": etag(now)})

        return once(request, work)

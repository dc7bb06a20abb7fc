"""Bounces, over REST: for a mail service that calls instead of piping."""

from collections.abc import Mapping
from typing import IO, Any, cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import ids
from accounts.api_auth import needs
from accounts.models import TokenScope
from accounts.rest.base import IsMember, asked
from accounts.rest.problems import Problem
from runs.engine.bounced import take
from tools.bounces import MOST_BYTES, NoReport


class MessageParser(BaseParser):
    """``message/rfc822``; refusals are 413 for a body over the limit."""

    media_type = "message/rfc822"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, bytes]:
        data: bytes = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise Problem(
                413, "too_large", f"The message is larger than {MOST_BYTES} bytes. Nothing was done."
            )
        return {"message": data}


class TakenRow(serializers.Serializer[Any]):
    """``recorded`` as evidence, ``repeated`` (it was before), or ``not_ours``: no letter sent here has this Message-ID."""

    taken = serializers.ChoiceField(choices=["recorded", "repeated", "not_ours"], source="what")
    action = serializers.CharField()
    recipient = serializers.CharField()
    effect = serializers.SerializerMethodField()

    def get_effect(self, one: Any) -> str | None:
        return ids.public("intent", one.intent_id) if one.intent_id else None


class BouncesView(APIView):
    """Take one delivery status notification (RFC 3464) as it arrived. It becomes evidence of the effect that sent the
    letter, once, and decides nothing. Needs a token with the scope ``bounces``."""

    permission_classes = (IsMember, needs(TokenScope.BOUNCES))
    parser_classes = (MessageParser,)

    @extend_schema(
        request={"message/rfc822": OpenApiTypes.BINARY}, responses=TakenRow(many=True), tags=["effects"]
    )
    def post(self, request: Request) -> Response:
        data = cast(dict[str, bytes], request.data).get("message")
        if not data:
            raise Problem(422, "no_report", "Send the message itself as message/rfc822. Nothing was done.")
        try:
            taken = take(data=data, tenant_id=asked(request).tenant.pk, channel="api")
        except NoReport as error:
            raise Problem(422, error.code, f"{error} Nothing was done.") from error
        return Response({"results": TakenRow(taken, many=True).data})

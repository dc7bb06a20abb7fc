"""One's own notes: what came, what was read, how one wants to be told."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import ids
from accounts.api_auth import needs
from accounts.models import Role, TokenScope
from accounts.rest.base import IsMember, NewestFirst, asked, found_or_404
from accounts.rest.idempotency import once
from accounts.rest.problems import Problem
from outbox.models import Channel, ChatTarget, Notification
from outbox.notify import choices, reads
from outbox.verbs.choose_notes import choose_notes, set_digest_time
from outbox.verbs.read_notes import read_notes
from outbox.verbs.set_chat import drop_chat, set_chat
from outbox.verbs.try_chat import try_chat

KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)
_READS, _CHANGES = needs(TokenScope.READ), needs(TokenScope.PROFILE)


class Scope(BasePermission):
    """Reading needs ``read``, changing needs ``profile``."""

    message = "This token does not have the scope 'profile'. Nothing was done."

    def has_permission(self, request: Request, view: APIView) -> bool:
        wanted = _READS if request.method in SAFE_METHODS else _CHANGES
        return wanted().has_permission(request, view)


class Door(APIView):
    """What all of them ask for. Everything is about the person behind the token."""

    permission_classes = (IsMember, Scope)


class NoteRow(serializers.ModelSerializer[Notification]):
    """One note in the page. ``link`` is an address of this house."""

    id = serializers.SerializerMethodField()

    class Meta:
        model = Notification
        fields = ("id", "kind", "subject", "link", "created_at", "read_at")

    def get_id(self, row: Notification) -> str:
        return ids.public("notification", row.pk)


class ReadBody(serializers.Serializer[Any]):
    """Without ``ids``: all of them."""

    ids = serializers.ListField(child=serializers.CharField(max_length=40), required=False, max_length=200)


class DigestBody(serializers.Serializer[Any]):
    """``hour`` of the person's time zone, 0 to 23."""

    every = serializers.ChoiceField(choices=["hourly", "daily"])
    hour = serializers.IntegerField(min_value=0, max_value=23)


class PreferencesBody(serializers.Serializer[Any]):
    """``choices``: kind → channel → timing. What is left out stays."""

    choices = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField(max_length=20)), required=False
    )
    digest = DigestBody(required=False)


class ChatBody(serializers.Serializer[Any]):
    """``address`` in the form of apprise; it is never given back."""

    address = serializers.CharField(max_length=1000)


class ChatRow(serializers.ModelSerializer[ChatTarget]):
    """What is shown of a chat."""

    class Meta:
        model = ChatTarget
        fields = ("service", "hint", "failing_since", "last_error")


class NotesView(Door):
    """Notes in the page, the newest first; ``unread=1`` for those that were not read."""

    @extend_schema(
        parameters=[OpenApiParameter("unread", bool), OpenApiParameter("cursor", str)],
        responses=NoteRow(many=True),
        tags=["notifications"],
    )
    def get(self, request: Request) -> Response:
        who = asked(request)
        rows = reads.mine(user_id=who.user.pk, tenant_id=who.tenant.pk)
        if request.query_params.get("unread") in ("1", "true"):
            rows = rows.filter(read_at__isnull=True)
        pages = NewestFirst()
        found: Any = pages.paginate_queryset(rows, request, view=self)
        answer = pages.get_paginated_response(NoteRow(found, many=True).data)
        answer.data["unread"] = reads.bell(user_id=who.user.pk, tenant_id=who.tenant.pk)
        return answer


class ReadView(Door):
    """Count notes as read; ``read`` says how many were not."""

    @extend_schema(request=ReadBody, responses={200: None}, tags=["notifications"])
    def post(self, request: Request) -> Response:
        body = ReadBody(data=request.data)
        body.is_valid(raise_exception=True)
        who, given = asked(request), body.validated_data.get("ids")
        try:
            wanted = None if given is None else [ids.parse("notification", one) for one in given]
        except ids.BadId:
            raise Problem(422, "bad_id", "That is no id of a note. Nothing was changed.") from None
        return Response({"read": read_notes(tenant_id=who.tenant.pk, user_id=who.user.pk, ids=wanted)})


class PreferencesView(Door):
    """When each kind of note goes out over each channel, and when the digest comes."""

    @extend_schema(responses={200: None}, tags=["notifications"])
    def get(self, request: Request) -> Response:
        return Response(_preferences(request))

    @extend_schema(request=PreferencesBody, responses={200: None}, tags=["notifications"])
    def patch(self, request: Request) -> Response:
        body = PreferencesBody(data=request.data)
        body.is_valid(raise_exception=True)
        given, who = body.validated_data, asked(request)
        wanted = {
            (kind, channel): timing
            for kind, timings in given.get("choices", {}).items()
            for channel, timing in timings.items()
        }
        if "digest" in given:
            set_digest_time(tenant_id=who.tenant.pk, user_id=who.user.pk, **given["digest"])
        if wanted:
            choose_notes(**_me(request), choices=wanted)
        return Response(_preferences(request))


class ChatView(Door):
    """One's own chat: look, set, drop."""

    @extend_schema(responses=ChatRow, tags=["notifications"])
    def get(self, request: Request) -> Response:
        who = asked(request)
        return Response(ChatRow(found_or_404(reads.chat(tenant_id=who.tenant.pk, user_id=who.user.pk))).data)

    @extend_schema(request=ChatBody, responses=ChatRow, tags=["notifications"])
    def put(self, request: Request) -> Response:
        body = ChatBody(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(ChatRow(set_chat(**_me(request), address=body.validated_data["address"])).data)

    @extend_schema(responses={204: None}, tags=["notifications"])
    def delete(self, request: Request) -> Response:
        drop_chat(**_me(request))
        return Response(status=204)


class ChatTestView(Door):
    """Sends a test to one's own chat; looking at the chat says what came of it."""

    @extend_schema(request=None, responses={202: None}, parameters=[KEY], tags=["notifications"])
    def post(self, request: Request) -> Response:
        def work() -> Response:
            try_chat(**_me(request))
            return Response({"queued": True}, status=202)

        return once(request, work)


def _me(request: Request) -> dict[str, Any]:
    who = asked(request)
    return {"tenant_id": who.tenant.pk, "by": who.user.pk, "user_id": who.user.pk, "channel": "api"}


def _preferences(request: Request) -> dict[str, Any]:
    who = asked(request)
    administrator = Role.ADMINISTRATOR in who.membership.roles
    table = choices.table(tenant_id=who.tenant.pk, user_id=who.user.pk, administrator=administrator)
    digest = reads.digest_time(tenant_id=who.tenant.pk, user_id=who.user.pk)
    return {
        "choices": {
            kind.name: {channel.value: timing.value for channel, timing in timings.items()}
            for kind, timings in table
        },
        "words": {kind.name: str(kind.words) for kind, _ in table},
        "offered": {
            kind.name: {channel.value: list(kind.choices(channel)) for channel in Channel}
            for kind, _ in table
        },
        "digest": {"every": digest.every, "hour": digest.hour},
    }

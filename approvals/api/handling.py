"""Beside deciding: who may decide, hold, hand over, set aside. Needs a token with the scope ``decide``, which is its
owner's hand and nobody else's."""

import uuid
from collections.abc import Callable
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import ids
from accounts.api_auth import needs
from accounts.models import TokenScope, User
from accounts.rest.base import IsMember, asked
from accounts.rest.problems import problem, register
from approvals import claim, delegate, errors, rules, set_aside
from approvals.api.serializers import ActionRow
from approvals.models import PendingAction

register({errors.Held: 409, errors.NotHeld: 409})


class HandOverBody(serializers.Serializer[Any]):
    """``to`` is the id of a person, as under ``deciders``."""

    to = serializers.CharField(max_length=60)
    note = serializers.CharField(
        required=False, allow_blank=True, max_length=delegate.LONGEST_NOTE, default=""
    )

    def validate_to(self, text: str) -> uuid.UUID:
        try:
            return ids.parse("user", text)
        except ids.BadId:
            raise serializers.ValidationError("This is not the id of a person.") from None


class AsideBody(serializers.Serializer[Any]):
    """``until`` with its offset from UTC."""

    until = serializers.DateTimeField()


class NoBody(serializers.Serializer[Any]):
    """Nothing to say."""


class DeciderRow(serializers.Serializer[Any]):
    """Somebody who may decide it now, and until when they are away."""

    id = serializers.CharField()
    name = serializers.CharField()
    away_until = serializers.DateTimeField(allow_null=True)


class DecidersView(APIView):
    """Who may give the main answer now and has not."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=DeciderRow(many=True), tags=["inbox"])
    def get(self, request: Request, action_id: uuid.UUID) -> Response:
        action = _find(action_id)
        if action.status != PendingAction.Status.OPEN:
            return Response({"results": []})
        found = rules.deciders(action)
        return Response({"results": [_person(user, found) for user in found.everybody]})


def _person(user: User, found: rules.Deciders) -> dict[str, Any]:
    row = {"id": ids.public("user", user.pk), "name": str(user), "away_until": found.until.get(user.pk)}
    return dict(DeciderRow(row).data)


class _Verb(APIView):
    """A POST that changes who has a question before them; the same again changes nothing more."""

    permission_classes = (IsMember, needs(TokenScope.DECIDE))

    def act(
        self, request: Request, action_id: uuid.UUID, verb: Callable[..., PendingAction], **given: Any
    ) -> Response:
        action = _find(action_id)
        try:
            verb(action_id=action.pk, user_id=asked(request).user.pk, channel="api", **given)
        except errors.AlreadyDecided as error:
            return problem(409, "already_decided", str(error))
        return Response(ActionRow(_find(action_id)).data)


class ClaimView(_Verb):
    """Hold it for 20 minutes, so that nobody reads it twice. It keeps nobody from deciding."""

    @extend_schema(request=NoBody, responses=ActionRow, tags=["inbox"])
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        return self.act(request, action_id, claim.claim)


class ReleaseView(_Verb):
    """Give the claim back; administrators end anybody's."""

    @extend_schema(request=NoBody, responses=ActionRow, tags=["inbox"])
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        return self.act(request, action_id, claim.release)


class DelegateView(_Verb):
    """Hand it to one person who may decide it."""

    @extend_schema(request=HandOverBody, responses=ActionRow, tags=["inbox"])
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        _find(action_id)
        body = HandOverBody(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        return self.act(request, action_id, delegate.delegate, to_id=given["to"], note=given["note"])


class UndelegateView(_Verb):
    """Nobody in particular is asked any more."""

    @extend_schema(request=NoBody, responses=ActionRow, tags=["inbox"])
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        return self.act(request, action_id, delegate.undelegate)


class SetAsideView(_Verb):
    """Out of one's own list until a time; it stands in everybody else's as before."""

    @extend_schema(request=AsideBody, responses=ActionRow, tags=["inbox"])
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        _find(action_id)
        body = AsideBody(data=request.data)
        body.is_valid(raise_exception=True)
        return self.act(request, action_id, set_aside.set_aside, until=body.validated_data["until"])


class TakeUpView(_Verb):
    """Back into one's own list."""

    @extend_schema(request=NoBody, responses=ActionRow, tags=["inbox"])
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        return self.act(request, action_id, set_aside.take_up)


def _find(action_id: uuid.UUID) -> PendingAction:
    found: PendingAction | None = PendingAction.objects.filter(pk=action_id).first()
    if found is None:
        raise Http404
    return found

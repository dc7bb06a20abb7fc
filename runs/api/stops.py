"""Stop switches: what is stopped, and for administrators setting and lifting it."""

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_auth import needs
from accounts.errors import Refused
from accounts.ids import BadId, parse, public
from accounts.models import Role, TokenScope
from accounts.rest.base import IsMember, asked, found_or_404, need_role
from accounts.rest.idempotency import once
from accounts.rest.problems import Problem
from runs.api.tasks import KEY
from runs.engine.halt import halt, let_go_on
from runs.engine.unblock import unblock
from runs.views.lookup import run_or_404
from tools import pauses, switches
from tools.models import Tool

SCOPES = ("tenant", "tool", "run")


class StopRow(serializers.Serializer[Any]):
    """One open stop. ``sending``: calls that were let go before it, which it does not call back."""

    scope = serializers.ChoiceField(choices=SCOPES)
    tool = serializers.CharField()
    run = serializers.CharField(allow_null=True)
    reason = serializers.CharField()
    by = serializers.CharField()
    at = serializers.DateTimeField()
    sending = serializers.IntegerField()


class LiftBody(serializers.Serializer[Any]):
    """What is meant: everything, a tool by its name, or a run by its id."""

    scope = serializers.ChoiceField(choices=SCOPES)
    tool = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)
    run = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)


class StopBody(LiftBody):
    """What to stop, and why."""

    reason = serializers.CharField(max_length=500)


class Done(serializers.Serializer[Any]):
    """``changed``: false when it was so already. ``sending``: calls that are under way."""

    changed = serializers.BooleanField()
    sending = serializers.IntegerField()


class StopsView(APIView):
    """What is stopped now; or one more stop, by an administrator."""

    def get_permissions(self) -> list[Any]:
        scope = TokenScope.SUBMIT if self.request.method == "POST" else TokenScope.READ
        return [IsMember(), needs(scope)()]

    @extend_schema(responses=StopRow(many=True), tags=["stops"])
    def get(self, request: Request) -> Response:
        tenant_id = asked(request).tenant.pk
        rows = [
            {
                "scope": one.scope,
                "tool": one.tool,
                "run": public("run", one.run_id) if one.run_id else None,
                "reason": one.reason,
                "by": one.by,
                "at": one.at,
                "sending": switches.sending(tenant_id=tenant_id, run_id=one.run_id, tool=one.tool),
            }
            for one in switches.standing(tenant_id=tenant_id)
        ]
        return Response({"results": StopRow(rows, many=True).data})

    @extend_schema(request=StopBody, responses=Done, parameters=[KEY], tags=["stops"])
    def post(self, request: Request) -> Response:
        need_role(request, Role.ADMINISTRATOR)
        body = StopBody(data=request.data)
        body.is_valid(raise_exception=True)
        return once(request, lambda: _answer(request, body.validated_data, _stop))


class LiftView(APIView):
    """Lifts a stop; what it held up goes on by itself. For administrators."""

    permission_classes = (IsMember, needs(TokenScope.SUBMIT))

    @extend_schema(request=LiftBody, responses=Done, parameters=[KEY], tags=["stops"])
    def post(self, request: Request) -> Response:
        need_role(request, Role.ADMINISTRATOR)
        body = LiftBody(data=request.data)
        body.is_valid(raise_exception=True)
        return once(request, lambda: _answer(request, body.validated_data, _lift))


def _answer(request: Request, given: dict[str, Any], act: Any) -> Response:
    who = asked(request)
    run_id = _run(given["run"]) if given["scope"] == "run" else None
    tool = found_or_404(Tool.objects.filter(name=given["tool"]).first()) if given["scope"] == "tool" else None
    try:
        changed = act(who.tenant.pk, tool, run_id, who.user.pk, given)
    except Refused as refused:
        raise Problem(422, refused.code, str(refused.text)) from refused
    name = tool.name if tool else ""
    sending = switches.sending(tenant_id=who.tenant.pk, run_id=run_id, tool=name)
    return Response(Done({"changed": changed, "sending": sending}).data)


def _run(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(str(run_or_404(parse("run", text)).pk))
    except BadId as bad:
        raise Problem(404, "not_found", "There is no such task. Nothing was done.") from bad


def _stop(
    tenant_id: uuid.UUID, tool: Tool | None, run_id: uuid.UUID | None, by: uuid.UUID, given: dict[str, Any]
) -> bool:
    if run_id is not None:
        return halt(run_id=run_id, user_id=by, reason=given["reason"], channel="api")
    if tool is not None:
        return pauses.pause(tool_id=tool.pk, by=by, reason=given["reason"], channel="api")
    return switches.stop_tenant(tenant_id=tenant_id, by=by, reason=given["reason"], channel="api")


def _lift(
    tenant_id: uuid.UUID, tool: Tool | None, run_id: uuid.UUID | None, by: uuid.UUID, given: dict[str, Any]
) -> bool:
    if run_id is not None:
        return let_go_on(run_id=run_id, user_id=by, channel="api")
    if tool is not None:
        changed = pauses.go_on(tool_id=tool.pk, by=by, channel="api")
    else:
        changed = switches.lift_tenant(tenant_id=tenant_id, by=by, channel="api")
    if changed:
        unblock(tenant_id=tenant_id)
    return changed

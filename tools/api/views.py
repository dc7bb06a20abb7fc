"""Tools and the contracts in force, for administrators."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_auth import needs
from accounts.models import Role, TokenScope
from accounts.rest.base import IsMember, asked, need_role
from tools import drafts
from tools.models import Tool
from tools.present.register import Row, rows


class ToolRow(serializers.Serializer[Any]):
    """A tool with its path today; ``version`` of the contract in force is null when nobody can call it. The figures are of
    the last seven days."""

    name = serializers.CharField(source="tool.name")
    title = serializers.CharField(source="tool.title")
    version = serializers.IntegerField(source="contract.version", default=None)
    effect_class = serializers.CharField(source="contract.effect_class", default=None)
    path = serializers.CharField(source="path.word")
    paused = serializers.SerializerMethodField()
    draft = serializers.IntegerField()
    calls = serializers.IntegerField(source="figures.calls")
    failed = serializers.IntegerField(source="figures.errors")
    unknown = serializers.IntegerField(source="figures.unknown")

    def get_paused(self, row: Row) -> str:
        return row.tool.paused_reason if row.tool.paused_at else ""


class ToolDetail(serializers.Serializer[Any]):
    """What the contract in force declares: names of secrets, never values."""

    name = serializers.CharField()
    title = serializers.CharField()
    version = serializers.IntegerField(allow_null=True)
    definition_digest = serializers.CharField()
    published_at = serializers.DateTimeField(allow_null=True)
    published_by = serializers.CharField()
    contract = serializers.DictField()


class ToolsView(APIView):
    """Every tool of the tenant, as the register shows them."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=ToolRow(many=True), tags=["tools"])
    def get(self, request: Request) -> Response:
        need_role(request, Role.ADMINISTRATOR)
        return Response({"results": ToolRow(rows(tenant_id=asked(request).tenant.pk), many=True).data})


class ToolView(APIView):
    """One tool with its contract in force."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=ToolDetail, tags=["tools"])
    def get(self, request: Request, name: str) -> Response:
        found = Tool.objects.filter(name=name).first()
        if found is None:
            raise Http404
        need_role(request, Role.ADMINISTRATOR)
        live, _draft = drafts.current(tool=found)
        return Response(
            ToolDetail(
                {
                    "name": found.name,
                    "title": found.title,
                    "version": live.version if live else None,
                    "definition_digest": live.definition_digest if live else "",
                    "published_at": live.published_at if live else None,
                    "published_by": str(live.published_by or "") if live else "",
                    "contract": drafts.content(live) if live else {},
                }
            ).data
        )

"""Effects of a task and reports that one of them happened twice."""

import uuid
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_auth import needs
from accounts.ids import public
from accounts.models import TokenScope
from accounts.rest.base import IsMember, asked, found_or_404
from accounts.rest.idempotency import once
from accounts.rest.problems import Problem
from runs.selectors import effects
from runs.views.lookup import run_or_404
from tools import duplicates
from tools.models import DuplicateReport, Intent

KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)
MOST = 500
_STATUS = {"not_found": 404, "not_sent": 404, "not_allowed": 403, "own_report": 403, "answered": 409}


class ReportRow(serializers.ModelSerializer[DuplicateReport]):
    """One report; ``confirmed`` is null while nobody has answered."""

    effect = serializers.SerializerMethodField()
    reported_by = serializers.SerializerMethodField()
    answered_by = serializers.SerializerMethodField()

    class Meta:
        model = DuplicateReport
        fields = (
            *("id", "effect", "evidence", "reference", "reported_by", "reported_at"),
            *("confirmed", "reason", "answered_by", "answered_at"),
        )

    def get_effect(self, report: DuplicateReport) -> str:
        return public("intent", report.intent_id)

    def get_reported_by(self, report: DuplicateReport) -> str:
        return str(report.reported_by)

    def get_answered_by(self, report: DuplicateReport) -> str:
        return str(report.answered_by or "")


class EffectRow(serializers.ModelSerializer[Intent]):
    """An effect that was sent."""

    id = serializers.SerializerMethodField()
    tool = serializers.SerializerMethodField()
    duplicates = ReportRow(many=True)

    class Meta:
        model = Intent
        fields = ("id", "tool", "target", "status", "reference", "dispatched_at", "duplicates")

    def get_id(self, intent: Intent) -> str:
        return public("intent", intent.pk)

    def get_tool(self, intent: Intent) -> str:
        return intent.tool.name


class ReportBody(serializers.Serializer[Any]):
    """What was seen at the far side."""

    evidence = serializers.CharField(max_length=duplicates.LONGEST)
    reference = serializers.CharField(
        max_length=duplicates.LONGEST_REFERENCE, required=False, allow_blank=True, default=""
    )


class AnswerBody(serializers.Serializer[Any]):
    """Whether it happened twice, and why you say so."""

    confirmed = serializers.BooleanField()
    reason = serializers.CharField(max_length=duplicates.LONGEST_REASON)


class EffectsView(APIView):
    """The effects of a task that were sent, newest first."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=EffectRow(many=True), tags=["duplicates"])
    def get(self, request: Request, run_id: uuid.UUID) -> Response:
        run_or_404(run_id)
        return Response({"results": EffectRow(effects.sent(run_id)[:MOST], many=True).data})


class ReportView(APIView):
    """Report that an effect happened twice. While a report is open, it stands for all."""

    permission_classes = (IsMember, needs(TokenScope.SUBMIT))

    @extend_schema(request=ReportBody, responses={201: ReportRow}, parameters=[KEY], tags=["duplicates"])
    def post(self, request: Request, run_id: uuid.UUID, intent_id: uuid.UUID) -> Response:
        run_or_404(run_id)
        found_or_404(effects.sent(run_id).filter(pk=intent_id).first())
        body = ReportBody(data=request.data)
        body.is_valid(raise_exception=True)
        return once(request, lambda: _report(request, intent_id, body.validated_data))


class ReportsView(APIView):
    """All reports of the tenant, open ones first, and the rate: confirmed duplicates per 10,000 effects of thirty days."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=ReportRow(many=True), tags=["duplicates"])
    def get(self, request: Request) -> Response:
        rate = duplicates.rate(tenant_id=asked(request).tenant.pk)
        told = {"confirmed": rate.confirmed, "effects": rate.effects, "per_10_000": rate.per_10_000}
        return Response({"results": ReportRow(effects.reports()[:MOST], many=True).data, "rate": told})


class AnswerView(APIView):
    """Confirm or dismiss a report of somebody else."""

    permission_classes = (IsMember, needs(TokenScope.DECIDE))

    @extend_schema(request=AnswerBody, responses=ReportRow, parameters=[KEY], tags=["duplicates"])
    def post(self, request: Request, report_id: uuid.UUID) -> Response:
        found_or_404(effects.reports().filter(pk=report_id).first())
        body = AnswerBody(data=request.data)
        body.is_valid(raise_exception=True)
        return once(request, lambda: _answer(request, report_id, body.validated_data))


def _report(request: Request, intent_id: uuid.UUID, given: dict[str, Any]) -> Response:
    who = asked(request)
    try:
        made = duplicates.report(tenant_id=who.tenant.pk, user_id=who.user.pk, intent_id=intent_id, **given)
    except duplicates.NotReported as refused:
        raise _problem(refused) from refused
    return Response(ReportRow(effects.reports().get(pk=made.pk)).data, status=201)


def _answer(request: Request, report_id: uuid.UUID, given: dict[str, Any]) -> Response:
    who = asked(request)
    try:
        duplicates.answer(tenant_id=who.tenant.pk, user_id=who.user.pk, report_id=report_id, **given)
    except duplicates.NotReported as refused:
        raise _problem(refused) from refused
    return Response(ReportRow(effects.reports().get(pk=report_id)).data)


def _problem(refused: duplicates.NotReported) -> Problem:
    return Problem(_STATUS.get(refused.code, 422), refused.code, refused.text)

"""Agents and tasks: preview, submit, follow, cancel."""

import uuid
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_auth import needs
from accounts.ids import public
from accounts.models import Role, TokenScope
from accounts.rest.base import IsMember, NewestFirst, asked, need_role
from accounts.rest.idempotency import key_of, once
from accounts.rest.rates import limited
from runs import timeline
from runs.agents.registry import all_agents
from runs.api.lookup import agent_named, upload_ids
from runs.api.serializers import (
    AgentRow,
    CancelBody,
    EventRow,
    PlanRow,
    PreviewBody,
    StepRow,
    TaskBody,
    TaskDetail,
    TaskRow,
)
from runs.engine.cancel import cancel
from runs.engine.submit import submit
from runs.models import Run, Step
from runs.preview_plan import preview
from runs.rates import START
from runs.selectors import artifacts
from runs.selectors.filters import TaskFilter, is_drill
from runs.selectors.runs import HEAVY, every
from runs.views.lookup import run_or_404

KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)
EVENTS_AT_ONCE = 500


class AgentsView(APIView):
    """The agents that can be given a task."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=AgentRow(many=True), tags=["tasks"])
    def get(self, request: Request) -> Response:
        agents = [agent for agent in all_agents() if not is_drill(agent.name)]
        return Response({"results": AgentRow(agents, many=True).data})


class PreviewView(APIView):
    """What a task would do: its steps, and which of them a person must approve. Nothing is created."""

    permission_classes = (IsMember, needs(TokenScope.SUBMIT))

    @extend_schema(request=PreviewBody, responses=PlanRow, tags=["tasks"])
    def post(self, request: Request) -> Response:
        body = PreviewBody(data=request.data)
        body.is_valid(raise_exception=True)
        given, who = body.validated_data, asked(request)
        files = artifacts.waiting(upload_ids(given["files"]), user_id=who.user.pk)
        wanted = {**given["input"]}
        if files:
            wanted["files"] = [{"name": f.name, "sha256": f.sha256, "size": f.size} for f in files]
        plan = preview(tenant_id=who.tenant.pk, agent=agent_named(given["agent"]), input=wanted)
        return Response(PlanRow(plan).data)


class TasksView(APIView):
    """All tasks of the tenant, newest first; or a new one."""

    throttle_classes = (limited(START),)

    def get_permissions(self) -> list[Any]:
        scope = TokenScope.SUBMIT if self.request.method == "POST" else TokenScope.READ
        return [IsMember(), needs(scope)()]

    @extend_schema(
        parameters=[OpenApiParameter("state"), OpenApiParameter("q"), OpenApiParameter("cursor")],
        responses=TaskRow(many=True),
        tags=["tasks"],
    )
    def get(self, request: Request) -> Response:
        rows = TaskFilter(request.query_params, queryset=every(), request=asked(request)).qs
        pages = NewestFirst()
        page: list[Run] = (
            pages.paginate_queryset(rows.select_related("submitter").defer(*HEAVY), request, view=self) or []
        )
        return pages.get_paginated_response(TaskRow(page, many=True).data)

    @extend_schema(request=TaskBody, responses={202: TaskDetail}, parameters=[KEY], tags=["tasks"])
    def post(self, request: Request) -> Response:
        need_role(request, Role.SUBMITTER, Role.ADMINISTRATOR)
        body = TaskBody(data=request.data)
        body.is_valid(raise_exception=True)
        return once(request, lambda: _submit(request, body.validated_data))


def _submit(request: Request, given: dict[str, Any]) -> Response:
    who = asked(request)
    run, _created = submit(
        tenant_id=who.tenant.pk,
        submitter_id=who.user.pk,
        agent=agent_named(given["agent"]).name,
        goal=given["goal"],
        input=given["input"],
        submit_key=f"api:{who.user.pk.hex[-12:]}:{key_of(request)}"[:120],
        uploads=upload_ids(given["files"]),
        limits=given["limits"],
        deadline=given["deadline"],
        channel="api",
    )
    location = request.build_absolute_uri(reverse("api:task", args=[run.pk]))
    return Response(TaskDetail(run).data, status=202, headers={"Location": location})


class TaskView(APIView):
    """One task as it stands now."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=TaskDetail, tags=["tasks"])
    def get(self, request: Request, run_id: uuid.UUID) -> Response:
        run = run_or_404(run_id)
        return Response(TaskDetail(run).data, headers={"ETag": f'"{run.version}"'})


class StepsView(APIView):
    """The steps of a task, in the order in which they were planned."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=StepRow(many=True), tags=["tasks"])
    def get(self, request: Request, run_id: uuid.UUID) -> Response:
        run_or_404(run_id)
        rows = Step.objects.filter(run_id=run_id).exclude(kind=Step.Kind.PLAN).order_by("seq")
        return Response({"results": StepRow(rows, many=True).data})


class EventsView(APIView):
    """History after a sequence number, oldest first: follow a task by asking again with the last one that you have."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(parameters=[OpenApiParameter("after", int)], responses=EventRow(many=True), tags=["tasks"])
    def get(self, request: Request, run_id: uuid.UUID) -> Response:
        run = run_or_404(run_id)
        after = request.query_params.get("after", "0")
        start = int(after) if after.isdecimal() and len(after) < 16 else 0
        rows = timeline.of_run(run_id).filter(sequence__gt=start).order_by("sequence")[:EVENTS_AT_ONCE]
        return Response({"results": EventRow(rows, many=True).data, "newest": run.event_seq})


class CancelView(APIView):
    """Asks a task to stop; what has not started never does."""

    permission_classes = (IsMember, needs(TokenScope.SUBMIT))

    @extend_schema(request=CancelBody, responses={202: TaskDetail}, parameters=[KEY], tags=["tasks"])
    def post(self, request: Request, run_id: uuid.UUID) -> Response:
        need_role(request, Role.SUBMITTER, Role.ADMINISTRATOR)
        run_or_404(run_id)
        body = CancelBody(data=request.data)
        body.is_valid(raise_exception=True)
        return once(request, lambda: self._cancel(request, run_id, body.validated_data["reason"]))

    def _cancel(self, request: Request, run_id: uuid.UUID, reason: str) -> Response:
        run = cancel(run_id=run_id, user_id=asked(request).user.pk, reason=reason, channel="api")
        location = request.build_absolute_uri(reverse("api:task", args=[run.pk]))
        return Response(
            {"id": public("run", run.pk), "status": run.status}, status=202, headers={"Location": location}
        )

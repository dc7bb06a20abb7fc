"""Inbox, action, decide."""

import re
import uuid
from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.addresses import client_address
from accounts.api_auth import needs
from accounts.ids import public
from accounts.models import TokenScope
from accounts.rest.base import IsMember, asked, token_of
from accounts.rest.idempotency import once
from accounts.rest.problems import Problem, problem, register
from accounts.rest.rates import limited
from approvals import errors, inbox, rules
from approvals.api.serializers import ActionDetail, ActionRow, DecideBody, DecisionRow, TakeBackBody
from approvals.decide import decide
from approvals.models import PendingAction, Verdict
from approvals.rates import DECIDE
from approvals.take_back import take_back

register(
    {
        errors.NotAllowed: 403,
        errors.NeedsProof: 403,
        errors.Superseded: 409,
        errors.Expired: 409,
        errors.NotGranted: 409,
        errors.TooLate: 409,
        errors.Stale: 412,
        errors.BadAnswer: 422,
    }
)
_TAG = re.compile(r'^"?([0-9a-f]{64})\.(\d+)"?$')


def etag(action: PendingAction) -> str:
    """Digest and generation: exactly what was shown."""
    return f'"{action.digest}.{action.generation}"'


class InboxView(APIView):
    """What waits for a person."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(
        parameters=[OpenApiParameter("tab", enum=list(inbox.TABS))],
        responses=ActionRow(many=True),
        tags=["inbox"],
    )
    def get(self, request: Request) -> Response:
        who = asked(request)
        tab = request.query_params.get("tab", "mine")
        if tab not in inbox.TABS:
            raise Problem(400, "unknown_tab", f"There are the tabs {', '.join(inbox.TABS)}.")
        rows = inbox.open_for(user_id=who.user.pk, tenant_id=who.tenant.pk, tab=tab)
        return Response({"results": ActionRow(rows, many=True).data})


class ActionView(APIView):
    """One action, whole."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=ActionDetail, tags=["inbox"])
    def get(self, request: Request, action_id: uuid.UUID) -> Response:
        action = find(action_id)
        return Response(detail(request, action), headers={"ETag": etag(action)})


class DecideView(APIView):
    """One answer to one action. Needs a token with the scope ``decide``, ``If-Match`` and ``Idempotency-Key``; to approve or
    settle what is of high risk also the scope ``decide_high_risk``."""

    permission_classes = (IsMember, needs(TokenScope.DECIDE))
    throttle_classes = (limited(DECIDE),)

    @extend_schema(
        request=DecideBody,
        responses=ActionDetail,
        parameters=[
            OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, required=True),
            OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True),
        ],
        tags=["inbox"],
    )
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        action = find(action_id)
        body = DecideBody(data=request.data)
        body.is_valid(raise_exception=True)
        digest, generation = seen(request)
        return once(request, lambda: _decide(request, action, body.validated_data, digest, generation))


class TakeBackView(APIView):
    """Take an approval back that was not used yet. Needs a token with the scope ``decide`` and ``Idempotency-Key``."""

    permission_classes = (IsMember, needs(TokenScope.DECIDE))

    @extend_schema(
        request=TakeBackBody,
        responses=ActionDetail,
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)],
        tags=["inbox"],
    )
    def post(self, request: Request, action_id: uuid.UUID) -> Response:
        action = find(action_id)
        body = TakeBackBody(data=request.data)
        body.is_valid(raise_exception=True)
        return once(request, lambda: _take_back(request, action, body.validated_data["reason"]))


def _take_back(request: Request, action: PendingAction, reason: str) -> Response:
    take_back(action_id=action.pk, user_id=asked(request).user.pk, channel="api", reason=reason)
    now = find(action.pk)
    return Response(detail(request, now), headers={"ETag": etag(now)})


def _decide(
    request: Request, action: PendingAction, given: dict[str, Any], digest: str, generation: int
) -> Response:
    try:
        decide(
            action_id=action.pk,
            user_id=asked(request).user.pk,
            verdict=given["verdict"],
            digest=digest,
            generation=generation,
            channel="api",
            authenticated=f"token:{token_of(request).prefix}",
            fresh=TokenScope.DECIDE_HIGH_RISK in token_of(request).scopes,
            comment=given["comment"],
            reference=given["reference"],
            evidence=given["evidence"],
            gesture=given["gesture"],
            more=given["more"],
            answer=given["answer"],
            address=client_address(request.META) or None,
        )
    except errors.Superseded as error:
        return problem(409, error.code, str(error), successor=public("pendingaction", error.by.pk))
    except errors.AlreadyDecided as error:
        first = DecisionRow(error.first).data if error.first else None
        return problem(409, "already_decided", str(error), first=first)
    now = find(action.pk)
    return Response(detail(request, now), headers={"ETag": etag(now)})


def detail(request: Request, action: PendingAction) -> Any:
    main = Verdict.APPROVE if Verdict.APPROVE in action.verdicts else Verdict(action.verdicts[0])
    refusals = rules.refusals(action=action, user_id=asked(request).user.pk, verdict=main)
    return ActionDetail(action, context={"refusals": refusals}).data


def find(action_id: uuid.UUID) -> PendingAction:
    found: PendingAction | None = PendingAction.objects.filter(pk=action_id).first()
    if found is None:
        raise Http404
    return found


def seen(request: Request) -> tuple[str, int]:
    header = request.headers.get("If-Match", "")
    if not header:
        detail = "Send If-Match with the ETag of the action that you have read. Nothing was decided."
        raise Problem(428, "precondition_required", detail)
    match = _TAG.match(header.strip())
    if match is None:
        raise Problem(
            412, "stale", "If-Match is not an ETag of this action. Nothing was decided. Read it again."
        )
    return match[1], int(match[2])

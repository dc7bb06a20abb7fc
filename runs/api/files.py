"""Uploads and results."""

import uuid
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_auth import needs
from accounts.models import Role, TokenScope
from accounts.rest.base import IsMember, asked, need_role
from accounts.rest.idempotency import once
from accounts.rest.problems import Problem
from accounts.rest.rates import limited
from runs import uploads
from runs.api.lookup import refused_upload
from runs.api.serializers import FileRow, UploadRow
from runs.rates import UPLOAD
from runs.selectors import artifacts
from runs.views.files import answer_file
from runs.views.lookup import file_or_404, run_or_404


class UploadsView(APIView):
    """Keep a file for a task to come (multipart field ``file``)."""

    permission_classes = (IsMember, needs(TokenScope.SUBMIT))
    throttle_classes = (limited(UPLOAD),)
    parser_classes = (MultiPartParser,)

    @extend_schema(
        request={
            "multipart/form-data": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
            }
        },
        responses={201: UploadRow},
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=True)],
        tags=["tasks"],
    )
    def post(self, request: Request) -> Response:
        need_role(request, Role.SUBMITTER, Role.ADMINISTRATOR)
        file = request.FILES.get("file")
        if not isinstance(file, UploadedFile) or file.file is None:
            raise Problem(400, "no_file", "Send one file in the field 'file'. Nothing was kept.")
        return once(request, lambda: _keep(request, file))


def _keep(request: Request, file: "UploadedFile[Any]") -> Response:
    who = asked(request)
    try:
        kept = uploads.keep(
            tenant_id=who.tenant.pk,
            user_id=who.user.pk,
            name=file.name or "",
            stream=file.file,  # type: ignore[arg-type]
        )
    except uploads.Refused as refused:
        raise refused_upload(refused) from refused
    return Response(UploadRow(kept).data, status=201)


class UploadView(APIView):
    """Take an upload out again."""

    permission_classes = (IsMember, needs(TokenScope.SUBMIT))

    @extend_schema(responses={204: None}, tags=["tasks"])
    def delete(self, request: Request, artifact_id: uuid.UUID) -> Response:
        who = asked(request)
        try:
            uploads.remove(tenant_id=who.tenant.pk, user_id=who.user.pk, artifact_id=artifact_id)
        except uploads.NotThere as error:
            raise Problem(404, "not_found", "There is no such upload of yours. Nothing was done.") from error
        return Response(status=204)


class ResultsView(APIView):
    """The files of a task."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses=FileRow(many=True), tags=["tasks"])
    def get(self, request: Request, run_id: uuid.UUID) -> Response:
        run_or_404(run_id)
        return Response({"results": FileRow(artifacts.of_run(run_id), many=True).data})


class ContentView(APIView):
    """The bytes of one file, checked against its checksum."""

    permission_classes = (IsMember, needs(TokenScope.READ))

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY}, tags=["tasks"])
    def get(self, request: Request, run_id: uuid.UUID, artifact_id: uuid.UUID) -> HttpResponseBase:
        run_or_404(run_id)
        return answer_file(file_or_404(artifact_id, run_id))

"""One file at a time into the drop zone of a new task, and out again."""

import uuid
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import MemberRequest, member
from accounts.ids import public
from accounts.models import Role
from runs import uploads


class CappedUpload(TemporaryFileUploadHandler):
    """Stops reading a form as soon as its file passes the limit; what came is thrown away."""

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.came = 0
        self.stopped = False

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        self.came += len(raw_data)
        if self.came > uploads.limit_bytes():
            self.stopped = True
            raise StopUpload(connection_reset=False)
        super().receive_data_chunk(raw_data, start)
        return None


@csrf_exempt
def upload(request: MemberRequest) -> HttpResponse:
    """Keep a file. The cap must stand before the form is read, and the check against forgery reads the
    form: so the cap is set here, and the check is made inside."""
    capped = CappedUpload(request)
    request.upload_handlers = [capped]
    return _upload(request, capped=capped)


@csrf_protect
@member(Role.SUBMITTER, Role.ADMINISTRATOR)
@require_POST
def _upload(request: MemberRequest, *, capped: CappedUpload) -> HttpResponse:
    file = request.FILES.get("file")
    if capped.stopped:
        return _refused(uploads.too_large())
    if not isinstance(file, UploadedFile) or file.file is None:
        return _refused(
            uploads.Refused("no_file", _("No file came. Nothing was kept; choose it again."), status=400)
        )
    try:
        kept = uploads.keep(
            tenant_id=request.tenant.pk, user_id=request.user.pk, name=file.name or "", stream=file.file
        )
    except uploads.Refused as refused:
        return _refused(refused)
    answer: dict[str, Any] = {
        "id": public("artifact", kept.pk),
        "name": kept.name,
        "size": kept.size,
        "size_words": filesizeformat(kept.size),
        "sha256": kept.sha256,
        "media_type": kept.media_type,
        "note": _("kept; it is read when the task runs"),
        "verdict": "done",
    }
    return JsonResponse(answer, status=201)


@member(Role.SUBMITTER, Role.ADMINISTRATOR)
@require_http_methods(["POST", "DELETE"])
def remove(request: MemberRequest, artifact_id: uuid.UUID) -> HttpResponse:
    """Take a file out again."""
    try:
        uploads.remove(tenant_id=request.tenant.pk, user_id=request.user.pk, artifact_id=artifact_id)
    except uploads.NotThere:
        return JsonResponse({"detail": _("There is no such file of yours. Nothing was changed.")}, status=404)
    return HttpResponse(status=204)


def too_many(request: HttpRequest, seconds: float) -> JsonResponse:
    """The refusal of a file that came too soon after many others; nothing of it was read."""
    words = _(
        "Too many files came in a short time. This one was not kept. Wait a minute, then choose it again."
    )
    return _refused(uploads.Refused("too_many", words, status=429))


def _refused(refused: uploads.Refused) -> JsonResponse:
    return JsonResponse(
        {"code": refused.code, "detail": refused.text, "note": refused.text, "verdict": "failed"},
        status=refused.status,
    )

"""Files of a task: as a download that no browser runs, and the report on paper."""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator
from typing import IO

from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import MemberRequest, member
from runs import blobs
from runs.engine import corrupt
from runs.models import Artifact
from runs.present import findings, header, preview
from runs.present.damage import words
from runs.selectors import artifacts, corrections, reviews
from runs.views.lookup import file_or_404, run_or_404

log = logging.getLogger(__name__)

#: Whatever the file holds, a browser that opens it all the same gets a page without rights and without an origin.
SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'"


@member()
@require_safe
def download(request: MemberRequest, run_id: uuid.UUID, artifact_id: uuid.UUID) -> HttpResponseBase:
    """One file, checked against its checksum before its first byte leaves."""
    run_or_404(run_id)
    return _answer(request, file_or_404(artifact_id, run_id))


@member()
@require_safe
def by_checksum(request: MemberRequest, run_id: uuid.UUID, sha256: str) -> HttpResponseBase:
    """A file of a task by its content, as approvals name their attachments."""
    run_or_404(run_id)
    found = artifacts.by_checksum(sha256, run_id=run_id)
    if found is None:
        raise Http404
    return _answer(request, found)


@member()
@require_safe
def printable(request: MemberRequest, run_id: uuid.UUID, artifact_id: uuid.UUID) -> HttpResponse:
    """A report without the frame of the page, for paper; with what people corrected since it was written."""
    run = run_or_404(run_id)
    file = file_or_404(artifact_id, run_id)
    if file.media_type != "text/markdown" or file.kind != Artifact.Kind.REPORT:
        raise Http404
    try:
        with opened(file) as stream:
            shown = preview.markdown(stream.read())
    except (Damaged, Away) as error:
        return _damaged(request, error)
    documents = findings.documents(
        run, reviews.of_files(artifacts.of_run(run.pk)), corrections.of_run(run.pk)
    )
    context = {
        "task": header.task(run, []),
        "tenant": request.tenant.name,
        "report": shown.html,
        "sha256": file.sha256,
        "back_url": reverse("runs:task_detail", args=[run.pk]),
        "corrections": [
            {"document": document.name, "label": one.label, "value": one.value, "wrong": one.wrong}
            for document in documents
            for one in document.findings
            if one.wrong
        ],
    }
    return render(request, "runs/report_print.html", context)


def _answer(request: MemberRequest, file: Artifact) -> HttpResponseBase:
    try:
        return answer_file(file)
    except (Damaged, Away) as error:
        return _damaged(request, error)


class Damaged(Exception):
    """A file cannot be handed out; the text says what happened to it and what was done."""

    code = "file_damaged"


class Away(Exception):
    """The storage of files did not answer: nobody can say how the file is."""

    code = "storage_unavailable"


def opened(file: Artifact) -> IO[bytes]:
    """The file, checked. Raises :class:`Damaged`, after the engine was told (S15), or :class:`Away`."""
    try:
        stream: IO[bytes] = blobs.open(file.uri)
    except blobs.Damaged as error:
        seen = corrupt.found(artifact_id=file.pk, how=error.found, seen_by="download")
        raise Damaged(words(seen)) from error
    except blobs.Unavailable as error:
        log.error("a file could not be read: %s", error)
        raise Away(_("The storage of files does not answer. Nothing was sent; try again later.")) from error
    corrupt.whole_again(artifact_id=file.pk)
    return stream


class Download(FileResponse):
    """A file, a chunk at a time under any server: Django reads the whole of a plain one into memory under ASGI."""

    block_size = 256 * 1024

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream = self.file_to_stream
        while stream is not None and (chunk := await asyncio.to_thread(stream.read, self.block_size)):
            yield chunk


def answer_file(file: Artifact) -> FileResponse:
    """The bytes of a file as a download that no browser runs. Raises as :func:`opened`."""
    stream = opened(file)
    answer = Download(stream, as_attachment=True, filename=file.name, content_type=_type(file.media_type))
    answer["Content-Length"] = str(file.size)
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = SANDBOX
    answer["Cross-Origin-Resource-Policy"] = "same-origin"
    answer["Cache-Control"] = "private, no-store"
    answer["ETag"] = f'"{file.sha256}"'
    answer["X-Checksum-Sha256"] = file.sha256
    return answer


def _type(media_type: str) -> str:
    """What a browser might run is sent as plain bytes."""
    known = ("application/pdf", "text/plain", "text/csv", "text/markdown", "application/json")
    if media_type.partition(";")[0] in known:
        return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
    return "application/octet-stream"


def _damaged(request: MemberRequest, error: Exception) -> HttpResponse:
    damaged = isinstance(error, Damaged)
    title = _("File damaged") if damaged else _("Storage not available")
    return render(
        request, "runs/message.html", {"title": title, "text": str(error)}, status=410 if damaged else 503
    )

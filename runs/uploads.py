"""Keep a file that a person uploads, and take it out again before it is submitted.

The file is looked at, never parsed: its first bytes say what it is. Whatever reads it in earnest runs in a
killable child of a node. Its name is kept to be shown; where it is stored depends on its content alone.
"""

import uuid
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import IO

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.canonical import storable
from runs import blobs
from runs.documents.identify import HEAD_BYTES, READABLE, identify
from runs.models import Artifact

NAME_LENGTH = 255
MEDIA_TYPES = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "text": "text/plain",
    "markdown": "text/markdown",
}


class Refused(Exception):
    """The file was not kept. ``code`` is stable, ``status`` the HTTP status, the text is for the person."""

    def __init__(self, code: str, text: str, *, status: int = 422) -> None:
        super().__init__(text)
        self.code, self.text, self.status = code, text, status


class NotThere(LookupError):
    """No such upload of this person, or it belongs to a task already."""


def limit_bytes() -> int:
    """The largest file that is kept, in bytes."""
    return int(settings.COUNTERSIGN.max_upload_mb) * 1_000_000


def keep(
    *,
    tenant_id: uuid.UUID,
    user_id: uuid.UUID,
    name: str,
    stream: IO[bytes],
    accepts: Collection[str] = READABLE,
    kind: str = Artifact.Kind.UPLOAD,
    run_id: uuid.UUID | None = None,
) -> Artifact:
    """Store an upload, or a file of another ``kind`` that belongs to a task already; owns its transaction. Raises
    :class:`Refused`; then nothing of the file is kept.

    ``stream`` is read once from its start and must be seekable; no more than the limit and one chunk is read.
    """
    found = identify(stream.read(HEAD_BYTES), name)
    if found not in accepts:
        raise Refused(*_refusal(found, name), status=422)
    stream.seek(0)
    media_type = MEDIA_TYPES.get(found, "application/octet-stream")
    try:
        sha256, size, uri = blobs.put(stream, media_type=media_type, limit=limit_bytes())
    except blobs.TooLarge:
        raise too_large() from None
    with transaction.atomic(durable=True):
        kept: Artifact = Artifact.everywhere.create(
            tenant_id=tenant_id,
            kind=kind,
            run_id=run_id,
            name=display_name(name),
            sha256=sha256,
            size=size,
            media_type=media_type,
            uri=uri,
            metadata={"kind": found},
            created_by_id=user_id,
        )
    return kept


def remove(*, tenant_id: uuid.UUID, user_id: uuid.UUID, artifact_id: uuid.UUID) -> None:
    """Take an upload out again. One guarded statement; raises :class:`NotThere` when it changed no row."""
    won = Artifact.everywhere.filter(
        pk=artifact_id,
        tenant_id=tenant_id,
        created_by_id=user_id,
        kind=Artifact.Kind.UPLOAD,
        run__isnull=True,
        removed_at__isnull=True,
    ).update(removed_at=Now())
    if won != 1:
        raise NotThere(str(artifact_id))


def too_large() -> Refused:
    """The refusal of a file beyond the limit."""
    return Refused(
        "too_large",
        _(
            "This file is larger than %(most)s MB. It was not kept."
            " Split it, or ask an administrator to raise the limit."
        )
        % {"most": settings.COUNTERSIGN.max_upload_mb},
        status=413,
    )


def display_name(name: str) -> str:
    """What a person called it, made storable and short enough to keep: shown, never used as a path.

    A name that is too long keeps its ending.
    """
    clean = str(storable(name.strip())[0]).replace("\r", " ").replace("\n", " ") or _("unnamed file")
    if len(clean) <= NAME_LENGTH:
        return clean
    ending = PurePosixPath(clean).suffix[:20]
    return clean[: NAME_LENGTH - len(ending) - 1] + "…" + ending


def _refusal(kind: str, name: str) -> tuple[str, str]:
    """Code and words: what it is, what was not done, what to do next."""
    ending = PurePosixPath(name.replace("\\", "/")).suffix
    words = {
        "empty": _("This file is empty. It was not kept. Save it again and choose it once more."),
        "archive": _("This is an archive. It was not kept. Unpack it and add the documents themselves."),
        "zip": _("This is a ZIP archive. It was not kept. Unpack it and add the documents themselves."),
        "docm": _("This Word file holds macros. It was not kept. Save it as DOCX and choose that."),
        "ole": _(
            "This Office file is locked with a password, or of an old kind. It was not kept. "
            "Save it as DOCX or PDF without a password and choose that."
        ),
        "rtf": _("This is an RTF file. It was not kept. Save it as DOCX or PDF and choose that."),
        "image": _("This is a picture. It was not kept. Add the document as PDF with text in it."),
        "spreadsheet": _(
            "This is a spreadsheet. It was not kept. This agent reads PDF, DOCX, TXT and Markdown."
        ),
        "slides": _("These are slides. They were not kept. Save them as PDF and choose that."),
        "html": _("This is a web page. It was not kept. Print it to PDF and choose that."),
        "program": _("This is a program. It was not kept. Add the document itself."),
    }
    if kind in ("zip", "archive") and ending.lower() in (".pdf", ".docx", ".txt", ".md"):
        disguised = _(
            "This is an archive named %(ending)s. It was not kept. Unpack it and add the document itself."
        )
        return "disguised", disguised % {"ending": ending}
    unknown = _("Nobody can tell what this file is. It was not kept. Add a PDF, DOCX, TXT or Markdown file.")
    return kind, words.get(kind, unknown)

"""Files of a run as cards: what steps made with a preview each, what people gave as a list."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.ids import public
from runs import blobs
from runs.models import Artifact
from runs.present import preview
from runs.present.preview import Preview

_MARKS = {
    "text/markdown": "file-text",
    "text/csv": "sheet",
    "application/json": "braces",
    "application/pdf": "file-text",
}
_GIVEN = (Artifact.Kind.UPLOAD, Artifact.Kind.INPUT)


@dataclass(frozen=True, slots=True)
class FileCard:
    """A file that a step made. ``foot`` says what the preview holds back."""

    id: str
    name: str
    step: str
    size: int
    sha256: str
    url: str
    print_url: str
    mark: str
    preview: Preview
    foot: Sequence[str]


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that the submitter gave. It is never parsed here, so it is only offered for download."""

    id: str
    name: str
    size: int
    sha256: str
    url: str


def cards(files: Iterable[Artifact]) -> list[FileCard]:
    """Results, those that count first, those in quarantine last and marked."""
    made = [file for file in files if file.kind not in _GIVEN]
    return [_card(file) for file in sorted(made, key=lambda file: file.quarantined)]


def given(files: Iterable[Artifact]) -> list[GivenFile]:
    """What people gave."""
    return [
        GivenFile(file.pk.hex, file.name, file.size, file.sha256, _url(file))
        for file in files
        if file.kind in _GIVEN
    ]


def _card(file: Artifact) -> FileCard:
    shown = _preview(file.uri, file.media_type)
    foot = list(shown.foot)
    if file.quarantined:
        foot.insert(0, _("This came too late. It is kept as evidence and changed nothing."))
    printable = file.media_type == "text/markdown" and not file.quarantined and shown.kind == "report"
    return FileCard(
        id=file.pk.hex,
        name=file.name,
        step=str(file.step) if file.step else "",
        size=file.size,
        sha256=file.sha256,
        url=_url(file),
        print_url=reverse("runs:printable", args=[file.run_id, public("artifact", file.pk)])
        if printable
        else "",
        mark=_MARKS.get(file.media_type, "file"),
        preview=shown,
        foot=foot,
    )


def _url(file: Artifact) -> str:
    return reverse("runs:download", args=[file.run_id, public("artifact", file.pk)])


def _preview(uri: str, media_type: str) -> Preview:
    from django.utils.translation import get_language

    try:
        return _kept(uri, media_type, get_language() or "en")
    except blobs.Missing:
        return Preview(
            "none", why=_("The file is gone from the storage. Nothing is shown; tell an administrator.")
        )
    except blobs.Corrupt:
        why = _("The file does not have its checksum any more. It is not shown; tell an administrator.")
        return Preview("none", why=why)


@functools.lru_cache(maxsize=256)
def _kept(uri: str, media_type: str, language: str) -> Preview:
    """A preview depends on content and language alone, and a live page draws it after every event."""
    if not preview.previewable(media_type):
        return preview.of(media_type, b"")
    with blobs.open(uri) as stream:
        return preview.of(media_type, stream.read(preview.MOST_BYTES + 1))

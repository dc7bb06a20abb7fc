"""Files of a run: results as cards with a preview each, everything else as a list."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.ids import public
from runs import blobs
from runs.engine import corrupt
from runs.models import Artifact, Damage
from runs.present import preview
from runs.present.damage import words
from runs.present.names import step_name
from runs.present.preview import Preview

_MARKS = {
    "text/markdown": "file-text",
    "text/csv": "sheet",
    "application/json": "braces",
    "application/pdf": "file-text",
}
#: JSON beyond this many bytes is for programs: listed, not drawn.
MOST_JSON = 8_000
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
class FileRow:
    """A file that is listed without a preview: what the submitter gave, and working files of steps. What
    was given is never parsed here, so it is only offered for download."""

    id: str
    name: str
    note: str
    size: int
    sha256: str
    url: str


def cards(files: Iterable[Artifact], damages: Mapping[str, Damage] | None = None) -> list[FileCard]:
    """The results, each with a preview. ``damages``: what was found damaged, by checksum."""
    return [_card(file, (damages or {}).get(file.sha256)) for file in files if _is_result(file)]


def others(files: Iterable[Artifact], damages: Mapping[str, Damage] | None = None) -> list[FileRow]:
    """All other files: given, working, too late."""
    return [
        FileRow(
            file.pk.hex,
            file.name,
            _note(file, (damages or {}).get(file.sha256)),
            file.size,
            file.sha256,
            _url(file),
        )
        for file in files
        if not _is_result(file)
    ]


def _is_result(file: Artifact) -> bool:
    large = file.media_type == "application/json" and file.size > MOST_JSON
    return file.kind == Artifact.Kind.REPORT and not file.quarantined and not large


def _note(file: Artifact, damage: Damage | None) -> str:
    if damage is not None:
        return words(damage)
    if file.quarantined:
        return _("came too late; kept as evidence, it changed nothing")
    if file.kind in _GIVEN:
        return _("given with the task")
    return _("from %(step)s") % {"step": step_name(file.step)} if file.step else ""


def _card(file: Artifact, damage: Damage | None) -> FileCard:
    shown = _preview(file)
    printable = file.media_type == "text/markdown" and shown.kind == "report"
    return FileCard(
        id=file.pk.hex,
        name=file.name,
        step=step_name(file.step) if file.step else "",
        size=file.size,
        sha256=file.sha256,
        url=_url(file),
        print_url=reverse("runs:printable", args=[file.run_id, public("artifact", file.pk)])
        if printable
        else "",
        mark=_MARKS.get(file.media_type, "file"),
        preview=shown,
        foot=[*shown.foot, words(damage)] if damage and shown.kind != "none" else shown.foot,
    )


def _url(file: Artifact) -> str:
    return reverse("runs:download", args=[file.run_id, public("artifact", file.pk)])


def _preview(file: Artifact) -> Preview:
    from django.utils.translation import get_language

    try:
        return _kept(file.uri, file.media_type, get_language() or "en")
    except blobs.Damaged as error:
        return Preview(
            "none", why=words(corrupt.found(artifact_id=file.pk, how=error.found, seen_by="download"))
        )
    except blobs.Unavailable:
        return Preview(
            "none", why=_("The storage of files does not answer. Nothing is shown; try again later.")
        )


@functools.lru_cache(maxsize=64)
def _kept(uri: str, media_type: str, language: str) -> Preview:
    """A preview depends on content and language alone, and a live page draws it after every event."""
    if not preview.previewable(media_type):
        return preview.of(media_type, b"")
    with blobs.open(uri) as stream:
        return preview.of(media_type, stream.read(preview.MOST_BYTES + 1))

"""Reviews that steps of a run stored as files."""

import contextlib
import functools
from collections.abc import Iterable, Mapping
from typing import Any

from accounts.canonical import strict_loads
from runs import blobs
from runs.models import Artifact

MOST_BYTES = 20_000_000


def of_files(files: Iterable[Artifact]) -> list[Mapping[str, Any]]:
    """The reviews among the files of a run: the joined ones, once there are any, else those of single
    documents. A file that is gone or damaged is left out here; the list of files says so."""
    mine = [
        file for file in files if file.step and not file.quarantined and file.media_type == "application/json"
    ]
    joined = [file for file in mine if file.step and file.step.tool == "contracts.join"]
    single = [file for file in mine if file.step and file.step.tool == "contracts.review"]
    found: list[Mapping[str, Any]] = []
    for file in joined or single:
        with contextlib.suppress(blobs.BlobError, ValueError):
            found += _stored(file.uri)
    return found


@functools.lru_cache(maxsize=64)
def _stored(uri: str) -> tuple[Mapping[str, Any], ...]:
    """What a file of reviews holds; content never changes under its address."""
    held = strict_loads(blobs.read(uri), max_bytes=MOST_BYTES)
    listed = held if isinstance(held, list) else [held]
    return tuple(one for one in listed if isinstance(one, dict) and "sha256" in one and "findings" in one)

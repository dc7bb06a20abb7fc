"""Large values by content: a value is named by its SHA-256 alone, never by what a person called it (S1).

The place is Django's storage of the alias ``artifacts``, which ``ARTIFACT_URL`` names (``file:///folder`` or ``s3://…``),
else ``DATA_DIR/artifacts``. Children use the same code: for a folder they load nothing of Django but its storage class,
for object storage the settings too, and never the apps.

Dangers: a value is hashed whole before its first byte is handed out, so what is lost or damaged is never taken for good
(S15); both ways hold one chunk in memory, whatever the size; a value is complete under its name or not there at all; after
:func:`put` has returned, a power cut cannot take it back.

- ``errors``: what can go wrong
- ``storage``: the place, and what its failures mean here
- ``folder``: the local folder as a Django storage
"""

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, BinaryIO

from runs.blobs import storage
from runs.blobs.errors import BlobError, Corrupt, Damaged, Missing, TooLarge, Unavailable

CHUNK = 1024 * 1024
_URI = re.compile(r"sha256:([0-9a-f]{64})\Z")

Source = bytes | IO[bytes] | Iterable[bytes]


def put(source: Source, *, media_type: str = "", limit: int | None = None) -> tuple[str, int, str]:
    """Store a value; returns its SHA-256 (hexadecimal), its size in bytes and its address.

    Storing the same content again is harmless and heals a damaged copy. Raises :class:`TooLarge` as soon as more than
    ``limit`` bytes have come, :class:`Unavailable` when the place does not take it; then nothing of it is kept.
    """
    # The name is the checksum, so the value waits aside until its end is known.
    with storage.aside() as (place, waiting):
        digest, size = _copy(source, waiting, limit)
        waiting.seek(0)
        storage.save(place, _key(digest), waiting, media_type or "application/octet-stream")
    return digest, size, uri_of(digest)


def open(uri: str) -> BinaryIO:  # noqa: A001  the interface is blobs.open(uri), beside blobs.put
    """The value, whole and checked, as a binary stream at its start.

    Raises :class:`Missing`, :class:`Corrupt`, or :class:`Unavailable` when nobody can say.
    """
    digest = _digest(uri)
    stream = storage.open(_key(digest), digest)
    try:
        with storage.failures():
            whole = _digest_of(stream) == digest
            stream.seek(0)
        if not whole:
            raise Corrupt(digest, f"{uri} does not have its checksum any more.")
    except BaseException:
        stream.close()
        raise
    return stream


def read(uri: str) -> bytes:
    """The value in one piece, checked; for values known to be small."""
    with open(uri) as stream:
        return stream.read()


def check(uri: str) -> None:
    """Reads the value and throws it away. Raises as :func:`open` does."""
    open(uri).close()


def path_or_bytes(uri: str) -> Path | bytes:
    """For readers that want a file: the checked local path, or the bytes when the value lives elsewhere."""
    local = storage.local_path(_key(_digest(uri)))
    if local is None:
        return read(uri)
    check(uri)
    return local


def remove(uri: str) -> None:
    """Takes the value out; one that is not there is no error. The caller knows that no row names it any more."""
    storage.delete(_key(_digest(uri)))


def remove_if_older(uri: str, age: timedelta) -> bool:
    """The same for a value that was stored at least so long ago, by the clock of its place; whether it was there. Storing
    content again makes it new: whoever does that while it is about to go keeps it."""
    return storage.delete_if_older(_key(_digest(uri)), age)


def stored() -> Iterator[str]:
    """The addresses of everything that is stored, a part at a time; in no order that means anything."""
    for number in range(256):
        for name in storage.names(f"{number:02x}"):
            with contextlib.suppress(BlobError):
                yield uri_of(name)


def uri_of(sha256: str) -> str:
    """The address of the content with that checksum. Raises :class:`BlobError` when it is not one."""
    uri = f"sha256:{sha256}"
    _digest(uri)
    return uri


def _digest(uri: str) -> str:
    found = _URI.match(uri)
    if found is None:
        raise BlobError(f"{uri!r} is not the address of a stored value.")
    return found[1]


def _key(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def _chunks(source: Source) -> Iterator[bytes]:
    if isinstance(source, bytes | bytearray | memoryview):
        yield bytes(source)
    elif hasattr(source, "read"):
        while chunk := source.read(CHUNK):
            yield chunk
    else:
        yield from source


def _copy(source: Source, into: IO[bytes], limit: int | None) -> tuple[str, int]:
    checksum, size = hashlib.sha256(), 0
    for chunk in _chunks(source):
        size += len(chunk)
        if limit is not None and size > limit:
            raise TooLarge(limit)
        checksum.update(chunk)
        with storage.failures():
            into.write(chunk)
    return checksum.hexdigest(), size


def _digest_of(stream: Any) -> str:
    checksum = hashlib.sha256()
    while chunk := stream.read(CHUNK):
        checksum.update(chunk)
    return checksum.hexdigest()


__all__ = [
    "BlobError",
    "Corrupt",
    "Damaged",
    "Missing",
    "TooLarge",
    "Unavailable",
    "check",
    "open",
    "path_or_bytes",
    "put",
    "read",
    "remove",
    "stored",
    "uri_of",
]

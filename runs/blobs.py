"""Large values by content: a file is named by its SHA-256 alone, never by what a person called it.

Imports no Django, so that children may use it. The place is ``ARTIFACT_URL`` (``file:///folder`` or
``s3://…``), else ``DATA_DIR/artifacts``. A local file is written aside, synced, renamed, and its folder
synced: after :func:`put` has returned, a power cut cannot take it back. Every read checks the checksum before
the first byte is handed out (S15).
"""

import contextlib
import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO
from urllib.parse import unquote, urlsplit

CHUNK = 1024 * 1024
_URI = re.compile(r"sha256:([0-9a-f]{64})\Z")
_HOUSE = Path(__file__).resolve().parent.parent
_SPOOL_BYTES = 8 * CHUNK


class BlobError(Exception):
    """A stored value could not be written or read; the text says which."""


class Missing(BlobError):
    """Nothing is stored under that address."""


class Corrupt(BlobError):
    """What is stored does not have the checksum that its address promises. Nothing of it was handed out."""


class TooLarge(BlobError):
    """The source went on past the limit; reading stopped there and nothing was kept."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"More than {limit} bytes.")
        self.limit = limit


def put(
    source: bytes | IO[bytes] | Iterable[bytes], *, media_type: str = "", limit: int | None = None
) -> tuple[str, int, str]:
    """Store a value; returns its SHA-256 (hexadecimal), its size in bytes and its address.

    Storing the same content again is harmless and heals a damaged copy. Raises :class:`TooLarge` as soon as
    more than ``limit`` bytes have come.
    """
    return _put_remote(source, media_type, limit) if _remote() else _put_local(source, limit)


def open(uri: str) -> BinaryIO:  # noqa: A001  the interface is blobs.open(uri), beside blobs.put
    """The value, whole and checked, as a binary stream at its start.

    Raises :class:`Missing` or :class:`Corrupt`.
    """
    digest = _digest(uri)
    stream = _open_remote(digest) if _remote() else _open_local(digest)
    try:
        if _digest_of(stream) != digest:
            raise Corrupt(f"{uri} does not have its checksum any more.")
        stream.seek(0)
    except BaseException:
        stream.close()
        raise
    return stream


def read(uri: str) -> bytes:
    """The value in one piece, checked; for values known to be small."""
    with open(uri) as stream:
        return stream.read()


def path_or_bytes(uri: str) -> Path | bytes:
    """For readers that want a file: the checked local path, or the bytes when the value lives elsewhere."""
    if _remote():
        return read(uri)
    with open(uri):
        return _path(_digest(uri))


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


def _chunks(source: bytes | IO[bytes] | Iterable[bytes]) -> Iterator[bytes]:
    if isinstance(source, bytes | bytearray | memoryview):
        yield bytes(source)
    elif hasattr(source, "read"):
        while chunk := source.read(CHUNK):
            yield chunk
    else:
        yield from source


def _copy(source: bytes | IO[bytes] | Iterable[bytes], into: IO[bytes], limit: int | None) -> tuple[str, int]:
    checksum, size = hashlib.sha256(), 0
    for chunk in _chunks(source):
        size += len(chunk)
        if limit is not None and size > limit:
            raise TooLarge(limit)
        checksum.update(chunk)
        into.write(chunk)
    return checksum.hexdigest(), size


def _digest_of(stream: IO[bytes]) -> str:
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


# The local folder


def _root() -> Path:
    """Read from the environment on each call: tests and children may move it."""
    url = os.environ.get("ARTIFACT_URL", "")
    if url:
        return Path(unquote(urlsplit(url).path))
    folder = Path(os.environ.get("DATA_DIR") or "data")
    return (folder if folder.is_absolute() else _HOUSE / folder) / "artifacts"


def _path(digest: str) -> Path:
    return _root() / digest[:2] / digest


def _folder(path: Path) -> None:
    """Make the folder for us alone; one that exists keeps its mode, whoever made it."""
    made = []
    while not path.is_dir():
        made.append(path)
        path = path.parent
    for folder in reversed(made):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        _sync_folder(folder.parent)


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _put_local(source: bytes | IO[bytes] | Iterable[bytes], limit: int | None) -> tuple[str, int, str]:
    root = _root()
    _folder(root)
    aside = root / f".incoming-{secrets.token_hex(8)}"
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as into:
            digest, size = _copy(source, into, limit)
            into.flush()
            os.fsync(into.fileno())
        final = _path(digest)
        _folder(final.parent)
        aside.replace(final)
        _sync_folder(final.parent)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return digest, size, uri_of(digest)


def _open_local(digest: str) -> BinaryIO:
    try:
        return _path(digest).open("rb")
    except FileNotFoundError:
        raise Missing(f"sha256:{digest} is not in the artifact folder.") from None


# Object storage


def _remote() -> bool:
    return os.environ.get("ARTIFACT_URL", "").startswith("s3:")


def _storage() -> Any:
    """Django's storage of artifacts. It needs the settings but no set-up of apps: a child may use it too."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.files.storage import storages

    return storages["artifacts"]


def _key(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def _put_remote(
    source: bytes | IO[bytes] | Iterable[bytes], media_type: str, limit: int | None
) -> tuple[str, int, str]:
    """The name is the checksum, so the value is spooled until its end is known."""
    from django.core.files import File

    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as spool:
        digest, size = _copy(source, spool, limit)
        spool.seek(0)
        file: Any = File(spool, name=digest)
        file.content_type = media_type or "application/octet-stream"
        _storage().save(_key(digest), file)
    return digest, size, uri_of(digest)


def _open_remote(digest: str) -> BinaryIO:
    spool = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115  handed to the caller
    try:
        with _storage().open(_key(digest), "rb") as far:
            for chunk in far.chunks(CHUNK):
                spool.write(chunk)
    except FileNotFoundError:
        spool.close()
        raise Missing(f"sha256:{digest} is not in the object storage.") from None
    spool.seek(0)
    return spool  # type: ignore[return-value]


__all__ = ["BlobError", "Corrupt", "Missing", "TooLarge", "open", "path_or_bytes", "put", "read", "uri_of"]

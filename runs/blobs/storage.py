"""The place of the values: one Django storage, and what its failures mean here. Loads Django at the first value."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from runs.blobs.errors import Missing, Unavailable

_HOUSE = Path(__file__).resolve().parent.parent.parent
#: Values beyond this size wait on the disk, not in memory, before they go to object storage.
SPOOL_BYTES = 8 * 1024 * 1024
_folders: dict[str, Any] = {}


def location() -> Path | None:
    """The local folder, or None when values live elsewhere. Read from the environment on each call: tests and children
    may move it."""
    url = os.environ.get("ARTIFACT_URL", "")
    if url.startswith("s3:"):
        return None
    if url:
        return Path(unquote(urlsplit(url).path))
    folder = Path(os.environ.get("DATA_DIR") or "data")
    return (folder if folder.is_absolute() else _HOUSE / folder) / "artifacts"


def _place() -> Any:
    folder = location()
    if folder is None:
        # It needs the settings but no set-up of apps: a child may use it too.
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        from django.core.files.storage import storages

        return storages["artifacts"]
    if str(folder) not in _folders:
        from runs.blobs.folder import Folder

        _folders[str(folder)] = Folder(str(folder))
    return _folders[str(folder)]


@contextlib.contextmanager
def failures() -> Iterator[None]:
    """Whatever the disk or the far side says becomes :class:`Unavailable`, or stays what it is when it is ours."""
    try:
        yield
    except OSError as error:
        raise Unavailable(f"The artifact storage cannot be used: {error}.") from error
    except Exception as error:
        # botocore's errors have no common base, and importing it costs a child 17 MB that it may never need.
        if type(error).__module__.split(".")[0] not in ("boto3", "botocore", "s3transfer", "urllib3"):
            raise
        raise Unavailable(f"The object storage does not answer as it should: {error}.") from error


@contextlib.contextmanager
def aside() -> Iterator[tuple[Any, IO[bytes]]]:
    """The place, and a file to write a value into before its name is known. Gone afterwards unless it was saved."""
    with failures():
        place = _place()
        waiting = (
            place.aside() if hasattr(place, "aside") else tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115  closed below
        )
    try:
        yield place, waiting
    finally:
        waiting.close()


def save(place: Any, key: str, waiting: IO[bytes], media_type: str) -> None:
    """Gives the value its name."""
    from django.core.files.base import File

    file: Any = File(waiting, name=key)
    file.content_type = media_type
    with failures():
        place.save(key, file)


def open(key: str, digest: str) -> BinaryIO:  # noqa: A001  the storage's own word
    """The value as it is stored, unchecked. Raises :class:`Missing` or :class:`Unavailable`."""
    with failures():
        place = _place()
        try:
            return cast("BinaryIO", place.open(key, "rb"))
        except FileNotFoundError:
            _must_be_there(place)
            raise Missing(digest, f"sha256:{digest} is not in the artifact storage.") from None


def _must_be_there(place: Any) -> None:
    """A disk that is not mounted, or a bucket that does not exist, says nothing about a single value."""
    folder = location()
    if folder is None:
        place.connection.meta.client.head_bucket(Bucket=place.bucket_name)
    elif not folder.is_dir() or not any(folder.iterdir()):
        raise Unavailable(f"The artifact folder {folder} is empty or not there. Is its disk mounted?")


def local_path(key: str) -> Path | None:
    """Where the value lies as a file, if it does."""
    return None if location() is None else Path(_place().path(key))


def delete(key: str) -> None:
    with failures():
        _place().delete(key)


def delete_if_older(key: str, age: timedelta) -> bool:
    with failures():
        place = _place()
        try:
            written = place.get_modified_time(key)
        except FileNotFoundError:
            return False
        if datetime.now(UTC) - written.astimezone(UTC) < age:
            return False
        place.delete(key)
    return True


def names(prefix: str) -> list[str]:
    """The names below one prefix."""
    with failures():
        try:
            found: list[str] = _place().listdir(prefix)[1]
        except FileNotFoundError:
            return []
    return found


def tidy() -> int:
    """Takes away what processes that died in the middle of writing left in a local folder; how many files."""
    place = _place()
    with failures():
        return int(place.tidy()) if hasattr(place, "tidy") else 0

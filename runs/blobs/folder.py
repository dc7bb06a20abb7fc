"""The local folder as a Django storage whose files appear whole and stay. Needs no settings."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

#: Files that are still being written. Their name is no checksum, so nobody can ask for one.
ASIDE = ".incoming-"
#: One that is older than so many seconds was left by a process that died.
LEFT_BEHIND = 86_400


class Folder(FileSystemStorage):
    """Files for us alone (0600, folders 0700). Saving a name again puts the new file in the place of the old one.

    A file that was written with :meth:`aside` is not copied: it is synced and renamed, and its folder synced.
    """

    def __init__(self, location: str) -> None:
        super().__init__(location=location, base_url="", allow_overwrite=True)
        self.given = location

    # As properties of Django's class these would ask for the settings, which a child need not load.

    @cached_property
    def base_location(self) -> str:
        return self.given

    @cached_property
    def location(self) -> str:
        return os.path.abspath(self.base_location)  # noqa: PTH100  resolves no links, as Django's does not

    @cached_property
    def base_url(self) -> str:
        return ""

    def aside(self) -> Aside:
        """A new file beside the others, to be written, saved, or left to disappear."""
        root = Path(self.location)
        make_folder(root)
        return Aside(root / f"{ASIDE}{secrets.token_hex(8)}")

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        return name

    def _save(self, name: str, content: File[Any]) -> str:
        final = Path(self.path(name))
        make_folder(final.parent)
        written: object = content.file
        if isinstance(written, Aside):
            written.put_at(final)
            return name
        with self.aside() as waiting:
            for chunk in content.chunks():
                waiting.write(chunk)
            waiting.put_at(final)
        return name

    def tidy(self) -> int:
        """Takes away what processes that died left aside; how many."""
        taken = 0
        for left in Path(self.location).glob(f"{ASIDE}*"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > LEFT_BEHIND:
                    left.unlink()
                    taken += 1
        return taken


class Aside:
    """A file that nobody can name yet. Gone when it is closed, unless :meth:`put_at` gave it its place."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        self._file: IO[bytes] = os.fdopen(handle, "w+b")

    def write(self, data: bytes) -> int:
        return self._file.write(data)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def put_at(self, final: Path) -> None:
        """On the disk first, under its name then, and the name on the disk last."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self.path.replace(final)
        sync_folder(final.parent)

    def close(self) -> None:
        self._file.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Aside:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def make_folder(path: Path) -> None:
    """Make the folder for us alone; one that exists keeps its mode, whoever made it."""
    made = []
    while not path.is_dir():
        made.append(path)
        path = path.parent
    for folder in reversed(made):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        sync_folder(folder.parent)


def sync_folder(path: Path) -> None:
    """A new name in the folder survives a power cut."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""The artifact store: content decides the name, and a damaged value is never handed out."""

import errno
import hashlib
import os
import secrets
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runs import blobs
from runs.blobs import storage
from tests.needs import ROOT

#: A child of a node has no database and has not set up Django.
HEAVY = """
import resource, sys
from runs import blobs

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

_, _, uri = blobs.put(b"warm")
blobs.open(uri).close()
before = peak()
_, size, uri = blobs.put((bytes([number % 251]) * 1_000_000 for number in range(200)))
with blobs.open(uri) as stream:
    while stream.read(1_000_000):
        pass
print(size, peak() - before, "django.db" in sys.modules)
"""


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ARTIFACT_URL", raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    return tmp_path / "artifacts"


def only_file(root: Path) -> Path:
    [file] = [path for path in root.rglob("*") if path.is_file()]
    return file


def test_a_value_comes_back_under_its_checksum(root: Path) -> None:
    sha256, size, uri = blobs.put(b"Notice of non-renewal")
    assert (sha256, size) == (hashlib.sha256(b"Notice of non-renewal").hexdigest(), 21)
    assert blobs.read(uri) == b"Notice of non-renewal"
    assert blobs.path_or_bytes(uri) == only_file(root)


def test_the_same_content_is_one_file_and_heals_a_damaged_one(root: Path) -> None:
    _, _, uri = blobs.put([b"a", b"b"])
    only_file(root).write_bytes(b"xx")
    with pytest.raises(blobs.Corrupt):
        blobs.open(uri)
    assert blobs.put(b"ab")[2] == uri
    assert blobs.read(uri) == b"ab"
    only_file(root)


def test_only_we_may_read_what_is_stored_and_foreign_folders_keep_their_mode(
    root: Path, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    blobs.put(b"secret")
    assert stat.S_IMODE(only_file(root).stat().st_mode) == 0o600
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_reading_stops_at_the_limit_and_nothing_is_kept(root: Path) -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"x" * 1000

    with pytest.raises(blobs.TooLarge):
        blobs.put(endless(), limit=10_000)
    assert taken == 11
    assert not [path for path in root.rglob("*") if path.is_file()]


def test_b86_an_address_is_never_a_path(root: Path) -> None:
    """Guards ``runs/blobs.py`` ``_URI``: an address is a checksum and nothing else, so no name can leave the folder."""
    _, _, uri = blobs.put(b"kept")
    outside = root.parent / "outside.txt"
    outside.write_bytes(b"private")
    for bad in (
        "../outside.txt",
        "sha256:../../outside.txt",
        f"{uri}/../../outside.txt",
        f"{uri}\n",
        f"{uri}#x",
        "",
        uri.upper(),
    ):
        with pytest.raises(blobs.BlobError):
            blobs.open(bad)


def test_a_value_that_is_gone_is_named_missing() -> None:
    blobs.put(b"another")
    with pytest.raises(blobs.Missing):
        blobs.open(blobs.uri_of("0" * 64))


def test_a_folder_that_is_not_mounted_says_nothing_about_its_values(root: Path) -> None:
    """An empty mount point must not make every file of the house look lost."""
    _, _, uri = blobs.put(b"kept")
    root.rename(root.parent / "elsewhere")
    with pytest.raises(blobs.Unavailable):
        blobs.open(uri)
    root.mkdir()
    with pytest.raises(blobs.Unavailable):
        blobs.open(uri)


def test_a_disk_that_refuses_is_named_and_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs.put(b"first")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(blobs.Unavailable, match="No space left"):
            blobs.put(b"second")
    only_file(root)
    with pytest.raises(blobs.Missing):
        blobs.open(blobs.uri_of(hashlib.sha256(b"second").hexdigest()))


def test_a_write_that_was_killed_is_never_seen_and_is_cleared_away(root: Path) -> None:
    """A process dies between two chunks: nobody can name what it wrote, and a day later it is gone."""
    writer = (
        "import os, signal\nfrom runs import blobs\n"
        "def cut():\n    yield b'half'\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "blobs.put(cut())\n"
    )
    dead = subprocess.run([sys.executable, "-c", writer], cwd=ROOT, env=dict(os.environ), check=False)
    assert dead.returncode == -signal.SIGKILL
    left = only_file(root)
    assert list(blobs.stored()) == []
    assert storage.tidy() == 0
    os.utime(left, (0, 0))
    assert storage.tidy() == 1
    assert not left.exists()


def test_many_writers_of_one_content_and_its_readers_see_it_whole(root: Path) -> None:
    content = secrets.token_bytes(300_000)
    _, _, uri = blobs.put(content)

    def once(number: int) -> bool:
        return (
            blobs.put(iter([content[:100_000], content[100_000:]]))[2] == uri and blobs.read(uri) == content
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(once, range(40)))
    only_file(root)
    assert list(blobs.stored()) == [uri]


def test_200_mb_pass_in_a_few_megabytes_of_memory(root: Path) -> None:
    """A process of its own writes and reads 200 MB and tells how much more memory that took at its peak."""
    measured = subprocess.run(
        [sys.executable, "-c", HEAVY], cwd=ROOT, capture_output=True, text=True, check=True
    )
    size, more_mb, django_apps = measured.stdout.split()
    assert int(size) == 200_000_000
    assert float(more_mb) < 30
    assert django_apps == "False"


def test_taking_a_value_out_twice_is_no_error(root: Path) -> None:
    _, _, uri = blobs.put(b"short-lived")
    _, _, other = blobs.put(b"another")
    blobs.remove(uri)
    blobs.remove(uri)
    assert list(blobs.stored()) == [other]

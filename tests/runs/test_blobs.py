"""The artifact store: content decides the name, and a damaged value is never handed out."""

import hashlib
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from runs import blobs


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
    with pytest.raises(blobs.Missing):
        blobs.open(blobs.uri_of("0" * 64))

"""Several processes of one house share the file that remembers how far the database was."""

from __future__ import annotations

from pathlib import Path

import pytest

from accounts import origin
from accounts.origin import Origin, Seen, Witness


def seen(position: int) -> Origin:
    return Origin(Seen("cluster", 1, 0, position), "")


def test_what_another_process_saw_meanwhile_is_no_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards `Witness.check`: the file is read before the look, never after it."""
    ours, other = Witness(tmp_path), Witness(tmp_path)
    monkeypatch.setattr(origin, "look", lambda: seen(100))
    ours.check()

    def look_slowly() -> Origin:
        now = seen(200)
        monkeypatch.setattr(origin, "look", lambda: seen(300))
        assert other.check().doubt == ""
        return now

    monkeypatch.setattr(origin, "look", look_slowly)
    monkeypatch.setattr(origin, "doubt", pytest.fail)
    assert ours.check().doubt == ""

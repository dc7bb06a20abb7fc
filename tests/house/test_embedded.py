"""The embedded servers where it is hard: below a private folder, beside leftovers of a crash."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.embedded.postgres import Postgres, throw_away
from config.embedded.privileges import CannotRun, choose
from config.up import addresses, house
from config.up.words import CannotStart

pytestmark = pytest.mark.slow


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A folder that only its owner may enter, like a home."""
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def cluster(private: Path) -> Postgres:
    data = private / "data"
    data.mkdir()
    postgres = throw_away(data)
    postgres.create()
    return postgres


@contextlib.contextmanager
def running(postgres: Postgres) -> Iterator[None]:
    """A server that takes connections, and is stopped cleanly afterwards."""
    server = postgres.start()
    try:
        postgres.wait(server)
        yield
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0


def test_it_runs_below_a_private_folder_and_changes_no_mode(cluster: Postgres, private: Path) -> None:
    with running(cluster), psycopg.connect(cluster.url("postgres")) as connection:
        row = connection.execute("SELECT current_setting('listen_addresses')").fetchone()
        assert row == ("127.0.0.1",)
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_it_takes_no_connection_without_the_password(cluster: Postgres) -> None:
    wrong = cluster.url("postgres").replace(cluster.password, "guess")
    with running(cluster), pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(wrong)


def test_a_pid_file_whose_number_is_now_a_strangers_does_not_stop_it(cluster: Postgres) -> None:
    """PostgreSQL itself would take the living stranger for a server on this cluster and refuse."""
    with running(cluster):
        pass
    (cluster.cluster / "postmaster.pid").write_text(f"{os.getpid()}\n{cluster.cluster}\n0\n0\n\n\n\n")
    with running(cluster):
        pass


def test_a_half_made_cluster_is_made_anew(private: Path) -> None:
    data = private / "data"
    (data / "pg.new" / "base").mkdir(parents=True)
    (data / "pg").mkdir()
    postgres = throw_away(data)
    postgres.create()
    assert (postgres.cluster / "PG_VERSION").read_text().strip() == "18"
    assert not (data / "pg.new").exists()
    with running(postgres):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account")
def test_without_the_capability_root_is_told_what_to_do(
    private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.embedded.privileges._available_capability", lambda: None)
    with pytest.raises(CannotRun, match=r"may not enter /.*ordinary user"):
        choose(private / "pg", [private])


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match=r"data folder .* cannot be used.*Nothing was started"):
        house.House(tmp_path / "file" / "data").take()


def test_a_given_server_is_not_started_again(tmp_path: Path) -> None:
    made = house.House(tmp_path / "data")
    made.take()
    keys, ports = made.keys(), made.ports(1)
    assert made.keys() == keys, "secrets are made once"
    own = addresses.own_servers(made, keys, ports, {})
    assert [own.postgres is None, own.valkey is None, own.smtp is None] == [False, False, False]
    given = {"DATABASE_URL": "postgresql://db", "BROKER_URL": "redis://b", "EMAIL_URL": "smtp://m"}
    assert addresses.own_servers(made, keys, ports, given) == addresses.Servers(None, None, None)

"""`make up` from outside: it starts, it says so, it stops, and no kill leaves anything behind."""

from __future__ import annotations

import json
import signal
import stat
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.house.houses import House, gone, house, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.crash, pytest.mark.timeout(600)]
PROGRAMS = ("postgres", "valkey", "sink", "web", "node", "coordinator", "beat")


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One running house, shared by the tests that leave it running."""
    with house(tmp_path_factory.mktemp("house") / "data") as made:
        made.start()
        assert made.ready is not None, made.said()
        yield made


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def test_the_ready_line_names_what_a_person_needs(up: House) -> None:
    assert up.ready is not None
    assert set(up.ready) == {"url", "sink", "accounts"}
    assert up.ready["url"] == up.url
    ready = up.ready
    wait_until(lambda: answers(ready["url"] + "/healthz"), 60, up.said)
    wait_until(lambda: answers(ready["sink"] + "/messages.json"), 60, up.said)
    assert {"submitter", "approver", "administrator"} <= {account["role"] for account in up.ready["accounts"]}
    assert len({account["tenant"] for account in up.ready["accounts"]}) >= 2, (
        "an outsider from another tenant"
    )
    assert all({"email", "password", "role", "tenant"} <= set(account) for account in up.ready["accounts"])


def test_everything_listens_on_this_machine_alone(up: House) -> None:
    listening = {
        connection.laddr
        for process in up.family()
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert len(listening) >= 4
    assert {address.ip for address in listening} == {"127.0.0.1"}


def test_secrets_are_readable_to_their_owner_alone(up: House) -> None:
    for name in ("keys.json", "servers.json", "processes.json", "up.lock", "sink.jsonl"):
        assert stat.S_IMODE((up.folder / name).stat().st_mode) == 0o600, name
    lines = " ".join(" ".join(process.cmdline()) for process in up.family())
    assert not [key for key in (up.folder / "keys.json").read_text().split('"')[3::4] if key in lines]


def test_a_second_start_on_the_same_folder_says_so(up: House) -> None:
    second = House(up.folder).start()
    assert second.process is not None
    assert second.process.returncode == 1
    assert "already running" in second.said()
    assert str(up.process.pid if up.process else "") in second.said()
    assert "Nothing was started" in second.said()
    wait_until(lambda: answers(up.url + "/healthz"), 60, up.said)


def test_a_busy_port_says_so(up: House, tmp_path: Path) -> None:
    second = House(tmp_path / "data", port=up.port).start()
    assert second.process is not None
    assert second.process.returncode == 1
    assert f"Port {up.port} on 127.0.0.1 is in use by another program. Nothing was started." in second.said()
    assert f"PORT={up.port + 1}" in second.said()
    assert not (tmp_path / "data" / "pg").exists()


def test_two_houses_run_side_by_side(up: House, tmp_path: Path) -> None:
    with house(tmp_path / "data") as second:
        second.start()
        assert second.ready is not None, second.said()
        wait_until(lambda: answers(up.url + "/healthz"), 60, up.said)
        wait_until(lambda: answers(second.url + "/healthz"), 60, second.said)
        assert second.ready["sink"] != (up.ready or {})["sink"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_killed_program_is_started_again(up: House, name: str) -> None:
    victim = psutil.Process(up.pid_of(name))
    victim.kill()
    wait_until(lambda: up.pid_of(name) not in {None, victim.pid}, 30, up.said)
    wait_until(lambda: answers(up.url + "/healthz"), 30, up.said)
    assert f"{name} was ended by SIGKILL" in up.said()


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_takes_less_than_ten_seconds_and_leaves_nothing(tmp_path: Path, sig: signal.Signals) -> None:
    with house(tmp_path / "data") as made:
        made.start()
        assert made.ready is not None, made.said()
        family = made.family()
        assert made.stop(sig) < 10
        assert made.process is not None
        assert made.process.returncode == 0
        assert gone(family, 1) == []
        assert not (made.folder / "servers.json").exists()


def test_a_stop_while_it_still_starts_leaves_nothing(tmp_path: Path) -> None:
    with house(tmp_path / "data") as made:
        made.launch()
        wait_until(lambda: "bringing the database schema" in made.said(), 60, made.said)
        family = made.family()
        assert made.stop() < 10
        assert gone(family, 1) == []
        assert made.ready is None


def test_a_failing_migration_stops_the_start_and_says_which(tmp_path: Path) -> None:
    with house(tmp_path / "data") as made:
        made.start()
        assert made.ready is not None, made.said()
        database = json.loads((made.folder / "servers.json").read_text())["DATABASE_URL"]
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("ALTER TABLE django_migrations RENAME COLUMN app TO spoilt")
        made.stop()
        made.start()
        assert "READY" not in made.said()
        assert not made.alive
        assert "`manage.py migrate` ended with code 1" in made.said()


def test_killing_make_stops_the_house_too(tmp_path: Path) -> None:
    with house(tmp_path / "data", command=["make", "--no-print-directory", "up"]) as made:
        made.start()
        assert made.ready is not None, made.said()
        family = made.family()
        made.stop(signal.SIGKILL)
        assert gone(family, 12) == []


def test_the_next_start_recovers_after_the_supervisor_was_killed(tmp_path: Path) -> None:
    """The children die with their supervisor; the same folder starts again, with what was committed."""
    with house(tmp_path / "data") as made:
        made.start()
        assert made.ready is not None, made.said()
        servers = json.loads((made.folder / "servers.json").read_text())
        with psycopg.connect(servers["DATABASE_URL"], autocommit=True) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        family = made.family()
        made.stop(signal.SIGKILL)
        made.start()
        assert made.ready is not None, made.said()
        assert gone(family) == []
        with psycopg.connect(servers["DATABASE_URL"]) as connection:
            assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)

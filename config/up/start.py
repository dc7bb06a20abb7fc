"""The order in which a house comes up, and what it says when it is."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import sys
from typing import Any

import psycopg

from config.embedded.ports import free_port, is_free
from config.embedded.postgres import Postgres
from config.embedded.valkey import Valkey
from config.env import ProcessEnv
from config.up import programs
from config.up.addresses import Servers, addresses, child_environment, own_servers
from config.up.house import House
from config.up.output import Output
from config.up.programs import Program
from config.up.supervisor import Supervisor
from config.up.words import CannotStart, port_busy

SINK_PORT_OFFSET = 25
# Generous: a busy machine is slow, and what ends is noticed at once.
UP_SECONDS = 180
APPLICATIONS = ("web", "node", "coordinator", "beat")
# One migration at a time, however many houses share a database. The number is arbitrary but fixed.
MIGRATION_LOCK = 7_218_003


class Start:
    """Takes a house from nothing to READY."""

    def __init__(self, env: ProcessEnv, house: House, supervisor: Supervisor, output: Output) -> None:
        self.env = env
        self.house = house
        self.supervisor = supervisor
        self.output = output

    def run(self) -> None:
        """Raises CannotStart, CannotRun, PostgresFailed or Stopped; the caller stops what runs by then."""
        for name in self.house.end_leftovers():
            self.supervisor.say(f"{name} of a supervisor that was killed did not end by itself; it is killed")
        keys = self.house.keys()
        if not is_free(self.env.port):
            raise CannotStart(port_busy(self.env.port, "PORT"))
        ports = self.house.ports(_sink_port(self.env.port))
        self.house.sign(url=self.url)
        servers = own_servers(self.house, keys, ports, os.environ)
        known = addresses(self.env, keys, servers)
        child_env = child_environment(self.env, known, colours=self.output.colours)
        self._servers(servers)
        self.house.lend(known)
        sink_url = None
        if servers.smtp:
            sink_url = f"http://127.0.0.1:{ports.sink}"
            self._sink(child_env, servers.smtp, ports.sink)
        self._migrate(known["DATABASE_URL"], child_env)
        accounts = self._samples(child_env) if servers.postgres else []
        self._applications(child_env)
        self._announce(sink_url, accounts)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.env.port}"

    def _servers(self, servers: Servers) -> None:
        if servers.postgres:
            self._postgres(servers.postgres)
        if servers.valkey:
            self._valkey(servers.valkey)

    def _postgres(self, server: Postgres) -> None:
        if not (server.cluster / "PG_VERSION").exists():
            self.supervisor.say("making the PostgreSQL cluster")
        server.create()
        server.end_old_server()
        self.supervisor.say(f"starting PostgreSQL on 127.0.0.1:{server.port}")
        self.supervisor.add(programs.postgres(server))
        # A restart by the supervisor during this wait is the retry after a crash.
        self.supervisor.wait_for("PostgreSQL", server.answers, UP_SECONDS)
        server.ensure_database()

    def _valkey(self, server: Valkey) -> None:
        self.supervisor.say(f"starting Valkey on 127.0.0.1:{server.port}")
        self.supervisor.add(programs.valkey(server))
        self.supervisor.wait_for("Valkey", server.answers, UP_SECONDS)

    def _sink(self, env: dict[str, str], smtp: int, http_port: int) -> None:
        self.supervisor.say(f"starting the mail sink on 127.0.0.1:{http_port}, SMTP on {smtp}")
        store = self.house.folder / "sink.jsonl"
        program = programs.sink(env, smtp=smtp, http=http_port, store=store, home=self.url)
        child = self.supervisor.add(program)
        self.supervisor.wait_for("The mail sink", child.is_ready, UP_SECONDS)

    def _migrate(self, database_url: str, env: dict[str, str]) -> None:
        self.supervisor.say("bringing the database schema up to date")
        with psycopg.connect(database_url, autocommit=True, connect_timeout=10) as connection:
            question = ("SELECT pg_try_advisory_lock(%s)", (MIGRATION_LOCK,))
            self.supervisor.wait_for(
                "Another house's migration", lambda: connection.execute(*question).fetchone() == (True,), 300
            )
            self._manage("migrate", "migrate", "--no-input", "--verbosity=0", env=env)

    def _samples(self, env: dict[str, str]) -> list[Any]:
        """The sample accounts: the last line that `seed_samples` prints is a JSON list of them."""
        lines = self._manage("samples", "seed_samples", env=env)
        listed = [line for line in lines if line.startswith("[")]
        accounts: list[Any] = json.loads(listed[-1]) if listed else []
        return accounts

    def _manage(self, name: str, *arguments: str, env: dict[str, str]) -> list[str]:
        command = (sys.executable, str(programs.ROOT / "manage.py"), *arguments)
        code, lines = self.supervisor.run_once(Program(name, command, env, tells=False))
        if code:
            raise CannotStart(
                f"`manage.py {arguments[0]}` ended with code {code}; the reason stands above. "
                "Everything that was started is stopped again; the data is as it was before that step."
            )
        return lines

    def _applications(self, env: dict[str, str]) -> None:
        self.supervisor.say(f"starting {', '.join(APPLICATIONS)}")
        self.supervisor.add(programs.web(env, self.env.port))
        told = [
            self.supervisor.add(make(env)) for make in (programs.node, programs.coordinator, programs.beat)
        ]
        self.supervisor.wait_for("The web process", self._web_answers, UP_SECONDS, pause=0.25)
        for child in told:
            self.supervisor.wait_for(child.program.name, child.is_ready, UP_SECONDS)

    def _web_answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.env.port, timeout=2)
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
            connection.request("GET", "/healthz", headers={"Host": f"127.0.0.1:{self.env.port}"})
            return connection.getresponse().status == 200
        return False

    def _announce(self, sink_url: str | None, accounts: list[Any]) -> None:
        self.supervisor.say(f"Countersign is up: {self.url}  (Ctrl-C stops it)")
        if sink_url:
            self.supervisor.say(f"mail that it sends arrives at {sink_url}")
        for account in accounts:
            self.supervisor.say(
                "sign in as {role}: {email}  password {password}  ({tenant})".format(**account)
            )
        ready = {"url": self.url, "sink": sink_url, "accounts": accounts}
        self.output.bare(f"READY {json.dumps(ready, ensure_ascii=False)}")


def _sink_port(port: int) -> int:
    """`SINK_PORT`, which must be free; without it a port near `PORT`, or any."""
    named = os.environ.get("SINK_PORT", "")
    if not named:
        near = port + SINK_PORT_OFFSET
        return free_port(near if near <= 65535 else 0)
    if not named.isdecimal() or not 0 < int(named) <= 65535:
        raise CannotStart(f"SINK_PORT is {named!r}, which is not a port (1 to 65535). Nothing was started.")
    if not is_free(int(named)):
        raise CannotStart(port_busy(int(named), "SINK_PORT"))
    return int(named)

"""A house under fire: the whole product as `make up` starts it, a robot that tells the story through REST, and a hand that
stops one process at a seam and kills another. The checker reads the sink's own count and shares no code with the product."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, LiteralString

import httpx
import psutil
import psycopg

from tests.crashes.ledger import Ledger
from tests.house.houses import House
from tests.needs import ROOT

CONTRACT = """SERVICE AGREEMENT

This Service Agreement (the "Agreement") is entered into as of January 1, 2026 (the "Effective Date") by and between
Linden Instruments Ltd. ("Customer") and {name} Ltd. ("Supplier").

1. Term. This Agreement shall continue until December 31, 2099 and shall automatically renew for successive one (1) year
periods unless either party gives written notice of non-renewal at least ninety (90) days before the end of the term.
2. Governing Law. This Agreement shall be governed by the laws of the State of New York.
"""
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
PATIENCE = 90.0


def until(fact: Callable[[], Any], seconds: float = PATIENCE, what: str = "") -> Any:
    """The first true value of ``fact``. The house may be half dead: connection errors count as not yet."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = fact()
        except (httpx.HTTPError, json.JSONDecodeError, KeyError):
            found = None
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.05)


class Drill:
    """One house for many drills; each drill is one run with a name of its own."""

    def __init__(self, house: House, arms: Path) -> None:
        self.house, self.arms = house, arms
        self.ada = self._client("ada@linden.example", "read", "submit")
        self.ben = self._client("ben@linden.example", "read", "decide", "decide_high_risk")

    def _client(self, email: str, *scopes: str) -> httpx.Client:
        out = self.manage("issue_token", email, *[word for scope in scopes for word in ("--scope", scope)])
        token = json.loads(out.strip().splitlines()[-1])["token"]
        return httpx.Client(
            base_url=f"{self.house.url}/api/v1/", headers={"Authorization": f"Bearer {token}"}, timeout=20
        )

    def close(self) -> None:
        self.ada.close()
        self.ben.close()

    def manage(self, *words: str) -> str:
        env = {**os.environ, "DATA_DIR": str(self.house.folder)}
        for name in ("DATABASE_URL", "BROKER_URL", "CHANNEL_URL", "EMAIL_URL", "SECRET_KEY", "AUDIT_KEYS"):
            env.pop(name, None)
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    # --- what the oracle reads

    def servers(self) -> dict[str, str]:
        """The addresses of the servers of the house."""
        found: dict[str, str] = json.loads((self.house.folder / "servers.json").read_text())
        return found

    def database(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.servers()["DATABASE_URL"], autocommit=True, connect_timeout=5)

    def one(self, text: LiteralString, *values: Any) -> tuple[Any, ...]:
        """One row, asked until the database answers."""

        def ask() -> Any:
            try:
                with self.database() as database:
                    return database.execute(text, values).fetchone()
            except psycopg.OperationalError:
                return None

        row: tuple[Any, ...] = until(ask, what="the database did not answer")
        return row

    # --- seams

    @property
    def _log(self) -> Path:
        return self.arms / "log"

    def environment(self) -> dict[str, str]:
        return environment(self.arms)

    def arm(self, entries: str) -> None:
        """From now on processes act at these seams; counters start anew."""
        for file in self.arms.glob("*@*"):
            file.unlink()
        self._log.write_text("")
        (self.arms / "file").write_text(entries)

    def hit(self, seam: str) -> bool:
        """Whether a process acted at the armed seam."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return any(line.split()[0] == seam and line.split()[2] != "-" for line in lines)

    def disarm(self) -> None:
        (self.arms / "file").write_text("")

    def stopped(self, seam: str) -> int:
        """Waits until a process has stopped at the seam; its process id."""

        def hit() -> int | None:
            for line in self._log.read_text().splitlines():
                name, pid, action = line.split()
                if name == seam and action == "stop" and psutil.pid_exists(int(pid)):
                    return int(pid) if psutil.Process(int(pid)).status() == psutil.STATUS_STOPPED else None
            return None

        found: int = until(hit, what=f"no process stopped at {seam}")
        return found

    @staticmethod
    def go_on(pid: int) -> None:
        if psutil.pid_exists(pid):
            os.kill(pid, signal.SIGCONT)

    # --- killing

    def victim(self, name: str, *, child: str = "cpu") -> psutil.Process:
        """The process of that name. ``child``: which kind of child of the node. Waits while it is on its way back from the
        last kill."""
        if name == "child":
            found: psutil.Process = until(
                functools.partial(self._child, child), what=f"the node has no {child} child"
            )
            return found
        running: psutil.Process = until(functools.partial(self._running, name), what=f"{name} is not running")
        return running

    def _running(self, name: str) -> psutil.Process | None:
        """The supervisor's list may still name the process that the last drill killed."""
        pid = self.house.pid_of(name)
        try:
            found = psutil.Process(pid) if pid else None
            return found if found and found.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None

    def _child(self, kind: str) -> psutil.Process | None:
        try:
            for process in self.victim("node").children():
                words = process.cmdline()
                if "runs.node.child" in words and kind in words:
                    return process
        except psutil.NoSuchProcess:
            pass
        return None

    @staticmethod
    def kill(victim: psutil.Process) -> None:
        """kill -9, and proof that it hit something that lived."""
        assert victim.is_running()
        assert victim.status() != psutil.STATUS_ZOMBIE
        victim.send_signal(signal.SIGKILL)
        try:
            victim.wait(10)
        except psutil.TimeoutExpired:
            assert victim.status() == psutil.STATUS_ZOMBIE

    def all_up(self) -> None:
        """Every process of the house runs and answers."""
        until(
            lambda: httpx.get(f"{self.house.url}/healthz", timeout=5).status_code == 200,
            what="web is not back",
        )
        for name in ("node", "coordinator", "beat", "valkey", "postgres"):
            until(functools.partial(self._running, name), what=f"{name} is not back")

    # --- the story

    def upload(self, name: str) -> str:
        body = CONTRACT.format(name=name).encode()
        key = uuid.uuid4().hex

        def send() -> Any:
            files = {"file": (f"{name}.txt", body)}
            answer = self.ada.post("uploads/", files=files, headers={"Idempotency-Key": key})
            return answer.json()["id"] if answer.status_code == 201 else None

        found: str = until(send, what="the upload was not taken")
        return found

    def submit(self, name: str, file: str) -> str:
        """Repeats the same request under the same key until it is answered, as a client does after a lost answer."""
        body = {
            "agent": "contract-review",
            "goal": name,
            "input": {"notify": f"{name.lower()}@supplier.example"},
            "files": [file],
        }
        key = f"drill-{name}"

        def send() -> Any:
            answer = self.ada.post("tasks/", json=body, headers={"Idempotency-Key": key})
            return answer.json()["id"] if answer.status_code == 202 else None

        found: str = until(send, what="the task was not taken")
        return found

    def task(self, task: str) -> Any:
        return self.ada.get(f"tasks/{task}/").json()

    def waiting(self, task: str, kind: str) -> Any:
        rows = self.ben.get("inbox/").json()["results"]
        return next((row for row in rows if row["task"] == task and row["kind"] == kind), None)

    def decide(self, action: str, body: dict[str, str], *, key: str = "") -> None:
        words = {"Idempotency-Key": key or uuid.uuid4().hex}

        def send() -> bool:
            seen = self.ben.get(f"actions/{action}/")
            if seen.json()["status"] != "OPEN":
                return True
            given = {**body, "gesture": seen.json()["second_gesture"]}
            answer = self.ben.post(
                f"actions/{action}/decide/", json=given, headers={**words, "If-Match": seen.headers["ETag"]}
            )
            return answer.status_code == 200

        until(send, what="the decision was not taken")

    def mails(self, name: str) -> int:
        """How often the mail of this run arrived, by the sink's own count."""
        return self.letters()[f"{name.lower()}@supplier.example"]

    def letters(self) -> Counter[str]:
        """How many mails arrived at each address, by the sink's own count."""
        messages = httpx.get(f"{self.sink}/messages.json", timeout=10).json()["messages"]
        return Counter(address for message in messages for address in message["envelope"]["to"])

    def counted(self, database: psycopg.Connection[Any]) -> Ledger:
        """What happened: the letters in the sink, under the key of the intent that has their address."""
        found, letters = Ledger(), self.letters()
        for key, target in database.execute(
            "SELECT key, target FROM tools_intent WHERE target <> ''"
        ).fetchall():
            if n := letters[str(target)]:
                found.effects[str(key)] += n
        return found

    @property
    def sink(self) -> str:
        ready = self.house.ready
        assert ready is not None
        return str(ready["sink"])

    def finish(self, name: str, task: str, *, answer: str = "", patience: float = PATIENCE) -> list[str]:
        """Approves what waits, settles what is unknown (by looking at the sink, as a person would), until the run has
        ended. Returns what had to be settled and how."""
        settled: list[str] = []
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            try:
                if self.task(task)["status"] in ENDED:
                    return settled
                if row := self.waiting(task, "approve"):
                    self.decide(row["id"], {"verdict": "approve"})
                if row := self.waiting(task, "settle"):
                    verdict = answer or ("happened" if self.mails(name) else "not_happened")
                    self.decide(
                        row["id"],
                        {"verdict": verdict, "reference": "the log of the server", "comment": "looked"},
                    )
                    settled.append(verdict)
            except (httpx.HTTPError, KeyError, json.JSONDecodeError):
                pass
            time.sleep(0.1)
        raise AssertionError(f"{name} did not end: {self.task(task)}\n{self.house.said()[-3000:]}")


def environment(arms: Path) -> dict[str, str]:
    """What a house needs so that drills can arm its processes, with waits short enough for a test."""
    arms.mkdir(parents=True, exist_ok=True)
    (arms / "file").write_text("")
    return {
        "COUNTERSIGN_FAILPOINT_FILE": str(arms / "file"),
        "COUNTERSIGN_FAILPOINT_LOG": str(arms / "log"),
        "COUNTERSIGN_FAILPOINT_DIR": str(arms),
        "COUNTERSIGN_QUIET_SECONDS": "1",
        "COUNTERSIGN_LEASE_SECONDS": "6",
    }

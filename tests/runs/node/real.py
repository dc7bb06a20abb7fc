"""Real nodes for tests: the worker as it is deployed, as a subprocess on the test's database."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
from django.db import connection

from accounts.models import Role, Tenant, User
from config.embedded import process
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools import samples
from tools.models import WorkerProcess

ROOT = Path(__file__).resolve().parents[3]
COMMAND = ("-m", "celery", "-q", "-A", "config", "worker", "-P", "solo", "-Q", "execution")
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")
#: Short times, so that a test need not wait; still in the proportion that the product asks for.
QUICK = {
    "COUNTERSIGN_LEASE_SECONDS": "3",
    "COUNTERSIGN_RENEW_SECONDS": "0.4",
    "COUNTERSIGN_CLOCK_ERROR_SECONDS": "0.2",
    "COUNTERSIGN_LONGEST_COMMIT_SECONDS": "1",
    "COUNTERSIGN_POLL_SECONDS": "0.1",
    "COUNTERSIGN_DRAIN_SECONDS": "1",
    "COUNTERSIGN_POOLS": "io:1:400,thread:1:8,cpu:1:1",
}


def until(true: Callable[[], Any], *, seconds: float = 30, what: str = "") -> Any:
    """What ``true`` says once it says something; fails when it never does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.02)
    raise AssertionError(f"Not within {seconds:g} s: {what or true}\n{_unfinished()}")


class Node:
    """One running node. ``worker`` is its row."""

    def __init__(self, folder: Path, number: int, env: dict[str, str]) -> None:
        self.log = folder / f"node-{number}.log"
        before = set(WorkerProcess.objects.filter(kind="main").values_list("pk", flat=True))
        with self.log.open("wb") as log:
            self.process: subprocess.Popen[bytes] = process.start(
                (sys.executable, *COMMAND, *QUIET, "-n", f"n{number}@%h"),
                env={**os.environ, "DATABASE_URL": database_url(), "DATABASE_POOL": "0", **QUICK, **env},
                death=signal.SIGKILL,
                output=log,
                cwd=str(ROOT),
            )
        self._before = before

    def wait(self) -> None:
        """Until it is up. A busy machine takes its time to import it all."""
        self.worker: WorkerProcess = until(
            lambda: self._row(self._before), seconds=150, what="the node is up"
        )

    def _row(self, before: set[Any]) -> WorkerProcess | None:
        if self.process.poll() is not None:
            raise AssertionError(self.text())
        return WorkerProcess.objects.filter(kind="main").exclude(pk__in=before).first()

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def children(self, kind: str) -> list[psutil.Process]:
        """Its child processes of a kind, that are up."""
        found = psutil.Process(self.process.pid).children()
        return [child for child in found if _is_kind(child, kind)]

    def child(self, kind: str) -> psutil.Process:
        found: psutil.Process = until(lambda: next(iter(self.children(kind)), None), what=f"a child {kind}")
        return found

    def ports(self) -> list[int]:
        """Its ends of its connections."""
        return [each.laddr.port for each in psutil.Process(self.process.pid).net_connections("tcp")]

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self, number: int = signal.SIGTERM, seconds: float = 20) -> int:
        """Sends the signal and gives the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"It did not end within {seconds:g} s:\n{self.text()[-3000:]}") from None


def _is_kind(child: psutil.Process, kind: str) -> bool:
    try:
        line = child.cmdline()
    except psutil.Error:
        return False
    return "runs.node.child" in line and kind in line


@contextmanager
def nodes(folder: Path) -> Iterator[Callable[..., Node]]:
    """``start(**environment)`` starts one more; all are ended afterwards."""
    started: list[Node] = []

    def start(**env: str) -> Node:
        node = Node(folder, len(started), env)
        started.append(node)
        node.wait()
        return node

    try:
        yield start
    finally:
        for node in started:
            if node.process.poll() is None:
                node.process.send_signal(signal.SIGCONT)
                node.process.kill()
                node.process.wait()
            # Shown by pytest when the test fails.
            print(f"--- {node.log.name}\n{node.text()[-4000:]}")
        until(lambda: not _left(started), what="the children of killed nodes are gone")


def _left(started: list[Node]) -> list[int]:
    """Children that outlived their node."""
    found = []
    for candidate in psutil.process_iter(["cmdline"]):
        line = candidate.info["cmdline"] or []
        if "runs.node.child" in line and any(str(node.process.pid) in line for node in started):
            found.append(candidate.pid)
    return found


def database_url() -> str:
    """The address of the test's own database."""
    given = connection.settings_dict
    who = quote(given["USER"], safe="") + (
        f":{quote(given['PASSWORD'], safe='')}" if given["PASSWORD"] else ""
    )
    return f"postgresql://{who}@{given['HOST']}:{given['PORT'] or 5432}/{given['NAME']}"


def database_time() -> datetime:
    """Now, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


def house() -> tuple[Tenant, User]:
    """A tenant with the sample contracts, and its submitter."""
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER, name="Ada")
    samples.seed(tenant)
    return tenant, user


def run_of(who: tuple[Tenant, User], steps: int = 1, **given: Any) -> Run:
    return hands.counter_run(*who, steps=steps, **given)


def status(run: Run) -> str:
    return str(Run.everywhere.values_list("status", flat=True).get(pk=run.pk))


def ended(*runs: Run, seconds: float = 30) -> None:
    """All of them have ended."""
    left = Run.everywhere.filter(pk__in=[run.pk for run in runs], finished_at__isnull=True)
    until(lambda: not left.exists(), seconds=seconds, what="the runs end")


def calls(run: Run) -> list[Step]:
    return list(Step.everywhere.filter(run=run, kind="call").order_by("seq"))


def running(run: Run, seconds: float = 30) -> Step:
    """The call of this run that is under way."""
    rows = Step.everywhere.filter(run=run, kind="call", status="RUNNING")
    found: Step = until(rows.first, seconds=seconds, what="a call of the run is under way")
    return found


def events(run: Run, type: str) -> list[dict[str, Any]]:
    return list(
        run.events(manager="everywhere")
        .filter(type=type)
        .order_by("sequence")
        .values_list("payload", flat=True)
    )


def _unfinished() -> str:
    """What a failure should show: the steps that have not ended, and whose they are."""
    rows = Step.everywhere.exclude(status="SUCCEEDED").values_list(
        *(
            "key",
            "status",
            "held",
            "pool",
            "owner_id",
            "fence",
            "attempt",
            "losses",
            "not_before",
            "lease_until",
        )
    )
    return "\n".join(str(tuple(map(str, row))) for row in rows[:10])

"""Failpoints: off unless asked for, on the disk before they act, counted over all processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from accounts import failpoints
from accounts.failpoints import BadFailpoint, Failpoint, FailpointHit, fp


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    for name in ("COUNTERSIGN_FAILPOINTS", "COUNTERSIGN_FAILPOINT_LOG", "COUNTERSIGN_FAILPOINT_DIR"):
        monkeypatch.delenv(name, raising=False)
    failpoints.reload()
    yield
    failpoints.reload()


def ask_for(monkeypatch, text: str) -> None:
    monkeypatch.setenv("COUNTERSIGN_FAILPOINTS", text)
    failpoints.reload()


def test_off_unless_the_environment_says_so():
    fp("send.before")


def test_only_the_named_seam_acts(monkeypatch):
    ask_for(monkeypatch, "send.before=raise; begin.committed=raise")
    fp("send.after_bytes")
    with pytest.raises(FailpointHit, match=r"send\.before"):
        fp("send.before")


def test_the_forms():
    assert failpoints.parse("a=kill, b=sleep:0.5;c=stop,") == {
        "a": Failpoint("a", "kill"),
        "b": Failpoint("b", "sleep", 0.5),
        "c": Failpoint("c", "stop"),
    }


BAD = [
    "a",
    "a=",
    "a=explode",
    "=kill",
    "a=sleep",
    "a=sleep:x",
    "a=kill:3",
    "a=kill@x",
    "a=kill@0",
    "a=kill@1",
]


@pytest.mark.parametrize("text", BAD)
def test_what_cannot_be_read_is_said_loudly(text):
    with pytest.raises(BadFailpoint):
        failpoints.parse(text)


def test_the_nth_hit_alone_acts(monkeypatch, tmp_path):
    monkeypatch.setenv("COUNTERSIGN_FAILPOINT_DIR", str(tmp_path))
    monkeypatch.setenv("COUNTERSIGN_FAILPOINT_LOG", str(tmp_path / "log"))
    ask_for(monkeypatch, "a=raise@2")
    fp("a")
    with pytest.raises(FailpointHit):
        fp("a")
    fp("a")
    pid = os.getpid()
    assert (tmp_path / "log").read_text() == f"a {pid} -\na {pid} raise\na {pid} -\n"


def run(script: str, **env: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script], env={**os.environ, **env})


def test_a_kill_is_on_the_disk_before_it_hits(tmp_path):
    log = tmp_path / "log"
    script = "from accounts.failpoints import fp; fp('a'); print('alive')"
    process = run(script, COUNTERSIGN_FAILPOINTS="a=kill", COUNTERSIGN_FAILPOINT_LOG=str(log))
    assert process.wait(20) == -signal.SIGKILL
    assert log.read_text() == f"a {process.pid} kill\n"


def test_one_process_of_many_is_hit(tmp_path):
    script = "from accounts.failpoints import fp; fp('a')"
    env = {"COUNTERSIGN_FAILPOINTS": "a=kill@3", "COUNTERSIGN_FAILPOINT_DIR": str(tmp_path)}
    ends = [process.wait(30) for process in [run(script, **env) for _ in range(5)]]
    assert sorted(ends) == [-signal.SIGKILL, 0, 0, 0, 0]


def test_it_needs_no_django():
    script = (
        "import sys, accounts.failpoints; sys.exit(any(name.startswith('django') for name in sys.modules))"
    )
    assert run(script).wait(20) == 0

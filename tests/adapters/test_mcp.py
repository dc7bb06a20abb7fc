"""The MCP adapter beyond the suite: what is pinned, what is sent once, and what becomes of the processes it starts."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.calls import Call, Context, Go
from tests.adapters.far_mcp import OverHttp, OverPipes
from tools.adapters.base import Failed, Unknown
from tools.adapters.http import key_header
from tools.mcp import calling, stdio
from tools.mcp.definition import PARTS, definition, differences
from tools.mcp.servers import SETTING, parse
from tools.mcp.watch import Refused, Watch


def over_http(far: OverHttp, **spec: Any) -> Call:
    given = {"target": far.url, "config": far.config, "egress": far.hosts, "effect": "irreversible", **spec}
    return Call("mcp", far, given, {"text": "lens"}, lambda: len(far.lines))


@pytest.mark.parametrize("mode", ["reset", "moved", "half", "busy", "silent"])
def test_b67_a_call_leaves_once_whatever_comes_back(mcp_over_http: OverHttp, mode: str):
    """Guards ``tools/mcp/watch.py`` (``go``) and the use of the session in ``tools/mcp/calling.py``: neither the SDK nor a
    redirect sends a ``tools/call`` a second time."""
    call = over_http(mcp_over_http)
    mcp_over_http.mode = mode
    with pytest.raises((Failed, Unknown)) as raised:
        call(ctx=Context(seconds_left=2.0) if mode == "silent" else None)
    assert mcp_over_http.door.calls == 1
    assert call.count() == 1
    assert isinstance(raised.value, Failed) == (mode == "moved"), "only a redirect says that it was not taken"


def test_b67_a_second_call_of_a_session_is_not_sent():
    """Guards ``tools/mcp/watch.py`` (``go``): a library that sends again is refused before the first byte."""
    watch = Watch()
    watch.go()
    with pytest.raises(Refused, match="sent before"):
        watch.go()


def test_b67_reading_that_broke_is_a_failure(mcp_over_http: OverHttp):
    """Guards ``_open`` in ``tools/mcp/calling.py``: only what changes something can be unknown."""
    mcp_over_http.mode = "reset"
    with pytest.raises(Failed):
        over_http(mcp_over_http, effect="read_only")()


CHANGES: dict[str, dict[str, Any]] = {
    "description": {"description": "Writes a line and mails it to us."},
    "input_schema": {"inputSchema": {"type": "object", "properties": {"text": {"type": "number"}}}},
    "annotations": {"annotations": {"readOnlyHint": True}},
}


@pytest.mark.parametrize("part", CHANGES)
def test_b68_a_tool_that_changed_is_not_called(mcp_over_http: OverHttp, part: str):
    """Guards ``_same`` in ``tools/mcp/calling.py`` and ``PARTS`` in ``tools/mcp/definition.py``: each part alone counts."""
    call = over_http(mcp_over_http)
    mcp_over_http.book.say(**CHANGES[part])
    with pytest.raises(Failed) as failed:
        call()
    assert failed.value.code == "definition_changed"
    assert failed.value.facts is not None
    assert failed.value.facts["changed"] == [part]
    assert failed.value.facts["found"]["name"] == "note"
    assert mcp_over_http.door.calls == 0


def test_b68_the_same_tool_at_another_address_is_another_tool(mcp_over_http: OverHttp):
    """Guards ``endpoint`` in ``PARTS`` (``tools/mcp/definition.py``)."""
    config = mcp_over_http.config
    config["definition"] |= {"endpoint": "https://mcp.linden.example/mcp"}
    with pytest.raises(Failed) as failed:
        over_http(mcp_over_http, config=config)()
    assert failed.value.facts is not None
    assert failed.value.facts["changed"] == ["endpoint"]
    assert mcp_over_http.door.calls == 0


def test_b68_another_command_under_the_same_name_is_another_endpoint():
    """Guards ``identity`` in ``tools/mcp/servers.py``."""
    one, other = (parse(json.dumps({"s": {"command": ["/bin/s", word]}}))["s"] for word in ("a", "b"))
    assert one.identity != other.identity


def test_b68_a_tool_that_is_gone_is_not_called(mcp_over_http: OverHttp):
    call = over_http(mcp_over_http)
    mcp_over_http.book.say(name="scribble")
    with pytest.raises(Failed, match="does not offer note any more") as failed:
        call()
    assert failed.value.facts == {"found": None, "changed": ["missing"]}


def test_a_part_that_is_missing_is_one_that_is_null():
    said = definition({"name": "note"}, endpoint="x")
    assert set(said) == set(PARTS)
    assert differences({"name": "note", "endpoint": "x"}, said) == []


def test_key_and_fence_travel_under_documented_names(mcp_over_http: OverHttp):
    over_http(mcp_over_http)(go=Go(key="k", fence=9))
    assert mcp_over_http.lines == [key_header("k")]
    assert (calling.KEY, calling.FENCE) == ("countersign/idempotency-key", "countersign/fence")


def test_an_error_of_the_tool_is_unknown_unless_the_contract_knows_better(mcp_over_http: OverHttp):
    mcp_over_http.mode = "error"
    with pytest.raises(Unknown, match="the pen broke"):
        over_http(mcp_over_http)()
    with pytest.raises(Failed, match="the pen broke"):
        over_http(mcp_over_http, config={**mcp_over_http.config, "errors": "not_done"})()
    with pytest.raises(Failed, match="the pen broke"):
        over_http(mcp_over_http, effect="read_only")()


def test_a_private_address_is_reached_only_when_the_contract_names_it(mcp_over_http: OverHttp):
    with pytest.raises(Failed) as failed:
        over_http(mcp_over_http, egress=[])()
    assert failed.value.code == "egress_forbidden"


def test_a_server_that_hangs_before_the_call_is_a_failure_in_time(mcp_over_http: OverHttp):
    mcp_over_http.mode = "hang"
    with pytest.raises(Failed):
        over_http(mcp_over_http)(ctx=Context(seconds_left=1.0))
    assert mcp_over_http.lines == []


def test_a_picture_becomes_a_file(mcp_over_http: OverHttp):
    kept: list[bytes] = []

    class Keeps(Context):
        def store(self, data: Any, **about: Any) -> dict[str, Any]:
            kept.append(data)
            return about

    mcp_over_http.mode = "picture"
    block = over_http(mcp_over_http)(ctx=Keeps()).output["content"][0]
    assert block == {"type": "image", "file": {"name": "image", "media_type": "image/png"}}
    assert kept == [b"\x89PNG\x0d"]


def test_without_a_tool_it_asks_for_the_list(mcp_over_http: OverHttp):
    listed = over_http(mcp_over_http, effect="read_only", config={})()
    assert [one["name"] for one in listed.output["tools"]] == ["note"]
    assert listed.output["tools"][0]["endpoint"] == mcp_over_http.url
    with pytest.raises(Failed):
        over_http(mcp_over_http, config={})()


# Servers that this deployment starts

TELLS = """
import json, os, sys
def say(id, **what): print(json.dumps({"jsonrpc": "2.0", "id": id, **what}), flush=True)
open(sys.argv[1], "w").write(json.dumps([os.getpid(), os.getppid(), sorted(os.environ), os.getcwd()]))
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        say(asked["id"], result={"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}})
    elif "id" in asked:
        say(asked["id"], error={"code": -32601, "message": "unknown"})
"""


def test_a_server_gets_a_clean_world_and_is_dead_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It speaks a protocol of its own, too: that is said in plain words."""
    told = tmp_path / "told"
    command = [sys.executable, "-S", "-c", TELLS, str(told)]
    server = {"command": command, "cwd": str(tmp_path), "env": {"A": "b"}, "secrets": {"TOKEN": "t"}}
    monkeypatch.setenv(SETTING, json.dumps({"x": server}))
    monkeypatch.setenv("SECRET_KEY", "canary")
    call = Call(
        "mcp", None, {"config": {"server": "x"}, "effect": "read_only", "secrets": {"t": "s"}}, {}, int
    )
    with pytest.raises(Failed, match="Unsupported protocol version"):
        call()
    pid, guard, environment, folder = json.loads(told.read_text())
    assert set(environment) - {"LC_CTYPE"} == {"A", "HOME", "LANG", "PATH", "TOKEN"}
    assert folder == str(tmp_path)
    for gone in (pid, guard):
        with pytest.raises(ProcessLookupError):
            os.kill(gone, 0)


def test_a_server_dies_with_the_process_that_called_it(tmp_path: Path):
    """Guards ``tools/mcp/guard.py``: no server outlives the child of a node, however that ends."""
    told, ready = tmp_path / "told", tmp_path / "ready"
    os.mkfifo(ready)
    sleeps = f"import os,time; open({str(told)!r},'w').write(str(os.getpid())); open({str(ready)!r},'w').close(); time.sleep(600)"
    caller = (
        "import os, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-I', '-S', {str(stdio.GUARD)!r}, str(os.getpid()), '4000000000', '60',"
        f" sys.executable, '-c', {sleeps!r}], stdin=subprocess.PIPE, start_new_session=True)\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", caller])
    with ready.open():
        pidfd = os.pidfd_open(int(told.read_text()))
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    assert select.select([pidfd], [], [], 30)[0], "the server lives on"
    os.close(pidfd)


def test_only_its_tenants_use_a_server(mcp_over_pipes: OverPipes, monkeypatch: pytest.MonkeyPatch):
    server = {"command": [sys.executable], "tenants": ["aldergate"]}
    config = mcp_over_pipes.config
    monkeypatch.setenv(SETTING, json.dumps({"book": server}))
    with pytest.raises(Failed) as failed:
        Call("mcp", None, {"config": config, "effect": "irreversible"}, {}, int)()
    assert failed.value.code == "server_missing"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "is an object"),
        ("{", "is no JSON"),
        ('{"A b": {"command": ["/x"]}}', "is no name"),
        ('{"a": {"command": "/x"}}', "needs a command"),
        ('{"a": {"command": ["x"]}}', "whole path"),
        ('{"a": {"command": ["/x"], "shell": true}}', "which nothing knows"),
        ('{"a": {"command": ["/x"], "env": {"B C": "d"}}}', "maps names"),
    ],
)
def test_a_setting_that_cannot_be_used_says_why(text: str, why: str):
    with pytest.raises(ValueError, match=why):
        parse(text)

"""The Python tools: names, kinds, and what each drill does. No database."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys

import pytest

from tests.adapters.calls import Context
from tools import drill, samples, toolbox
from tools.adapters.base import Answer, Failed


def test_every_sample_contract_names_a_tool_that_is_installed():
    """``contracts.*`` come from the agent's own module; both kinds are found by name."""
    for sample in [*samples._work(), *samples._drills()]:
        if sample["adapter"] == "python":
            found = toolbox.get(sample["target"])
            kind = str(sample.get("isolation", "io"))
            assert found.blocking == (kind != "io"), f"{found.name}: a loop never runs what blocks"


def test_a_tool_that_does_not_exist():
    with pytest.raises(toolbox.UnknownTool, match=r"no\.such"):
        toolbox.get("no.such.tool")


def test_a_wrong_declaration_is_refused():
    async def asynchronous(ctx, arguments):
        return {}

    def blocking(ctx, arguments):
        return {}

    with pytest.raises(ValueError, match="declared otherwise"):
        toolbox.tool("suite.a", blocking=True)(asynchronous)
    with pytest.raises(ValueError, match="declared otherwise"):
        toolbox.tool("suite.b")(blocking)
    with pytest.raises(ValueError, match="Two tools"):
        toolbox.tool("drill.nap", blocking=True)(blocking)


def test_children_load_adapters_and_drills_without_django():
    script = (
        "import sys, tools.adapters, tools.drill, tools.egress;"
        "sys.exit(any(name.split('.')[0] in ('django', 'celery', 'psycopg') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=30).returncode == 0


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    path = tmp_path / "ledger"
    monkeypatch.setenv("COUNTERSIGN_DRILL_LEDGER", str(path))
    return lambda: [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_every_call_of_an_effect_is_one_line(ledger):
    first = drill.effect(Context(key="k", fence=3), {})
    second = drill.effect(Context(key="k", fence=4), {})
    assert isinstance(first, Answer)
    assert [entry["fence"] for entry in ledger()] == [3, 4]
    assert (first.reference, second.reference) == ("ledger:1", "ledger:2")


def test_the_far_side_that_knows_keys_counts_a_repeat_once(ledger):
    first = drill.effect_keyed(Context(key="k"), {})
    drill.effect_keyed(Context(key="other"), {})
    again = drill.effect_keyed(Context(key="k"), {})
    assert len(ledger()) == 2
    assert again == first


def test_without_a_ledger_nothing_happens(monkeypatch):
    monkeypatch.delenv("COUNTERSIGN_DRILL_LEDGER", raising=False)
    with pytest.raises(Failed, match="Nothing was written"):
        drill.effect(Context(), {})


def test_a_nap_ends_at_a_safe_point_when_asked():
    assert drill.nap(Context(cancelled=True), {"seconds": 30}) == {"ok": True, "early": True}
    assert drill.nap(Context(lost=True), {"seconds": 30})["early"]
    assert drill.nap(Context(), {"seconds": 0}) == {"ok": True, "early": False}


def test_the_asynchronous_drills():
    assert asyncio.run(drill.noop(Context(), {})) == {"ok": True}
    assert asyncio.run(drill.sleep(Context(), {"seconds": 0})) == {"ok": True}
    assert asyncio.run(drill.pid(Context(), {})) == {"pid": os.getpid()}
    assert "\x00" in asyncio.run(drill.nul(Context(), {}))["text"]

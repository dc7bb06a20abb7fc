"""Guards of tools that come from MCP servers."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_HTTP = "tests/adapters/test_mcp.py::test_b67_a_call_leaves_once_whatever_comes_back"
_CHANGED = "tests/adapters/test_mcp.py::test_b68_a_tool_that_changed_is_not_called"
_DRIFTS = "tests/tools/test_drifts.py::"


def _part(part: str, words: str, test: str) -> Mutant:
    """One part of a definition is not compared."""
    return Mutant(
        number="B68",
        guard=f"{words} is part of what is pinned",
        file="tools/mcp/definition.py",
        old="    return [part for part in PARTS if digest_of",
        new=f'    return [part for part in PARTS if part != "{part}" and digest_of',
        tests=(test,),
    )


MCP = (
    Mutant(
        number="B67",
        guard="a tools/call leaves once",
        file="tools/mcp/watch.py",
        old="        if self.sent:\n",
        new="        if False:\n",
        tests=(
            f"{_HTTP}[moved]",
            "tests/adapters/test_mcp.py::test_b67_a_second_call_of_a_session_is_not_sent",
        ),
    ),
    Mutant(
        number="B67",
        guard="a call that broke is unknown",
        file="tools/mcp/calling.py",
        old="    return Failed(code, text) if wanted.reads else Unknown(code, text)\n",
        new="    return Failed(code, text)\n",
        tests=(f"{_HTTP}[reset]",),
    ),
    Mutant(
        number="B67",
        guard="a 5xx says nothing of the effect",
        file="tools/mcp/calling.py",
        old="    if 400 <= watch.status <= 499 and",
        new="    if 400 <= watch.status <= 599 and",
        tests=(f"{_HTTP}[busy]",),
    ),
    _part("description", "the description", f"{_CHANGED}[description]"),
    _part("input_schema", "the schema", f"{_CHANGED}[input_schema]"),
    _part("annotations", "what it claims", f"{_CHANGED}[annotations]"),
    _part(
        "endpoint",
        "the address",
        "tests/adapters/test_mcp.py::test_b68_the_same_tool_at_another_address_is_another_tool",
    ),
    Mutant(
        number="B68",
        guard="a tool that changed is quarantined",
        file="runs/engine/drifted.py",
        old='        if "found" in facts:\n',
        new="        if False:\n",
        tests=(f"{_DRIFTS}test_b68_a_tool_that_is_gone_is_quarantined",),
    ),
    Mutant(
        number="B68",
        guard="the engine hears of a tool that changed",
        file="runs/engine/commit.py",
        old="    drifted.note(outcomes)\n",
        new="",
        tests=(
            "tests/runs/pages/test_import_mcp.py::test_b68_the_call_that_finds_a_change_ends_and_the_tool_is_quarantined",
        ),
    ),
)

"""The agent behind a test call: one call of a tool that only reads, asked for in the editor of its contract."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from runs.agents.base import Agent, Call, Context, Directive, Finish

CALL = "test"


class ToolTest(Agent):
    """``tool`` with its ``arguments``, once. How the call ended is the result, also when it failed."""

    name = "tool-test"
    version = "1"
    title = "Test call"
    description = "Calls one tool that only reads, from the editor of its contract."
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "minLength": 1, "maxLength": 80},
            "arguments": {"type": "object"},
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }
    budget: ClassVar[Mapping[str, Any]] = {"steps": 10, "tool_calls": 5, "wall_seconds": 3600}
    any_tool = True

    def tools_for(self, input: Mapping[str, Any]) -> Sequence[str]:
        """The one."""
        return [str(input["tool"])]

    def next(self, context: Context) -> Sequence[Directive]:
        if context.live:
            return []
        if context.status(CALL) is None:
            return [Call(key=CALL, tool=context.input["tool"], arguments=context.input["arguments"])]
        return [Finish({"status": context.status(CALL)})]

"""The agent that thinks nothing: it calls the tools that a person chose, one after the other. To try tools, and to have
a routine of a few calls with a hand on what cannot be undone."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from runs.agents.base import Agent, Call, Context, Directive, Expected, Fail, Finish
from runs.agents.words import gettext_noop

MOST = 20


class Steps(Agent):
    """``steps``: the calls in order, each a ``tool`` with its ``arguments``. It stops at the first that does not succeed,
    unless a person left that one out."""

    name = "steps"
    version = "2"
    title = gettext_noop("Steps you choose")
    description = gettext_noop(
        "Calls the tools that you choose, one after the other, with the arguments that you give. It stops at the first "
        "step that does not succeed."
    )
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "steps": {
                "type": "array",
                "title": gettext_noop("Steps"),
                "description": gettext_noop("From top to bottom. Rows without a tool are left out."),
                "minItems": 1,
                "maxItems": MOST,
                "x-form": "calls",
                "items": {
                    "type": "object",
                    "properties": {
                        "tool": {"type": "string", "minLength": 1, "maxLength": 80},
                        "arguments": {"type": "object"},
                    },
                    "required": ["tool"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["steps"],
        "additionalProperties": False,
    }
    budget: ClassVar[Mapping[str, Any]] = {"steps": MOST, "tool_calls": MOST, "wall_seconds": 604_800}
    may_repeat = MOST
    any_tool = True

    def tools_for(self, input: Mapping[str, Any]) -> Sequence[str]:
        """Those of its steps."""
        return list(dict.fromkeys(line["tool"] for line in _lines(input)))

    def expected(self, input: Mapping[str, Any]) -> Sequence[Expected]:
        """The steps, whose arguments are known."""
        return [
            Expected("", line["tool"], line.get("arguments") or {}, complete=True) for line in _lines(input)
        ]

    def next(self, context: Context) -> Sequence[Directive]:
        """The next step, when the one before has succeeded."""
        if context.live:
            return []
        lines = _lines(context.input)
        for number, line in enumerate(lines, 1):
            key = f"step/{number}"
            status = context.status(key)
            if status is None:
                return [Call(key, line["tool"], line.get("arguments") or {}, title=line["tool"])]
            if status not in ("SUCCEEDED", "SKIPPED"):
                return [_stopped(number, line["tool"], context, key)]
        return [Finish({"steps": [line["tool"] for line in lines]})]


def _stopped(number: int, tool: str, context: Context, key: str) -> Fail:
    ended = context.last(key)
    code = (ended.error_code if ended else "") or "step_failed"
    why = (ended.error_text if ended else "") or "It did not succeed."
    return Fail(code, f"Step {number} ({tool}): {why}"[:1000])


def _lines(input: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Of an input that may not have been checked yet."""
    given = input.get("steps")
    lines = given if isinstance(given, Sequence) and not isinstance(given, str) else ()
    return [line for line in lines if isinstance(line, Mapping) and isinstance(line.get("tool"), str)]

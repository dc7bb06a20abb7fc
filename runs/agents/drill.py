"""The agents of benches and drills: a number of equal steps one after the other, and a script of any steps."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runs.agents.base import Agent, AskPerson, Call, Context, Directive, Fail, Finish, StepView, WaitFor


class Counter(Agent):
    """``steps`` calls of ``tool`` (default ``drill.noop``) in a row, then the end."""

    name = "drill-counter"
    version = "1"
    title = "Counter"
    description = "Counts through a number of steps. For benches and drills."
    input_schema = {
        "type": "object",
        "properties": {
            "steps": {"type": "integer", "minimum": 1, "maximum": 100_000},
            "tool": {"type": "string"},
            "arguments": {"type": "object"},
        },
        "required": ["steps"],
    }
    budget = {"steps": 200_000, "tool_calls": 200_000, "wall_seconds": 86_400}
    may_repeat = 200_000
    tools = (
        *(
            "drill.noop",
            "drill.sleep",
            "drill.gate",
            "drill.stall",
            "drill.grind",
            "drill.nap",
            "drill.busy",
            "drill.nul",
            "drill.hog",
            "drill.crash",
            "drill.redos",
            "drill.starve",
            "drill.spend",
        ),
        *("drill.pid", "drill.effect", "drill.effect_keyed", "drill.effect_final", "drill.post"),
        "mail.send",
    )

    def next(self, context: Context) -> Sequence[Directive]:
        if context.live:
            return []
        if context.ended >= int(context.input["steps"]):
            return [Finish({"steps": context.ended})]
        return [
            Call(
                key=f"count/{context.ended + 1}",
                tool=context.input.get("tool", "drill.noop"),
                arguments=context.input.get("arguments", {}),
            )
        ]

    def summarise(self, summary, steps):  # type: ignore[no-untyped-def]
        """Nothing needs to be remembered: the number of ended steps says it all."""
        return {}


class Script(Agent):
    """Rounds of directives given as input, one round after the other: ``{"do": "call" | "ask" | "wait" | "fail", …}``.

    A round begins when every step of the round before has ended. The end tells how each step of the last round ended, and
    a trail over all of them: a hash chain of key, status and output, which changes when one is missing, doubled or moved.
    """

    name = "drill-script"
    version = "1"
    title = "Script"
    description = "Follows a script. For benches and drills."
    input_schema = {
        "type": "object",
        "properties": {"rounds": {"type": "array", "items": {"type": "array", "items": {"type": "object"}}}},
        "required": ["rounds"],
    }
    budget = Counter.budget
    tools = Counter.tools

    def next(self, context: Context) -> Sequence[Directive]:
        if context.live:
            return []
        begun = 0
        for round_ in context.input["rounds"]:
            if begun == context.ended:
                return [_directive(line) for line in round_]
            begun += len(round_)
        last = context.input["rounds"][-1] if context.input["rounds"] else []
        ends = {line["key"]: context.status(line["key"]) for line in last}
        return [
            Finish({"ended": context.ended, "last": ends, "trail": _trail(context.summary, context.recent)})
        ]

    def summarise(self, summary: Mapping[str, Any], steps: Sequence[StepView]) -> dict[str, Any]:
        """How each step ended, and the trail."""
        return {**super().summarise(summary, steps), "trail": _trail(summary, steps)}


def _directive(line: Mapping[str, Any]) -> Directive:
    kinds: dict[str, Callable[..., Directive]] = {
        "call": Call,
        "ask": AskPerson,
        "wait": WaitFor,
        "fail": Fail,
    }
    return kinds[line["do"]](**{name: value for name, value in line.items() if name != "do"})


def _trail(summary: Mapping[str, Any], steps: Sequence[StepView]) -> str:
    trail = str(summary.get("trail", ""))
    for step in steps:
        said = json.dumps([trail, step.key, step.status, step.output, step.error_code], sort_keys=True)
        trail = hashlib.sha256(said.encode()).hexdigest()
    return trail

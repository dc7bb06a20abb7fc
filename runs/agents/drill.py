"""The agent of benches and drills: a number of steps one after the other, each a call of one tool."""

from collections.abc import Sequence

from runs.agents.base import Agent, Call, Context, Directive, Finish


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

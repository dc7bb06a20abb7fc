"""An agent for drills: it misbehaves in every way in which author code can, once its first step has ended."""

import os
import re
import time
from collections.abc import Sequence
from typing import Any

from runs.agents.base import Agent, Call, Context, Directive, Finish


class Stubborn(Agent):
    """``how``: ``raise`` · ``spin`` (never comes back, hears the alarm) · ``deaf`` (swallows every alarm) · ``regex`` (never
    comes back to the interpreter) · ``exit`` (ends its process) · ``nonsense`` (no directives)."""

    name = "drill-stubborn"
    version = "1"
    title = "Stubborn"
    description = "Misbehaves while it plans. For drills."
    input_schema = {"type": "object", "properties": {"how": {"type": "string"}, "tool": {"type": "string"}}}
    tools = ("drill.noop", "drill.effect")

    def next(self, context: Context) -> Sequence[Directive]:
        if not context.ended:
            return [Call(key="first", tool=context.input.get("tool", "drill.noop"))]
        behaviour: Any = getattr(self, "_" + str(context.input["how"]), None)
        return behaviour() if behaviour else [Finish()]

    def summarise(self, summary, steps):  # type: ignore[no-untyped-def]
        return {}

    @staticmethod
    def _raise() -> None:
        raise ValueError("no idea")

    @staticmethod
    def _spin() -> None:
        while True:
            pass

    @staticmethod
    def _deaf() -> None:
        while True:
            try:
                time.sleep(0.05)
            except BaseException:  # noqa: BLE001, S112 - that is the misbehaviour
                continue

    @staticmethod
    def _regex() -> None:
        re.match(r"(a+)+$", "a" * 48 + "b")

    @staticmethod
    def _exit() -> None:
        os._exit(9)

    @staticmethod
    def _nonsense() -> Any:
        return {"finish": object()}

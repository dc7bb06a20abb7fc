"""Calls functions of the toolbox, asynchronous and blocking ones."""

import inspect
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tools import toolbox
from tools.adapters.base import Answer, Context, Failed, Go
from tools.adapters.kind import Declared, Fault
from tools.adapters.kind import words as _


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments."""

    tool: toolbox.PythonTool
    arguments: dict[str, Any]


def faults(contract: Declared) -> Iterator[Fault]:
    """What speaks against publishing."""
    if not contract.target:
        yield Fault("target_missing", _("A Python tool needs the name of its function."), where="target")


def prepare(spec: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, Any]) -> Call:
    """Finds the function. Raises :class:`Failed` when it is not installed here."""
    try:
        return Call(toolbox.get(str(spec["target"])), dict(arguments))
    except toolbox.UnknownTool as error:
        raise Failed("tool_missing", f"{error} Nothing was called.") from None


def send(prepared: Call, go: Go | None, ctx: Context) -> Answer | Awaitable[Answer]:
    """Calls it. What it returns is the output; a function may return an :class:`Answer` to name a reference.

    Raises :class:`Failed` when the time has passed or the lease is lost before the call; what the function
    raises goes through as it is.
    """
    if ctx.lost or ctx.seconds_left <= 0:
        raise Failed("too_late", "The time to call it had passed; it was not called.")
    value = prepared.tool.function(ctx, prepared.arguments)
    return _later(value) if inspect.isawaitable(value) else _answer(value)


async def _later(value: Awaitable[Any]) -> Answer:
    return _answer(await value)


def _answer(value: Any) -> Answer:
    return value if isinstance(value, Answer) else Answer(value)

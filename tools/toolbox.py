"""The Python tools of this installation: functions under a name. No Django; children load them once.

A tool takes ``(ctx, arguments)`` and returns a JSON value (see ``tools.adapters.base.Context``)::

    @tool("orders.total")
    async def total(ctx, arguments): ...

    @tool("orders.parse", blocking=True)
    def parse(ctx, arguments): ...

``blocking`` must say what the function is: a blocking one never runs on the event loop.
"""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Where tools are defined. An address in a string, so that this room imports none above it.
MODULES = ("tools.drill", "tools.drill_service", "runs.agents.contract_review.tools")

Function = Callable[[Any, dict[str, Any]], Any]


class UnknownTool(LookupError):
    """No function of that name is installed here."""


@dataclass(frozen=True, slots=True)
class PythonTool:
    """A function, its name, and whether it blocks."""

    name: str
    function: Function
    blocking: bool


_tools: dict[str, PythonTool] = {}


def tool(name: str, *, blocking: bool = False) -> Callable[[Function], Function]:
    """Registers a function under a name that is unique in the installation. Raises ``ValueError`` when
    ``blocking`` does not fit the function, or the name is taken by another one."""

    def register(function: Function) -> Function:
        if inspect.iscoroutinefunction(function) == blocking:
            kind = "asynchronous" if blocking else "blocking"
            raise ValueError(f"The tool {name!r} is {kind}, but declared otherwise.")
        taken = _tools.get(name)
        if taken is not None and taken.function.__qualname__ != function.__qualname__:
            raise ValueError(f"Two tools are called {name!r}.")
        _tools[name] = PythonTool(name, function, blocking)
        return function

    return register


def load() -> None:
    """Imports all modules that define tools."""
    for module in MODULES:
        importlib.import_module(module)


def get(name: str) -> PythonTool:
    """The tool of that name. Raises :class:`UnknownTool`."""
    if name not in _tools:
        load()
    try:
        return _tools[name]
    except KeyError:
        raise UnknownTool(f"No Python tool is called {name!r} here.") from None


def names() -> list[str]:
    """All names, sorted."""
    load()
    return sorted(_tools)

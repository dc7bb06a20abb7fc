"""The agents of this installation, by name and version. Imports neither Django nor Celery."""

import importlib
from collections.abc import Mapping
from typing import Any

from runs.agents.base import Agent

#: Where each agent lives. The first of a name is the version that new runs get.
AGENTS = (
    "runs.agents.contract_review.agent:ContractReview",
    "runs.agents.steps:Steps",
    "runs.agents.tool_test:ToolTest",
    "runs.agents.drill:Counter",
    "runs.agents.drill:Script",
    "runs.agents.stubborn:Stubborn",
)


class UnknownAgent(LookupError):
    """No agent of that name and version is installed here."""


_loaded: dict[tuple[str, str], Agent] = {}


def all_agents() -> list[Agent]:
    """One instance of each agent, in the order of :data:`AGENTS`."""
    if not _loaded:
        for address in AGENTS:
            module, _, name = address.partition(":")
            agent: Agent = getattr(importlib.import_module(module), name)()
            _loaded[agent.name, agent.version] = agent
    return list(_loaded.values())


def get(name: str, version: str = "") -> Agent:
    """The agent of that name, in that version or the one that new runs get. Raises :class:`UnknownAgent`."""
    for agent in all_agents():
        if agent.name == name and version in ("", agent.version):
            return agent
    raise UnknownAgent(f"No agent {name} {version} is installed here.".replace("  ", " "))


def declared_budget(name: str, version: str) -> Mapping[str, Any]:
    """What that agent declares that a run may use; nothing for one that is not installed here."""
    try:
        return get(name, version).budget
    except UnknownAgent:
        return {}


def any_tool(name: str, version: str) -> bool:
    """Whether that agent calls what its input names; then what the tools said is all that it has to show."""
    try:
        return get(name, version).any_tool
    except UnknownAgent:
        return False


def digests() -> list[str]:
    """The code digests of all agents here: what this node may plan for."""
    return [type(agent).digest() for agent in all_agents()]

"""What a plan says about order: whether it can be carried out at all, and which of its steps may start now. Pure.

An agent is author code: everything it says is looked at before anything of it is carried out. Each function takes the
directives as tagged dictionaries and what the run has already (:class:`Known`, by key).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from runs.states import INSERTED, STEP_TERMINAL

RULES = ("succeeded", "ended")
LONGEST_KEY = 200

Readiness = Literal["met", "waits", "never"]


@dataclass(frozen=True, slots=True)
class Known:
    """A step that the run has: the digest of its arguments, and its state."""

    digest: str
    status: str


def needs(directive: Mapping[str, Any]) -> dict[str, str]:
    """What must have ended before, by key: the rule. An input is a dependency too: it is read when its step has ended."""
    return {**dict.fromkeys(directive.get("inputs") or (), "ended"), **(directive.get("after") or {})}


def named(directives: Iterable[Any]) -> set[str]:
    """All keys that directives speak of, as far as they can be read."""
    found: set[str] = set()
    for directive in directives:
        if isinstance(directive, Mapping):
            parts = (directive.get("after"), directive.get("inputs"))
            keys = [key for part in parts if isinstance(part, Mapping | list | tuple) for key in part]
            found.update(key for key in (directive.get("key"), *keys) if isinstance(key, str))
    return found


def contradiction(directives: Sequence[Any], known: Mapping[str, Known]) -> str:
    """Why a plan cannot be carried out, in English for the record; empty when it can."""
    for place, directive in enumerate(directives, 1):
        if problem := _shape(directive):
            return f"Directive {place}: {problem}"
    fresh = {d["key"]: needs(d) for d in reversed(directives) if d["do"] == "call" and d["key"] not in known}
    planned = {str(d["key"]) for d in directives if "key" in d}
    for key, wants in fresh.items():
        missing = sorted(set(wants) - set(known) - planned)
        if missing:
            return f"{key} waits for {', '.join(missing)}, which the task does not have."
    if ring := _ring(fresh):
        return f"These wait for each other: {', '.join(ring)}."
    return ""


def readiness(wants: Mapping[str, str], states: Mapping[str, str]) -> Readiness:
    """Whether a step with these needs may start; ``states`` are those of the steps that exist, by key."""
    answers = {_met(rule, states.get(key, "PENDING")) for key, rule in wants.items()}
    if "never" in answers:
        return "never"
    return "waits" if "waits" in answers else "met"


def _met(rule: str, status: str) -> Readiness:
    if status == "SUCCEEDED" or (rule == "ended" and status in STEP_TERMINAL):
        return "met"
    return "never" if status in STEP_TERMINAL else "waits"


def _shape(directive: Any) -> str:
    """What is wrong with the form of one directive."""
    if not isinstance(directive, Mapping) or not isinstance(directive.get("do"), str):
        return "it is no directive"
    if directive["do"] == "finish" and not isinstance(directive.get("result") or {}, Mapping):
        return "the result is no object"
    if str(directive.get("key", "")).startswith(INSERTED):
        return f"keys that begin with {' or '.join(INSERTED)} belong to the engine"
    if directive["do"] in ("ask", "wait"):
        return _parked(directive)
    if directive["do"] != "call":
        return ""
    key, tool = directive.get("key"), directive.get("tool")
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY:
        return f"the key must be text of 1 to {LONGEST_KEY} characters"
    if not isinstance(tool, str) or not tool:
        return f"{key} names no tool"
    return _parts(key, directive)


def _parked(directive: Mapping[str, Any]) -> str:
    """What is wrong with a question or a wait."""
    key, seconds = directive.get("key"), directive.get("seconds", 1)
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY:
        return f"the key must be text of 1 to {LONGEST_KEY} characters"
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        return f"the seconds of {key} must be a number above 0"
    if directive["do"] == "wait":
        signal = directive.get("signal", "")
        return (
            ""
            if isinstance(signal, str) and len(signal) <= 80
            else f"the signal of {key} must be a short name"
        )
    if not isinstance(directive.get("question"), str) or not isinstance(directive.get("role", ""), str):
        return f"{key} needs a question and the role that may answer, as text"
    return "" if isinstance(directive.get("schema") or {}, Mapping) else f"the schema of {key} is no object"


def _parts(key: str, directive: Mapping[str, Any]) -> str:
    if not isinstance(directive.get("arguments") or {}, Mapping):
        return f"the arguments of {key} are no object"
    after, inputs = directive.get("after") or {}, directive.get("inputs") or []
    if not isinstance(after, Mapping) or not all(rule in RULES for rule in after.values()):
        return f"what {key} comes after must be keys with one of {', '.join(RULES)}"
    if not isinstance(inputs, list | tuple) or not all(isinstance(one, str) for one in inputs):
        return f"the inputs of {key} must be a list of keys"
    if not isinstance(directive.get("evidence") or [], list | tuple):
        return f"the evidence of {key} must be a list"
    return ""


def _ring(fresh: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Keys that can never start because they wait for each other."""
    left = {key: {one for one in wants if one in fresh} for key, wants in fresh.items()}
    while free := [key for key, wants in left.items() if not wants]:
        for key in free:
            del left[key]
        for wants in left.values():
            wants.difference_update(free)
    return sorted(left)

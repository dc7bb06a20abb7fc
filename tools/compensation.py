"""How the way back is declared: which tool undoes an effect, and from what its arguments are made. Pure.

``compensation_arguments`` of a contract maps each argument of the undo to one of ``{"from": "key"}`` (the idempotency key of
the effect), ``{"from": "reference"}``, ``{"from": "target"}``, ``{"from": "argument", "pointer": "/room"}`` (an argument of
the effect), ``{"from": "answer", "pointer": "/id"}`` or ``{"value": …}``, as ``query_arguments`` do. Pointers are RFC 6901;
without one the whole is meant. Nothing is computed: there is a value, or the undo cannot be made.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_noop as _

from tools.gate import validator
from tools.models import Contract, EffectClass
from tools.reasons import Problem

SOURCES = ("key", "reference", "target", "argument", "answer")
#: Those in which a pointer leads to a part.
WITH_PARTS = ("argument", "answer")
BREAKS = _("It undoes %(other)s, and that would not fit any more: %(why)s")
STILL_NAMED = _("It undoes %(others)s. Publish those without it first.")
#: What an undo is given when nothing is declared.
WHOLE: Mapping[str, Any] = {
    "arguments": {"from": "argument"},
    "answer": {"from": "answer"},
    "reference": {"from": "reference"},
}


class CannotMake(Exception):
    """The arguments of an undo cannot be made. ``name`` is the argument, ``pointer`` the place where there is nothing."""

    def __init__(self, name: str, pointer: str) -> None:
        super().__init__(f"{name}: {pointer}")
        self.name, self.pointer = name, pointer


def mapping(contract: Contract) -> Mapping[str, Any]:
    """How the arguments of the undo are made."""
    declared: Mapping[str, Any] = contract.compensation_arguments
    return declared or WHOLE


def faults(declared: Any) -> Iterator[str]:
    """What is wrong with a mapping, one argument each; the names of arguments, or ``$`` for the whole."""
    if not isinstance(declared, Mapping):
        yield "$"
        return
    for name, source in declared.items():
        if not isinstance(source, Mapping) or not _is_source(source):
            yield str(name)


def arguments(declared: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the undo. ``known`` has a value for each of :data:`SOURCES`. Raises :class:`CannotMake`."""
    return {
        name: source["value"] if "value" in source else _at(name, source, known)
        for name, source in declared.items()
    }


def reversible(contract: Contract) -> bool:
    """Whether the effects of this contract have a way back."""
    return contract.effect_class == EffectClass.COMPENSABLE and bool(contract.compensating_tool)


def snapshot(contract: Contract, undo: Contract | None) -> dict[str, Any]:
    """What is stored with the dispatch: by what, under which contract, and from what the effect would be undone. ``undo``:
    the contract of the undo tool in force at that moment, if there is one."""
    return {
        "tool": contract.compensating_tool,
        "contract": undo.pk.hex if undo else None,
        "version": undo.version if undo else None,
        "arguments": dict(mapping(contract)),
    }


def _is_source(source: Mapping[str, Any]) -> bool:
    if "value" in source:
        return len(source) == 1
    if source.get("from") not in SOURCES or set(source) - {"from", "pointer"}:
        return False
    pointer = source.get("pointer", "")
    if source["from"] not in WITH_PARTS:
        return "pointer" not in source
    return isinstance(pointer, str) and (not pointer or pointer.startswith("/"))


def _parts(source: Mapping[str, Any]) -> list[str]:
    pointer = str(source.get("pointer", ""))
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _at(name: str, source: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    found: Any = known[source["from"]]
    for part in _parts(source):
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            raise CannotMake(name, _told(source))
    return found


def _told(source: Mapping[str, Any]) -> str:
    return f"{source['from']} {source.get('pointer', '')}".strip()


def problems(contract: Contract, tools: Mapping[str, Contract] | None) -> Iterator[Problem]:
    """What speaks against how a contract declares its way back. ``tools``: the contracts in force, by name; without them
    only the declaration itself is looked at."""
    declared, where = contract.compensation_arguments, "compensation_arguments"
    if wrong := list(faults(declared)):
        text = _("These arguments of the undo come from nowhere that is known: %(names)s.")
        yield Problem("compensation_form", text, {"names": ", ".join(wrong[:5])}, where)
        return
    if declared and not reversible(contract):
        yield Problem("compensation_idle", _("It says how it is undone, and is not undoable."), where=where)
    if tools is None or not reversible(contract):
        return
    undo = tools.get(contract.compensating_tool)
    if undo is None:
        text = _("The tool that undoes it is not in force: %(tool)s.")
        yield Problem(
            "compensation_unpublished", text, {"tool": contract.compensating_tool}, "compensating_tool"
        )
    else:
        yield from _fit(contract, undo, tools)


def _fit(contract: Contract, undo: Contract, tools: Mapping[str, Contract]) -> Iterator[Problem]:
    told, where = {"tool": undo.tool.name}, "compensating_tool"
    if undo.effect_class == EffectClass.READ_ONLY:
        yield Problem("compensation_reads", _("%(tool)s only reads: it undoes nothing."), told, where)
    if reversible(undo) and not _inverse(contract, undo, tools):
        text = _(
            "%(tool)s is undone by a third tool. A tool that undoes is final, or it and its own undo undo each other."
        )
        yield Problem("compensation_chain", text, told, where)
    for name, why in _misfits(contract, undo):
        text = _("What %(tool)s would be given does not fit it: %(name)s %(why)s.")
        yield Problem(
            "compensation_misfit", text, {**told, "name": name, "why": why}, "compensation_arguments"
        )


def _inverse(contract: Contract, undo: Contract, tools: Mapping[str, Contract]) -> bool:
    """Whether the undo and what undoes that undo each other."""
    if undo.compensating_tool == contract.tool.name:
        return contract.compensating_tool == undo.tool.name
    back = tools.get(undo.compensating_tool)
    return back is not None and back.compensating_tool == undo.tool.name


def _misfits(contract: Contract, undo: Contract) -> Iterator[tuple[str, str]]:
    declared = mapping(contract)
    wants: Mapping[str, Any] = undo.input_schema if isinstance(undo.input_schema, Mapping) else {}
    known: Mapping[str, Any] = wants.get("properties") or {}
    for name in wants.get("required") or []:
        if name not in declared:
            yield str(name), "is missing"
    gives: Mapping[str, Any] = contract.input_schema if isinstance(contract.input_schema, Mapping) else {}
    for name, source in declared.items():
        if wants.get("additionalProperties") is False and name not in known:
            yield name, "is not one of its arguments"
        elif "value" in source:
            errors = validator(json.dumps(known.get(name, {}), sort_keys=True)).iter_errors(source["value"])
            yield from ((name, error.message[:200]) for error in list(errors)[:1])
        elif source["from"] == "argument" and _never_given(_parts(source), gives):
            yield name, f"comes from {_told(source)}, which the call never has"


def _never_given(parts: list[str], gives: Mapping[str, Any]) -> bool:
    if not parts or gives.get("additionalProperties") is not False:
        return False
    return parts[0] not in (gives.get("properties") or {})

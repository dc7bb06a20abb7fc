"""How the way back is declared: which tool undoes an effect, and from what its arguments are made. Pure.

``compensation_arguments`` of a contract maps each argument of the undo to a JSON pointer (RFC 6901) into what is known of
the effect, or to ``{"value": …}`` for one that is always the same. Nothing is computed: a pointer leads to a value, or the
undo cannot be made. The roots are ``/arguments`` and ``/answer`` of the effect, its ``/reference``, and its
idempotency ``/key``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tools.models import Contract, EffectClass

ROOTS = ("arguments", "answer", "reference", "key")
#: What an undo is given when nothing is declared.
WHOLE: Mapping[str, Any] = {
    "arguments": "/arguments",
    "answer": "/answer",
    "reference": "/reference",
}


class CannotMake(Exception):
    """The arguments of an undo cannot be made. ``name`` is the argument, ``pointer`` what leads nowhere."""

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
        if isinstance(source, Mapping):
            right = set(source) == {"value"}
        else:
            right = isinstance(source, str) and source.startswith("/") and _parts(source)[0] in ROOTS
        if not right:
            yield str(name)


def arguments(declared: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the undo. ``known`` has the roots. Raises :class:`CannotMake`."""
    return {
        name: source["value"] if isinstance(source, Mapping) else _at(name, source, known)
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


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def _at(name: str, pointer: str, known: Mapping[str, Any]) -> Any:
    found: Any = known
    for part in _parts(pointer):
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            raise CannotMake(name, pointer)
    return found

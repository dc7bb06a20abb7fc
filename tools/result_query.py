"""A result query: how a far side is asked whether an effect happened, and how its answer is read. Pure; no code of a
contract is ever run, only looked up.

``query_arguments`` of a contract maps each argument of the asking tool to one of ``{"from": "key"}``,
``{"from": "reference"}``, ``{"from": "target"}``, ``{"from": "argument", "pointer": "/invoice/number"}`` (an argument of the
effect) or ``{"value": …}``. ``query_answer`` says where the answer stands and what it means: ``{"pointer": "/status", "yes":
["booked"], "no": ["missing"], "reference": "/id", "no_codes": ["http_404"]}``. Pointers are RFC 6901; ``no_codes`` are error
codes of the asking tool that mean no. Whatever is neither *yes* nor *no* is *unsure*.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop as _

from accounts.canonical import BadInput, digest
from tools.models import Intent
from tools.reasons import Problem
from tools.reconcile import Said

SOURCES = ("key", "reference", "target", "argument")
#: As much of an answer is kept as evidence, in characters.
SHOWN = 2_000
_MISSING = object()


class CannotAsk(Exception):
    """The question cannot be put: an argument of the effect that it needs is not there."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the far side said. ``found`` is what stood where the answer is expected."""

    said: Said
    found: Any = None
    reference: str = ""


def arguments(mapping: Mapping[str, Any], *, intent: Intent, key: str) -> dict[str, Any]:
    """The arguments of the question about one effect. ``key``: the intent's, as the far side sees it
    (``tools.adapters.kind.Kind.named``). Raises :class:`CannotAsk`."""
    return {name: _value(name, rule, intent, key) for name, rule in mapping.items()}


def read(rule: Mapping[str, Any], output: Any) -> Heard:
    """What an answer means. Never raises: a shape that nobody expected is *unsure*."""
    found = _at(output, str(rule.get("pointer", "")))
    if found is _MISSING:
        return Heard(Said.UNSURE)
    said = Said.UNSURE
    try:
        yes, no = (_among(found, rule.get(word)) for word in ("yes", "no"))
    except BadInput:
        return Heard(Said.UNSURE)
    # A value that stands in both lists says nothing; publishing refuses such a rule.
    if yes != no:
        said = Said.YES if yes else Said.NO
    reference = _at(output, str(rule["reference"])) if rule.get("reference") else ""
    named = str(reference)[:500] if isinstance(reference, str | int) else ""
    return Heard(said, found, named if said == Said.YES else "")


def failed(rule: Mapping[str, Any], code: str) -> Heard:
    """What it means that the question failed with this code."""
    codes = rule.get("no_codes")
    return Heard(Said.NO, code) if isinstance(codes, list) and code in codes else Heard(Said.UNSURE)


def faults(mapping: Any, answer: Any) -> Iterator[Problem]:
    """Everything that is wrong with the two rules of a contract."""
    yield from _mapping_faults(mapping)
    text = _("How the answer is read must name values for yes and for no, and none for both.")
    if (
        not isinstance(answer, dict)
        or set(answer) - {"pointer", "yes", "no", "reference", "no_codes"}
        or not _values(answer.get("yes"))
        or not (_values(answer.get("no")) or _values(answer.get("no_codes")))
        or not all(isinstance(one, str) for one in answer.get("no_codes") or [])
        or {digest(one) for one in answer["yes"]} & {digest(one) for one in answer.get("no") or []}
    ):
        yield Problem("query_answer", text, where="query_answer")
        return
    for name in ("pointer", "reference"):
        if not _is_pointer(answer.get(name, "")):
            text = _("%(pointer)s is no JSON pointer: it is empty or begins with /.")
            yield Problem("query_pointer", text, {"pointer": str(answer[name])[:100]}, "query_answer")


def _mapping_faults(mapping: Any) -> Iterator[Problem]:
    if not isinstance(mapping, dict):
        yield Problem(
            "query_arguments", _("The arguments of the question are no object."), where="query_arguments"
        )
        return
    for name, rule in mapping.items():
        known = isinstance(rule, dict) and (
            set(rule) == {"value"}
            or (rule.get("from") in SOURCES[:3] and set(rule) == {"from"})
            or (
                rule.get("from") == "argument"
                and set(rule) == {"from", "pointer"}
                and _is_pointer(rule["pointer"])
            )
        )
        if not known:
            text = _(
                "The argument %(name)s of the question is made of the key, the reference, the target, an argument of the "
                "effect or a fixed value."
            )
            yield Problem("query_arguments", text, {"name": str(name)[:100]}, "query_arguments")
    if not any(isinstance(rule, dict) and "from" in rule for rule in mapping.values()):
        text = _("Nothing in the question says which effect is meant.")
        yield Problem("query_blind", text, where="query_arguments")


def _value(name: str, rule: Mapping[str, Any], intent: Intent, key: str) -> Any:
    if "value" in rule:
        return rule["value"]
    match rule["from"]:
        case "key":
            return key
        case "target":
            return intent.target
        case "reference":
            found: Any = intent.reference or _MISSING
        case _:
            found = _at(intent.arguments, rule["pointer"])
    if found is _MISSING:
        raise CannotAsk(f"What the question needs as {name!r} is not known.")
    return found


def _values(given: Any) -> bool:
    return isinstance(given, list) and bool(given)


def _is_pointer(given: Any) -> bool:
    return isinstance(given, str) and (given == "" or given.startswith("/"))


def _among(found: Any, values: Any) -> bool:
    """Equal as JSON: 1 is not true, and the order of an object says nothing."""
    return isinstance(values, list) and any(digest(found) == digest(one) for one in values)


def _at(document: Any, pointer: str) -> Any:
    """What a JSON pointer leads to (RFC 6901), or :data:`_MISSING`."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and name in document:
            document = document[name]
        elif (
            isinstance(document, list)
            and name.isascii()
            and name.isdecimal()
            and (name == "0" or not name.startswith("0"))
            and int(name) < len(document)
        ):
            document = document[int(name)]
        else:
            return _MISSING
    return document

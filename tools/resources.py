"""The name of the resource that a call is put in order on: a template over its arguments, as ``account/{account_id}``. Pure.

An argument is named by a path of names joined by dots, as in the rules of a policy. Its value is a text or a whole number;
what would look like another part of the name (``/`` and ``%``) is escaped, so that two resources never share a name.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop as _

from tools.models import Contract
from tools.reasons import Reason

LONGEST = 300
_PART = re.compile(r"\{([^{}]*)\}")
_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*")


class Nameless(Exception):
    """The arguments do not name the resource."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


def ordered(contract: Contract) -> bool:
    """Whether its calls are put in order on a resource."""
    return contract.fence_rule != Contract.FenceRule.NONE and bool(contract.resource)


def arguments_of(template: str) -> list[str]:
    """The arguments that a template names. Raises ``ValueError`` for braces that do not fit together."""
    found: list[str] = _PART.findall(template)
    if "{" in _PART.sub("", template) or "}" in _PART.sub("", template):
        raise ValueError("a brace that is not closed, or not opened")
    for name in found:
        if not _PATH.fullmatch(name):
            raise ValueError(f"{{{name}}} names no argument")
    return found


def described(name: str, schema: Any) -> bool:
    """Whether a schema describes an argument of this name."""
    for part in name.split("."):
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        if not isinstance(properties, Mapping) or part not in properties:
            return False
        schema = properties[part]
    return True


def name_of(template: str, arguments: Mapping[str, Any]) -> str:
    """The name of the resource. Raises :class:`Nameless`."""
    named = _PART.sub(lambda match: _escaped(match[1], arguments), template)
    if len(named) > LONGEST:
        text = _("Its resource has a name of more than %(most)s characters.")
        raise Nameless(Reason("resource", text, {"most": LONGEST}))
    return named


def _escaped(name: str, arguments: Mapping[str, Any]) -> str:
    value: Any = arguments
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None or value == "":
        text = _("It is put in order on a resource, and the argument %(name)s that names it is missing.")
        raise Nameless(Reason("resource", text, {"name": name}))
    if isinstance(value, bool) or not isinstance(value, str | int):
        text = _("The argument %(name)s names its resource, so it must be a text or a whole number.")
        raise Nameless(Reason("resource", text, {"name": name}))
    return str(value).replace("%", "%25").replace("/", "%2F")

"""Differences between two versions of a contract, field by field, in the words of the form."""

import json
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from tools import drafts
from tools.forms import ContractForm
from tools.forms.sections import SECTIONS
from tools.models import Contract
from tools.present.path import policy_words


@dataclass(frozen=True, slots=True)
class Change:
    """As ``components/diff.html`` takes it."""

    name: str
    then: str
    now: str


def changes(before: Contract | None, after: Contract) -> list[Change]:
    """What differs; against nothing, everything that says something."""
    then = drafts.content(before) if before else {}
    now = drafts.content(after)
    return [
        Change(name_of(field), _shown(field, then.get(field)), _shown(field, now[field]))
        for field in now
        if field != "tool"
        and then.get(field) != now[field]
        and (before or now[field] not in (None, "", [], {}, False))
    ]


def name_of(field: str) -> str:
    """The label of the form for a field."""
    if field == "policy":
        return _("When a person must agree")
    label = ContractForm.Meta.labels.get(field)
    declared = ContractForm.declared_fields.get(field)
    return str(label or (declared.label if declared else None) or field)


def _shown(field: str, value: Any) -> str:
    if field == "policy" and isinstance(value, dict):
        return "\n".join(policy_words(value))
    if value is True:
        return _("yes")
    if value is False:
        return _("no")
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if isinstance(value, str) and value in (words := _words(field)):
        return str(words[value])
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, indent=2) if value else ""
    return "" if value is None else str(value)


def _words(field: str) -> dict[str, Any]:
    """What a form calls the values of a field of few choices."""
    for section in SECTIONS:
        if field in (choices := getattr(section, "CHOICES", {})):
            return {str(value): label for value, label in choices[field]}
    found = Contract._meta.get_field(field) if field in _FIELDS else None
    return dict(getattr(found, "flatchoices", None) or ())


_FIELDS = frozenset(field.name for field in Contract._meta.concrete_fields)

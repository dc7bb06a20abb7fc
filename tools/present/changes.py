"""Differences between two versions of a contract, field by field, in the words of the form."""

import json
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from tools import drafts
from tools.forms import ContractForm
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
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, indent=2) if value else ""
    return "" if value is None else str(value)

"""The form field for a list of calls: rows with a tool and its arguments as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from accounts.canonical import BadInput, strict_loads

#: Rows that are open, and all of them.
OPEN, MOST = 3, 10


@dataclass(frozen=True, slots=True)
class Choice:
    """A tool that may be called. ``takes``: the names of its arguments."""

    name: str
    title: str
    takes: Sequence[str] = ()

    @property
    def words(self) -> str:
        takes = f": {', '.join(self.takes)}" if self.takes else ""
        return f"{self.title} ({self.name}){takes}"


class Calls(forms.Widget):
    """Rows of a select and a text area."""

    template_name = "runs/widgets/calls.html"

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__()
        self.choices = list(choices)

    def get_context(self, name: str, value: Any, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, dict(attrs or {}))
        given = [row for row in value or () if isinstance(row, Mapping)]
        rows = [_row(name, place, given[place] if place < len(given) else {}) for place in range(MOST)]
        used = max(OPEN, len(given))
        return {**context, "rows": rows[:used], "more": rows[used:], "choices": self.choices}

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[dict[str, str]]:
        rows = [
            {
                "tool": str(data.get(f"{name}-{place}-tool") or ""),
                "arguments": str(data.get(f"{name}-{place}-arguments") or ""),
            }
            for place in range(MOST)
        ]
        while rows and not any(rows[-1].values()):
            rows.pop()
        return rows

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return f"{name}-0-tool" not in data


class CallsField(forms.Field):
    """Gives ``[{"tool": name, "arguments": {…}}]``."""

    #: It takes the whole width of the form.
    wide = True

    def __init__(self, *, choices: Sequence[Choice], **kwargs: Any) -> None:
        super().__init__(widget=Calls(choices), **kwargs)
        self.known = {choice.name for choice in choices}

    def to_python(self, value: Any) -> list[dict[str, Any]]:
        return [
            _call(number, row, self.known)
            for number, row in enumerate(value or (), 1)
            if row.get("tool") or str(row.get("arguments") or "").strip()
        ]


def _row(name: str, place: int, given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "number": place + 1,
        "tool_name": f"{name}-{place}-tool",
        "arguments_name": f"{name}-{place}-arguments",
        "tool": given.get("tool") or "",
        "arguments": given.get("arguments") or "",
    }


def _call(number: int, row: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    if row.get("tool") not in known:
        raise ValidationError(_("Step %(n)s: choose a tool."), params={"n": number})
    try:
        arguments = strict_loads(str(row.get("arguments") or "").strip() or "{}")
    except BadInput as bad:
        raise ValidationError(
            _("Step %(n)s: the arguments are no JSON that can be kept: %(why)s"),
            params={"n": number, "why": bad.text},
        ) from bad
    if not isinstance(arguments, dict):
        raise ValidationError(
            _("Step %(n)s: the arguments are a JSON object, in braces."), params={"n": number}
        )
    return {"tool": row["tool"], "arguments": arguments}

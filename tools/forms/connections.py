"""Connections in fields of their own: what ``config`` means for the adapters whose JSON nobody should have to remember.

For these adapters the fields are the connection; for all others the JSON is.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from tools.adapters import model, sql
from tools.forms.fields import Json

_LONG = {"rows": 6, "class": "input mono", "spellcheck": "false"}


class Connections(forms.Form):
    """A question to a database, a question to a model. Which of them counts is said by ``adapter``."""

    sql_statement = forms.CharField(
        label=_("Statement"),
        required=False,
        widget=forms.Textarea(attrs=_LONG),
        help_text=_(
            "One question. Arguments are written %(name)s and bound by the server; a percent sign is %%."
        ),
    )
    sql_secret = forms.CharField(
        label=_("Secret with the address"),
        required=False,
        max_length=80,
        help_text=_("Its value: postgresql://user:password@host:port/database. The user only reads."),
    )
    sql_role = forms.CharField(
        label=_("Role"),
        required=False,
        max_length=63,
        help_text=_("Taken on for the question; it may change nothing."),
    )
    sql_max_rows = forms.IntegerField(
        label=_("Most rows"),
        required=False,
        min_value=1,
        max_value=sql.MAX_ROWS,
        help_text=_("Without a number: 500."),
    )
    model_name = forms.CharField(
        label=_("Model"), required=False, max_length=200, help_text=_("Its name, pinned with this version.")
    )
    model_secret = forms.CharField(
        label=_("Secret with the key"), required=False, max_length=80, help_text=_("Empty: no key is sent.")
    )
    model_max_tokens = forms.IntegerField(
        label=_("Longest answer, tokens"),
        required=False,
        min_value=1,
        help_text=_("Question and answer together stay within the most tokens of one try."),
    )
    model_limit_name = forms.ChoiceField(
        label=_("The interface calls that limit"),
        required=False,
        choices=[(name, name) for name in model.LIMITS],
    )
    model_price_in = forms.DecimalField(
        label=_("Price of a million tokens asked"),
        required=False,
        min_value=0,
        max_digits=14,
        decimal_places=6,
    )
    model_price_out = forms.DecimalField(
        label=_("Price of a million tokens answered"),
        required=False,
        min_value=0,
        max_digits=14,
        decimal_places=6,
    )
    model_system = forms.CharField(
        label=_("Instructions"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Stand before every conversation."),
    )
    model_parameters = Json(
        label=_("Parameters"), required=False, help_text=_('Temperature and the like: {"temperature": 0.2}.')
    )


def shown(adapter: str, config: Any) -> dict[str, Any]:
    """What the fields show of a connection."""
    read = _READ.get(adapter)
    given = config if isinstance(config, Mapping) else {}
    auth = given.get("auth")
    return read(given, auth if isinstance(auth, Mapping) else {}) if read else {}


def typed(adapter: str, cleaned: Mapping[str, Any], before: Any) -> dict[str, Any] | None:
    """The connection that the fields say; None for an adapter that has none of its own. What ``before`` says of the way the
    key is sent stays as it is."""
    if adapter not in _READ:
        return None
    auth = before.get("auth") if isinstance(before, Mapping) else None
    kept = dict(auth) if isinstance(auth, Mapping) else {}
    secret = cleaned.get(f"{adapter}_secret") or ""
    if adapter == "sql":
        found: dict[str, Any] = {
            "statement": cleaned.get("sql_statement") or "",
            "role": cleaned.get("sql_role") or "",
            "max_rows": cleaned.get("sql_max_rows"),
        }
    else:
        prices = {name: cleaned.get(f"model_{name}") for name in ("price_in", "price_out")}
        found = {
            "model": cleaned.get("model_name") or "",
            "max_tokens": cleaned.get("model_max_tokens"),
            "limit_name": cleaned.get("model_limit_name") or "",
            "system": cleaned.get("model_system") or "",
            "parameters": cleaned.get("model_parameters") or {},
            **{name: format(price, "f") for name, price in prices.items() if price is not None},
        }
    found |= {"auth": {**kept, "secret": secret} if secret else {}}
    return {name: value for name, value in found.items() if value not in ("", None, {})}


def _sql(config: Mapping[str, Any], auth: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "sql_statement": config.get("statement", ""),
        "sql_secret": auth.get("secret", ""),
        "sql_role": config.get("role", ""),
        "sql_max_rows": config.get("max_rows"),
    }


def _model(config: Mapping[str, Any], auth: Mapping[str, Any]) -> dict[str, Any]:
    names = ("max_tokens", "limit_name", "price_in", "price_out", "system", "parameters")
    return {
        "model_name": config.get("model", ""),
        "model_secret": auth.get("secret", ""),
        **{f"model_{name}": config.get(name) for name in names if name in config},
    }


_READ: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]] = {
    "sql": _sql,
    "model": _model,
}

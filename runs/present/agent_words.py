"""What agents say, in the language of the reader.

Agents write English with a stable code beside it. Reasons are translated before their parameters are put in;
a file that was not read is explained by its code, because the English sentence may name numbers.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import get_language, gettext_noop, ngettext
from django.utils.translation import gettext as _

from runs.agents.contract_review.risk import REASONS

PERIOD = re.compile(r"(\d+) (day|week|month|year)s?")
#: Why a file was not read, by the codes of ``runs.documents`` and of the tool.
NOT_READ: Mapping[str, str] = {
    "empty": gettext_noop("There is no text in this file. Nothing was read from it."),
    "too_large": gettext_noop("This file holds more than may be read. Nothing was read from it. Split it."),
    "encrypted": gettext_noop(
        "This file is encrypted. Nothing was read from it. Give a copy without a password."
    ),
    "corrupt": gettext_noop("This file is damaged. Nothing was read from it. Give a repaired copy."),
    "scanned": gettext_noop("This file holds pictures of pages and no text. Nothing was read from it."),
    "macros": gettext_noop("This file holds macros. Nothing was read from it. Save it without them."),
    "external_entity": gettext_noop("This file asks for something outside of it. Nothing was read from it."),
    "archive_bomb": gettext_noop("This file unpacks to far more than it should. Nothing was read from it."),
    "unsupported": gettext_noop("This kind of file is not read. Give a PDF, DOCX, TXT or Markdown file."),
    "stopped": gettext_noop("Reading took more time or memory than a file may take, so it was stopped."),
}


def reason(one: Mapping[str, Any]) -> str:
    """Why a finding is as grave as it is."""
    pattern = REASONS.get(str(one.get("reason_code")))
    params = one.get("reason_params")
    if pattern is None or not isinstance(params, Mapping):
        return str(one.get("reason") or "")
    said = {name: _params(value) for name, value in params.items()}
    return _(pattern).format(**said)


def period(count: int, unit: str) -> str:
    """``3 months`` in the language of the page; a unit without words is shown as it is."""
    words = {
        "day": ngettext("%(n)s day", "%(n)s days", count),
        "week": ngettext("%(n)s week", "%(n)s weeks", count),
        "month": ngettext("%(n)s month", "%(n)s months", count),
        "year": ngettext("%(n)s year", "%(n)s years", count),
    }
    return words.get(unit, f"%(n)s {unit}") % {"n": count}


def _params(value: object) -> str:
    said = PERIOD.fullmatch(str(value))
    return period(int(said[1]), said[2]) if said else str(value)


def not_read(refused: Mapping[str, Any]) -> str:
    """Why a file was not read: the tool's own sentence in English, the sentence of its code elsewhere."""
    message = str(refused.get("message") or "")
    general = NOT_READ.get(str(refused.get("code")))
    english = (get_language() or "en").startswith("en")
    return message if english or general is None else _(general)

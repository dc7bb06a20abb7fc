"""Lengths of time as people type them, and back without loss: ``1 d 12 h`` is 129,600 seconds. A number alone is hours."""

import re
from decimal import Decimal
from typing import Final

from django.utils.translation import gettext as _

UNITS: Final = {
    "s": 1, "sec": 1, "second": 1, "seconds": 1, "秒": 1,
    "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60, "分": 60, "分钟": 60,
    "": 3600, "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600, "时": 3600, "小时": 3600,
    "d": 86_400, "day": 86_400, "days": 86_400, "天": 86_400, "日": 86_400,
    "w": 604_800, "week": 604_800, "weeks": 604_800, "周": 604_800,
}  # fmt: skip
_PART = re.compile(r"\s*([0-9]{1,9}(?:[.,][0-9]{1,3})?)\s*([a-z秒分钟时小天日周]*)\.?\s*")


def read(text: str) -> int | None:
    """Whole seconds; None when it is no length of time. Nothing typed is 0."""
    rest, total = text.strip().lower(), Decimal(0)
    if not rest:
        return 0
    while rest:
        part = _PART.match(rest)
        if part is None or part[2] not in UNITS or (not part[2] and part[0] != text.strip().lower()):
            return None
        total += Decimal(part[1].replace(",", ".")) * UNITS[part[2]]
        rest = rest[part.end() :]
    return int(total) if total == int(total) else None


def words(seconds: int) -> str:
    """The same length in the reader's language, exact: 3 days · 1 day 12 h · 90 s is 1 min 30 s."""
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    parts = [_("1 day") if days == 1 else _("%s days") % days] if days else []
    parts += [_("%s h") % hours] if hours else []
    parts += [_("%s min") % minutes] if minutes else []
    parts += [_("%s s") % rest] if rest or not parts else []
    return " ".join(parts)

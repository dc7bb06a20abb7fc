"""Lengths of time, sizes and amounts in words that people read at a glance.

``static/js/ages.js`` ticks the same words in the browser; both take their words from ``config.ui.words``.
"""

from datetime import datetime, timedelta
from typing import Final

from django.utils import formats
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

MINUTE: Final = 60
HOUR: Final = 3600
DAY: Final = 86400
TENTH: Final = 0.1
SHORTEST: Final = 0.01
LONGEST_PART: Final = 0.95  # above, one decimal would say 1.0


def span(seconds: float, *, fine: bool = False) -> str:
    """``seconds`` in at most two units: 12 s · 42 min · 2 h 22 min · 3 days.

    ``fine`` keeps the seconds beside minutes below ten minutes (1 min 41 s) and parts of the first second (0.2 s), for how
    long a step took.
    """
    total = max(0, int(seconds))
    if fine and SHORTEST <= seconds < LONGEST_PART:
        return _("%s s") % f"{seconds:.{1 if seconds >= TENTH else 2}f}"
    if total < MINUTE:
        return _("%s s") % total
    if total < HOUR:
        minutes, rest = divmod(total, MINUTE)
        text = _("%s min") % minutes
        return f"{text} {_('%s s') % rest}" if fine and minutes < 10 and rest else text
    if total < DAY:
        hours, rest = divmod(total, HOUR)
        text = _("%s h") % hours
        return f"{text} {_('%s min') % (rest // MINUTE)}" if rest >= MINUTE else text
    days = total // DAY
    return _("1 day") if days == 1 else _("%s days") % days


def between(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds from ``start`` to ``end``; ``None`` when one of them is not known."""
    return (end - start).total_seconds() if start and end else None


def as_seconds(value: timedelta | float | int | str | None) -> float | None:
    """Seconds of a timedelta or a number; ``None`` for what is neither."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    try:
        return float(value) if value is not None and value != "" else None
    except (TypeError, ValueError):
        return None


def size(count: int) -> str:
    """A size in bytes, decimal units, one digit below ten: 318 bytes · 18 KB · 1.2 MB."""
    if count < 1000:
        return ngettext("%s byte", "%s bytes", count) % count
    amount = float(count)
    for unit in ("KB", "MB", "GB", "TB"):
        amount /= 1000
        digits = 1 if amount < 9.95 else 0
        # Rounded before it is formatted: Django's formatting only cuts digits off.
        shown = round(amount, digits)
        if shown < 1000 or unit == "TB":
            return f"{formats.number_format(shown, digits)} {unit}"
    raise AssertionError("unreachable")

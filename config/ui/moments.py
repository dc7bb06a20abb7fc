"""Instants as people read them: short on the page, exact on hover, in the reader's own zone."""

from datetime import date, datetime

from django.utils import timezone
from django.utils.dateformat import format as date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import pgettext

from config.ui import spans, words


def _patterns() -> dict[str, str]:
    """Django date formats in the language of the page."""
    return {
        "clock": pgettext("date format", "H:i"),
        "time": pgettext("date format", "H:i:s"),
        "day": pgettext("date format", "j M"),
        "date": pgettext("date format", "j F Y"),
        "full": pgettext("date format", "j M Y, H:i:s T"),
        "stamp": pgettext("date format", "j M Y, H:i"),
    }


def exact(at: datetime) -> str:
    """The instant to the second with its zone, for hover and for stamps."""
    return date_format(timezone.localtime(at), _patterns()["full"])


def short(at: datetime | date, style: str = "auto", *, now: datetime | None = None) -> str:
    """``at`` in one of the styles clock, time, day, date, full, stamp; ``auto`` picks by distance from now.

    ``auto`` gives the clock for today, day and month within the year, and the full date beyond it. A plain
    date is never moved between zones.
    """
    patterns = _patterns()
    if not isinstance(at, datetime):
        return date_format(at, patterns["date" if style == "auto" else style])
    local = timezone.localtime(at)
    if style != "auto":
        return date_format(local, patterns[style])
    today = timezone.localtime(now or timezone.now())
    if local.date() == today.date():
        return date_format(local, patterns["clock"])
    return date_format(local, patterns["day" if local.year == today.year else "date"])


def tag(at: datetime | date | None, text: str, mode: str = "", style: str = "") -> SafeString:
    """A ``<time>`` with the exact instant on hover; ``mode`` and ``style`` tell the browser how to tick it."""
    if at is None:
        return SafeString("")
    if not isinstance(at, datetime):
        return format_html('<time datetime="{}">{}</time>', at.isoformat(), text)
    marks = format_html(' data-tick="{}"', mode) if mode else format_html(' data-when="{}"', style)
    return format_html('<time datetime="{}"{} title="{}">{}</time>', at.isoformat(), marks, exact(at), text)


def age(at: datetime, *, now: datetime | None = None) -> str:
    """How long ago: "42 min ago", or "just now" below five seconds."""
    seconds = ((now or timezone.now()) - at).total_seconds()
    word = words.units()
    return word["now"] if seconds < 5 else word["ago"] % spans.span(seconds)


def since(at: datetime, *, now: datetime | None = None, fine: bool = False) -> str:
    """How long it has lasted: "2 h 22 min"; ``fine`` as in :func:`config.ui.spans.span`."""
    return spans.span(((now or timezone.now()) - at).total_seconds(), fine=fine)


def left(at: datetime, *, now: datetime | None = None) -> str:
    """How much time is left until ``at``: "4 h 57 min left", or "expired"."""
    seconds = (at - (now or timezone.now())).total_seconds()
    word = words.units()
    return word["over"] if seconds <= 0 else word["left"] % spans.span(seconds)

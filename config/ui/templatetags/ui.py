"""Tags and filters of the pages. Each one only dresses what it is given."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django import template
from django.forms import BoundField, CheckboxInput, CheckboxSelectMultiple, RadioSelect
from django.template.context import Context
from django.utils.safestring import SafeString

from config.ui import axis, icons, moments, spans, states
from config.ui.reveal import odd
from config.ui.reveal import quoted as quoted_words
from config.ui.reveal import reveal as revealed

register = template.Library()


@register.simple_tag
def icon(name: str, size: str = "", label: str = "") -> SafeString:
    """``{% icon "search" %}``, ``{% icon "seal" label=_("Cannot be undone") %}``."""
    return icons.svg(name, size=size, label=str(label))


@register.inclusion_tag("components/state.html")
def state(
    kind: str,
    status: str,
    waiting_on: str = "",
    quiet: bool = False,
    pill: bool = False,
    mark_only: bool = False,
) -> dict[str, object]:
    """``{% state "run" run.status waiting_on=run.waiting_on %}``: mark, word and colour of a state."""
    shown = states.look(kind, status, waiting_on or "")
    return {
        "tone": shown.tone,
        "mark": shown.mark,
        "word": shown.word,
        "quiet": quiet,
        "pill": pill,
        "mark_only": mark_only,
    }


@register.simple_tag
def state_word(kind: str, status: str, waiting_on: str = "") -> str:
    """Only the word of a state, for titles and sentences."""
    return str(states.look(kind, status, waiting_on or "").word)


@register.simple_tag
def state_tone(kind: str, status: str, waiting_on: str = "") -> str:
    """Only the tone of a state, for the bar beside it."""
    return states.look(kind, status, waiting_on or "").tone


@register.simple_tag
def when(at: datetime | date | None, style: str = "auto") -> SafeString:
    """``{% when run.created_at %}``: the instant, short; styles clock, time, day, date, full, stamp."""
    return moments.tag(at, moments.short(at, style) if at else "", style=style)


@register.simple_tag
def age(at: datetime | None) -> SafeString:
    """``{% age run.last_activity %}``: "42 min ago", ticking."""
    return moments.tag(at, moments.age(at) if at else "", "age")


@register.simple_tag
def since(at: datetime | None) -> SafeString:
    """``{% since run.waiting_since %}``: "2 h 22 min", ticking."""
    return moments.tag(at, moments.since(at) if at else "", "since")


@register.simple_tag
def lasting(at: datetime | None) -> SafeString:
    """How long something that still runs has taken, to the second: "1 min 41 s", ticking."""
    return moments.tag(at, moments.since(at, fine=True) if at else "", "lasting")


@register.simple_tag
def left(at: datetime | None) -> SafeString:
    """``{% left action.expires_at %}``: "4 h 57 min left", ticking."""
    return moments.tag(at, moments.left(at) if at else "", "left")


@register.filter
def took(value: timedelta | float | None) -> str:
    """A length of time to the second: ``{{ step.seconds|took }}`` gives "1 min 41 s"."""
    seconds = spans.as_seconds(value)
    return "" if seconds is None else spans.span(seconds, fine=True)


@register.filter
def filesize(count: int | str | None) -> str:
    """``{{ artifact.size|filesize }}``: "18 KB", decimal units; nothing for nothing."""
    return spans.size(int(count)) if count not in (None, "") else ""


@register.filter
def reveal(text: object) -> SafeString:
    """Text from outside, with hidden and look-alike signs spelled out."""
    return revealed("" if text is None else str(text))


@register.filter
def quoted(text: object) -> SafeString:
    """Words of a document, in evidence: typographic spaces are spaces, everything else as ``reveal``."""
    return quoted_words("" if text is None else str(text))


@register.filter
def has_odd(text: object) -> bool:
    """Whether ``reveal`` would change the text."""
    return bool(odd("" if text is None else str(text)))


@register.filter
def groups(digest: object, count: int = 4) -> str:
    """The first ``count`` groups of four signs of a digest: "9f3c 71ab 22e0 5d18"."""
    if isinstance(digest, (bytes, memoryview)):
        digest = bytes(digest).hex()
    text = "" if digest is None else str(digest).removeprefix("sha256:")
    return " ".join(text[i : i + 4] for i in range(0, min(len(text), count * 4), 4))


@register.filter
def initials(name: object) -> str:
    """Two letters for a face: "Ada Lindqvist" gives "AL", one word gives its first two signs."""
    words = str(name or "").replace("@", " ").split()
    if len(words) > 1 and words[0][:1].isascii():
        return (words[0][0] + words[-1][0]).upper()
    return "".join(words)[:2].upper()


@register.filter
def paragraphs(text: object) -> list[str]:
    """Text cut at its empty lines; the lines inside a paragraph stay as they are."""
    lines = str(text or "").replace("\r\n", "\n").split("\n\n")
    return [part.strip("\n") for part in lines if part.strip()]


@register.filter
def percent(part: float | int | str | None, whole: float | int | str | None = 100) -> str:
    """``{{ used|percent:limit }}``: a length for SVG, "36.8%", between 0 and 100, never localised."""
    return axis.share(spans.as_seconds(part), spans.as_seconds(whole))


@register.filter
def control(field: BoundField) -> SafeString:
    """The control of a form field with its class and the ids of its hint and error (components/field.html)."""
    notes = [f"{field.auto_id}_hint"] if field.help_text else []
    notes += [f"{field.auto_id}_error"] if field.errors else []
    attributes: dict[str, str | bool] = {} if is_check(field) else {"class": "input"}
    if field.field.widget.attrs.get("placeholder") == field.label:
        # The label stands above already; False leaves the attribute out.
        attributes["placeholder"] = False
    if notes:
        attributes["aria-describedby"] = " ".join(notes)
    return field.as_widget(attrs=attributes)


@register.filter
def is_check(field: BoundField) -> bool:
    """Whether the field is one check box, with its label behind it."""
    return isinstance(field.field.widget, CheckboxInput)


@register.filter
def is_group(field: BoundField) -> bool:
    """Whether the field is a group of check boxes or radio buttons, which needs a legend."""
    return isinstance(field.field.widget, (CheckboxSelectMultiple, RadioSelect))


@register.inclusion_tag("components/timeline.html", takes_context=True)
def timeline(
    context: Context, rows: Sequence[Mapping[str, Any]], now: datetime | None = None, live: bool = True
) -> dict[str, object]:
    """``{% timeline rows now=snapshot_at live=run.is_live %}``; see ``config.ui.axis`` for a row's shape."""
    return {"axis": axis.lay_out(rows, now=now, live=live), "request": context.get("request")}

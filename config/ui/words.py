"""Words that the browser's modules need, in the language of the page.

They travel as attributes of ``<template id="words">`` (``templates/frame/words.html``), because the content
policy forbids inline script. The keys become ``data-`` attributes, so they are lower case with hyphens.
"""

from django.utils.translation import gettext as _
from django.utils.translation import pgettext


def units() -> dict[str, str]:
    """Units of time, with ``%s`` where the number goes."""
    return {
        "s": _("%s s"),
        "min": _("%s min"),
        "h": _("%s h"),
        "day": _("1 day"),
        "days": _("%s days"),
        "ago": _("%s ago"),
        "left": _("%s left"),
        "now": _("just now"),
        "over": _("expired"),
    }


def for_browser() -> dict[str, str]:
    """Everything that ``static/js`` says by itself."""
    return units() | {
        "live": _("Live"),
        "reconnecting": _("Reconnecting"),
        "stale": _("Not live. What you see may be old."),
        "uploading": pgettext("upload", "uploading, %s"),
        "refused": _("This file was not kept. The connection broke; choose it again."),
        "too-big": _("This file is larger than %s. It was not sent."),
        "bytes": _("%s bytes"),
        "remove": _("Remove %s"),
        "removed": _("%s was taken out."),
        "copied": _("Copied"),
        "note": _("There is something new for you."),
        "desktop-on": _("Ring on this desktop"),
        "desktop-off": _("Do not ring here any more"),
        "desktop-is-on": _("Notes ring on this desktop."),
        "desktop-is-off": _("Off. The browser will ask whether you allow it."),
        "desktop-denied": _("This browser does not allow it. Its own settings can change that."),
        "mismatch": _("This is not the text above. Nothing was approved."),
    }

"""Context processor: what every page's frame needs and no view should have to think of."""

from typing import Final

from django.http import HttpRequest

from config.ui import places, words

THEMES: Final = ("light", "dark")
THEME_COOKIE: Final = "theme"


def frame(request: HttpRequest) -> dict[str, object]:
    """``theme`` (light, dark or "" for as the system says) and ``page_words`` for the browser's modules.

    ``membership`` and ``may_administer`` come from the person that the accounts room put on the request; they
    only choose which entries the rail shows. Every view checks the rights again. ``place`` is the entry to mark.
    """
    chosen = request.COOKIES.get(THEME_COOKIE, "")
    membership = getattr(request, "membership", None)
    may_administer = membership is not None and "administrator" in membership.roles
    return {
        "theme": chosen if chosen in THEMES else "",
        "page_words": words.for_browser(),
        "membership": membership,
        "may_administer": may_administer,
        "place": places.place(request.resolver_match, may_administer=may_administer),
    }

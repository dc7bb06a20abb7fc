"""Context processor: what every page's frame needs and no view should have to think of."""

from typing import Final

from django.http import HttpRequest

from config.ui import words

THEMES: Final = ("light", "dark")
THEME_COOKIE: Final = "theme"


def frame(request: HttpRequest) -> dict[str, object]:
    """``theme`` (light, dark or "" for as the system says) and ``page_words`` for the browser's modules."""
    chosen = request.COOKIES.get(THEME_COOKIE, "")
    return {"theme": chosen if chosen in THEMES else "", "page_words": words.for_browser()}

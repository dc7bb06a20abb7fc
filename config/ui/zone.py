"""Middleware: show times in the zone of the reader's machine.

``static/js/theme.js`` stores the zone's name in a cookie; a name that the zone database does not know is
ignored, because it came from outside.
"""

import zoneinfo
from collections.abc import Awaitable, Callable
from typing import Final

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

ZONE_COOKIE: Final = "zone"


class ReaderZone:
    """Activates the reader's zone for one request, and the default one when none is known."""

    sync_capable = True
    async_capable = True

    def __init__(
        self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
    ) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Set the zone, then pass on. The next request sets its own, so nothing is restored."""
        zone = known_zone(request.COOKIES.get(ZONE_COOKIE, ""))
        if zone is None:
            timezone.deactivate()
        else:
            timezone.activate(zone)
        return self.get_response(request)


def known_zone(name: str) -> zoneinfo.ZoneInfo | None:
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None

"""The zone of the reader comes from a cookie, which is from outside."""

import pytest
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from config.ui.zone import ReaderZone


@pytest.mark.parametrize(
    ("cookie", "zone"),
    [
        ("Asia/Shanghai", "Asia/Shanghai"),
        ("", "UTC"),
        ("No/Such", "UTC"),
        ("../../etc/passwd", "UTC"),
        ("a\x00b", "UTC"),
    ],
)
def test_a_known_zone_is_used_and_anything_else_ignored(cookie: str, zone: str) -> None:
    seen: list[str] = []

    def page(request: HttpRequest) -> HttpResponse:
        seen.append(timezone.get_current_timezone_name())
        return HttpResponse()

    request = HttpRequest()
    request.COOKIES["zone"] = cookie
    ReaderZone(page)(request)
    timezone.deactivate()
    assert seen == [zone]

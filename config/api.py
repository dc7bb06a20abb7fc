"""The REST interface, version 1: the doors of the rooms, the OpenAPI document, and 404 as a problem."""

from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularJSONAPIView

from accounts.rest.problems import CONTENT_TYPE

app_name = "api"


@csrf_exempt
def nothing_here(request: HttpRequest, rest: str = "") -> JsonResponse:
    """Any other address under the interface."""
    body = {
        "type": "urn:countersign:problem:not_found",
        "title": "Not found",
        "status": 404,
        "code": "not_found",
        "detail": "There is nothing here for you. Nothing was done.",
    }
    return JsonResponse(body, status=404, content_type=CONTENT_TYPE)


urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("runs.api.urls")),
    path("", include("approvals.api.urls")),
    path("", include("tools.api.urls")),
    path("", include("outbox.api.urls")),
    path(
        "openapi.json",
        SpectacularJSONAPIView.as_view(authentication_classes=[], permission_classes=[]),
        name="openapi",
    ),
    re_path("^(?P<rest>.*)$", nothing_here, name="nothing"),
]

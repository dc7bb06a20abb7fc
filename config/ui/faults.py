"""The page for a request that cannot be read: one that is too large says so, with the limit."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views import defaults


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """413 for what is larger than ``DATA_UPLOAD_MAX_MEMORY_SIZE`` (files apart), 400 for all else."""
    if not isinstance(exception, RequestDataTooBig):
        return defaults.bad_request(request, exception)
    most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 1_000_000:g}"
    return HttpResponse(loader.get_template("413.html").render({"most": most}), status=413)

"""Errors as ``application/problem+json`` (RFC 9457): what happened, what was not done, what to do. Never a stack trace."""

import logging
import math
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

log = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
#: Typed errors of the rooms above: class → status. Filled by their doors.
_known: dict[type[Exception], int] = {}


class Problem(Exception):
    """A refusal made by a door itself."""

    def __init__(self, status: int, code: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.more = status, code, detail, more


def register(errors: Mapping[type[Exception], int]) -> None:
    """Typed errors and the status each is answered with. They carry ``code`` and ``text``."""
    _known.update(errors)


def problem(status: int, code: str, detail: str, **more: Any) -> Response:
    """One problem document; ``more`` are extension members."""
    body = {
        "type": f"urn:countersign:problem:{code}",
        "title": _TITLES.get(status, "Error"),
        "status": status,
    }
    return Response(
        {**body, "code": code, "detail": detail, **more}, status=status, content_type=CONTENT_TYPE
    )


def handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's exception handler."""
    set_rollback()
    if isinstance(error, Problem):
        return problem(error.status, error.code, error.detail, **error.more)
    for kind in type(error).__mro__:
        if kind in _known:
            return problem(
                _known[kind], getattr(error, "code", "refused"), getattr(error, "text", str(error))
            )
    if isinstance(error, Http404):
        return problem(404, "not_found", "There is nothing here for you. Nothing was done.")
    if isinstance(error, PermissionDenied | exceptions.PermissionDenied):
        return problem(403, "not_allowed", _text(error) or "You may not do this. Nothing was done.")
    if isinstance(error, exceptions.ValidationError):
        detail = "Some values cannot be used. Nothing was done. See errors."
        return problem(400, "invalid", detail, errors=error.detail)
    if isinstance(error, exceptions.Throttled):
        return _throttled(error)
    if isinstance(error, exceptions.APIException):
        return _from_drf(error)
    log.error("an API request failed", exc_info=error)
    detail = "Something broke on our side. It is not known whether it was done: read the state before you try again."
    return problem(500, "internal", detail)


def _from_drf(error: exceptions.APIException) -> Response:
    code = error.get_codes() if isinstance(error.get_codes(), str) else "refused"
    response = problem(error.status_code, str(code), _text(error))
    challenge = getattr(error, "auth_header", "")
    if challenge:
        response["WWW-Authenticate"] = challenge
    return response


def _throttled(error: exceptions.Throttled) -> Response:
    """How long to wait, in words and in the header (RFC 6585, RFC 9110 10.2.3)."""
    wait = max(1, math.ceil(getattr(error, "wait", None) or 0))
    detail = f"Too many requests of this kind in a short time. Nothing was done. Try again in {wait} seconds."
    response = problem(429, "too_many", detail, retry_after_seconds=wait)
    response["Retry-After"] = str(wait)
    return response


def _text(error: Exception) -> str:
    return str(getattr(error, "detail", "") or error)


_TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    410: "Gone",
    412: "Precondition failed",
    413: "Too large",
    415: "Unsupported media type",
    422: "Cannot be processed",
    428: "Precondition required",
    429: "Too many requests",
    500: "Internal error",
    503: "Not available",
}

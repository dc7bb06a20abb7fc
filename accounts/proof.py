"""How the person behind a session proved who they are, and how long ago: what an act of high risk asks for (checklist 11).

django-allauth writes each proof into the session: a password, or a code of the second factor, at sign-in or at "Is it still
you?". The age is measured by the clock of this web process, which wrote it; a proof from the future counts for nothing.
"""

import functools
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from accounts.models import User

METHODS = frozenset({"password", "mfa"})
View = Callable[..., HttpResponseBase]


def how(request: HttpRequest) -> str:
    """The proofs of this session in their order, each named once: ``password``, ``password+mfa``; ``session`` for none."""
    methods = [str(record.get("method", "")) for record in _records(request)]
    return "+".join(dict.fromkeys(method for method in methods if method))[:40] or "session"


def fresh(request: HttpRequest, *, now: float | None = None) -> bool:
    """The person proved who they are within the last ``COUNTERSIGN_STEP_UP_SECONDS``. ``now`` is for tests."""
    at = _latest(request)
    age = (time.time() if now is None else now) - at if at is not None else -1.0
    return 0 <= age <= settings.COUNTERSIGN.step_up_seconds


def ask(request: HttpRequest, *, back: str) -> HttpResponseRedirect:
    """To the page that asks for a proof, and from there to ``back``. Raises PermissionDenied for who has none to give."""
    methods = get_adapter(request).get_reauthentication_methods(request.user)
    if not methods:
        raise PermissionDenied
    return HttpResponseRedirect(f"{methods[0]['url']}?{urlencode({REDIRECT_FIELD_NAME: back})}")


def rotating(view: View) -> View:
    """A page that takes a proof: the session may do more afterwards, so it gets a new key (checklist 7)."""

    @functools.wraps(view)
    def rotated(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        before = _latest(request)
        response = view(request, *args, **kwargs)
        if _latest(request) != before:
            request.session.cycle_key()
        return response

    return rotated


def _latest(request: HttpRequest) -> float | None:
    times = [record.get("at") for record in _records(request) if record.get("method") in METHODS]
    return max((float(at) for at in times if isinstance(at, int | float)), default=None)


def _records(request: HttpRequest) -> list[dict[str, Any]]:
    user = request.user if isinstance(request.user, User) else None
    return [record for record in get_authentication_records(request, user) if isinstance(record, dict)]

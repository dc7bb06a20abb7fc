"""Limits in front of a view: counted on POST, before the view runs, so that parallel requests gain
nothing."""

import functools
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from accounts import limits
from accounts.addresses import client_address

View = Callable[..., HttpResponseBase]


def limited(
    view: View,
    name: str,
    *,
    per_address: int,
    seconds: float = 300,
    per_field: tuple[str, int] | None = None,
    per_person: int | None = None,
) -> View:
    """Allow so many POSTs in a window: from one address, for one value of a form field, by one signed-in
    person."""

    @functools.wraps(view)
    def counted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST":
            keys = [(f"{name}-from:{client_address(request.META)}", per_address)]
            if per_field:
                keys.append((f"{name}:{request.POST.get(per_field[0], '').strip().lower()}", per_field[1]))
            if per_person and request.user.is_authenticated:
                keys.append((f"{name}-by:{request.user.pk}", per_person))
            if not all(limits.allow(key=key, limit=limit, seconds=seconds) for key, limit in keys):
                return too_many(request, seconds)
        return view(request, *args, **kwargs)

    return counted


def too_many(request: HttpRequest, seconds: float) -> HttpResponseBase:
    """429 with the reason, for people."""
    response = render(request, "429.html", {"minutes": round(seconds / 60)}, status=429)
    response["Retry-After"] = str(round(seconds))
    return response

"""Limits in front of a view: counted on POST, before the view runs, so that parallel requests gain
nothing. A :class:`Rate` is one for all doors of a verb: page and REST count the same person together."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from accounts import limits
from accounts.addresses import client_address

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Rate:
    """So many POSTs in a window of ``seconds``: from one address, by one person, whichever tokens they use."""

    name: str
    per_address: int
    per_person: int | None = None
    seconds: float = 300

    def keys(self, address: str, person: Any = None) -> list[tuple[str, int]]:
        """What is counted, each with its limit; ``person`` is a primary key or None."""
        keys = [(f"{self.name}-from:{address}", self.per_address)]
        if self.per_person and person is not None:
            keys.append((f"{self.name}-by:{person}", self.per_person))
        return keys

    def allow(self, keys: Sequence[tuple[str, int]]) -> bool:
        """Count one try for each key; False when one of them is used up."""
        return all(limits.allow(key=key, limit=limit, seconds=self.seconds) for key, limit in keys)


def limited(
    view: View,
    rate: Rate,
    *,
    per_field: tuple[str, int] | None = None,
    refuse: Callable[[HttpRequest, float], HttpResponseBase] | None = None,
) -> View:
    """Allow so many POSTs in a window: those of ``rate``, and for one value of a form field. ``refuse`` answers for a
    page that cannot show ours."""

    @functools.wraps(view)
    def counted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST":
            keys = rate.keys(client_address(request.META), request.user.pk)
            if per_field:
                value = request.POST.get(per_field[0], "").strip().lower()
                keys.insert(1, (f"{rate.name}:{value}", per_field[1]))
            if not rate.allow(keys):
                response = (refuse or too_many)(request, rate.seconds)
                response["Retry-After"] = str(round(rate.seconds))
                return response
        return view(request, *args, **kwargs)

    return counted


def too_many(request: HttpRequest, seconds: float) -> HttpResponseBase:
    """429 with the reason, for people."""
    return render(request, "429.html", {"minutes": round(seconds / 60)}, status=429)

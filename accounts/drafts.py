"""What a person had typed when they were sent to prove who they are: kept in their session, so that nothing is typed twice.

One draft at a time. It dies with the session, with the next POST to the same place, and of age.
"""

import time
from typing import Final

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict

KEY: Final = "draft"
LASTS: Final = 3600.0
#: Signs. A form of ours is far smaller; the session is no store.
LARGEST: Final = 50_000
NEVER_KEPT: Final = frozenset({"csrfmiddlewaretoken", "password"})


def keep(request: HttpRequest, *, of: str) -> None:
    """Keep the POSTed fields for the page ``of``; what is too large is not kept."""
    fields = {name: values for name, values in request.POST.lists() if name not in NEVER_KEPT}
    if sum(len(str(value)) for values in fields.values() for value in values) <= LARGEST:
        request.session[KEY] = {"of": of, "fields": fields, "at": time.time()}


def find(request: HttpRequest, *, of: str) -> MultiValueDict[str, str] | None:
    """The fields that were kept for this page; looking changes nothing."""
    kept = request.session.get(KEY)
    if not isinstance(kept, dict) or kept.get("of") != of or time.time() - kept["at"] > LASTS:
        return None
    return MultiValueDict(kept["fields"])


def drop(request: HttpRequest, *, of: str) -> None:
    """It was taken up, or typed anew."""
    if find(request, of=of) is not None:
        del request.session[KEY]

"""Context processor: the number at the bell."""

import functools
from typing import Any

from django.http import HttpRequest

from outbox.notify import reads


def notes_count(request: HttpRequest) -> dict[str, Any]:
    """``notes_count``: how many notes this person has not read; counted when a page draws it, and only once."""
    membership = getattr(request, "membership", None)
    if membership is None:
        return {"notes_count": 0}

    @functools.cache
    def count() -> int:
        return reads.bell(user_id=membership.user_id, tenant_id=membership.tenant_id)

    return {"notes_count": count}

"""Context processor: the number beside Inbox."""

import functools
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest

from approvals import inbox


def inbox_count(request: HttpRequest) -> dict[str, Any]:
    """``inbox_count``: how many actions wait for this person; counted when a page draws it, and only once."""
    membership = getattr(request, "membership", None)
    if membership is None:
        return {"inbox_count": 0}

    @functools.cache
    def count() -> int:
        return inbox.count_for(user_id=membership.user_id, tenant_id=membership.tenant_id)

    counted: Callable[[], int] = count
    return {"inbox_count": counted}

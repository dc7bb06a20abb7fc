"""Order on a resource: our gateway as the proxy of far sides that know no tokens (L11). Every verb JOINS the caller's
transaction; lock order: after intents, before quotas.

``at_least``: a call whose token is older than the last one on its resource is refused. ``strict``: its token must be newer,
and while one effect on the resource is under way, or nobody knows what became of it, no other begins. A resource belongs to
a tenant, and all its tools that name it share the order.
"""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db import connection

from accounts.ids import new_id
from accounts.statements import run, statement
from outbox import bell
from tools.models import Contract, Intent, ResourceFence

STRICT = Contract.FenceRule.STRICT
UNDER_WAY = (Intent.Status.DISPATCHED, Intent.Status.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Taken:
    """Another effect on the resource is under way, or its outcome is unknown."""

    by: Intent


@dataclass(frozen=True, slots=True)
class Older:
    """Somebody with a newer token was on the resource already."""

    last_token: int


def enter(*, intent: Intent, contract: Contract, fence: int) -> Taken | Older | None:
    """Whether this effect may begin on its resource; None: it may. Holds the resource until the end of the transaction, in
    which :func:`keep` follows."""
    given = {"id": new_id(), "tenant": intent.tenant_id, "resource": intent.resource}
    ((last_token,),) = run("tools", "lock_resource", given)
    # Whoever is under way here is seen: it had to hold the resource when it began.
    others = Intent.everywhere.filter(
        tenant_id=intent.tenant_id, resource=intent.resource, status__in=UNDER_WAY
    ).exclude(pk=intent.pk)
    if contract.fence_rule != STRICT:
        others = others.filter(contract__fence_rule=STRICT)
    first = others.order_by("dispatched_at", "pk").first()
    if first is not None:
        return Taken(first)
    strict = contract.fence_rule == STRICT
    return Older(last_token) if fence < last_token or (strict and fence == last_token) else None


def keep(*, intent: Intent, fence: int) -> None:
    """The token of an effect that begins now, on a resource that the transaction holds."""
    ResourceFence.everywhere.filter(tenant_id=intent.tenant_id, resource=intent.resource).update(
        last_token=fence
    )


def left(*, intents: Collection[uuid.UUID]) -> None:
    """These effects are not under way any more; whoever waits for their resources is rung for with the commit.

    Waits for a begin that holds such a resource: after it, the poll that the bell starts sees what that begin parked. Works
    in a pipeline too.
    """
    with connection.cursor() as cursor:
        given: dict[str, Any] = {"intents": list(intents), "channel": bell.CHANNEL, "word": bell.FREED}
        cursor.execute(statement("tools", "leave_resources"), given)


def holders(*, tenant_id: uuid.UUID, resources: Collection[str]) -> dict[str, Intent]:
    """The oldest effect under way on each of these resources, where there is one; for pages."""
    rows = Intent.everywhere.filter(tenant_id=tenant_id, resource__in=resources, status__in=UNDER_WAY)
    newest_first = rows.exclude(resource="").order_by("-dispatched_at", "-pk")
    return {intent.resource: intent for intent in newest_first}

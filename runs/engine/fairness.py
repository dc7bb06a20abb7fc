"""Fair share: whose steps run next, and when a node lets others in (L18).

The statement ``claim_steps`` shares one claim out among tenants, counting their leases from the rows. Here is what goes on
around it: the circle of tenants between claims, a second go for places that the first left empty, the lock of tenants near
their quota; and :class:`Sticky`, the rule for commits that would go on with the next step of a run at once.
"""

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from django.conf import settings

from accounts.statements import statement
from runs.engine.workspace import cursor, document

#: Goes of one claim; each fills places that the one before left empty.
ROUNDS: Final = 6
#: Tenants considered in one go. A claim of few steps considers fewer, but never so few that weight means nothing.
FEWEST, MOST = 8, 64
#: A tenant with room for fewer than so many full claims under its quota is served under its lock. No more than so many
#: claims may be under way for it at one moment without seeing each other, or they could pass the quota together.
BATCHES: Final = 4
#: One place in so many of a pool is kept on top of them for others than the tenant that fills the pool.
KEPT: Final = 16
#: A full pool gives one of so many places up to whoever waits, and at least one in so many seconds.
GIVE_UP_ONE_OF, GIVE_UP_EVERY = 16, 0.05
#: Columns of a step begin here in a row of ``claim_steps``.
STEP: Final = 5

Ask = Callable[[Mapping[str, Any]], Sequence[tuple[Any, ...]]]

#: Where the circle of tenants goes on, by pool. Two engine threads may both write it: then some tenant is served twice.
_served: dict[str, uuid.UUID] = {}


def share_out(ask: Ask, *, room: Mapping[str, int], most: Mapping[str, int]) -> list[tuple[Any, ...]]:
    """Fills ``room`` (free places by pool) with claimed steps and gives their columns. ``ask`` runs ``claim_steps`` with
    what it is given; ``most``: how many places of a pool one tenant may have on this node. Joins."""
    left, found = dict(room), []
    locked: list[uuid.UUID] = []
    near = BATCHES * settings.COUNTERSIGN.claim_batch
    for _ in range(ROUNDS):
        tenants = min(MOST, max(FEWEST, *left.values()))
        rows = ask({"room": _room(left, most), "tenants": tenants, "near": near, "locked": locked})
        steps = [row[STEP:] for row in rows if row[STEP] is not None]
        pools = {row[0]: row[1:STEP] for row in rows}
        found += steps
        for step in steps:
            left[step[6]] -= 1
        close = sorted(
            {tenant for _walked, _last, near_ones, _more in pools.values() for tenant in near_ones}
        )
        if close and not locked:
            # Once in a transaction and in order of id: claims never wait for each other in a ring.
            cursor().execute(statement("runs", "lock_quotas"), {"tenants": close})
            locked = close
            left = {pool: left[pool] for pool in pools if left[pool] > 0}
            continue
        _served.update({pool: last for pool, (_walked, last, _near, _more) in pools.items()})
        left = {
            pool: left[pool]
            for pool, (walked, _last, _near, more) in pools.items()
            if left[pool] > 0 and (walked >= tenants or more)
        }
        if not left:
            break
    return found


def _room(left: Mapping[str, int], most: Mapping[str, int]) -> str:
    return document(
        [
            {"pool": pool, "free": free, "most": most.get(pool), "after": _served.get(pool)}
            for pool, free in left.items()
        ]
    )


class Pace:
    """How often full pools let go of a place, and which tenants have more leases than their quota. One for the process:
    all engine threads fill the same pools."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at = dict[str, float]()
        self._kept = Counter[str]()
        self.over: frozenset[uuid.UUID] = frozenset()

    def gives_up(self, pool: str) -> bool:
        """Whether the next place of this full pool goes back to the queue."""
        with self._lock:
            self._kept[pool] += 1
            due = self._kept[pool] >= GIVE_UP_ONE_OF or monotonic() - self._at.get(pool, 0.0) >= GIVE_UP_EVERY
            if due:
                self._kept[pool], self._at[pool] = 0, monotonic()
            return due

    def look(self) -> None:
        """Asks which tenants hold more leases than their quota: it may have been lowered. Takes no locks."""
        found = cursor()
        found.execute(statement("runs", "over_quota"), {"quota": settings.COUNTERSIGN.tenant_leases})
        self.over = frozenset(row[0] for row in found.fetchall())


PACE = Pace()


@dataclass(frozen=True, slots=True)
class Places:
    """``left``: free places of this node by pool, counted down as they are taken. ``kept``: how many of all places of a pool
    are kept for tenants that do not fill it."""

    left: dict[str, int]
    kept: Mapping[str, int]


class Sticky:
    """Which next steps of one commit this node may take at once. A run that always went on at once would keep its place
    until it ends, and a tenant whose runs hold all places would keep everybody else out.

    A tenant never gets more leases here than its outcomes gave back. In another pool than theirs it takes no place that
    is kept for others. When a pool is full, now and then a step goes through the queue, where shares decide.
    """

    def __init__(self, given_back: Sequence[tuple[uuid.UUID, str]], places: Places) -> None:
        """``given_back``: tenant and pool of each outcome."""
        self.free = places
        self.leases = Counter(tenant for tenant, _pool in given_back)
        self.places = Counter(given_back)

    def may(self, tenant: uuid.UUID, pool: str) -> bool:
        """Takes a place for a step of ``tenant`` in ``pool``, if it may have one."""
        free, own = self.free.left.get(pool, 0), self.places[tenant, pool] > 0
        if free <= 0 or self.leases[tenant] <= 0 or tenant in PACE.over:
            return False
        if not own and free <= self.free.kept.get(pool, 0):
            return False
        if free == 1 and PACE.gives_up(pool):
            return False
        self.free.left[pool] -= 1
        self.leases[tenant] -= 1
        self.places[tenant, pool] -= own
        return True

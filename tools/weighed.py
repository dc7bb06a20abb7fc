"""The coverage of a run before a call, for the floor of its tenant. Joins the caller's transaction."""

import uuid
from collections.abc import Iterable
from decimal import Decimal

from accounts.statements import run as ask
from tools.coverage import Coverage
from tools.models import Intent


def before(*, run_id: uuid.UUID, key: str, unsaved: Iterable[Intent] = ()) -> Coverage | None:
    """``key`` is that of the call itself, which is not counted; ``unsaved`` are intents of the same run that this
    transaction is about to insert. None: the call undoes something, and no floor stops that."""
    for reversible, whole in ask("tools", "weights", {"run": run_id, "key": key}):
        found = Coverage(Decimal(reversible), Decimal(whole))
        for one in unsaved:
            if one.key != key:
                found = found.plus(one.contract.effect_class, Decimal(one.contract.weight))
        return found
    return None

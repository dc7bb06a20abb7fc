"""Counters that survive restarts, so that every web process tells the same.

Most are counted from the history, a few seconds behind it, by :func:`count_history`: nothing is written for them where steps
are committed. What leaves no line there is rare, and added where it happens by :func:`add`; such a row is locked after the
audit head, as the last lock of its transaction.
"""

import json
from collections.abc import Iterable

from django.db import transaction

from accounts.statements import run

#: Upper bounds in seconds.
STEP_BOUNDS = (0.005, 0.02, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
LONG_BOUNDS = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0, 604_800.0)
SHORT_BOUNDS = (0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0)
#: Seconds of history counted in one transaction, and how long a line may wait for its run's lock before it is committed.
STEP, MARGIN = 300.0, 10.0


def add(name: str, *labels: str, by: int = 1) -> None:
    """Raises one counter. Joins the caller's transaction, if there is one; call it last."""
    rows = [{"name": name, "labels": "|".join(labels), "value": by}]
    run("runs", "tally_add", {"rows": json.dumps(rows)})


def count_history(*, margin: float = MARGIN) -> int:
    """Counts what of the history is certain not to change any more; in how many rounds. Each event is counted once: the mark
    moves in the same transaction. Owns its transactions."""
    rounds = 1
    while _round(margin):
        rounds += 1
    _recoveries()
    return rounds


def _round(margin: float) -> bool:
    """True: there is more to count at once. What is committed late lies below a mark that was set before, so only that is
    counted which lies below one that every transaction still under way began after."""
    with transaction.atomic(durable=True):
        ((after, ready, upto, settled),) = run("runs", "tally_mark", {"step": STEP})
        upto = upto if settled else after
        if upto > after:
            bounds = {"step": list(STEP_BOUNDS), "long": list(LONG_BOUNDS), "short": list(SHORT_BOUNDS)}
            run("runs", "tally_events", {"after": after, "upto": upto, **bounds})
        more: bool = upto < ready
        run("runs", "tally_advance", {"counted": upto, "same": more, "margin": margin})
    return more and settled


def _recoveries() -> None:
    """Steps that were taken back from a worker and have been claimed again: how long that took."""
    with transaction.atomic(durable=True):
        run("runs", "tally_recoveries", {"bounds": list(SHORT_BOUNDS)})


def labelled(names: Iterable[str]) -> dict[str, dict[tuple[str, ...], float]]:
    """The counters of these names: by name and labels."""
    found: dict[str, dict[tuple[str, ...], float]] = {name: {} for name in names}
    for name, labels, value in run("runs", "tallies", {"names": list(found)}):
        found[name][tuple(labels.split("|")) if labels else ()] = float(value)
    return found

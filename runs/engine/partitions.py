"""Months of history: makes the partitions of ``runs_event`` ahead of time (section 2).

Without its month a row goes to ``runs_event_default`` and is as good there; months only keep indexes small. A month whose
rows are in the default partition already is not made: they stay where they are.
"""

import logging
from datetime import date

from django.db import OperationalError, connection, transaction

from runs.engine.workspace import cursor

log = logging.getLogger(__name__)

AHEAD = 3
#: Attaching waits for statements that read the table, and new ones wait behind it: better to try again later.
PATIENCE = "2s"

_MISSING = """
SELECT m::date FROM generate_series(date_trunc('month', now() AT TIME ZONE 'UTC'),
    date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => %s), interval '1 month') m
WHERE to_regclass('runs_event_' || to_char(m, '"y"YYYY"m"MM')) IS NULL
  AND NOT EXISTS (SELECT 1 FROM runs_event_default d
                  WHERE d.at >= m AT TIME ZONE 'UTC' AND d.at < (m + interval '1 month') AT TIME ZONE 'UTC')
ORDER BY m"""


def make_months(*, ahead: int = AHEAD) -> int:
    """Makes this month's partition and those of ``ahead`` months, as far as they are missing; how many. Gives up until the
    next time when the table is too busy."""
    missing = cursor()
    missing.execute(_MISSING, [ahead])
    made = 0
    for (month,) in missing.fetchall():
        try:
            _make(month)
        except OperationalError as error:
            log.warning("the partition of %s could not be made now: %s", month, error)
            break
        made += 1
    return made


def _make(month: date) -> None:
    """Made beside the table and attached, which stops nobody who writes to other months."""
    following = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    name = f"runs_event_y{month.year:04d}m{month.month:02d}"
    with transaction.atomic(durable=True), connection.cursor() as run:
        run.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
        run.execute(f"CREATE TABLE {name} (LIKE runs_event INCLUDING ALL)")
        run.execute(
            f"ALTER TABLE runs_event ATTACH PARTITION {name}"
            f" FOR VALUES FROM ('{month} 00:00+00') TO ('{following} 00:00+00')"
        )
        run.execute(
            f"CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON {name}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )

"""How the engine's connections plan: always along indexes.

The engine touches few rows of tables that grow for ever, and its statements are prepared once and kept. A plan made while a
table was small would read the whole of it again and again later. The statements do their part: they name the ids.

No statement waits for ever either: behind a lock that nobody lets go, a thread of the engine would stand while its leases
are renewed.
"""

import threading

from django.db import connection

_SETTINGS = (
    "SET enable_seqscan = off; SET enable_material = off; SET plan_cache_mode = force_generic_plan; SET jit = off;"
    "SET statement_timeout = '30s'"
)
_local = threading.local()


def tune() -> None:
    """Sets this thread's connection up, once for each time it is made. Raises ``DatabaseError`` like any statement."""
    connection.ensure_connection()
    if getattr(_local, "tuned", None) is not connection.connection:
        with connection.cursor() as cursor:
            cursor.execute(_SETTINGS)
        _local.tuned = connection.connection

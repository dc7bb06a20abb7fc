"""Alerts: what the machine repaired or could not, told to administrators (O6). An alert is an entry of the audit chain, a
message ``alert.raised`` and a line of the log.

Joins a transaction that holds the run, which makes "once for each key" safe.
"""

import logging
import uuid

from accounts import audit
from accounts.audit import ALERT
from accounts.models import AuditEntry
from outbox.append import append

log = logging.getLogger(__name__)


def alert(*, tenant_id: uuid.UUID, run_id: uuid.UUID, code: str, text: str, key: str) -> bool:
    """Raises one alert about a run; False when that of this ``key`` was raised before."""
    told = AuditEntry.everywhere.filter(tenant_id=tenant_id, run_id=run_id, act=ALERT, payload__key=key)
    if told.exists():
        return False
    payload = {"run_id": run_id.hex, "code": code, "text": text[:500], "key": key}
    append(topic=ALERT, key=run_id.hex, tenant_id=tenant_id, payload=payload)
    audit.append(
        tenant_id=tenant_id,
        act=ALERT,
        subject=("run", run_id.hex),
        run_id=run_id,
        actor_kind="engine",
        payload=payload,
    )
    log.warning("alert %s about run %s: %s", code, run_id, text)
    return True

"""Duties: periodic work with one elected holder, from a conditional update, so that neither a broker nor a single
process need be alive for it to go on."""

import os
import secrets
import socket
from collections.abc import Mapping
from typing import Any

from django.db.models.functions import Now

from accounts.statements import run
from outbox.models import Duty

#: This process; a new one after each start, also when the pid comes round again.
HOLDER = f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(4)}"


def hold(name: str, seconds: float, *, holder: str = HOLDER) -> bool:
    """Take or keep a duty for so many seconds of the database's clock; False while somebody else holds it."""
    return bool(run("outbox", "hold_duty", {"name": name, "holder": holder, "seconds": seconds}))


def report(name: str, result: Mapping[str, Any], *, holder: str = HOLDER) -> None:
    """Note when a duty was last done and what came of it; changes nothing when somebody else holds it by now."""
    Duty.objects.filter(name=name, holder=holder).update(last_run_at=Now(), last_result=dict(result))

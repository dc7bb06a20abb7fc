"""How much came too late, over all tenants: for metrics."""

from accounts.models import AuditEntry
from runs.models import Quarantined


def terminal_conflicts() -> int:
    """Messages that came for a run that had ended (S2)."""
    return int(AuditEntry.everywhere.filter(act="run.terminal_conflict").count())


def quarantined() -> int:
    """Results of executions that had lost their step (L6)."""
    return int(Quarantined.everywhere.count())

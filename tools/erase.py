"""Retention in the workbench: what an intent carried is erased, what proves it stays."""

import uuid

from tools.models import Intent


def erase(*, run_id: uuid.UUID) -> int:
    """Takes arguments and answers from the intents of a run that has ended; how many. Key, digest, target, reference and the
    evidence of settlements stay. Joins the caller's transaction."""
    return Intent.everywhere.filter(run_id=run_id).update(
        arguments={}, answer=None, drift=[], compensation_snapshot=None
    )

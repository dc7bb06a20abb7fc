"""Draws, from what ran without a person, what somebody looks at afterwards."""

from typing import Final

from django.conf import settings
from django.db import transaction

from accounts.statements import run
from approvals import sampling

#: Lots are the first 32 bits of a hash, so this many there are.
LOTS: Final = 2**32


@transaction.atomic
def draw(*, limit: int = 100) -> int:
    """Draws what falls under the share of the installation, and one of each tool for a week that is over with none; at most
    ``limit`` at a time, the rest the next time. The lot of an effect is a hash of its key: asking again draws the same, and
    nobody who submits a task chooses the key."""
    share = round(settings.COUNTERSIGN.sample_percent / 100 * LOTS)
    return sampling.keep(
        sampling.Lot(*row) for row in run("runs", "unsampled", {"share": share, "limit": limit})
    )

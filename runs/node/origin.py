"""Whether the database of a node is still the one that it works on (section 5). A node that lived through a restore ends:
what its children may be sending is not known to the database any more."""

import logging
from pathlib import Path

from accounts.origin import Seen, Witness, compare
from runs.node.clock import boot

log = logging.getLogger(__name__)

EVERY = 1.0


class OtherDatabase(BaseException):
    """The database was exchanged or set back under a running node. Not an Exception: nothing may go on after it."""


class Watched:
    """Looks at most every :data:`EVERY` seconds. ``folder`` is that of the data."""

    def __init__(self, folder: Path) -> None:
        self.witness = Witness(folder)
        self.last: Seen | None = None
        self.doubt = ""
        self.due = 0.0

    def look(self) -> None:
        """Raises :class:`OtherDatabase`. While there is a doubt since the start of the node it only says so: the claim
        itself takes nothing then."""
        if boot() < self.due:
            return
        self.due = boot() + EVERY
        found = self.witness.check()
        if self.last is not None and not self.doubt:
            why = found.doubt or compare(self.last, found.seen)
            if why or found.seen.generation != self.last.generation:
                raise OtherDatabase(why or "A restore was taken in while this node ran.")
        if found.doubt and not self.doubt:
            log.error("%s Nothing is claimed until manage.py restored was run.", found.doubt)
        elif self.doubt and not found.doubt:
            log.warning("the restore was taken in: work goes on")
        self.doubt, self.last = found.doubt, found.seen

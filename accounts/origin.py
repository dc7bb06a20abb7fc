"""Which database this is, and whether it may have been set back: another cluster, another timeline, or a log that is
shorter than one that was seen. Nothing is claimed then until an administrator has taken the restore in, because what
happened in the world after the backup stands in no table (architecture.md, section 5).
"""

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from django.utils.translation import gettext_noop as _

from accounts.models import DatabaseOrigin
from accounts.statements import run

OTHER_CLUSTER = _("This is another database cluster than the one that was accepted.")
OTHER_TIMELINE = _("This database was recovered or promoted: its timeline is another one.")
SET_BACK = _("This database was set back: it knows less than it did before.")


@dataclass(frozen=True, slots=True)
class Seen:
    """A database as somebody saw it. ``position``: bytes of log that are on its disk; it only grows on one timeline."""

    system: str
    timeline: int
    generation: int
    position: int


@dataclass(frozen=True, slots=True)
class Origin:
    """``seen`` now; ``doubt``: why it may have been set back, in English, empty when all is well."""

    seen: Seen
    doubt: str


def look() -> Origin:
    """What this database is and what is recorded against it. A database that nobody has looked at is accepted."""
    ((system, timeline, position, known, known_timeline, generation, doubt),) = run("accounts", "origin", {})
    if known is None:
        run("accounts", "adopt_origin", {"system": system, "timeline": timeline})
    elif not doubt:
        doubt = OTHER_CLUSTER if known != system else OTHER_TIMELINE if known_timeline != timeline else ""
    return Origin(Seen(system, timeline, generation, position), doubt)


def compare(before: Seen, now: Seen) -> str:
    """Why ``now`` may be a set-back of ``before``; empty when it is not, or was taken in since."""
    if now.generation > before.generation:
        return ""
    if now.generation < before.generation:
        return SET_BACK
    if now.system != before.system:
        return OTHER_CLUSTER
    if now.timeline != before.timeline:
        return OTHER_TIMELINE
    return SET_BACK if now.position < before.position else ""


def doubt(why: str) -> None:
    """Records it where every process sees it; the first words stay."""
    DatabaseOrigin.objects.filter(pk=1, doubt="").update(doubt=why[:300])


class Witness:
    """A file outside the database that remembers how far it was: what a restore of the data folder alone cannot take
    back. One for each folder of data; a lost one costs only this check."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "database.json"

    def check(self) -> Origin:
        """Looks, compares with what was remembered, records a doubt, and remembers what it saw."""
        # Read first: what another process writes after our look may be ahead of it, and is no set-back.
        before = self._read()
        now = look()
        why = now.doubt or (compare(before, now.seen) if before else "")
        if why and not now.doubt:
            doubt(why)
        if not why:
            self._write(now.seen)
        return Origin(now.seen, why)

    def _read(self) -> Seen | None:
        try:
            return Seen(**json.loads(self.file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def _write(self, seen: Seen) -> None:
        """A full disk must not stop the work."""
        with contextlib.suppress(OSError):
            half = self.file.with_name(f"{self.file.name}.{os.getpid()}")
            half.write_text(json.dumps(asdict(seen)), encoding="utf-8")
            half.replace(self.file)

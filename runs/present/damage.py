"""What people are told about a damaged file: what happened, what was done, what they can do."""

from django.utils import formats, timezone
from django.utils.translation import gettext as _

from runs.models import Damage


def words(damage: Damage) -> str:
    """Two or three sentences."""
    return f"{_what(damage)} {_done(damage)}"


def _what(damage: Damage) -> str:
    when = formats.date_format(timezone.localtime(damage.found_at), "DATETIME_FORMAT")
    if damage.found == "missing":
        return _("On %(when)s this file was found to be gone from the storage.") % {"when": when}
    return _("On %(when)s this file was found to be damaged: it did not have its checksum any more.") % {
        "when": when
    }


def _done(damage: Damage) -> str:
    result = {
        Damage.Outcome.SAME: _("The step that made it ran again and made the same file."),
        Damage.Outcome.OTHER: _("The step that made it ran again and made another file; a person was asked."),
        Damage.Outcome.FAILED: _("The step that made it ran again and failed; a person was asked."),
        Damage.Outcome.WHOLE: _("Later it was read whole again."),
        Damage.Outcome.ANSWERED: _("Nothing could make it again by itself; a person was asked and answered."),
    }.get(Damage.Outcome(damage.outcome))
    if result is not None:
        return result
    return {
        Damage.Done.REMAKING: _(
            "Nothing of it was sent. The step that made it runs again; try once more in a moment."
        ),
        Damage.Done.ASKED: _(
            "Nothing of it was sent. Nothing can make it again by itself, so a person is asked how the task goes on."
        ),
        Damage.Done.NOTED: _(
            "Nothing of it was sent, and because the task has ended, nothing was changed. The finding is recorded; "
            "an administrator can put the file back from a backup."
        ),
    }[Damage.Done(damage.done)]

"""Why the desk said no. Each error changes nothing, and its text says what happened and what to do next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from tools.reasons import Reason

if TYPE_CHECKING:
    from approvals.models import Decision, PendingAction


class DeskError(Exception):
    """The answer was not taken and nothing has changed. ``code`` is stable; ``str()`` is for people."""

    code = "refused"


class NotAllowed(DeskError):
    """This person may not give this answer, at this moment."""

    code = "not_allowed"

    def __init__(self, reasons: Sequence[Reason]) -> None:
        super().__init__(" ".join(str(reason) for reason in reasons))
        self.reasons = tuple(reasons)


class NeedsProof(DeskError):
    """Something of high risk, and the person has not shown lately who they are; or a token without the express grant."""

    code = "proof_needed"

    def __init__(self) -> None:
        super().__init__(
            _(
                "This is of high risk: prove again that it is you, then answer. A token needs the scope "
                "decide_high_risk. Nothing was decided."
            )
        )


class AlreadyDecided(DeskError):
    """Somebody was faster. ``first`` is the decision that counts; empty when the question was withdrawn."""

    code = "already_decided"

    def __init__(self, action: "PendingAction", first: "Decision | None") -> None:
        super().__init__(
            _("This was already decided. Your answer was not taken; nothing has changed.")
            if first
            else _("This question no longer stands. Your answer was not taken; nothing has changed.")
        )
        self.action, self.first = action, first


class AlreadyLookedAt(DeskError):
    """Somebody else answered of a sample first."""

    code = "already_looked_at"

    def __init__(self, name: str) -> None:
        super().__init__(_("%s was faster. Your answer was not taken; nothing has changed.") % name)


class Superseded(DeskError):
    """A newer generation of the same question stands in its place: ``by``."""

    code = "superseded"

    def __init__(self, by: "PendingAction") -> None:
        super().__init__(
            _("A newer question stands in this one’s place. Your answer was not taken; read the newer one.")
        )
        self.by = by


class Stale(DeskError):
    """What the answer was given to is not what stands here now."""

    code = "stale"

    def __init__(self, text: str = "") -> None:
        super().__init__(
            text or _("What you saw is not what stands here now. Your answer was not taken; read it again.")
        )


class Expired(DeskError):
    """Time ran out by the clock of the database, which denies."""

    code = "expired"

    def __init__(self) -> None:
        super().__init__(_("The time to decide has run out, so nothing is sent. Your answer was not taken."))


class BadAnswer(DeskError):
    """A field of the answer is missing or cannot be taken."""

    code = "bad_answer"

    def __init__(self, field_name: str, text: str) -> None:
        super().__init__(text)
        self.field, self.text = field_name, text


class NotAlike(DeskError):
    """A question that cannot be answered together with the others."""

    code = "not_alike"


class Unread(DeskError):
    """Something of it is folded, and the person has not opened it."""

    code = "unread"

    def __init__(self) -> None:
        super().__init__(
            _("A long parameter was not opened. Nothing was approved: open it and read it whole.")
        )


class RowRefused(DeskError):
    """One row of a batch does not hold, so nothing was recorded for any of them. ``number`` counts from 1."""

    code = "row_refused"

    def __init__(self, number: int, action: "PendingAction", cause: DeskError) -> None:
        text = _("Row %(number)s does not hold, so nothing was recorded for any of them. %(why)s")
        super().__init__(text % {"number": number, "why": cause})
        self.number, self.action, self.cause = number, action, cause


class Held(DeskError):
    """Somebody else reads it just now."""

    code = "held"

    def __init__(self, by: str) -> None:
        super().__init__(_("%(name)s holds it just now. Nothing has changed.") % {"name": by})


class NotHeld(DeskError):
    """There is no claim that this person could give back."""

    code = "not_held"

    def __init__(self) -> None:
        super().__init__(_("You do not hold it, or not any more. Nothing has changed."))


class NotGranted(DeskError):
    """There is no approval that could be taken back."""

    code = "not_granted"

    def __init__(self) -> None:
        super().__init__(_("There is no approval here that stands. Nothing has changed."))


class TooLate(DeskError):
    """The effect had begun before the approval was taken back."""

    code = "too_late"

    def __init__(self) -> None:
        super().__init__(
            _(
                "It was too late: it had been sent already. Your wish is kept in the audit; cancel the task to stop what "
                "has not begun."
            )
        )

"""Refusals of the workbench. Each says what was not done."""

import uuid
from collections.abc import Sequence

from tools.reasons import Problem


class Refused(Exception):
    """A verb found the intent in another state, under another dispatch or a newer fence. Nothing was changed.

    ``verb`` is what was asked, ``found`` the state the row was in (empty: no such row).
    """

    def __init__(self, verb: str, intent_id: uuid.UUID, found: str, why: str = "") -> None:
        reason = why or f"it is {found or 'missing'}"
        super().__init__(f"{verb!r} changed nothing on intent {intent_id}: {reason}.")
        self.verb, self.intent_id, self.found, self.why = verb, intent_id, found, why


class SenderGone(Exception):
    """This process is recorded as gone, so it may not send or claim. Nothing was changed."""


class CannotAttest(Exception):
    """Nothing was recorded about this process; the text says why."""


class ContractRefused(Exception):
    """A contract was not published. ``problems`` says why; nothing was changed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(" ".join(str(problem) for problem in problems))
        self.problems = list(problems)

"""What can go wrong in the workshop, in plain words. Standard library only."""


class EngineError(Exception):
    """Base of the typed refusals of the engine. ``code`` is stable, ``text`` is for people."""

    code = "engine"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class NotFound(EngineError):
    """There is no such row for this caller."""

    code = "not_found"


class AlreadyEnded(EngineError):
    """The run has ended: nothing was changed."""

    code = "already_ended"

    def __init__(self, text: str, status: str) -> None:
        super().__init__(text)
        self.status = status


class KeyReused(EngineError):
    """The same submit key came with another task."""

    code = "key_reused"


class BadTask(EngineError):
    """The task cannot be accepted; ``field`` names what to change."""

    code = "bad_task"

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field

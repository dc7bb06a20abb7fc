"""What is known of the one ``tools/call`` of a session: whether its first byte may have left, and what was said."""

from collections.abc import Callable
from typing import Any

from accounts.canonical import storable


class Refused(Exception):
    """It is not sent: too late, or it was sent before."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


class Watch:
    """Transports ask :meth:`go` before the first byte of a ``tools/call``. ``status``: that of its HTTP answer, 0 without
    one. ``problem``: why something was not sent or not answered, code and words; the first one counts. ``over``: we end the
    session ourselves, which is no problem."""

    def __init__(self, last_look: Callable[[], None] = lambda: None) -> None:
        """``last_look`` raises :class:`Refused` when the time to send has passed."""
        self._last_look = last_look
        self.sent = False
        self.status = 0
        self.over = False
        self.problem: tuple[str, str] | None = None

    def go(self) -> None:
        """The call is about to leave. Raises :class:`Refused`; whoever gets that sends nothing."""
        if self.sent:
            # No library repeats an effect here (B67), whatever its reasons.
            raise Refused("sent_before", "It was sent before; it is not sent again.")
        self._last_look()
        self.sent = True

    def note(self, code: str, text: str) -> None:
        """Something went wrong."""
        if not self.over:
            self.problem = self.problem or (code, text)


def is_call(message: Any) -> bool:
    """Whether a JSON-RPC message asks for an effect, perhaps."""
    return isinstance(message, dict) and message.get("method") == "tools/call"


def readable(value: Any) -> Any:
    """What came, with everything written out that cannot be stored (NUL, lone surrogates, numbers that are none)."""
    return storable(value, max_depth=60)[0]

"""The way out. The one egress function lives in a room above; the roof sets it here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

#: Pairs of name and value.
Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the far side said. ``retry_after`` in seconds, 0: it did not say."""

    status: int
    text: str
    retry_after: float = 0.0


class NotTaken(Exception):
    """There is no answer; the text says why, without anything secret."""


class Way(Protocol):
    """How deliveries leave the house."""

    def objection(self, url: str) -> str:
        """Why nothing is ever sent to this address, in words for people; empty: none is known. Asks no network."""

    def post(self, url: str, headers: Headers, body: bytes) -> Answer:
        """One POST, sent once, redirects not followed. Raises :class:`NotTaken`."""


class _Closed:
    """Before the roof has set anything."""

    def objection(self, url: str) -> str:
        return ""

    def post(self, url: str, headers: Headers, body: bytes) -> Answer:
        raise NotTaken("No way out is set.")


_way: list[Way] = [_Closed()]


def use(way: Way) -> None:
    """Set it."""
    _way[0] = way


def out() -> Way:
    """The way that is set."""
    return _way[0]

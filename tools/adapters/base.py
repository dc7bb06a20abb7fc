"""What every adapter is: prepare, then send, then one of three answers. No Django.

*It happened*: :class:`Answer`. *Known not to have happened*: :class:`Failed`. *Nobody can tell*:
:class:`Unknown`. When in doubt it is Unknown; an error that is none of these after the send began counts as
Unknown too (the node sees to that).
"""

import uuid
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import IO, Any, Protocol


class Failed(Exception):
    """Known not to have happened. ``code`` is stable, for retry rules; ``text`` is for people; ``facts`` are plain values
    for whoever acts on it."""

    def __init__(self, code: str, text: str, *, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.code, self.text, self.facts = code, text, facts


class Unknown(Exception):
    """Nobody can tell whether it happened. Never repeated by itself, and raised only when nothing of this
    call can send any more: it counts as the sender's word that it has stopped (docs/decisions/0008)."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class Answer:
    """It happened. ``output`` may hold anything; who stores it escapes what cannot be stored. ``reference``
    is what the far side calls it."""

    output: Any
    reference: str = ""


class Prepared(Protocol):
    """A checked request, ready to be sent; only its adapter looks inside."""


class Go(Protocol):
    """Permission to send, as begin gave it: until so many ``seconds`` have passed, under this key and
    fence."""

    @property
    def dispatch_id(self) -> uuid.UUID: ...
    @property
    def key(self) -> str: ...
    @property
    def fence(self) -> int: ...
    @property
    def seconds(self) -> float: ...


class Context(Protocol):
    """What a call may know of the step it works for."""

    key: str
    fence: int
    inputs: Mapping[str, Any]

    @property
    def cancelled(self) -> bool: ...
    @property
    def lost(self) -> bool: ...
    @property
    def seconds_left(self) -> float: ...
    def progress(self) -> None: ...
    def spend(self, *, tokens: int = 0, cost: Any = 0) -> None: ...
    def open_artifact(self, sha256: str) -> IO[bytes]: ...
    def store(
        self,
        data: bytes | IO[bytes],
        *,
        name: str,
        media_type: str,
        kind: str = "output",
        metadata: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]: ...


class Adapter(Protocol):
    """One kind of far side. ``spec`` is that of ``tools.selectors.spec``. ``go`` is None for read-only
    calls."""

    def prepare(
        self, spec: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, Any]
    ) -> Any:
        """Checks everything that can be checked without the far side. Raises :class:`Failed`."""

    def send(self, prepared: Any, go: Go | None, ctx: Context) -> Answer | Awaitable[Answer]:
        """Calls the far side once. Raises :class:`Failed` or :class:`Unknown`."""

"""Ids: UUIDv7 (time-ordered, RFC 9562), shown to people and in the API with a type prefix such as
``run_0192…``."""

import uuid

from uuid_utils.compat import uuid7

PREFIXES = {
    "run": "run",
    "step": "stp",
    "pendingaction": "act",
    "intent": "int",
    "sample": "smp",
    "artifact": "art",
    "message": "evt",
    "tenant": "ten",
    "user": "usr",
    "tool": "tol",
    "contract": "con",
    "apitoken": "tok",
    "webhookendpoint": "whe",
    "webhookdelivery": "whd",
    "notification": "ntf",
    "chattarget": "cht",
}


class BadId(ValueError):
    """The text is not an id of the expected kind. The caller answers 404: a malformed id names nothing."""


def new_id() -> uuid.UUID:
    """A new UUIDv7. Ids made later by the same process sort later."""
    return uuid7()


def public(kind: str, value: uuid.UUID) -> str:
    """``public("run", id)`` → ``run_`` and 32 hexadecimal digits."""
    return f"{PREFIXES[kind]}_{value.hex}"


def parse(kind: str, text: str) -> uuid.UUID:
    """The id behind a public form (or a bare UUID). Raises :class:`BadId` on anything else."""
    prefix, _, rest = text.rpartition("_")
    if prefix and prefix != PREFIXES[kind]:
        raise BadId(f"{text!r} is not the id of a {kind}")
    try:
        return uuid.UUID(rest)
    except ValueError as error:
        raise BadId(f"{text!r} is not the id of a {kind}") from error

"""Files as evidence. The workshop keeps files and says how (``keep_with``); the desk names what was kept."""

import uuid
from collections.abc import Mapping
from typing import IO, Any, Protocol

from django.core import signing

from approvals.errors import BadAnswer
from approvals.models import PendingAction

_SALT = "approvals.evidence"


class Keeper(Protocol):
    """Keeps one file of a task. Raises :class:`NotKept`."""

    def __call__(
        self, *, tenant_id: uuid.UUID, run_id: uuid.UUID, user_id: uuid.UUID, name: str, stream: IO[bytes]
    ) -> Mapping[str, Any]: ...


class NotKept(Exception):
    """Why a file was not kept, in words for the person."""


_keepers: list[Keeper] = []


def keep_with(keeper: Keeper) -> None:
    """Set who keeps files."""
    _keepers[:] = [keeper]


def keep(*, action: PendingAction, user_id: uuid.UUID, name: str, stream: IO[bytes]) -> dict[str, Any]:
    """The file as evidence names it: ``file`` (its name), ``sha256``, ``size``. Owns its transaction. Raises BadAnswer."""
    try:
        kept = _keepers[0](
            tenant_id=action.tenant_id, run_id=action.run_id, user_id=user_id, name=name, stream=stream
        )
    except NotKept as error:
        raise BadAnswer("file", str(error)) from error
    return {"file": kept["name"], "sha256": kept["sha256"], "size": kept["size"]}


def ticket(kept: Mapping[str, Any], action: PendingAction) -> str:
    """Names a kept file in a form that came back with an error, so that nobody has to choose it again."""
    return signing.dumps({**kept, "action": action.pk.hex}, salt=_SALT)


def of_ticket(text: str, action: PendingAction) -> dict[str, Any] | None:
    """The file that a form names; None for a ticket that is not of this question."""
    try:
        found: dict[str, Any] = signing.loads(text, salt=_SALT)
    except signing.BadSignature:
        return None
    return found if found.pop("action", "") == action.pk.hex else None

"""What the rooms above know about their topics: who is told, in which words, and where it leads."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from django.conf import settings
from django.utils import translation

from accounts.letters import Letter
from accounts.models import Tenant, User
from accounts.rights import membership


class Writer(Protocol):
    """What a room above knows about its topic."""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of note that it may write."""

    def kind_of(self, payload: Mapping[str, Any], user: User | None) -> str:
        """What a note about this is to this person; without one, to the tenant's chat."""

    def recipients(self, payload: Mapping[str, Any]) -> Iterable[User]:
        """Who should be told, with the rights of this moment."""

    def letter(self, payload: Mapping[str, Any], user: User) -> Letter | None:
        """The note in the active language; None when it has become pointless."""

    def path(self, payload: Mapping[str, Any]) -> str:
        """The page that it leads to, without the house's own address."""


_writers: dict[str, Writer] = {}
_ends: dict[str, tuple[str, ...]] = {}


def register(topic: str, writer: Writer, *, ends: Sequence[str] = ()) -> None:
    """Set the writer of a topic. ``ends``: kinds of notes about the same thing that need nobody to read them any more."""
    _writers[topic] = writer
    _ends[topic] = tuple(ends)


def ends(topic: str) -> tuple[str, ...]:
    """Which kinds of notes are over with this topic."""
    return _ends.get(topic, ())


def registered() -> dict[str, Writer]:
    """Topic → writer, of all topics that have one."""
    return dict(_writers)


def writer_of(topic: str) -> Writer:
    """Raises KeyError for a topic without a writer."""
    return _writers[topic]


def write(topic: str, payload: Mapping[str, Any], user: User, tenant_id: uuid.UUID) -> Letter | None:
    """In the person's language of now."""
    with translation.override(language_of(user, tenant_id)):
        return _writers[topic].letter(payload, user)


def write_now(topic: str, payload: Mapping[str, Any], user: User, tenant_id: uuid.UUID) -> Letter | None:
    """As :func:`write`, and None too for a person who would not be told any more: no member now, or without the right."""
    if membership(user_id=user.pk, tenant_id=tenant_id) is None:
        return None
    if all(one.pk != user.pk for one in _writers[topic].recipients(payload)):
        return None
    return write(topic, payload, user, tenant_id)


def language_of(user: User | None, tenant_id: uuid.UUID) -> str:
    """The person's, or what the tenant speaks for people who never chose."""
    if user is not None and user.language:
        return user.language
    chosen = Tenant.objects.filter(pk=tenant_id).values_list("language", flat=True).first()
    return chosen if chosen in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE

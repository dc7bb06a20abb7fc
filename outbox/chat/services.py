"""Which chats there are. An address has the form that apprise gives it (https://github.com/caronc/apprise/wiki)."""

import importlib
import logging
from dataclasses import dataclass
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from outbox.chat import line

LONGEST: Final = 1_000
TITLE_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Service:
    """``module`` and ``name``: its class in the library. ``own``: on a server that the address names, else at the
    service's own. ``example`` is shown beside the field."""

    word: str
    module: str
    name: str
    schemes: tuple[str, ...]
    example: str
    own: bool = False


SERVICES: Final = (
    Service("Slack", "slack", "NotifySlack", ("slack",), "slack://T…/B…/…"),
    Service("Microsoft Teams", "workflows", "NotifyWorkflows", ("workflows",), "workflows://host/id/signature"),
    Service("Discord", "discord", "NotifyDiscord", ("discord",), "discord://id/token"),
    Service("Telegram", "telegram", "NotifyTelegram", ("tgram",), "tgram://bot-token/chat-id"),
    Service("Google Chat", "google_chat", "NotifyGoogleChat", ("gchat",), "gchat://workspace/key/token"),
    Service("Zulip", "zulip", "NotifyZulip", ("zulip",), "zulip://bot@organisation/token"),
    Service("Mattermost", "mattermost", "NotifyMattermost", ("mmost", "mmosts"), "mmosts://host/token", own=True),
    Service("Rocket.Chat", "rocketchat", "NotifyRocketChat", ("rocket", "rockets"), "rockets://token@host/room", own=True),
    Service("Gotify", "gotify", "NotifyGotify", ("gotify", "gotifys"), "gotifys://host/token", own=True),
    Service("ntfy", "ntfy", "NotifyNtfy", ("ntfy", "ntfys"), "ntfys://host/topic", own=True),
    Service("JSON", "custom_json", "NotifyJSON", ("json", "jsons"), "jsons://host/path", own=True),
)  # fmt: skip
_BY_SCHEME: Final = {scheme: one for one in SERVICES for scheme in one.schemes}


class BadAddress(ValueError):
    """Why nothing is ever sent there, in words for people, without the address."""


class NotSent(Exception):
    """The service did not take it; the text holds nothing secret."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What may be shown of an address."""

    service: str
    hint: str


def parse(address: str) -> Parsed:
    """Raises :class:`BadAddress`. Asks no network."""
    service = _service(address)
    _plugin(address)
    host = urlsplit(address.strip()).hostname or ""
    if service.own and not host:
        raise _bad_form(service)
    return Parsed(service.word, host[:120] if service.own else service.word)


def send(address: str, *, title: str, text: str) -> None:
    """One message, in the thread of the caller, for at most :data:`outbox.chat.line.SECONDS` and one answer. Raises
    :class:`BadAddress` and :class:`NotSent`. May be called from several threads at once."""
    plugin = _plugin(address)
    trail = line.begin()
    taken = plugin.send(title=title[:TITLE_LENGTH], body=text)
    if not taken or trail.said:
        raise NotSent(trail.said or _("The service did not take it."))


def _service(address: str) -> Service:
    found = _BY_SCHEME.get(address.strip().partition("://")[0].lower())
    if found is None or len(address) > LONGEST:
        words = ", ".join(one.word for one in SERVICES)
        raise BadAddress(
            _("it begins with no service that is known here. There are %(words)s.") % {"words": words}
        )
    return found


def _plugin(address: str) -> Any:
    """The library's object for an address."""
    service = _service(address)
    made = _class(service)
    try:
        parts = made.parse_url(address.strip())
        if not parts:
            raise TypeError
        return made(**{**parts, "asset": _asset(), "include_image": False})
    except Exception as error:
        # Whatever the library says may quote the address.
        raise _bad_form(service) from error


def _bad_form(service: Service) -> BadAddress:
    form = {"word": service.word, "example": service.example}
    return BadAddress(_("an address of %(word)s has the form %(example)s.") % form)


@cache
def _class(service: Service) -> Any:
    """Its class, with our line in the place of ``requests``."""
    module = importlib.import_module(f"apprise.plugins.{service.module}")
    module.__dict__["requests"] = line.Line()
    # What it logs may quote the address.
    logging.getLogger("apprise").setLevel(logging.CRITICAL)
    return getattr(module, service.name)


@cache
def _asset() -> Any:
    from apprise import AppriseAsset

    return AppriseAsset(app_id="Countersign", app_desc="Countersign", app_url="", storage_mode="memory")

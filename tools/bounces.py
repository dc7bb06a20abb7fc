"""Bounces: what a mail server reports about a letter that was sent (RFC 3464, delivery status notifications). Pure.

Whoever can send a mail can send something that looks like such a report. It is evidence, never a decision.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage, Message
from email.parser import BytesParser
from typing import Any

from accounts.canonical import storable

#: The largest report that is read, in bytes, and how many recipients of it.
MOST_BYTES, MOST_RECIPIENTS = 1_000_000, 10
_LONGEST = 500
#: The left side of our own Message-IDs (``tools.adapters.smtp.message_id``).
_OURS = re.compile(r"<([0-9a-f]{40})@[^<>@\s]{1,253}>")


class NoReport(Exception):
    """It is no delivery status notification that can be used. ``code`` is stable."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class Report:
    """One recipient of one report. ``name`` is the same for the same report, however often it arrives; ``mark`` is the left
    side of the Message-ID of the letter."""

    name: str
    mark: str
    action: str
    status: str
    recipient: str
    text: str


def read(data: bytes) -> list[Report]:
    """What a message says about a letter of ours. Raises :class:`NoReport`."""
    if len(data) > MOST_BYTES:
        raise NoReport("too_large", f"The message is larger than {MOST_BYTES} bytes.")
    try:
        message = BytesParser(policy=policy.default).parsebytes(data)
        found = list(_reports(message))
    except NoReport:
        raise
    except Exception as error:
        # The parser of the standard library raises many things about headers that are none.
        raise NoReport("unreadable", "The message cannot be read.") from error
    return found


def _reports(message: EmailMessage) -> Iterator[Report]:
    part = next((one for one in message.walk() if one.get_content_type() == "message/delivery-status"), None)
    if part is None:
        raise NoReport("no_report", "The message is no delivery status notification (RFC 3464).")
    mark = _mark(message)
    groups = [one for one in part.get_payload() if isinstance(one, Message)] if part.is_multipart() else []
    about = [one for one in groups if one.get("Final-Recipient") or one.get("Action")]
    if not about:
        raise NoReport("no_recipient", "The notification names no recipient.")
    for group in about[:MOST_RECIPIENTS]:
        action = _text(group.get("Action")).lower()
        known = action if action in ("failed", "delayed", "delivered", "relayed", "expanded") else "other"
        recipient = (
            _text(group.get("Final-Recipient") or group.get("Original-Recipient")).rpartition(";")[2].strip()
        )
        status, text = _text(group.get("Status")), _text(group.get("Diagnostic-Code"))
        own = _text(message.get("Message-ID"))
        seed = f"{own}\n{mark}\n{known}\n{status}\n{recipient}\n{text}"
        name = hashlib.sha256(seed.encode("utf-8", "backslashreplace")).hexdigest()
        yield Report(name, mark, known, status[:40], recipient[:254], text)


def _mark(message: EmailMessage) -> str:
    """From the returned letter or its headers; a report without them may answer to the letter."""
    for one in message.walk():
        kind = one.get_content_type()
        if kind == "message/rfc822" and one.is_multipart():
            returned: Any = one.get_payload(0)
            named = returned.get("Message-ID")
        elif kind == "text/rfc822-headers":
            named = _header(_decoded(one))
        else:
            continue
        if found := _OURS.search(str(named or "")):
            return found[1]
    for name in ("In-Reply-To", "References"):
        if found := _OURS.search(str(message.get(name) or "")):
            return found[1]
    raise NoReport("no_letter", "The notification does not say which letter of ours it is about.")


def _decoded(part: Message) -> str:
    data = part.get_payload(decode=True)
    return data.decode("latin-1") if isinstance(data, bytes) else ""


def _header(text: str) -> str:
    found = re.search(r"(?im)^message-id:\s*(<[^>]{1,400}>)", text)
    return found[1] if found else ""


def _text(value: Any) -> str:
    kept = " ".join(str(value or "").split())[:_LONGEST]
    return str(storable(kept)[0])

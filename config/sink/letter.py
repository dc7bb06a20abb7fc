"""What a delivered message says, and how often the same one arrived."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from functools import lru_cache

from config.sink.store import Delivery


@dataclass(frozen=True)
class Attachment:
    """One file of a message; `size` in bytes."""

    name: str
    media_type: str
    size: int
    sha256: str
    content: bytes


@dataclass(frozen=True)
class Letter:
    """The parts a reader sees. `digest` is over all of them, and over nothing that a resend would change."""

    message_id: str
    sender: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    reply_to: str
    subject: str
    body: str
    attachments: tuple[Attachment, ...]
    headers: tuple[tuple[str, str], ...]
    digest: str


@lru_cache(maxsize=512)
def read(delivery: Delivery) -> Letter:
    return parse(delivery.raw)


def parse(raw: bytes) -> Letter:
    """Never raises for odd mail: what cannot be read is shown as far as it can be."""
    message = message_from_bytes(raw, policy=policy.default)
    attachments = tuple(_attachment(part) for part in message.iter_attachments())
    headers = tuple((name, _text(message, name, value)) for name, value in message.raw_items())
    known = {name: _header(message, name) for name in ("From", "To", "Cc", "Reply-To", "Subject")}
    body = _body(message)
    seen = [known, body, [(part.name, part.sha256) for part in attachments]]
    return Letter(
        message_id=_header(message, "Message-ID"),
        sender=known["From"],
        to=_addresses(known["To"]),
        cc=_addresses(known["Cc"]),
        reply_to=known["Reply-To"],
        subject=known["Subject"],
        body=body,
        attachments=attachments,
        headers=headers,
        digest=hashlib.sha256(json.dumps(seen, sort_keys=True).encode(errors="replace")).hexdigest(),
    )


def _text(message: EmailMessage, name: str, value: object) -> str:
    try:
        return str(message.policy.header_fetch_parse(name, str(value)))
    except (ValueError, IndexError, LookupError):
        return str(value)


def _header(message: EmailMessage, name: str) -> str:
    for found, value in message.raw_items():
        if found.lower() == name.lower():
            return _text(message, name, value).strip()
    return ""


def _addresses(header: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in header.split(",") if part.strip())


def _body(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    try:
        return str(part.get_content()).replace("\r\n", "\n")
    except (LookupError, ValueError):
        return _bytes(part).decode("utf-8", "replace")


def _bytes(part: MIMEPart) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _attachment(part: MIMEPart) -> Attachment:
    content = _bytes(part)
    return Attachment(
        name=part.get_filename() or "unnamed",
        media_type=part.get_content_type(),
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        content=content,
    )


def counts(deliveries: Sequence[Delivery]) -> dict[int, tuple[int, int]]:
    """Delivery number → how often its Message-ID, and how often its content arrived; an empty id counts 0."""
    letters = {delivery.number: read(delivery) for delivery in deliveries}
    by_id = Counter(letter.message_id for letter in letters.values())
    by_content = Counter(letter.digest for letter in letters.values())
    return {
        number: (by_id[letter.message_id] if letter.message_id else 0, by_content[letter.digest])
        for number, letter in letters.items()
    }

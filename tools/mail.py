"""A letter as the receiver will see it: composed once, for the preview that a person approves and for the
bytes that are sent. Imports no Django."""

import mimetypes
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

import idna

MAX_ATTACHMENT_BYTES = 20_000_000
_LOCAL = re.compile(r"[^\s@<>()\[\]\\,;:\"\x00-\x1f\x7f]+(?<!\.)\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class BadLetter(ValueError):
    """The arguments make no letter. ``where`` names the argument, ``text`` says in English what is wrong
    with it."""

    def __init__(self, where: str, text: str) -> None:
        super().__init__(f"{where}: {text}")
        self.where, self.text = where, text


@dataclass(frozen=True, slots=True)
class Attachment:
    """A stored file that goes along: what it is called, how large it is (bytes), and the checksum of its
    content."""

    name: str
    size: int
    sha256: str
    media_type: str


@dataclass(frozen=True, slots=True)
class Letter:
    """Addresses are as given; their network form is :func:`ascii_address`."""

    sender_name: str
    sender: str
    reply_to: str
    to: str
    subject: str
    text: str
    attachments: tuple[Attachment, ...] = ()

    @property
    def domain(self) -> str:
        """The mail domain of the sender, in its network form."""
        return ascii_address(self.sender, "from").rpartition("@")[2]


def letter(arguments: Mapping[str, Any], tenant: Mapping[str, Any]) -> Letter:
    """The letter that these arguments mean, in the name of a tenant (``name``, ``mail_from``,
    ``mail_reply_to``).

    Raises :class:`BadLetter`. Equal arguments and tenants give equal letters.
    """
    sender, reply_to = _text(tenant, "mail_from"), str(tenant.get("mail_reply_to") or "")
    ascii_address(sender, "from")
    if reply_to:
        ascii_address(reply_to, "reply_to")
    name = str(tenant.get("name") or "")
    to = _text(arguments, "to")
    ascii_address(to, "to")
    return Letter(
        sender_name=_one_line(name, "from"),
        sender=sender,
        reply_to=reply_to,
        to=to,
        subject=_one_line(_text(arguments, "subject"), "subject"),
        text=_body(_text(arguments, "text")),
        attachments=_attachments(arguments.get("attachments") or []),
    )


def message(
    of: Letter, *, message_id: str, fence: int, now: datetime, files: Mapping[str, bytes]
) -> EmailMessage:
    """The RFC 5322 message. ``files`` are the contents by checksum, already verified."""
    made = EmailMessage(policy=SMTP.clone(cte_type="7bit", utf8=not _plain(of)))
    made["From"] = _address(of.sender, "from", of.sender_name)
    if of.reply_to:
        made["Reply-To"] = _address(of.reply_to, "reply_to")
    made["To"] = _address(of.to, "to")
    made["Subject"] = of.subject
    made["Date"] = now.astimezone(UTC)
    made["Message-ID"] = message_id
    made["X-Countersign-Fence"] = str(fence)
    made.set_content(of.text, charset="utf-8")
    for part in of.attachments:
        main, _, sub = part.media_type.partition("/")
        made.add_attachment(files[part.sha256], maintype=main, subtype=sub, filename=part.name)
    return made


def ascii_address(text: str, where: str) -> str:
    """The address with its domain as the network sees it (IDNA). Raises :class:`BadLetter` on anything but
    one plain address: no list, no display name, no quoting, no sign that a header or a command could be
    made of."""
    local, at, domain = text.rpartition("@")
    if (
        not at
        or not _LOCAL.match(local)
        or local.startswith(".")
        or ".." in local
        or len(local.encode()) > 64
    ):
        raise BadLetter(where, f"{text!r} is not one e-mail address")
    try:
        host = idna.encode(domain, uts46=True, std3_rules=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise BadLetter(where, f"{domain!r} is not the name of a mail domain") from None
    if len(local) + len(host) > 253:
        raise BadLetter(where, "the address is too long")
    return f"{local}@{host}"


def needs_utf8(of: Letter) -> bool:
    """A local part holds signs that only servers with SMTPUTF8 take."""
    return not _plain(of)


def _plain(of: Letter) -> bool:
    return all(address.rpartition("@")[0].isascii() for address in (of.sender, of.reply_to, of.to))


def _address(text: str, where: str, name: str = "") -> Address:
    local, _, host = ascii_address(text, where).rpartition("@")
    return Address(display_name=name, username=local, domain=host)


def _text(values: Mapping[str, Any], where: str) -> str:
    value = values.get(where)
    if not isinstance(value, str) or not value.strip():
        raise BadLetter(where, "there is none")
    return value


def _one_line(text: str, where: str) -> str:
    if any(unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") for sign in text):
        raise BadLetter(where, "it holds a line break or a control character")
    return text


def _body(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    if any(unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\n\t" for sign in lines):
        raise BadLetter("text", "it holds a control character")
    return lines if lines.endswith("\n") else f"{lines}\n"


def _attachments(given: Any) -> tuple[Attachment, ...]:
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise BadLetter("attachments", "they are not a list of files")
    found = tuple(_attachment(one) for one in given)
    if sum(one.size for one in found) > MAX_ATTACHMENT_BYTES:
        raise BadLetter("attachments", f"together they are larger than {MAX_ATTACHMENT_BYTES // 10**6} MB")
    return found


def _attachment(given: Mapping[str, Any]) -> Attachment:
    name = _one_line(_text(given, "name"), "attachments")
    digest, size = given.get("sha256"), given.get("size")
    if "/" in name or "\\" in name:
        raise BadLetter("attachments", f"{name!r} is not a plain file name")
    if not isinstance(digest, str) or not _SHA256.match(digest):
        raise BadLetter("attachments", f"{name!r} has no checksum")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise BadLetter("attachments", f"{name!r} has no size")
    kind = given.get("media_type") or mimetypes.guess_type(name)[0] or ""
    if not re.fullmatch(r"[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+", str(kind)) or str(kind).startswith(
        ("multipart/", "message/")
    ):
        kind = "application/octet-stream"
    return Attachment(name=name, size=size, sha256=digest, media_type=str(kind))

"""Sends one letter over SMTP, once, and says exactly what is known of it afterwards. No Django.

The server takes a message when it has seen the final dot of DATA, and not before. So everything that goes
wrong earlier is known not to have happened; from the dot on only the server's own reply says anything: 2xx
happened, 4xx and 5xx did not, silence or nonsense is unknown. The dot is the last thing sent, after one
more look at deadline and lease.
"""

import hashlib
import os
import smtplib
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from accounts.failpoints import fp
from tools import egress, mail
from tools.adapters.base import Answer, Context, Failed, Go, Unknown
from tools.adapters.kind import Declared, Fault, Misfit, Shown
from tools.adapters.kind import words as _

PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
#: Longest wait for the server's answer to the dot, in seconds (RFC 5321 asks for patience; the step's limit is shorter).
REPLY_SECONDS = 600.0
#: A letter is judged by its arguments; whose name stands below it does not matter there.
_SOMEBODY = {"mail_from": "somebody@example.org"}
#: What would happen, in one line.
SENTENCE = _("Send “%(subject)s” to %(to)s")


@dataclass(frozen=True, slots=True)
class Server:
    """Where mail goes out, from ``EMAIL_URL``. At most one of ``tls`` (STARTTLS) and ``ssl`` is set."""

    host: str
    port: int
    user: str = ""
    password: str = ""
    tls: bool = False
    ssl: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked letter, and the hosts that the contract names."""

    letter: mail.Letter
    egress: tuple[str, ...]


def server(url: str) -> Server:
    """The server of an address like ``smtp+tls://user:password@host:587``. Raises :class:`Failed`."""
    try:
        parts = urlsplit(url)
        host, port, default = parts.hostname, parts.port, PORTS[parts.scheme]
    except (ValueError, KeyError):
        host = None
    if not host:
        raise Failed("no_mail_server", "EMAIL_URL names no mail server. Nothing was sent.")
    return Server(
        host=host,
        port=port or default,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        tls=parts.scheme == "smtp+tls",
        ssl=parts.scheme == "smtps",
    )


def message_id(key: str, domain: str) -> str:
    """The same for every attempt at one effect, and telling nothing about it."""
    return f"<{hashlib.sha256(key.encode()).hexdigest()[:40]}@{domain}>"


def faults(contract: Declared) -> Iterator[Fault]:
    """What speaks against publishing."""
    if contract.effect_class == "read_only":
        yield Fault("read_only_mail", _("Sending a mail is never read-only."), where="effect_class")
    if contract.isolation != "thread":
        text = _("Mail is sent by blocking calls: its isolation is 'thread'.")
        yield Fault("isolation_unfit", text, where="isolation")


def misfit(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any]) -> Misfit | None:
    """Why the arguments make no letter."""
    try:
        mail.letter(arguments, _SOMEBODY)
    except mail.BadLetter as bad:
        return Misfit(bad.where, bad.text)
    return None


def receiver(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], proposed: str) -> str:
    """The address it goes to, whatever the agent says beside it."""
    return str(arguments.get("to") or "")


def shown(
    target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, str]
) -> Shown | None:
    """The letter: ``kind`` "mail", target, from, reply_to, to, subject, text, attachments (name, size, sha256,
    media_type)."""
    try:
        letter = mail.letter(arguments, tenant)
    except mail.BadLetter:
        return None
    sender = f"{letter.sender_name} <{letter.sender}>" if letter.sender_name else letter.sender
    part = {
        "kind": "mail",
        "target": letter.to,
        "from": sender,
        "reply_to": letter.reply_to,
        "to": letter.to,
        "subject": letter.subject,
        "text": letter.text,
        "attachments": [
            {"name": part.name, "size": part.size, "sha256": part.sha256, "media_type": part.media_type}
            for part in letter.attachments
        ],
    }
    return Shown(part, SENTENCE, {"to": letter.to, "subject": letter.subject})


def prepare(spec: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, Any]) -> Prepared:
    """Composes the letter. Raises :class:`Failed`."""
    try:
        return Prepared(mail.letter(arguments, tenant), tuple(spec.get("egress") or ()))
    except mail.BadLetter as bad:
        raise Failed("bad_letter", f"There is no letter to send, {bad}. Nothing was sent.") from None


def send(prepared: Prepared, go: Go | None, ctx: Context) -> Answer:
    """Sends it. The answer's reference is the Message-ID and what the server said."""
    if go is None:
        raise Failed("no_permission", "A mail is sent only after begin. Nothing was sent.")
    until = egress.Deadline.after(min(go.seconds, ctx.seconds_left))
    body, name = _bytes(prepared.letter, go, ctx)
    at = server(os.environ.get("EMAIL_URL", ""))
    with _Session(prepared, at, until) as session:
        session.open()
        session.envelope(prepared.letter)
        session.body(body)
        if ctx.lost or ctx.cancelled or until.left() <= 0:
            raise Failed(
                "too_late", "The time to send it had passed; it was taken back before the last byte."
            )
        code, said = session.dot(egress.Deadline.after(min(REPLY_SECONDS, max(ctx.seconds_left, 1.0))))
    if 200 <= code <= 299:
        return Answer({"message_id": name, "server": f"{code} {said}"}, reference=f"{name} {said}".strip())
    if 400 <= code <= 599:
        raise Failed(_code_of(code), f"The mail server did not take it: {code} {said}. Nothing was sent.")
    raise Unknown("unclear_answer", f"The mail server's answer says nothing clear: {code} {said}")


class _Session(smtplib.SMTP):
    """One conversation with a mail server, over egress, against one deadline."""

    def __init__(self, prepared: Prepared, at: Server, until: egress.Deadline) -> None:
        super().__init__(local_hostname=prepared.letter.domain)
        self.at, self.until, self.egress = at, until, prepared.egress

    def __exit__(self, *args: object) -> None:
        """Says goodbye without waiting for an answer, unless something went wrong: inside a message it
        would be text."""
        sock = getattr(self, "sock", None)
        if sock is not None and args[0] is None:
            try:
                sock.settimeout(0.5)
                sock.sendall(b"QUIT\r\n")
            except OSError:
                pass
        self.close()

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        # The installation's own server counts as allowed, whatever the contract names beside it.
        allowed = (*self.egress, f"[{host}]:{port}" if ":" in host else f"{host}:{port}".lower())
        sock = egress.connect(host, port, allow_hosts=allowed, deadline=self.until)
        return egress.secure(sock, host, self.until) if self.at.ssl else sock

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = egress.Reader(self.sock, self.until)
        return super().getreply()

    def send(self, s: Any) -> None:
        if self.sock is not None:
            self.sock.settimeout(self.until.timeout())
        super().send(s)

    def open(self) -> None:
        """Connect, greet, STARTTLS when asked for, sign in. Nothing is sent yet: every fault is a
        :class:`Failed`."""
        try:
            self._host = self.at.host
            self._expect(self.connect(self.at.host, self.at.port), "greeting")
            self.ehlo_or_helo_if_needed()
            if self.at.tls:
                self._start_tls()
            if self.at.user:
                self.login(self.at.user, self.at.password)
        except Exception as error:
            raise _before_the_dot(error) from error

    def envelope(self, letter: mail.Letter) -> None:
        """Who it is from and whom it is for, up to the server's word that it waits for the message."""
        try:
            options = []
            if mail.needs_utf8(letter):
                if not self.has_extn("smtputf8"):
                    raise Failed(
                        "smtp_no_utf8", "The mail server does not take this address. Nothing was sent."
                    )
                options = ["SMTPUTF8", "BODY=8BITMIME"]
            self._expect(self.mail(mail.ascii_address(letter.sender, "from"), options), "sender")
            self._expect(self.rcpt(mail.ascii_address(letter.to, "to")), "receiver")
            self._expect(self.docmd("DATA"), "message", 354)
        except Exception as error:
            raise _before_the_dot(error) from error

    def body(self, data: bytes) -> None:
        """Everything but the dot. A server that lost the connection here has no message."""
        try:
            self.send(data)
        except Exception as error:
            raise _before_the_dot(error) from error
        if self.sock is None or egress.hung_up(self.sock):
            raise Failed("connection_lost", "The mail server hung up before the end. Nothing was sent.")

    def dot(self, until: egress.Deadline) -> tuple[int, str]:
        """The dot, and the server's word on it. From here on a fault is :class:`Unknown`."""
        self.until = until
        if isinstance(self.file, egress.Reader):
            self.file.deadline = until
        try:
            self.send(b".\r\n")
            fp("send.after_bytes")
            fp("send.before_reply_read")
            code, said = self.getreply()
        except Exception as error:
            text = f"The mail was handed over, but the server's answer did not come: {_words(error)}"
            raise Unknown("no_answer", text) from error
        return code, said.decode("utf-8", "replace").replace("\n", " ")[:300]

    def _start_tls(self) -> None:
        if not self.has_extn("starttls"):
            raise Failed("smtp_no_tls", "The mail server offers no encryption. Nothing was sent.")
        self._expect(self.docmd("STARTTLS"), "encryption", 220)
        assert self.sock is not None
        self.sock = egress.secure(self.sock, self.at.host, self.until)
        # What was said in clear text does not count any more.
        self.file, self.helo_resp, self.ehlo_resp, self.esmtp_features, self.does_esmtp = (
            None,
            None,
            None,
            {},
            False,
        )
        self.ehlo_or_helo_if_needed()

    @staticmethod
    def _expect(reply: tuple[int, bytes], what: str, wanted: int = 0) -> None:
        code, said = reply
        if code == wanted or (not wanted and 200 <= code <= 299):
            return
        text = said.decode("utf-8", "replace").replace("\n", " ")[:300]
        raise Failed(_code_of(code), f"The mail server refused the {what}: {code} {text}. Nothing was sent.")


def _bytes(letter: mail.Letter, go: Go, ctx: Context) -> tuple[bytes, str]:
    """The message as it goes over the wire, without its dot, and its Message-ID."""
    name = message_id(go.key, letter.domain)
    files = {part.sha256: _file(part, ctx) for part in letter.attachments}
    made = mail.message(letter, message_id=name, fence=go.fence, now=datetime.now(UTC), files=files)
    data = made.as_bytes()
    if not data.endswith(b"\r\n"):
        data += b"\r\n"
    return data.replace(b"\r\n.", b"\r\n.."), name


def _file(part: mail.Attachment, ctx: Context) -> bytes:
    """The content of an attachment, exactly that which was approved. Raises :class:`Failed`."""
    try:
        with ctx.open_artifact(part.sha256) as file:
            data = file.read(part.size + 1)
    except Exception as error:
        text = f"The attachment {part.name!r} cannot be read: {error}. Nothing was sent."
        raise Failed("attachment_missing", text) from error
    if len(data) != part.size or hashlib.sha256(data).hexdigest() != part.sha256:
        text = f"The attachment {part.name!r} is not the file that was proposed. Nothing was sent."
        raise Failed("attachment_changed", text)
    return data


def _before_the_dot(error: Exception) -> Exception:
    if isinstance(error, Failed | Unknown):
        return error
    if isinstance(error, egress.EgressRefused):
        return Failed(error.code, f"{error.text} Nothing was sent.")
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        return Failed(
            _code_of(error.smtp_code),
            f"The mail server refused: {error.smtp_code} {text[:300]}. Nothing was sent.",
        )
    # smtplib turns a time-out into a disconnection; what it was stands in the context.
    if isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError):
        return Failed("deadline", "The mail server did not answer in time. Nothing was sent.")
    return Failed("connection_lost", f"The mail server did not go on: {_words(error)}. Nothing was sent.")


def _code_of(code: int) -> str:
    if 400 <= code <= 499:
        return "smtp_try_later"
    return "smtp_refused" if 500 <= code <= 599 else "smtp_unclear"


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]

"""Mail that the product itself writes. A letter that cannot leave holds up no other."""

import smtplib
import uuid
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from accounts import letters
from accounts.letters import Letter
from outbox.routes import Consumer, Delivery, Hopeless, Unavailable

SUBJECT_LENGTH = 150

Writer = Callable[[Delivery], tuple[Letter, str] | None]
"""Gives the letter and the stable part of its Message-ID; None when nothing need be sent any more."""


def carry(
    deliveries: Sequence[Delivery], write: Writer, sent: Callable[[Delivery], None] | None = None
) -> dict[uuid.UUID, Exception]:
    """Write and send one letter per delivery. When the server cannot be reached the rest of the pass waits."""
    failures: dict[uuid.UUID, Exception] = {}
    for place, delivery in enumerate(deliveries):
        try:
            written = write(delivery)
            if written is not None:
                send(*written)
            if sent is not None:
                sent(delivery)
        except Unavailable as error:
            return failures | {waiting.event_id: error for waiting in deliveries[place:]}
        except Exception as error:  # noqa: BLE001 - one bad letter must not stop the others
            failures[delivery.event_id] = error
    return failures


def send(letter: Letter, reference: str) -> None:
    """Hand one letter to the mail server. Raises Unavailable before anything was said about the letter, Hopeless when
    the server refuses it for good, and whatever else the sending raised.

    A repeat has the same Message-ID, so the receiver's server can drop it.
    """
    if not letter.to.rpartition("@")[0].isascii():
        # Written as an encoded word it would be another address (RFC 6532 needs a way that speaks SMTPUTF8 to its end).
        raise Hopeless("This letter cannot be written: the part before the @ of the address is not ASCII.")
    message = EmailMessage(
        subject=one_line(letter.subject),
        body=letter.text,
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[letter.to],
        headers={
            "Message-ID": f"<{reference}@{urlsplit(settings.PUBLIC_URL).hostname or 'localhost'}>",
            "Auto-Submitted": "auto-generated",
        },
    )
    connection = get_connection()
    try:
        connection.open()
    except (OSError, smtplib.SMTPException) as error:
        raise Unavailable(f"The mail server did not answer: {error}") from error
    try:
        connection.send_messages([message])
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        if codes and all(code >= 500 for code in codes):
            raise Hopeless(f"The mail server refuses this recipient: {error.recipients}") from error
        raise
    except smtplib.SMTPResponseException as error:
        if error.smtp_code >= 500:
            raise Hopeless(f"The mail server refuses this letter: {error}") from error
        raise
    except (UnicodeError, ValueError) as error:
        raise Hopeless(f"This letter cannot be written: {error}") from error
    finally:
        connection.close()


def one_line(text: str) -> str:
    """A subject of one printable line (fault B88): control and line characters become spaces, the rest is cut."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(plain.split())
    return line if len(line) <= SUBJECT_LENGTH else line[: SUBJECT_LENGTH - 1] + "…"


def _accounts_letter(delivery: Delivery) -> tuple[Letter, str] | None:
    letter = letters.compose(kind=delivery.topic.removeprefix("letter."), payload=delivery.payload)
    return (letter, delivery.event_id.hex) if letter else None


def accounts_letters(deliveries: Sequence[Delivery]) -> Mapping[uuid.UUID, Exception]:
    """Invitations and password links."""
    return carry(deliveries, _accounts_letter)


LETTERS = Consumer("letters", accounts_letters)

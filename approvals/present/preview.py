"""The effect as its receiver would see it, from the shown bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals import links
from approvals.folding import as_text


class OfRun(Protocol):
    """Whatever belongs to a task, whose files its letter may carry."""

    run_id: Any


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes along; ``url`` opens it."""

    name: str
    size: int
    sha256: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail, every field as it would arrive."""

    sender: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    reply_to: str
    subject: str
    body: str
    attachments: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """``kind`` is mail, request or text; ``receiver`` names who sees it; ``note`` says that it is whole."""

    kind: str
    mail: Mail | None = None
    text: str = ""
    receiver: str = ""
    note: str = ""


def preview(action: OfRun, shown: Mapping[str, Any]) -> Preview:
    """The preview of an action. Reads the shown bytes alone."""
    seen: Mapping[str, Any] = shown.get("preview") or {}
    if "subject" in seen or seen.get("kind") == "mail":
        mail = _mail(action, seen)
        words = len(mail.body.split())
        note = ngettext("complete, %s word", "complete, %s words", words) % words
        return Preview("mail", mail, mail.body, ", ".join(mail.to), note)
    if seen.get("kind") == "request":
        text = _request(seen)
        return Preview("request", text=text, receiver=str(seen.get("target") or ""), note=_("complete"))
    return Preview("text", text=str(seen.get("text") or shown.get("sentence", "")))


def _request(seen: Mapping[str, Any]) -> str:
    """A request as it goes over the wire, or the call of a function with its arguments."""
    wire, question = seen.get("http"), seen.get("sql")
    if question:
        bound = [f"{name} = {as_text(value)}" for name, value in question["parameters"]]
        return "\n\n".join([question["statement"], *(["\n".join(bound)] if bound else [])])
    if not wire:
        return f"{seen.get('tool', '')} → {seen.get('target', '')}\n\n{as_text(seen.get('arguments'))}"
    head = [f"{wire['method']} {wire['url']}", *(f"{name}: {value}" for name, value in wire["headers"])]
    return "\n".join(head) + f"\n\n{wire['body']}"


def _mail(action: OfRun, seen: Mapping[str, Any]) -> Mail:
    files = tuple(
        Attachment(
            str(part.get("name", "")),
            int(part.get("size") or 0),
            str(part.get("sha256", "")),
            links.file(action.run_id, str(part.get("sha256", ""))),
        )
        for part in seen.get("attachments") or ()
    )
    return Mail(
        sender=str(seen.get("from", "")),
        to=_addresses(seen.get("to")),
        cc=_addresses(seen.get("cc")),
        bcc=_addresses(seen.get("bcc")),
        reply_to=str(seen.get("reply_to") or ""),
        subject=str(seen.get("subject", "")),
        body=str(seen.get("text") or seen.get("body") or ""),
        attachments=files,
    )


def _addresses(value: Any) -> tuple[str, ...]:
    if not value:
        return ()
    return tuple(str(one) for one in value) if isinstance(value, list | tuple) else (str(value),)

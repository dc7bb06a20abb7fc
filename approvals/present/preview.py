"""The effect as its receiver would see it, from the shown bytes."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals import links
from approvals.present.slip import Slip, slip
from approvals.present.wire import Call, Query, Request, call, query, request


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
    """``kind`` is mail, http, sql, call or text, and the field of that name is filled; ``slip`` beside it where money moves.
    ``receiver`` names who sees it; ``note`` says that it is whole."""

    kind: str
    mail: Mail | None = None
    http: Request | None = None
    sql: Query | None = None
    call: Call | None = None
    text: str = ""
    receiver: str = ""
    note: str = ""
    slip: Slip | None = None


def preview(shown: Mapping[str, Any]) -> Preview:
    """The preview of an action, from the shown bytes alone."""
    seen: Mapping[str, Any] = shown.get("preview") or {}
    render = RENDERERS.get(str((shown.get("contract") or {}).get("adapter") or ""))
    found = render(shown, seen) if render and seen else None
    if found is None:
        found = Preview("text", text=str(seen.get("text") or shown.get("sentence", "")))
    return replace(found, slip=slip(shown))


def _letter(shown: Mapping[str, Any], seen: Mapping[str, Any]) -> Preview | None:
    if seen.get("kind") != "mail" and "subject" not in seen:
        return _call(shown, seen)
    mail = _mail(uuid.UUID(str(shown["run"])), seen)
    words = len(mail.body.split())
    note = ngettext("complete, %s word", "complete, %s words", words) % words
    return Preview("mail", mail, text=mail.body, receiver=", ".join(mail.to), note=note)


def _request(shown: Mapping[str, Any], seen: Mapping[str, Any]) -> Preview | None:
    if not seen.get("http"):
        return _call(shown, seen)
    made = request(seen["http"])
    return Preview("http", http=made, receiver=made.host or str(seen.get("target") or ""), note=_("complete"))


def _query(shown: Mapping[str, Any], seen: Mapping[str, Any]) -> Preview | None:
    if not seen.get("sql"):
        return _call(shown, seen)
    receiver = str(seen.get("target") or "")
    return Preview("sql", sql=query(seen["sql"]), receiver=receiver, note=_("complete"))


def _call(shown: Mapping[str, Any], seen: Mapping[str, Any]) -> Preview | None:
    if seen.get("kind") != "request":
        return None
    made = call(seen)
    return Preview("call", call=made, receiver=made.where, note=_("complete"))


#: How the effect of each adapter is shown; one that is not here could not be read before it is approved.
RENDERERS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Preview | None]]] = {
    "smtp": _letter,
    "http": _request,
    "model": _request,
    "sql": _query,
    "mcp": _call,
    "python": _call,
}


def _mail(run_id: uuid.UUID, seen: Mapping[str, Any]) -> Mail:
    files = tuple(
        Attachment(
            str(part.get("name", "")),
            int(part.get("size") or 0),
            str(part.get("sha256", "")),
            links.file(run_id, str(part.get("sha256", ""))),
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

"""Calls an operation of an HTTP interface, once. No Django.

``target`` of the contract is the address, with ``{name}`` for arguments in its path; ``config`` says where the others go
(:class:`Operation`). The idempotency key travels as ``Idempotency-Key``, hashed like a Message-ID, and the fence token as
``Countersign-Fence``: a far side that keeps the highest one it saw can refuse an old sender.

What is known afterwards: nothing left, or a 4xx came: it did not happen. A 2xx came: it happened, whatever became of the
body. 408, 409, 425, 5xx, a redirect that may follow an effect, silence, nonsense: nobody can tell. A call that only reads
has no such doubt: whatever is not an answer is a failure.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from tools import egress, web
from tools.adapters import digits
from tools.adapters.base import Answer, Context, Failed, Go, Unknown
from tools.adapters.kind import Declared, Fault, Misfit, Shown
from tools.adapters.kind import words as _

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
BODIES = ("json", "form", "none")
#: Longest body that is read, in bytes.
MAX_ANSWER = 5_000_000
#: A longer text is kept as a file, and the answer names it.
MAX_INLINE = 200_000
#: 4xx that leave it open whether the effect happened: timed out, in conflict with a request of the same key, too early.
UNCLEAR = (408, 409, 425)
_NAME = re.compile(r"\{([A-Za-z0-9_.-]+)\}")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")


class _Hidden(dict[str, str]):
    """Every secret there may be, and none of their values."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> str:
        return f"({key})"


#: For requests that are shown or judged, never sent: the name of a secret stands for its value.
HIDDEN: Mapping[str, str] = _Hidden()


@dataclass(frozen=True, slots=True)
class Operation:
    """``config`` of a contract, checked. ``query`` and ``headers`` name arguments (headers: header name → argument).
    ``body`` takes what is left: as JSON, as a form, or ``none`` (then what is left goes into the query). ``whole_body``
    names the one argument that is the whole JSON body. ``auth``: secret, header and prefix. ``reference`` is a JSON pointer
    to what the far side calls the thing it made."""

    method: str = "POST"
    query: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = "json"
    whole_body: str = ""
    auth: Mapping[str, str] = field(default_factory=dict)
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked request and the rules for it."""

    request: web.Request
    egress: tuple[str, ...]
    reads: bool
    reference: str


def operation(config: Mapping[str, Any]) -> Operation:
    """The checked form of a contract's ``config``. Raises :class:`Failed` with what is wrong."""
    method = str(config.get("method", "POST")).upper()
    body = str(config.get("body", "none" if method in ("GET", "HEAD", "DELETE") else "json"))
    made = Operation(
        method=method,
        query=tuple(str(name) for name in config.get("query", ())),
        headers={str(k): str(v) for k, v in dict(config.get("headers", {})).items()},
        body=body,
        whole_body=str(config.get("whole_body", "")),
        auth={str(k): str(v) for k, v in dict(config.get("auth", {})).items()},
        reference=str(config.get("reference", "")),
    )
    wrong = ""
    if method not in METHODS:
        wrong = f"{method} is not a method that is called"
    elif body not in BODIES:
        wrong = f"a body is json, form or none, not {body}"
    elif bad := [
        name for name in (*made.headers, made.auth.get("header", "Authorization")) if not _TOKEN.match(name)
    ]:
        wrong = f"{bad[0]!r} is not the name of a header"
    elif made.reference and not made.reference.startswith("/"):
        wrong = "the reference is a JSON pointer, like /id"
    if wrong:
        raise Failed("bad_operation", f"The contract describes no call: {wrong}. Nothing was sent.")
    return made


def request(
    target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], *, secrets: Mapping[str, str]
) -> web.Request:
    """The request of a call, without key and fence: what a person sees before it, and what is sent. Raises
    :class:`Failed`."""
    rules = operation(config)
    left = dict(arguments)
    url = _path(target, left)
    query = _pairs({name: left.pop(name) for name in rules.query if name in left})
    headers = [(name, _header(name, left.pop(arg))) for name, arg in rules.headers.items() if arg in left]
    body: bytes | None = None
    if rules.whole_body:
        body, kind = _json(left.pop(rules.whole_body, None)), "application/json"
    elif rules.body == "json":
        body, kind, left = _json(left), "application/json", {}
    elif rules.body == "form":
        body, kind, left = urlencode(_pairs(left)).encode(), "application/x-www-form-urlencoded", {}
    query += _pairs(left)
    if body is not None:
        headers.append(("Content-Type", kind))
    if rules.auth:
        headers.append((rules.auth.get("header", "Authorization"), _proof(rules.auth, secrets)))
    url += ("&" if "?" in url else "?") + urlencode(query) if query else ""
    web_request = web.Request(rules.method, url, (("Accept", "application/json, */*;q=0.5"), *headers), body)
    try:
        web.address(url)
    except web.NotSent as bad:
        raise Failed(bad.code, bad.text) from bad
    return web_request


def faults(contract: Declared) -> Iterator[Fault]:
    """What speaks against publishing."""
    if contract.isolation == "io":
        text = _("HTTP is called by blocking calls: its isolation is 'thread' or 'cpu'.")
        yield Fault("isolation_unfit", text, where="isolation")
    try:
        rules = operation(contract.config if isinstance(contract.config, dict) else {})
    except Failed as wrong:
        yield Fault("operation", _("%(problem)s"), {"problem": wrong.text}, "config")
        return
    try:
        web.address(re.sub(r"\{[^}]*\}", "x", contract.target))
    except web.NotSent:
        text = _("An HTTP tool needs the address that it calls, beginning with https:// or http://.")
        yield Fault("target_missing", text, where="target")
    if contract.effect_class != "read_only" and rules.method in ("GET", "HEAD"):
        text = _("It is declared to change something, but %(method)s only reads.")
        yield Fault("effect_by_get", text, {"method": rules.method}, "config")


def misfit(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any]) -> Misfit | None:
    """Why the arguments make no request."""
    try:
        request(target, config, arguments, secrets=HIDDEN)
    except Failed as bad:
        return Misfit("$", bad.text)
    return None


def receiver(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], proposed: str) -> str:
    """The address that is called, whatever the agent says beside it."""
    try:
        return request(target, config, arguments, secrets=HIDDEN).url
    except Failed:
        return target


def shown(
    target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, str]
) -> Shown | None:
    """``http`` with method, url, headers and body, where the name of a secret stands for its value."""
    try:
        made = request(target, config, arguments, secrets=HIDDEN)
    except Failed:
        return None
    part = {
        "method": made.method,
        "url": made.url,
        "headers": [list(pair) for pair in made.headers],
        "body": (made.body or b"").decode("utf-8"),
    }
    return Shown({"http": part})


def prepare(spec: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, Any]) -> Prepared:
    """Makes the request. Raises :class:`Failed`."""
    made = request(
        str(spec["target"]), spec.get("config") or {}, arguments, secrets=spec.get("secrets") or {}
    )
    reference = str((spec.get("config") or {}).get("reference", ""))
    return Prepared(made, tuple(spec.get("egress") or ()), spec.get("effect") == "read_only", reference)


def send(prepared: Prepared, go: Go | None, ctx: Context) -> Answer:
    """Calls the far side once; a call that only reads goes after redirects."""
    if prepared.reads:
        return _read(prepared, ctx)
    if go is None:
        raise Failed("no_permission", "An effect is sent only after begin. Nothing was sent.")
    until = egress.Deadline.after(min(go.seconds, ctx.seconds_left))
    request = prepared.request
    named = (
        *request.headers,
        ("Idempotency-Key", key_header(go.key)),
        ("Countersign-Fence", str(go.fence)),
        ("Countersign-Deadline", _instant(go.seconds)),
    )

    def last_look() -> None:
        if ctx.lost or ctx.cancelled or until.left() <= 0:
            raise Failed("too_late", "The time to send it had passed; it was not sent.")

    try:
        reply = web.exchange(
            web.Request(request.method, request.url, named, request.body),
            allow_hosts=prepared.egress,
            deadline=until,
            cap=MAX_ANSWER,
            last_look=last_look,
        )
    except web.NotSent as error:
        raise Failed(error.code, error.text) from error
    except web.NoAnswer as error:
        raise Unknown(error.code, error.text) from error
    said = f"The other side answered {reply.status}"
    if 200 <= reply.status <= 299:
        return _answer(reply, prepared, ctx)
    if 400 <= reply.status <= 499 and reply.status not in UNCLEAR:
        raise Failed(f"http_{reply.status}", f"{said}: {_words(reply)} It did not happen.")
    if reply.status in (307, 308):
        raise Failed(
            f"http_{reply.status}",
            f"{said}: it lives elsewhere. An effect is not sent on to another address.",
        )
    raise Unknown(f"http_{reply.status}", f"{said}: {_words(reply)} That does not say whether it happened.")


def _instant(seconds: float) -> str:
    """So many seconds from now, ISO 8601 in UTC: a far side that keeps to it does nothing afterwards."""
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def key_header(key: str) -> str:
    """The same for every attempt at one effect, and telling nothing about it."""
    return hashlib.sha256(key.encode()).hexdigest()


def _read(prepared: Prepared, ctx: Context) -> Answer:
    if ctx.lost or ctx.cancelled or ctx.seconds_left <= 0:
        raise Failed("too_late", "The time to call it had passed; it was not called.")
    until = egress.Deadline.after(ctx.seconds_left)

    def look() -> None:
        if ctx.cancelled or ctx.lost:
            raise Failed("stopped", "It was told to stop, and the answer was not waited for.")

    try:
        call = web.follow if prepared.request.method in ("GET", "HEAD") else web.exchange
        reply = call(prepared.request, allow_hosts=prepared.egress, deadline=until, cap=MAX_ANSWER, look=look)
    except (web.NotSent, web.NoAnswer) as error:
        raise Failed(error.code, error.text) from error
    if not 200 <= reply.status <= 299:
        raise Failed(f"http_{reply.status}", f"The other side answered {reply.status}: {_words(reply)}")
    if not reply.whole and len(reply.body) < MAX_ANSWER:
        raise Failed("answer_broke_off", "The answer broke off in the middle.")
    return _answer(reply, prepared, ctx)


def _path(target: str, left: dict[str, Any]) -> str:
    """The address with its arguments, each as one piece that cannot climb or end the path."""

    def piece(found: re.Match[str]) -> str:
        name = found.group(1)
        value = left.pop(name, None)
        text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
        if text in ("", ".", ".."):
            raise Failed(
                "bad_argument", f"{name} is part of the address and needs a value. Nothing was sent."
            )
        return quote(text, safe="")

    return _NAME.sub(piece, target)


def _pairs(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What stands in a query or a form; a list is the same name several times."""
    return [(name, text) for name, value in given.items() for text in _values(name, value)]


def _values(name: str, value: Any) -> list[str]:
    many = value if isinstance(value, list) else [value]
    if any(isinstance(one, dict | list) for one in many):
        raise Failed("bad_argument", f"{name} does not fit into a query. Nothing was sent.")
    return [_text(one) for one in many if one is not None]


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool | float) else str(value)


def _header(name: str, value: Any) -> str:
    text = _text(value)
    if not text.isascii() or not text.isprintable():
        raise Failed("bad_argument", f"The header {name} takes plain ASCII text. Nothing was sent.")
    return text


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _proof(auth: Mapping[str, str], secrets: Mapping[str, str]) -> str:
    name = auth.get("secret", "")
    if name not in secrets:
        raise Failed("secret_missing", f"There is no secret called {name!r}. Nothing was sent.")
    return auth.get("prefix", "Bearer ") + secrets[name]


def _answer(reply: web.Reply, prepared: Prepared, ctx: Context) -> Answer:
    output: dict[str, Any] = {"status": reply.status}
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not reply.whole:
        output["incomplete"] = True
    value = digits.parsed(reply.body) if reply.whole and (kind.endswith("json") or not kind) else None
    short = len(reply.body) <= MAX_INLINE
    if value is not None and short:
        output["body"] = value
    elif short and b"\x00" not in reply.body[:1000]:
        output["body"] = reply.body.decode("utf-8", "surrogateescape")
    else:
        name = "answer.json" if kind.endswith("json") else "answer"
        try:
            output["file"] = ctx.store(reply.body, name=name, media_type=kind or "application/octet-stream")
        except Exception as error:
            if prepared.reads:
                raise
            # It happened: an answer that cannot be kept must never become a second call.
            output |= {"incomplete": True, "not_kept": f"{len(reply.body)} bytes: {error}"[:300]}
    named = _pointed(value, prepared.reference) if prepared.reference else ""
    location = reply.headers.get("location", "")
    return Answer(output, reference=named or location or f"HTTP {reply.status}")


def _pointed(value: Any, pointer: str) -> str:
    """What a JSON pointer (RFC 6901) points to, as text; empty when there is nothing."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return ""
    return str(value) if isinstance(value, str | int) else ""


def _words(reply: web.Reply) -> str:
    """What the far side says of itself, short and on one line."""
    text = " ".join(reply.body[:2000].decode("utf-8", "replace").split())[:300]
    return f"“{text}”." if text else "it said nothing more."

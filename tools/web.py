"""One HTTP exchange over :mod:`tools.egress`: one request, one answer, and the truth about how far it came. No Django.

A far side may act on a request as soon as its first byte has arrived. So until then everything that goes wrong is
:class:`NotSent`; afterwards only a whole status line says anything, and everything else is :class:`NoAnswer`. Nothing is
sent twice, no connection is kept, no compression is asked for.
"""

import socket
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urljoin, urlsplit

import h11
import idna

from tools import egress

PORTS = {"http": 80, "https": 443}
MAX_HEADER_BYTES = 65_536
MAX_REDIRECTS = 5
#: So often somebody looks up while an answer is waited for, in seconds.
LOOK_SECONDS = 0.25
_CHUNK = 65_536
_FOLLOWED = (301, 302, 303, 307, 308)
#: All that is taken along to another origin. What proves who we are can have any name, so the others stay behind.
_HARMLESS = ("accept", "accept-language", "content-type")
#: Answers that only announce another one; more of them are no conversation.
MAX_INTERIM = 10


class NotSent(Exception):
    """Not one byte of the request has left. ``code`` is stable, ``text`` is for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


class NoAnswer(Exception):
    """The request has left, at least in part, and there is no answer that one could read."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True, slots=True)
class Request:
    """``headers`` without Host and lengths, which are added here. ``body`` None: none at all."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """``headers`` in lower case. ``whole`` is false when the body broke off, or went on beyond the cap."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool
    url: str


def exchange(
    request: Request,
    *,
    allow_hosts: Sequence[str],
    deadline: egress.Deadline,
    cap: int,
    last_look: Callable[[], None] = lambda: None,
    look: Callable[[], None] = lambda: None,
    enough: Callable[[str, bytearray], bool] | None = None,
) -> Reply:
    """Sends the request once and reads the answer. ``cap``: most bytes of a body, after expansion. ``last_look`` is called
    just before the first byte and may raise: then nothing was sent. ``look`` is called now and then while the answer is
    waited for, and what it raises ends the wait. ``enough`` (content type, body so far) may end the reading of a body that
    would go on.

    Raises :class:`NotSent` and :class:`NoAnswer`.
    """
    parts, host, port = address(request.url)
    try:
        sock = egress.connect(host, port, allow_hosts=allow_hosts, deadline=deadline)
        if parts.scheme == "https":
            sock = egress.secure(sock, host, deadline)
    except egress.EgressRefused as refused:
        raise NotSent(refused.code, refused.text) from refused
    with sock:
        if egress.hung_up(sock):
            raise NotSent("connection_lost", f"{host} closed the connection before anything was sent.")
        last_look()
        return _converse(request, parts, _Line(sock, deadline, cap, look), enough)


def follow(
    request: Request,
    *,
    allow_hosts: Sequence[str],
    deadline: egress.Deadline,
    cap: int,
    look: Callable[[], None] = lambda: None,
) -> Reply:
    """As :func:`exchange`, for requests that change nothing: goes after redirects, each checked like the first address.
    Never from https to http; what proves who we are is not taken to another origin."""
    for _ in range(MAX_REDIRECTS + 1):
        reply = exchange(request, allow_hosts=allow_hosts, deadline=deadline, cap=cap, look=look)
        location = reply.headers.get("location", "")
        if reply.status not in _FOLLOWED or not location:
            return reply
        request = _redirected(request, location)
    raise NotSent(
        "too_many_redirects", f"More than {MAX_REDIRECTS} redirects, the last to {request.url[:200]}."
    )


def address(url: str) -> tuple[SplitResult, str, int]:
    """The parts of an address, its host and its port. Raises :class:`NotSent` for what is no http address."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        parts, port = urlsplit(""), 0
    odd = "@" in parts.netloc or "\\" in url or any(ord(sign) < 33 or ord(sign) == 127 for sign in url)
    if parts.scheme not in PORTS or not parts.hostname or odd:
        raise NotSent("bad_address", f"{url[:200]!r} is not an address that is called. Nothing was sent.")
    return parts, parts.hostname, port


def _redirected(request: Request, location: str) -> Request:
    target = urljoin(request.url, location)
    before, after = address(request.url), address(target)
    if before[0].scheme == "https" and after[0].scheme == "http":
        raise NotSent("insecure_redirect", f"It leads from https to {target[:200]}: not followed.")
    headers = request.headers
    if (before[0].scheme, *before[1:]) != (after[0].scheme, *after[1:]):
        headers = tuple(pair for pair in headers if pair[0].lower() in _HARMLESS)
    return Request(request.method, target, headers, request.body)


@dataclass(frozen=True, slots=True)
class _Line:
    """A connection under its limits."""

    sock: socket.socket
    deadline: egress.Deadline
    cap: int
    look: Callable[[], None]

    def receive(self, talk: h11.Connection) -> None:
        """What comes next. Raises ``TimeoutError`` at the deadline, and what ``look`` raises."""
        while True:
            self.sock.settimeout(min(self.deadline.timeout(), LOOK_SECONDS))
            try:
                data = self.sock.recv(_CHUNK)
            except TimeoutError:
                self.look()
            else:
                return talk.receive_data(data)


def _converse(
    request: Request, parts: SplitResult, line: _Line, enough: Callable[[str, bytearray], bool] | None
) -> Reply:
    talk = h11.Connection(our_role=h11.CLIENT, max_incomplete_event_size=MAX_HEADER_BYTES)
    try:
        whole = _bytes(talk, request, parts)
    except (h11.LocalProtocolError, UnicodeError) as error:
        raise NotSent("bad_request", f"This makes no request: {error}. Nothing was sent.") from error
    try:
        line.sock.settimeout(line.deadline.timeout())
        line.sock.sendall(whole)
        head = _head(talk, line)
    except TimeoutError as error:
        raise NoAnswer("no_answer", "It was sent, and no answer came in time.") from error
    except OSError as error:
        raise NoAnswer(
            "no_answer",
            f"It was sent, and the connection broke before an answer came: {error.strerror or error}.",
        ) from error
    except h11.RemoteProtocolError as error:
        raise NoAnswer(
            "no_answer", "It was sent, and what came back is no whole answer of a web server."
        ) from error
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
    kind = headers.get("content-type", "").lower()
    encoding = headers.get("content-encoding", "")
    body, complete = _body(talk, line, encoding, lambda body: bool(enough and enough(kind, body)))
    return Reply(head.status_code, headers, body, complete, request.url)


def _bytes(talk: h11.Connection, request: Request, parts: SplitResult) -> bytes:
    default = PORTS[parts.scheme]
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host if host.isascii() else idna.encode(host, uts46=True).decode()
    headers = [
        ("Host", shown if parts.port in (None, default) else f"{shown}:{parts.port}"),
        ("Accept-Encoding", "identity"),
        ("Connection", "close"),
        *request.headers,
    ]
    if request.body is not None:
        headers.append(("Content-Length", str(len(request.body))))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    whole = talk.send(h11.Request(method=request.method, target=target, headers=headers)) or b""
    if request.body:
        whole += talk.send(h11.Data(data=request.body)) or b""
    return whole + (talk.send(h11.EndOfMessage()) or b"")


def _head(talk: h11.Connection, line: _Line) -> h11.Response:
    """The final status line with its headers. Raises ``OSError`` and ``h11.RemoteProtocolError``."""
    interim = 0
    while interim <= MAX_INTERIM:
        event = talk.next_event()
        if event is h11.NEED_DATA:
            line.receive(talk)
        elif isinstance(event, h11.Response):
            return event
        elif isinstance(event, h11.InformationalResponse):
            interim += 1
        else:
            raise OSError("the connection was closed")
    raise OSError("it only ever announced an answer")


def _body(
    talk: h11.Connection, line: _Line, encoding: str, enough: Callable[[bytearray], bool]
) -> tuple[bytes, bool]:
    """Up to ``cap`` bytes, and whether that was all. Raises nothing of its own: the status has been heard."""
    body, taken, cap = bytearray(), 0, line.cap
    unpack = zlib.decompressobj(wbits=47) if encoding in ("gzip", "deflate") else None
    try:
        while True:
            event = talk.next_event()
            if event is h11.NEED_DATA:
                line.receive(talk)
            elif isinstance(event, h11.Data):
                taken += len(event.data)
                body += unpack.decompress(event.data, cap + 1 - len(body)) if unpack else event.data
                if max(len(body), taken) > cap or (unpack and unpack.unconsumed_tail):
                    return bytes(body[:cap]), False
                if enough(body):
                    return bytes(body), True
            else:
                unpacked = not unpack or (unpack.eof and not unpack.unused_data)
                return bytes(body), unpacked and isinstance(event, h11.EndOfMessage)
    except (OSError, h11.RemoteProtocolError, zlib.error):
        return bytes(body), False

"""The far sides of the conformance suite: real servers in threads of their own that misbehave on demand and count every
effect. The product never asks them what they counted."""

from __future__ import annotations

import asyncio
import contextlib
import email
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, syntax

#: What a far side can do to a call. After the colon what must be known of it afterwards.
MODES = (
    "accept",  # it happened
    "refuse",  # it did not, and the far side says so
    "refuse_late",  # it did not: refused after it was handed over whole
    "vanish_early",  # it did not: the connection breaks before it is handed over
    "silent",  # it happened, and no answer comes
    "reset",  # it happened, and the connection is reset instead of an answer
    "close",  # it happened, and the connection is closed instead of an answer
    "garbage",  # it happened, and the answer is nonsense
    "huge",  # it happened, and the answer is longer than anybody reads
    "odd",  # it happened, and the answer holds NUL and bytes that are no text
)


def reset(sock: socket.socket) -> None:
    """Closes with RST instead of FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


class MailServer:
    """aiosmtpd, with faults below its own level. ``taken`` are the messages for which it had seen the final dot."""

    def __init__(self, *, starttls: ssl.SSLContext | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.mode = "accept"
        self.starttls, self.tls = starttls, tls
        self.signed_in: list[tuple[bytes, bytes]] = []
        self.replies: dict[str, str] = {}
        self.taken: list[bytes] = []
        self.commands: list[str] = []
        self.sessions: list[_Session] = []
        self.port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await self._loop.create_server(self._session, "127.0.0.1", 0, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        for session in self.sessions:
            transport: Any = session.transport
            if transport is not None:
                transport.abort()
        await asyncio.sleep(0)

    def _session(self) -> _Session:
        return _Session(
            self,
            self,
            ident="far side",
            enable_SMTPUTF8=True,
            loop=self._loop,
            tls_context=self.starttls,
            require_starttls=self.starttls is not None,
            authenticator=self._sign_in,
            auth_required=self.starttls is not None,
            auth_require_tls=self.starttls is not None,
        )

    def _sign_in(self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        self.signed_in.append((data.login, data.password))
        return AuthResult(success=data.password == b"p:w @", handled=False)

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    @property
    def letters(self) -> list[Any]:
        return [email.message_from_bytes(data, policy=default) for data in self.taken]

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(10)

    async def handle_MAIL(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        envelope.mail_from = address
        if self.mode == "vanish_early":
            server.transport.abort()
        return self.replies.get("MAIL", "250 OK")

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        reply = "550 no such person" if self.mode == "refuse" else self.replies.get("RCPT", "250 OK")
        if reply.startswith("2"):
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.mode == "refuse_late":
            return "554 it looks like spam"
        self.taken.append(envelope.content)
        writer = server._writer
        match self.mode:
            case "silent":
                await self._over.wait()
            case "reset":
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
            case "close":
                writer.close()
            case "garbage":
                return "thank you very much"
            case "huge":
                while not writer.transport.is_closing():
                    writer.write(b"250-more and more\r\n" * 1000)
                    await writer.drain()
            case "odd":
                writer.write(b"250 queued as \x00\xff\xed\xa0\x80 7\r\n")
                await writer.drain()
                await self._over.wait()
        return self.replies.get("DOT", "250 queued as 7")


class _Session(SMTP):
    def __init__(self, far: MailServer, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.far = far
        far.sessions.append(self)

    @syntax("DATA")
    async def smtp_DATA(self, arg: str) -> None:
        self.far.commands.append("DATA")
        if "DATA" in self.far.replies:
            await self.push(self.far.replies["DATA"])
            return
        await super().smtp_DATA(arg)

    async def smtp_QUIT(self, arg: str) -> None:
        self.far.commands.append("QUIT")
        await super().smtp_QUIT(arg)


class Ledger:
    """It says that it is ready; one line is one effect: ``key`` and a newline. It answers with the number of the line."""

    def __init__(self) -> None:
        self.mode = "accept"
        self.lines: list[str] = []
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)
        for sock in self._open:
            sock.close()

    def _serve(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(sock)
            try:
                self._one(sock)
            except OSError:
                sock.close()

    def _one(self, sock: socket.socket) -> None:
        if self.mode == "vanish_early":
            reset(sock)
            return
        sock.sendall(b"ready\n")
        line = b""
        while not line.endswith(b"\n"):
            line += sock.recv(1000)
        if self.mode in ("refuse", "refuse_late"):
            sock.sendall(b"no\n")
            return
        self.lines.append(line.decode().strip())
        answers: dict[str, bytes] = {
            "huge": b"1 " + b"x" * 3_000_000 + b"\n",
            "garbage": b"thank you very much\n",
            "odd": b"1 \x00\xff\xed\xa0\x80\n",
        }
        match self.mode:
            case "silent":
                return
            case "reset":
                reset(sock)
            case "close":
                sock.shutdown(socket.SHUT_RDWR)
            case _:
                sock.sendall(answers.get(self.mode, f"{len(self.lines)} noted\n".encode()))


class Scripted:
    """A server of one connection that runs a script on the bare socket: for what no real server would do."""

    def __init__(self, script: Callable[[socket.socket], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"smtp://127.0.0.1:{self.port}"
        self._script = script
        self._sock: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            self._sock, _ = self._listener.accept()
            self._script(self._sock)
        except OSError:
            return

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if self._sock is not None:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
            self._sock.close()
        self._thread.join(10)

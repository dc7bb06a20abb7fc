"""A TCP proxy between one process and PostgreSQL, for faults of the network: an answer that comes late or never, a
connection that is half open, one that is cut right after COMMIT was forwarded, a server that is away."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

READ = 1 << 16
#: As libpq sends it alone: `COMMIT` in a comment of a statement is no commit.
COMMIT = b"COMMIT\x00"
#: The keeper names itself in its first message.
KEEPER = b"countersign-keeper"


class Link:
    """One connection of the client, and its twin to the server. ``hello``: what it said first."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.hello = b""
        self.swallowed = False

    def close(self) -> None:
        for sock in (self.client, self.server):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


class Proxy:
    """Faults may be switched at any time:

    ``delay``: seconds by which answers to connections named ``only`` come late · ``swallow_new``: connections named ``only``
    get no answer at all · ``away``: the server refuses · ``cut_every``: each so-many-th COMMIT is forwarded, and when the
    server has answered, the connection is cut instead, ``cut_at_most`` so many times. ``cuts`` counts those.
    """

    def __init__(self, url: str) -> None:
        self.to = urlsplit(url)
        self.only = b""
        self.delay = 0.0
        self.swallow_new = False
        self.away = False
        self.cut_every = 0
        self.cut_at_most = 10
        self.cuts = self.commits = 0
        self.links: set[Link] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._door = socket.create_server(("127.0.0.1", 0), backlog=200)
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()

    @property
    def url(self) -> str:
        """The address of the database by way of the proxy."""
        who, _, _ = self.to.netloc.rpartition("@")
        return self.to._replace(netloc=f"{who}@127.0.0.1:{self._door.getsockname()[1]}").geturl()

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.cut()

    def cut(self) -> int:
        """Cuts every connection; how many."""
        with self._lock:
            links, self.links = self.links, set()
        for link in links:
            link.close()
        return len(links)

    def restart(self, seconds: float) -> None:
        """What a restart of the server looks like from outside: all is cut, and for a while it refuses."""
        self.away = True
        self.cut()
        time.sleep(seconds)
        self.away = False

    def swallow(self, name: bytes) -> int:
        """From now on nothing passes on the present connections of that name, and nobody is told; how many."""
        with self._lock:
            found = [link for link in self.links if name in link.hello]
        for link in found:
            link.swallowed = True
        return len(found)

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            if self.away:
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client,), name="proxied", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection((self.to.hostname or "127.0.0.1", self.to.port or 5432))
        except OSError:
            client.close()
            return
        link = Link(client, server)
        with self._lock:
            self.links.add(link)
        # A socket that was closed from outside says so in many ways.
        with contextlib.suppress(OSError, ValueError):
            while self._pass(link):
                pass
        with self._lock:
            self.links.discard(link)
        link.close()

    def _pass(self, link: Link) -> bool:
        """One read from whichever side has something; False when it is over."""
        for sock in select.select([link.client, link.server], [], [], 1.0)[0]:
            data = sock.recv(READ)
            if not data:
                return False
            if len(link.hello) < 1000 and sock is link.client:
                link.hello += data[:1000]
            named = bool(self.only) and self.only in link.hello
            if link.swallowed or (self.swallow_new and named):
                continue
            if sock is link.server:
                time.sleep(self.delay if named else 0.0)
                link.client.sendall(data)
            elif self._to_be_cut(data):
                link.server.sendall(data)
                # In a pipeline the server may wait for more before it answers.
                select.select([link.server], [], [], 1.0)
                return False
            else:
                link.server.sendall(data)
        return True

    def _to_be_cut(self, data: bytes) -> bool:
        if not self.cut_every or COMMIT not in data:
            return False
        with self._lock:
            self.commits += 1
            cut = self.commits % self.cut_every == 0 and self.cuts < self.cut_at_most
            self.cuts += cut
        return cut


@contextlib.contextmanager
def proxied(url: str) -> Iterator[Proxy]:
    """A proxy in front of the database at ``url``."""
    proxy = Proxy(url)
    try:
        yield proxy
    finally:
        proxy.close()

"""A service that counts what it is sent: ``python -m bench.far_side``. The ledger of the bench, apart from the product.

Prints its port. ``POST /effects`` with an ``Idempotency-Key`` → 201 and ``{"id": n}``, the n-th effect (it does not drop
repeats: they would be seen). ``GET /ledger`` → ``{"effects": n, "keys": how many different}``.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter

#: By key; under the empty one, all of them.
seen: Counter[str] = Counter({"": 0})


class FarSide(asyncio.Protocol):
    """One connection, with requests one after the other."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].decode("latin-1").lower()
            length = int(_field(head, "content-length") or 0)
            if len(self.buffer) < end + 4 + length:
                return
            self.buffer = self.buffer[end + 4 + length :]
            self._reply(head)

    def _reply(self, head: str) -> None:
        if head.startswith("post /effects "):
            seen[_field(head, "idempotency-key")] += 1
            seen[""] += 1
            status, answer = "201 Created", {"id": seen[""]}
        else:
            status, answer = "200 OK", {"effects": seen[""], "keys": len(seen) - 1}
        body = json.dumps(answer).encode()
        self.transport.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


def _field(head: str, name: str) -> str:
    return head.partition(f"\r\n{name}:")[2].partition("\r\n")[0].strip()


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(FarSide, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())

"""The far side of the model adapter: a real server that speaks ``/v1/chat/completions`` and misbehaves on demand."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.adapters.far_web import WebRequest, WebServer

USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}


def completion(
    message: dict[str, Any] | None = None, finish: str | None = "stop", **more: Any
) -> dict[str, Any]:
    """An answer as the interface has it."""
    said = {"role": "assistant", "content": "Forty-two.", **(message or {})}
    choices = [{"index": 0, "message": said, "finish_reason": finish}]
    return {
        "id": "chatcmpl-7",
        "object": "chat.completion",
        "model": "small-2026",
        "choices": choices,
        "usage": USAGE,
        **more,
    }


class ModelServer(WebServer):
    """``says`` is the answer of mode "accept"; all else is as with any server."""

    def __init__(self) -> None:
        super().__init__()
        self.says: Any = completion()

    @property
    def body(self) -> dict[str, Any]:
        """Of the newest request."""
        found: dict[str, Any] = json.loads(self.requests[-1].body)
        return found

    def _take(self, call: BaseHTTPRequestHandler) -> None:
        raw = {
            "accept": lambda: json.dumps(self.says).encode(),
            "odd": lambda: json.dumps(completion({"content": "a\x00b\ud800"})).encode(),
        }.get(self.mode)
        if raw is None:
            super()._take(call)
            return
        body = call.rfile.read(int(call.headers.get("Content-Length") or 0))
        self.requests.append(WebRequest(call.command, call.path, dict(call.headers.items()), body))
        self._say(call, 200, raw())

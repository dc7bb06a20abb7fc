"""The far side of the MCP adapter, written with the official SDK: one tool that notes a line, and faults on demand.

State lies in a folder, so that the one over pipes and the one over HTTP are the same: ``mode``; ``effects``, a line for each
effect, its key; ``says.json``, what it says of its tool. ``python mcp_server.py FOLDER`` serves over its pipes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ImageContent,
    ListToolsResult,
    TextContent,
    Tool,
)

SAYS: dict[str, Any] = {
    "name": "note",
    "description": "Writes a line into the book.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "annotations": {"readOnlyHint": False, "destructiveHint": False},
}
#: Instead of it bytes are sent that are no text; as long as what it stands for.
ODD = "O" * 17
NO_TEXT = b"a\\u0000b\\ud800\xff\xed\xa0"
KEY = "countersign/idempotency-key"
#: The way of a process of its own; its faults are made here. The SDK takes descriptor 1 for itself: this is another one.
PIPES = "pipes"
WIRE = os.dup(1)


class Book:
    """The folder of one far side."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def mode(self) -> str:
        file = self.folder / "mode"
        return file.read_text() if file.exists() else "accept"

    @mode.setter
    def mode(self, mode: str) -> None:
        (self.folder / "mode").write_text(mode)

    @property
    def lines(self) -> list[str]:
        file = self.folder / "effects"
        return file.read_text().splitlines() if file.exists() else []

    def write(self, key: str) -> None:
        with (self.folder / "effects").open("a") as file:
            file.write(f"{key}\n")

    @property
    def says(self) -> dict[str, Any]:
        file = self.folder / "says.json"
        return {**SAYS, **json.loads(file.read_text())} if file.exists() else SAYS

    def say(self, **other: Any) -> None:
        """From now on it says something else of its tool."""
        (self.folder / "says.json").write_text(json.dumps(other))


def server(book: Book, *, way: str) -> Server[Any]:
    """It lists and calls. ``way``: :data:`PIPES`, or anything else for one whose faults are made outside of it."""

    async def listed(context: Any, params: Any) -> ListToolsResult:
        if book.mode == "hang":
            await asyncio.sleep(600)
        return ListToolsResult(tools=[Tool.model_validate(book.says)])

    async def called(context: Any, params: CallToolRequestParams) -> CallToolResult:
        mode = book.mode
        if mode in ("refuse", "refuse_late"):
            raise MCPError(code=INVALID_PARAMS, message="no")
        meta = context.meta or {}
        book.write(str(meta.get(KEY, "")))
        if way == PIPES:
            _misbehave(mode, context.request_id)
        if mode == "error":
            return CallToolResult(content=[TextContent(type="text", text="the pen broke")], is_error=True)
        if mode == "picture":
            return CallToolResult(
                content=[ImageContent(type="image", data="iVBORw0=", mime_type="image/png")]
            )
        text = {"odd": ODD, "huge": "x" * 6_000_000}.get(mode, f"line {len(book.lines)}")
        if mode.startswith("says:"):
            text = mode.removeprefix("says:")
        return CallToolResult(
            content=[TextContent(type="text", text=text)], structured_content={"line": len(book.lines)}
        )

    return Server("book", on_list_tools=listed, on_call_tool=called)


def _misbehave(mode: str, request_id: Any) -> None:
    match mode:
        case "silent":
            time.sleep(600)
        case "reset":
            os.kill(os.getpid(), 9)
        case "close":
            os._exit(0)
        case "garbage":
            os.write(WIRE, b"thank you very much\n")
            os._exit(0)
        case "odd":
            text = b'{"type": "text", "text": "' + NO_TEXT + b'"}'
            result = b'{"resultType": "complete", "content": [' + text + b"]}"
            head = f'{{"jsonrpc": "2.0", "id": {json.dumps(request_id)}, "result": '.encode()
            os.write(WIRE, head + result + b"}\n")
            time.sleep(600)


async def _serve(book: Book) -> None:
    async with stdio_server() as (read, write):
        made = server(book, way=PIPES)
        await made.run(read, write, made.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(_serve(Book(Path(sys.argv[1]))))

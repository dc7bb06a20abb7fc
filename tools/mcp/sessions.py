"""One session with one server, in the words of the SDK, and its list of tools."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp_types import Implementation
from pydantic import ValidationError

from tools import egress
from tools.adapters.base import Failed
from tools.mcp import http, stdio
from tools.mcp.definition import definition
from tools.mcp.source import Source
from tools.mcp.watch import Watch

#: A list goes on over so many pages, and holds so many tools, at most.
MAX_PAGES, MAX_TOOLS = 50, 1_000
#: What the SDK complains of (whole answers, with tracebacks) is said by us, in fewer words.
logging.getLogger("mcp").setLevel(logging.CRITICAL)
US = Implementation(name="countersign", version="1")


@asynccontextmanager
async def opened(source: Source, *, deadline: egress.Deadline, watch: Watch) -> AsyncGenerator[Client]:
    """A session that has agreed on a protocol. Nothing is offered to the server: no sampling, no questions to people."""
    if source.server:
        way = stdio.transport(
            source.server, secrets=source.secrets, cpu_seconds=source.cpu_seconds, watch=watch
        )
    else:
        way = http.transport(
            source.url, allow_hosts=source.egress, headers=source.headers, deadline=deadline, watch=watch
        )
    async with Client(way, client_info=US, cache=None) as client:
        yield client


async def listed(client: Client, source: Source) -> list[dict[str, Any]]:
    """The definitions of all tools, in the order of the server. Raises :class:`Failed` for a list without end."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        try:
            page = await client.list_tools(cursor=cursor)
        except ValidationError as error:
            raise Failed("bad_list", "Its list of tools cannot be read. Nothing was called.") from error
        for tool in page.tools:
            said = tool.model_dump(by_alias=True, mode="json", exclude_none=True)
            found.append(definition(said, endpoint=source.endpoint))
        cursor = page.next_cursor
        if not cursor or len(found) > MAX_TOOLS:
            break
    if cursor:
        raise Failed("endless_list", f"It lists more than {MAX_TOOLS} tools. Nothing was called.")
    return found

"""The result of a ``tools/call`` as a value that a step can keep: texts stay, pictures and the like become files."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from tools.adapters.base import Answer, Context

#: A longer text is kept as a file, and the answer names it.
MAX_INLINE = 200_000
#: More blocks than these are left out, and their number is told.
MAX_BLOCKS = 100
#: Where a server may say what it calls the thing that it made.
REFERENCE = "countersign/reference"


def answer(result: Mapping[str, Any], *, tool: str, ctx: Context) -> Answer:
    """``content``: the blocks. ``structured``: what the server gave beside them, if anything."""
    blocks = result.get("content")
    given = blocks if isinstance(blocks, list) else []
    output: dict[str, Any] = {"content": [_block(one, ctx) for one in given[:MAX_BLOCKS]]}
    if len(given) > MAX_BLOCKS:
        output["left_out"] = len(given) - MAX_BLOCKS
    if result.get("structuredContent") is not None:
        output["structured"] = result["structuredContent"]
    meta = result.get("_meta")
    named = meta.get(REFERENCE) if isinstance(meta, Mapping) else None
    return Answer(output, reference=named if isinstance(named, str) and named else f"MCP {tool}")


def words(result: Mapping[str, Any]) -> str:
    """What a result says in text, short and on one line."""
    blocks = result.get("content")
    texts = [str(one.get("text") or "") for one in blocks or () if isinstance(one, Mapping)]
    text = " ".join(" ".join(texts)[:2000].split())[:300]
    return f"“{text}”." if text else "It said nothing more."


def _block(block: Any, ctx: Context) -> dict[str, Any]:
    if not isinstance(block, Mapping):
        return {"type": "unknown"}
    kind = str(block.get("type") or "unknown")
    if kind == "text":
        return _text(str(block.get("text") or ""), ctx)
    if kind in ("image", "audio"):
        return {"type": kind, **_file(block.get("data"), block.get("mimeType"), kind, ctx)}
    resource = block.get("resource")
    if kind == "resource" and isinstance(resource, Mapping):
        named = {"type": kind, "uri": str(resource.get("uri") or "")[:2000]}
        if "blob" in resource:
            return {**named, **_file(resource["blob"], resource.get("mimeType"), kind, ctx)}
        return {**named, **_text(str(resource.get("text") or ""), ctx), "type": kind}
    kept = {name: str(block[name])[:2000] for name in ("uri", "name", "description") if name in block}
    return {"type": kind[:60], **kept}


def _text(text: str, ctx: Context) -> dict[str, Any]:
    if len(text) <= MAX_INLINE:
        return {"type": "text", "text": text}
    data = text.encode("utf-8", "replace")
    return {"type": "text", "file": ctx.store(data, name="answer.txt", media_type="text/plain")}


def _file(data: Any, media_type: Any, kind: str, ctx: Context) -> dict[str, Any]:
    try:
        found = base64.b64decode(str(data or ""), validate=True)
    except (binascii.Error, ValueError):
        return {"unreadable": True}
    kept = str(media_type or "")[:100]
    return {"file": ctx.store(found, name=kind, media_type=kept or "application/octet-stream")}

"""Evidence: words of somebody else, with the place where they stand."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from approvals import links


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote with its document and place; ``url`` opens the document."""

    text: str
    document: str
    page: int | None = None
    place: str = ""
    url: str = ""


def quotes(run_id: uuid.UUID, evidence: Any) -> tuple[Quote, ...]:
    """The quotes among the evidence, in its order. Items without words are left to the parameters."""
    found = [item for item in evidence or () if isinstance(item, Mapping)]
    return tuple(_quote(run_id, item) for item in found if item.get("text") or item.get("quote"))


def _quote(run_id: uuid.UUID, item: Mapping[str, Any]) -> Quote:
    page = item.get("page")
    page = page if isinstance(page, int) and page > 0 else None
    start = item.get("start")
    place = str(item.get("place") or "")
    if not place and page is None and isinstance(start, int):
        place = _("character %s") % f"{start:,}"
    address = links.file(run_id, str(item["sha256"])) if item.get("sha256") else ""
    return Quote(
        text=str(item.get("text") or item.get("quote")),
        document=str(item.get("file") or item.get("document") or item.get("name") or _("document")),
        page=page,
        place=place,
        url=f"{address}#page={page}" if address and page else address,
    )

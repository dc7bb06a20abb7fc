"""The table of tools."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from tools import replay
from tools.models import Contract, EffectClass, Tool
from tools.present.path import PathToday, after_a_crash, general, paused


@dataclass(frozen=True, slots=True)
class Row:
    """One tool. ``contract`` is the one in force; ``draft`` the number of a draft after it."""

    tool: Tool
    contract: Contract | None
    draft: int | None
    path: PathToday
    crash: Sequence[tuple[bool, str]]
    figures: replay.Figures
    url: str


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter with its count."""

    label: str
    url: str
    count: int
    current: bool
    mark: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading that sorts; ``current`` while it does."""

    name: str
    label: str
    url: str
    current: bool


def rows(*, tenant_id: uuid.UUID) -> list[Row]:
    """Every tool of the tenant: those in force first, irreversible before others, then by title."""
    tools = list(Tool.everywhere.select_related("paused_by").filter(tenant_id=tenant_id))
    live: dict[uuid.UUID, Contract] = {}
    drafts: dict[uuid.UUID, int] = {}
    wanted = Contract.everywhere.select_related("tool", "published_by").filter(
        tenant_id=tenant_id, status__in=["PUBLISHED", "DRAFT"]
    )
    for contract in wanted:
        if contract.status == Contract.Status.PUBLISHED:
            live[contract.tool_id] = contract
        else:
            drafts[contract.tool_id] = max(contract.version, drafts.get(contract.tool_id, 0))
    counted = replay.figures(tenant_id=tenant_id)
    made = [_row(tool, live.get(tool.pk), drafts.get(tool.pk), counted.get(tool.pk)) for tool in tools]
    order = {EffectClass.IRREVERSIBLE: 0, EffectClass.COMPENSABLE: 1, EffectClass.READ_ONLY: 2}
    return sorted(
        made,
        # Tools of benches and drills come last: nobody looks for them here.
        key=lambda r: (
            r.tool.is_drill,
            r.contract is None,
            order[EffectClass(r.contract.effect_class)] if r.contract else 3,
            r.tool.title,
        ),
    )


def named(found: Sequence[Row], words: str) -> list[Row]:
    """The rows whose name, title or description holds every word."""
    wanted = words.casefold().split()
    return [
        row
        for row in found
        if all(
            word in f"{row.tool.name} {row.tool.title} {row.tool.description}".casefold() for word in wanted
        )
    ]


def ordered(found: Sequence[Row], by: str) -> list[Row]:
    """Sorted by one heading, the most first; as they are for one that there is not."""
    keys: dict[str, Callable[[Row], Any]] = {
        "name": lambda row: row.tool.title.casefold(),
        "timeout": lambda row: -(row.contract.timeout_seconds if row.contract else 0),
        "calls": lambda row: -row.figures.calls,
        "errors": lambda row: -row.figures.errors,
        "unknown": lambda row: -row.figures.unknown,
        "changed": lambda row: (
            -(row.contract.published_at.timestamp() if row.contract and row.contract.published_at else 0)
        ),
    }
    return sorted(found, key=keys[by]) if by in keys else list(found)


def columns(kind: str, words: str, sort: str) -> dict[str, Column]:
    """The headings that sort, keeping filter and search."""
    labels = {
        "name": _("Tool"),
        "timeout": _("Time-out"),
        "calls": _("Calls"),
        "errors": _("Errors"),
        "unknown": _("Unknown"),
        "changed": _("Changed"),
    }
    return {
        name: Column(
            name, label, _address(kind=kind, q=words, sort="" if sort == name else name), sort == name
        )
        for name, label in labels.items()
    }


def chips(found: Sequence[Row], current: str, words: str = "", sort: str = "") -> list[Chip]:
    """The filters, each with how many it would leave."""
    kinds = [
        ("", _("All"), "", ""),
        ("irreversible", _("Cannot be undone"), "seal", "irreversible"),
        ("compensable", _("Can be undone"), "undo-2", ""),
        ("read_only", _("Read-only"), "eye", ""),
        ("paused", _("Paused"), "paused", "stopped"),
        ("unknown", _("Had unknowns"), "unknown", "unknown"),
        ("drafts", _("Drafts"), "pencil", ""),
    ]
    if any(row.tool.is_drill for row in found):
        kinds.append(("drills", _("Drills"), "wrench", ""))
    return [
        Chip(
            label,
            _address(kind=kind, q=words, sort=sort),
            len(only(found, kind)),
            kind == current,
            mark,
            tone,
        )
        for kind, label, mark, tone in kinds
    ]


def only(found: Sequence[Row], kind: str) -> list[Row]:
    """The rows of one filter; all of them for a filter that there is not. What is there for drills stands in a filter of its
    own, unless it is paused."""
    if kind == "drills":
        return [row for row in found if row.tool.is_drill]
    found = [row for row in found if not row.tool.is_drill or row.tool.paused_at]
    match kind:
        case "paused":
            return [row for row in found if row.tool.paused_at]
        case "unknown":
            return [row for row in found if row.figures.unknown]
        case "drafts":
            return [row for row in found if row.draft]
        case "irreversible" | "compensable" | "read_only":
            return [row for row in found if row.contract and row.contract.effect_class == kind]
        case _:
            return list(found)


def _address(**asked: str) -> str:
    given = urlencode({name: value for name, value in asked.items() if value})
    base = reverse("tools:tools")
    return f"{base}?{given}" if given else base


def _row(tool: Tool, live: Contract | None, draft: int | None, counted: replay.Figures | None) -> Row:
    return Row(
        tool=tool,
        contract=live,
        draft=draft,
        path=paused(tool) if tool.paused_at else general(live),
        crash=after_a_crash(live) if live else [],
        figures=counted or replay.Figures(),
        url=reverse("tools:tool", args=[tool.name]),
    )

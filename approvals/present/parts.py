"""Small values that several views of an action share; their names are those of ``templates/components``."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


def agent_name(name: str) -> str:
    """An agent as people call it: ``contract-review`` is "Contract review"."""
    return name.replace("_", " ").replace("-", " ").strip().capitalize()


@dataclass(frozen=True, slots=True)
class Fact:
    """Label and value on one line; ``at`` is an instant shown in full instead of a value."""

    label: str
    value: str = ""
    note: str = ""
    mono: bool = False
    at: datetime | None = None
    url: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A fact that holds (``ok``), does not (``no``), or deserves a look (``warn``)."""

    verdict: str
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A banner: tone and mark of ``config.ui``, a lead in bold, the rest."""

    tone: str
    mark: str
    lead: str
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """Where something leads."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class May:
    """Whether this person may give the main answer, why or why not, and whether they may at least say no."""

    ok: bool
    text: str
    refuse: bool = False


@dataclass(frozen=True, slots=True)
class Sign:
    """One frame for one person who must agree."""

    order: str
    who: str
    note: str = ""
    mine: bool = False
    stamp: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage in the life of a decided action."""

    title: str
    at: datetime | None = None
    note: str = ""
    here: bool = False

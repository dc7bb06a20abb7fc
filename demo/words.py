"""Texts in the language of the terminal, and how they are laid out."""

from __future__ import annotations

import gettext
import os
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 96


def _language() -> str:
    """The first of the usual variables that is set decides, as with every program at a terminal."""
    names = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
    wanted = next((value for name in names if (value := os.environ.get(name))), "")
    return "zh_Hans" if wanted.lower().startswith("zh") else "en"


LANGUAGE = _language()
_catalogue = gettext.translation("django", ROOT / "locale", languages=[LANGUAGE], fallback=True)
_ = _catalogue.gettext
ngettext = _catalogue.ngettext


def say(text: str, *, indent: int = 0) -> None:
    """One paragraph, wrapped; the reader sees it at once, also through a pipe."""
    margin = " " * indent
    print(textwrap.fill(text, WIDTH, initial_indent=margin, subsequent_indent=margin), flush=True)


def chapter(number: int, title: str) -> None:
    """The head of a part of the story."""
    print(f"\n{number}. {title}", flush=True)


def fact(label: str, value: object) -> None:
    """A label and a value on one line, however long."""
    print(f"   {label}: {value}", flush=True)


def quote(text: str) -> None:
    """Somebody else's words, line by line as they are."""
    for line in text.rstrip().splitlines():
        print(
            textwrap.fill(line, WIDTH, initial_indent="   | ", subsequent_indent="   | ") or "   |",
            flush=True,
        )

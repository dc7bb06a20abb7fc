"""How tools are called: one file for each kind, all held to one conformance suite (``tests/adapters``).

Children of a node import this; no Django. To add a kind: a file beside these, its name here and in
``tools.contradictions.ADAPTERS``, and a far side for the suite.

Dangers: taking a time-out for a failure · repeating by itself · opening a connection past ``tools.egress``.
"""

from tools.adapters import http, python, smtp
from tools.adapters.base import Adapter, Failed

__all__ = ["Adapter", "Failed", "get", "http", "python", "smtp"]

_ADAPTERS: dict[str, Adapter] = {"http": http, "python": python, "smtp": smtp}


def get(name: str) -> Adapter:
    """The adapter of that name. Raises :class:`Failed` (nothing was sent) for one that does not exist."""
    try:
        return _ADAPTERS[name]
    except KeyError:
        raise Failed("adapter_missing", f"There is no adapter {name!r} here. Nothing was sent.") from None

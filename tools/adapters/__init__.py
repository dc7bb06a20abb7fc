"""How tools are called: one file for each kind, all held to one conformance suite (``tests/adapters``).

Children of a node import this; no Django. To add a kind see ``registry``.

Dangers: taking a time-out for a failure · repeating by itself · opening a connection past ``tools.egress``.
"""

from tools.adapters import http, mcp, python, smtp
from tools.adapters.base import Adapter, Failed
from tools.adapters.registry import get

__all__ = ["Adapter", "Failed", "get", "http", "mcp", "python", "smtp"]

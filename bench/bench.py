"""What a measure gets: the servers that run, the people of a tenant, and the options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.load import Cast
    from bench.servers import Servers


@dataclass(frozen=True)
class Bench:
    """``given``: the options of the command line."""

    servers: Servers
    who: Cast
    given: argparse.Namespace


#: Measures, prints its lines for people, and gives its figures for the last line.
Measure = Callable[[Bench], dict[str, float]]

"""``python -m bench [--only cycle,effects] [--runs 400] [--steps 10] …``. The last line is JSON for programs."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence

from bench.bench import Bench, Measure
from bench.servers import Servers, servers

#: Modules of this package with a function ``measure(bench)``, in the order in which they run.
MEASURES = ("cycle", "effects", "cancel", "memory", "rebuild", "many", "parked", "relay")
#: Taken alone, with ``--growth``: it fills the tables for minutes.
GROWTH = "growth"


def main(argv: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("--only", default="", help=f"some of {','.join(MEASURES)}, with commas between")
    options.add_argument("--runs", type=int, default=400, help="runs at once")
    options.add_argument("--steps", type=int, default=10, help="steps in each of them")
    options.add_argument("--latency", type=int, default=100, help="steps of the run that is alone")
    options.add_argument("--rounds", type=int, default=3, help="how often; the median round is reported")
    options.add_argument("--effects", type=int, default=100, help="runs with effects at once")
    options.add_argument(
        "--long", type=int, default=0, help="steps over which memory is watched, e.g. 100000"
    )
    options.add_argument(
        "--growth",
        type=int,
        nargs="?",
        const=2_000_000,
        default=0,
        help="this alone: what a step costs beside so many old ones",
    )
    given = options.parse_args(argv)
    chosen = [name for name in MEASURES if not given.only or name in given.only.split(",")]
    if given.growth:
        chosen = [GROWTH]
    with servers() as started:
        try:
            print(json.dumps(figures(started, given, chosen)))
        except BaseException:
            print(started.node_log()[-4000:], file=sys.stderr)
            raise
    return 0


def figures(started: Servers, given: argparse.Namespace, chosen: Sequence[str]) -> dict[str, float]:
    """Prepares the database, starts the node, takes the chosen measures; what they found, put together."""
    import django

    django.setup()
    from django.core.management import call_command

    from bench import load

    call_command("migrate", verbosity=0)
    bench = Bench(started, load.cast(), given)
    started.start_node()
    load.wait(load.count(bench.who, runs=20, steps=10), alive=started.alive)
    found: dict[str, float] = {}
    for name in chosen:
        measure: Measure = importlib.import_module(f"bench.{name}").measure
        found |= measure(bench)
    return found


if __name__ == "__main__":
    sys.exit(main())

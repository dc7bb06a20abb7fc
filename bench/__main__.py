"""``python -m bench [--runs 400] [--steps 10] [--latency 100] [--rounds 3]``. The last line is JSON for programs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from bench.servers import Servers, servers
from bench.table import rows


def main(argv: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument("--runs", type=int, default=400, help="runs at once")
    options.add_argument("--steps", type=int, default=10, help="steps in each of them")
    options.add_argument("--latency", type=int, default=100, help="steps of the run that is alone")
    options.add_argument("--rounds", type=int, default=3, help="how often; the median round is reported")
    given = options.parse_args(argv)
    with servers() as started:
        try:
            print(json.dumps(measure(started, given)))
        except BaseException:
            print(started.node_log()[-4000:], file=sys.stderr)
            raise
    return 0


def measure(started: Servers, given: argparse.Namespace) -> dict[str, float]:
    """Prepares the database, starts the node, measures, prints the table; the figures of the median round."""
    import django

    django.setup()
    from django.core.management import call_command

    from bench import load, measure

    call_command("migrate", verbosity=0)
    who = load.cast()
    started.start_node()
    load.wait(load.count(who, runs=20, steps=given.steps), alive=started.alive)
    rounds = []
    for _ in range(given.rounds):
        many = measure.throughput(started, who, runs=given.runs, steps=given.steps)
        rounds.append((many, measure.latency(who, steps=given.latency)))
    for line in rows(rounds, memory=measure.memory(started)):
        print(line)
    many, alone = sorted(rounds, key=lambda pair: pair[0].per_second)[len(rounds) // 2]
    return {
        "steps_per_s": round(many.per_second, 1),
        "p50_ms": round(alone.median, 3),
        "p95_ms": round(alone.quantile(0.95), 3),
        "cpu_s_per_1000": round(many.cpu_per_1000, 4),
        "runs": many.runs,
        "steps": many.steps,
    }


if __name__ == "__main__":
    sys.exit(main())

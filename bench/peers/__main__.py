"""``python -m bench.peers --python PATH [--only dbos,ours]``; PATH is the Python with the peers. The last line is JSON."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.peers import systems, table
from bench.peers.conduct import Conductor, PeerFailed
from bench.servers import Servers, servers


def main(argv: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    options.add_argument("--python", type=Path, required=True, help="the Python that has the peers")
    options.add_argument("--runs", type=int, default=200, help="runs at once")
    options.add_argument("--steps", type=int, default=10, help="steps in each of them")
    options.add_argument("--alone", type=int, default=100, help="steps of the run that is alone")
    options.add_argument("--parked", type=int, default=2000, help="runs that wait")
    options.add_argument("--resumed", type=int, default=200, help="of those, how many are resumed one by one")
    options.add_argument("--patience", type=float, default=40, help="seconds to wait for a recovery")
    options.add_argument("--only", default="", help="names, separated by commas; ours is called ours")
    given = options.parse_args(argv)
    only = [name for name in given.only.split(",") if name]
    rows: list[table.Row] = []
    with servers() as started:
        for system in systems.SYSTEMS:
            if not only or system.distribution in only:
                print(f"… {system.title}", file=sys.stderr)
                rows.append(peer(system, started, given))
        if not only or "ours" in only:
            print("… Countersign", file=sys.stderr)
            rows.insert(0, own(started, given))
    for line in (*table.lines(rows), "", *table.ratios(rows)):
        print(line)
    print(json.dumps({row.title: round(row.work.per_second, 1) for row in rows if row.work}))
    return 1 if any(row.failures for row in rows) else 0


def peer(system: systems.System, started: Servers, given: argparse.Namespace) -> table.Row:
    """One peer, each question on fresh ground. A question that fails is told in the table, and the next is asked."""
    row = table.Row(
        title=system.title,
        version=version(given.python, system.distribution),
        patience=given.patience,
        durable=system.durable,
        note=system.note,
    )

    def many(peer: Conductor) -> None:
        row.work = peer.many(runs=given.runs, steps=given.steps)

    def alone(peer: Conductor) -> None:
        row.gaps = peer.alone(steps=given.alone)

    def recovery(peer: Conductor) -> None:
        row.recovery = peer.recovery(seconds=0.2, patience=given.patience)

    def waiting(peer: Conductor) -> None:
        row.parked, row.resumed = peer.waiting(runs=given.parked, resumed=given.resumed)

    questions: list[Callable[[Conductor], None]] = [many, alone, recovery]
    if system.waits:
        questions.append(waiting)
    for question in questions:
        try:
            with Conductor(system, given.python, started) as conductor:
                question(conductor)
        except PeerFailed as error:
            row.failures.append(f"{question.__name__} failed")
            print(error, file=sys.stderr)
    return row


def own(started: Servers, given: argparse.Namespace) -> table.Row:
    """Ours, on the same servers."""
    import django

    django.setup()
    from django.core.management import call_command

    from bench.peers.ours import ours

    call_command("migrate", verbosity=0)
    row = ours(
        started,
        runs=given.runs,
        steps=given.steps,
        alone=given.alone,
        waiting=given.parked,
        resumed=given.resumed,
        seconds=0.2,
        patience=given.patience,
    )
    row.patience = given.patience
    return row


def version(python: Path, distribution: str) -> str:
    """What is installed there."""
    code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
    found = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    return found.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())

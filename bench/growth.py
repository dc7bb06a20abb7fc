"""Growth: what a step costs beside two million old ones, and in an empty database, in alternation (S14).

``--growth [STEPS]`` takes this measure alone: a second database is filled with ended runs, with their steps, history and
checkpoints, and one node on each works in turn.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.core.management import call_command
from django.db import connection, transaction

from bench import cycle, load
from bench.bench import Bench
from bench.servers import Servers

STEPS_OF_A_RUN = 20
RUNS_AT_ONCE = 5000
GROWN = "grown"
_CLONES = """
DROP TABLE IF EXISTS pg_temp.clone;
CREATE TEMP TABLE clone ON COMMIT DROP AS SELECT uuidv7() AS id FROM generate_series(1, %s);
INSERT INTO runs_run SELECT (jsonb_populate_record(r, jsonb_build_object('id', c.id, 'submit_key', c.id))).*
    FROM runs_run r CROSS JOIN clone c WHERE r.id = %s;
INSERT INTO runs_step SELECT (jsonb_populate_record(s, jsonb_build_object(
        'id', uuidv7(), 'run_id', c.id, 'intent_id', NULL))).*
    FROM clone c CROSS JOIN runs_step s WHERE s.run_id = %s;
INSERT INTO runs_event SELECT (jsonb_populate_record(e, jsonb_build_object('run_id', c.id))).*
    FROM clone c CROSS JOIN runs_event e WHERE e.run_id = %s;
INSERT INTO runs_checkpoint SELECT (jsonb_populate_record(p, jsonb_build_object('run_id', c.id,
        'id', nextval(pg_get_serial_sequence('runs_checkpoint', 'id'))))).*
    FROM clone c CROSS JOIN runs_checkpoint p WHERE p.run_id = %s
"""


def old_runs(like: uuid.UUID, *, count: int) -> None:
    """So many more ended runs like this one, with all that hangs on them. Joins the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in _CLONES.split(";"):
            values: list[Any] = (
                [count if "generate_series" in statement else like] if "%s" in statement else []
            )
            cursor.execute(statement, values)
        cursor.execute("SET LOCAL session_replication_role = origin")


@dataclass
class Place:
    """One database with its people and its node."""

    name: str
    servers: Servers
    who: load.Cast


def measure(bench: Bench) -> dict[str, float]:
    """Steps a second beside old steps and without them, the median of rounds that take turns, and their ratio."""
    empty = Place(connection.settings_dict["NAME"], bench.servers, bench.who)
    grown = _grown(bench)
    rounds: list[tuple[float, float]] = []
    try:
        for number in range(bench.given.rounds):
            rounds.append((_round(bench, empty), _round(bench, grown)))
            print(
                f"round {number + 1}: empty {rounds[-1][0]:,.0f} steps/s, grown {rounds[-1][1]:,.0f} steps/s"
            )
    finally:
        for node in grown.servers.nodes:
            node.kill()
            node.wait()
    without, beside = (statistics.median(each) for each in zip(*rounds, strict=True))
    ratio = statistics.median(first / second for first, second in rounds)
    print(f"{bench.given.growth:,} old steps: a step costs {ratio:.2f} times what it costs without them")
    return {
        "growth_old_steps": bench.given.growth,
        "growth_empty_steps_per_s": round(without, 1),
        "growth_steps_per_s": round(beside, 1),
        "growth_ratio": round(ratio, 3),
    }


def _round(bench: Bench, place: Place) -> float:
    with _inside(place):
        many = cycle.throughput(place.servers, place.who, runs=bench.given.runs, steps=bench.given.steps)
    return many.per_second


def _grown(bench: Bench) -> Place:
    url = urlunsplit(urlsplit(bench.servers.database_url)._replace(path=f"/{GROWN}"))
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {GROWN}")
    place = Place(GROWN, dataclasses.replace(bench.servers, database_url=url, nodes=[]), bench.who)
    with _inside(place):
        call_command("migrate", verbosity=0)
        place.who = load.cast()
        os.environ["DATABASE_URL"] = url
        place.servers.start_node()
        os.environ["DATABASE_URL"] = bench.servers.database_url
        (like,) = load.count(place.who, runs=1, steps=STEPS_OF_A_RUN)
        load.wait([like], alive=place.servers.alive)
        for first in range(0, bench.given.growth // STEPS_OF_A_RUN, RUNS_AT_ONCE):
            with transaction.atomic():
                old_runs(like, count=min(RUNS_AT_ONCE, bench.given.growth // STEPS_OF_A_RUN - first))
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
            cursor.execute("CHECKPOINT")
    return place


@contextmanager
def _inside(place: Place) -> Iterator[None]:
    """Everything of the bench happens in this database."""
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = place.name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before

"""Hot queries on large tables (S14): each goes along its named partial index, reads none of them whole, and touches as many
pages beside forty thousand old steps as beside a few.

The planner's own defaults: the engine's connections are told to go along indexes, so this is the harder case.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet

from accounts.scope import tenant_scope
from accounts.statements import statement
from bench.growth import STEPS_OF_A_RUN, old_runs
from runs import timeline
from runs.agents import registry
from runs.models import Run, Step
from runs.states import RUN_CLAIMABLE
from tests.make import queues
from tests.runs.engine import hands

pytestmark = pytest.mark.django_db
OLD_STEPS = 40_000
#: Pages that a query may touch more beside old rows: the indexes are a level or two higher, for each row it looks up.
MORE = 1.6

Query = tuple[str, Any, set[str]]


@pytest.fixture
def work() -> dict[str, Any]:
    """Something of everything that the queries look for: ready, running, expired, ended, unpublished."""
    who = queues.member()
    ended = hands.counter_run(*who, steps=STEPS_OF_A_RUN)
    me, gone = hands.worker(), hands.worker()
    # The verbs of the engine own their transactions; here all is one that is rolled back, so rows must do.
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_step SET status = 'SUCCEEDED', finished_at = now() WHERE run_id = %s", [ended.pk]
        )
        for number in range(STEPS_OF_A_RUN):
            cursor.execute(
                "INSERT INTO runs_step (id, run_id, tenant_id, key, seq, kind, pool, status, input, ended_seq, finished_at)"
                " SELECT gen_random_uuid(), id, tenant_id, %s, %s, 'call', 'io', 'SUCCEEDED', '{}', %s, now()"
                " FROM runs_run WHERE id = %s",
                [f"count/{number + 1}", number + 2, number + 1, ended.pk],
            )
        cursor.execute(
            "UPDATE runs_run SET status = 'SUCCEEDED', finished_at = now(), steps_ended = %s WHERE id = %s",
            [STEPS_OF_A_RUN, ended.pk],
        )
    queues.crowd(who, 60)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_step SET status = 'RUNNING', owner_id = %s, fence = nextval('fence'), attempt = 1,"
            " lease_until = now() + interval '1 hour' WHERE id IN (SELECT id FROM runs_step WHERE status = 'PENDING' LIMIT 20)",
            [me.pk],
        )
        cursor.execute(
            "UPDATE runs_step SET owner_id = %s, lease_until = now() - interval '1 hour' WHERE id IN"
            " (SELECT id FROM runs_step WHERE status = 'RUNNING' LIMIT 5)",
            [gone.pk],
        )
    held = list(Step.everywhere.filter(owner_id=me.pk))
    return {"who": who, "ended": ended, "me": me, "gone": gone, "held": held}


def queries(work: dict[str, Any]) -> dict[str, Query]:
    """Name → text, parameters, and the indexes of which it must use at least one each."""
    held, me = work["held"], work["me"]
    runs = sorted(step.run_id for step in held)
    leases = json.dumps([{"id": str(step.pk), "fence": step.fence} for step in held])
    keys = json.dumps([{"run": str(run), "key": "plan/1"} for run in runs])
    claim = {
        "room": json.dumps([{"pool": "io", "free": 10}]),
        "tenants": 10,
        "near": 400,
        "locked": [],
        "claimable": list(RUN_CLAIMABLE),
        "digests": registry.digests(),
        "worker": me.pk,
        "lease": 10.0,
        "quota": 2000,
        "factor": 0.1,
        "half_life": 300.0,
    }
    renew = {"leases": leases, "steps": [step.pk for step in held], "worker": me.pk, "lease": 10.0}
    found: dict[str, Query] = {
        "claim": (text("claim_steps"), claim, {"step_claimable", "runs_run_pkey"}),
        "expired": (text("expired_steps"), {"limit": 200, "plannable": ["RUNNING"]}, {"step_lease"}),
        "renew": (text("renew_leases"), renew, {"runs_step_pkey"}),
        "held": (
            text("held_leases"),
            {"leases": leases, "worker": me.pk},
            {"runs_step_pkey", "runs_run_pkey"},
        ),
        "lock runs": (text("lock_runs"), {"runs": runs}, {"runs_run_pkey"}),
        "contexts": (text("run_contexts"), {"runs": runs}, {"runs_run_pkey", "step_ended", "step_live"}),
        "known keys": (text("known_keys"), {"keys": keys}, {"step_key_once"}),
        "live steps": (text("live_steps"), {"runs": runs}, {"step_live"}),
        "over quota": (text("over_quota"), {"quota": 2000}, set()),
        "owners gone": (text("owners_gone"), {"limit": 200}, set()),
        "unpublished": (
            statement("outbox", "claim_messages"),
            {"topics": ["mail"], "these": False, "limit": 100, "hidden": 30.0},
            set(),
        ),
    }
    with tenant_scope(work["who"][0].pk):
        found["list of runs"] = of(Run.objects.order_by("-id")[:51], set())
        found["history"] = of(timeline.of_run(work["ended"].pk).order_by("-sequence")[:100], set())
        found["ended steps"] = of(
            Step.objects.filter(run_id=work["ended"].pk).exclude(kind="plan").order_by("seq"), set()
        )
    return found


def text(name: str) -> str:
    return statement("runs", name)


def of(rows: QuerySet[Any], indexes: set[str]) -> Query:
    sql, parameters = rows.query.sql_with_params()
    return sql, parameters, indexes


def explain(query: Query) -> tuple[int, set[str], set[str]]:
    """Pages that it touched, indexes that it used, and large tables that it read whole."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query[0]}", query[1])
        (plan,) = cursor.fetchone()
        transaction.set_rollback(True)
    tree = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]
    indexes: set[str] = set()
    whole: set[str] = set()

    def walk(node: dict[str, Any]) -> None:
        indexes.add(node.get("Index Name", ""))
        if node["Node Type"] == "Seq Scan" and node["Actual Loops"]:
            whole.add(node["Relation Name"])
        for child in node.get("Plans", ()):
            walk(child)

    walk(tree)
    pages = tree["Shared Hit Blocks"] + tree["Shared Read Blocks"]
    return int(pages), indexes - {""}, whole


def large() -> set[str]:
    """Tables with many rows, as the planner knows them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE reltuples > 2000")
        return {row[0] for row in cursor.fetchall()}


def analyse() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def measured(work: dict[str, Any], look: Callable[[Query], Any]) -> dict[str, Any]:
    found = {}
    for name, query in queries(work).items():
        look(query)  # fills caches of the catalogue and hints of rows, which are pages too
        found[name] = look(query)
    return found


def test_l18_s14_hot_queries_go_along_their_indexes_whatever_lies_beside_them(work):
    """Guards every `indexes` of runs/models and outbox/models that a hot statement needs, and the statements themselves."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = off")
    old_runs(work["ended"].pk, count=500 // STEPS_OF_A_RUN)
    analyse()
    few = measured(work, explain)
    old_runs(work["ended"].pk, count=OLD_STEPS // STEPS_OF_A_RUN)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO outbox_message SELECT (jsonb_populate_record(m, jsonb_build_object('id', gen_random_uuid(),"
            " 'published_at', now()))).* FROM outbox_message m, generate_series(1, 500) n"
        )
    analyse()
    many = measured(work, explain)
    wanted = {name: query[2] for name, query in queries(work).items()}
    whole = {name: tables & large() for name, (_, _, tables) in many.items() if tables & large()}
    assert whole == {}, "large tables that are read whole"
    missing = {name: wanted[name] - used for name, (_, used, _) in many.items() if wanted[name] - used}
    assert missing == {}, "indexes that are not used"
    grown = {
        name: (few[name][0], pages)
        for name, (pages, _, _) in many.items()
        if pages > few[name][0] * MORE + 30
    }
    assert grown == {}, "pages touched beside few and beside many old steps"

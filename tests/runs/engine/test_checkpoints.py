"""Checkpoints, and the context that is rebuilt from them."""

from __future__ import annotations

import copy
from dataclasses import asdict
from typing import Any

import orjson
import pytest
from django.db import DatabaseError, connection, transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from accounts.canonical import digest
from accounts.models import Role, Tenant, User
from runs import timeline
from runs.agents import registry
from runs.agents.base import StepView
from runs.engine.claim import ask_contexts
from runs.engine.types import Claimed
from runs.engine.workspace import locked_one
from runs.models import Checkpoint, Event, Run, Step
from runs.node import planning
from tests.runs.engine import hands
from tests.tools import make
from tools import samples
from tools.models import WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)
House = tuple[Tenant, User]


@pytest.fixture
def house() -> House:
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER, name="Ada")
    samples.seed(tenant)
    return tenant, user


def calls(*outputs: Any) -> list[list[dict[str, Any]]]:
    """One round for each output."""
    return [[{"do": "call", "key": f"step/{n}", "tool": "drill.noop"}] for n, _ in enumerate(outputs)]


def follow(run: Run, by: WorkerProcess, outputs: list[Any], *, until: int | None = None) -> None:
    """Does the run's steps, each with its output; with ``until`` only so many."""
    left = len(outputs) if until is None else until
    for _ in range(2 * len(outputs) + 3):
        claimed = hands.take(by)
        if not claimed or not left:
            break
        (one,) = claimed
        output = outputs[int(one.key.rpartition("/")[2])] if one.kind == "call" else None
        hands.put(by, hands.done(one, output))
        left -= one.kind == "call"
        if not left and until is not None:
            break


def rows(run: Run) -> list[Checkpoint]:
    return list(Checkpoint.everywhere.filter(run=run).order_by("version"))


def rebuilt(run: Run) -> tuple[Any, dict[str, Any]]:
    """The context as a node would rebuild it now, and what it was rebuilt from."""
    with transaction.atomic():
        row = ask_contexts([run.pk]).fetchone()
    assert row is not None
    _, version, agent, agent_version, text, _epoch = row
    work = hands.sent_down(_claimed(run, version, agent, agent_version, text))
    return planning.rebuild(registry.get(agent, agent_version), work, None)[0], work.context


def remembered(run: Run) -> Any:
    """The context of somebody who was there all the time: every ended step, and no checkpoint."""
    views = [
        asdict(StepView(s.key, s.kind, s.tool, s.status, s.output, s.error_code, s.error_text))
        for s in Step.everywhere.filter(run=run, ended_seq__isnull=False).order_by("ended_seq")
    ]
    _, data = rebuilt(run)
    whole = {**data, "summary": {}, "summarised": 0, "recent": views}
    text = orjson.dumps(whole).decode()
    work = hands.sent_down(_claimed(run, 0, run.agent, run.agent_version, text))
    return planning.rebuild(registry.get(run.agent, run.agent_version), work, None)[0]


def _claimed(run: Run, version: int, agent: str, agent_version: str, text: str) -> Claimed:
    ids = (run.pk, run.pk, run.tenant_id)
    return Claimed(
        *ids, "plan/x", "plan", "", "io", 1, 0, 0, 1, 7, 10.0, "{}", text, version, agent, agent_version, {}
    )


def spoil(checkpoint: Checkpoint) -> None:
    """As a bad disk or a bad hand would: past the trigger."""
    with connection.cursor() as raw, transaction.atomic():
        raw.execute("SET LOCAL session_replication_role = replica")
        raw.execute(
            'UPDATE runs_checkpoint SET summary = summary || \'{"trail": "forged"}\' WHERE id = %s',
            [checkpoint.pk],
        )


def test_a_checkpoint_stands_every_four_steps_and_before_a_wait(house: House) -> None:
    """S5: `checkpoints.due` says when."""
    run = hands.script_run(*house, *calls(*range(9)), [{"do": "wait", "key": "post", "signal": "post"}])
    follow(run, hands.worker(), list(range(9)))
    states = [row.state for row in rows(run)]
    assert [state["ended"] for state in states] == [4, 8, 9]
    assert [row.summarised for row in rows(run)] == [0, 4, 4]
    last = states[-1]
    assert last["status"] == "WAITING_EXTERNAL"
    assert [line[:2] for line in last["live"]] == [["post", "WAITING_EXTERNAL"]]
    assert [line[0] for line in last["results"]] == [f"step/{n}" for n in range(4, 9)]
    assert last["next"] == ["signal", "cancel"]
    assert last["budget"]["steps"] - last["spent"]["steps"] > 0
    assert last["versions"]["agent"] == "drill-script"
    assert last["versions"]["code"] == Run.everywhere.get(pk=run.pk).agent_digest
    assert last["event"] == bytes(Run.everywhere.get(pk=run.pk).event_hash).hex()


def test_a_checkpoint_names_what_was_asked(house: House) -> None:
    """S5: the open question and the live effect stand in it, by id."""
    effect = {"do": "call", "key": "effect", "tool": "drill.effect_final"}
    run = hands.script_run(*house, [effect])
    hands.run_all(hands.worker())
    (row,) = rows(run)
    assert [line[:2] for line in row.state["asked"]] == [["approve", "OPEN"]]
    assert row.state["next"][0] == "decide"


@example(outputs=list(range(13)), stops={9, 13}, bad={1, 2})
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    outputs=st.lists(st.one_of(st.integers(), st.text(max_size=40), st.none()), min_size=1, max_size=14),
    stops=st.sets(st.integers(1, 13), max_size=3),
    bad=st.sets(st.integers(0, 3), max_size=2),
)
def test_a_rebuilt_context_is_what_somebody_who_was_there_would_see(
    house: House, outputs: list[Any], stops: set[int], bad: set[int]
) -> None:
    """S6: wherever it stops, whichever checkpoints are spoilt, context and directives are the same as without a stop.
    Guards `planning.rebuild`: where the summary ends follows from the number of ended steps alone."""
    outputs = [orjson.loads(orjson.dumps(o)) if not isinstance(o, int) else o % 2**53 for o in outputs]
    run = hands.script_run(*house, *calls(*outputs), [{"do": "wait", "key": "post", "signal": "post"}])
    done = 0
    for stop in sorted(stop for stop in stops if stop <= len(outputs)):
        follow(run, hands.worker(), outputs, until=stop - done)
        done = stop
        for place, row in enumerate(rows(run)):
            if place in bad and "forged" not in str(row.summary):
                spoil(row)
        run.refresh_from_db()
        seen, _ = rebuilt(run)
        assert digest(asdict(seen)) == digest(asdict(remembered(run)))
        agent = registry.get(run.agent, run.agent_version)
        assert agent.next(seen) == agent.next(remembered(run))
        assert len(seen.recent) == min(seen.ended, 4 + seen.ended % 4)
    assert timeline.verify(run.pk) == []
    Run.everywhere.filter(pk=run.pk).update(agent_digest="no longer claimed")


def test_b19_what_is_stored_is_the_value_at_the_call(house: House) -> None:
    """Guards `checkpoints.save`: the summary is bytes before it returns, whatever becomes of the object after it."""
    run = hands.counter_run(*house, steps=2)
    large = {"notes": ["x" * 1000] * 500}
    at_the_call = copy.deepcopy(large)
    with transaction.atomic():
        workspace, locked = locked_one(run.pk)
        assert locked is not None
        locked.summary, locked.checkpoint = large, True
        locked.event("drill.noted")
        workspace.write()
        large["notes"].clear()
    (row,) = rows(run)
    assert row.summary == at_the_call


def test_b19_a_spoilt_checkpoint_is_noticed_passed_over_and_told_once(house: House) -> None:
    """Guards `runs/sql/run_contexts.sql`: the digest is made again on load, and `checkpoints.tell_unsound`."""
    outputs = list(range(14))
    run, me = hands.script_run(*house, *calls(*outputs)), hands.worker()
    follow(run, me, outputs, until=9)
    first, second = rows(run)
    spoil(second)
    seen, source = rebuilt(run)
    assert source["unsound"] == [second.version]
    assert source["summarised"] == first.summarised
    assert "forged" not in str(seen.summary)
    follow(run, me, outputs)
    run = Run.everywhere.get(pk=run.pk)
    assert run.status == "SUCCEEDED"
    assert run.result is not None
    told = Event.everywhere.filter(run=run, type="checkpoint.unsound")
    assert [event.payload for event in told] == [{"versions": [second.version]}]
    other = hands.script_run(*house, *calls(*outputs))
    follow(other, me, outputs)
    assert Run.everywhere.get(pk=other.pk).result == run.result


def test_b19_a_checkpoint_is_never_changed(house: House) -> None:
    """Guards runs/migrations/0010_checkpoints.py: the trigger `checkpoint_never_changed`."""
    run = hands.counter_run(*house, steps=5)
    hands.run_all(hands.worker())
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Checkpoint.everywhere.filter(run=run).update(phase="later")


def test_a_long_run_rebuilds_from_a_summary_and_a_few_steps(house: House) -> None:
    """S6: of 40 steps with 16 kB each, no more than seven travel to the child."""
    outputs = ["x" * 16_000] * 40
    run = hands.script_run(*house, *calls(*outputs), [{"do": "wait", "key": "post", "signal": "post"}])
    follow(run, hands.worker(), outputs)
    seen, source = rebuilt(run)
    assert seen.ended == 40
    assert len(orjson.dumps(source)) < 8 * 16_000

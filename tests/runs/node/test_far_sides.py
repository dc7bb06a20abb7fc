"""Far sides through the whole product: a real node, a real server that misbehaves, and what the database and a page say."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psutil
import pytest

from accounts.ids import public
from accounts.models import Role, Tenant, User
from runs import timeline
from runs.models import Run, Step
from runs.verbs.test_call import test_call as call
from tests.adapters.far_model import ModelServer
from tests.adapters.far_web import WebServer
from tests.make import people
from tests.runs.node import real
from tests.tools import make
from tools.models import Contract

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]
READS = {"effect_class": "read_only", "isolation": "thread", "backoff_seconds": 0}


@pytest.fixture
def web() -> Iterator[WebServer]:
    server = WebServer()
    yield server
    server.stop()


@pytest.fixture
def model() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.stop()


@pytest.fixture
def jonas(who: tuple[Tenant, User]) -> User:
    return make.person(who[0], Role.ADMINISTRATOR, name="Jonas Weber")


def asked(contract: Contract, by: User) -> Run:
    """A run of one call."""
    return call(tenant_id=contract.tenant_id, by=by.pk, tool=contract.tool.name, arguments={})


def step_of(run: Run) -> Any:
    return Step.everywhere.get(run=run, tool__gt="")


def test_b78_b79_b80_b82_an_answer_that_cannot_be_stored_comes_whole_to_the_page(start, who, jonas, web):
    """Guards ``runs.node.execute._succeeded`` and ``tools.adapters.digits``: from the wire of a far side through the child to
    the row and the page, what cannot be stored is written out and marked, and the call is made once."""
    web.mode = "strange"
    found = make.contract(
        who[0],
        "crm.find",
        **READS,
        adapter="http",
        target=f"http://127.0.0.1:{web.port}/x",
        egress_hosts=[f"127.0.0.1:{web.port}"],
        config={"method": "GET"},
    )
    start()
    run = asked(found, jonas)
    real.ended(run)
    step = step_of(run)
    assert (step.status, step.attempt, len(web.requests)) == ("SUCCEEDED", 1, 1)
    body = step.output["body"]
    assert step.output["escaped"] is True
    assert (body["nul"], body["half"]) == ("a\\u0000b", "c\\ud800d")
    assert (body["none"], body["endless"]) == ("NaN", "-Infinity")
    assert body["big"] == "123456789012345678901234567890"
    assert body["fine"] == "0.1000000000000000000001"
    assert "deep" in body
    page = people.browser(jonas).get(f"/tasks/{public('run', run.pk)}/test-call/").content.decode()
    assert "a\\\\u0000b" in page
    assert "123456789012345678901234567890" in page
    assert timeline.verify(run_id=run.pk) == []


def test_s9_a_model_call_that_times_out_midway_is_asked_again_and_paid_for_twice(start, who, jonas, model):
    """Guards ``tools.adapters.model._book`` and ``runs.engine.spending``: what was on the wire when the time was up may have
    cost all that it may; it counts as a call of the budget, and the next try is another one."""
    model.mode = "silent"
    found = make.contract(
        who[0],
        "model.ask",
        **READS,
        adapter="model",
        target=f"http://127.0.0.1:{model.port}/v1",
        egress_hosts=[f"127.0.0.1:{model.port}"],
        timeout_seconds=2,
        attempt_tokens=500,
        config={"model": "small", "max_tokens": 100, "price_in": "1", "price_out": "1"},
    )
    start()
    run = call(tenant_id=found.tenant_id, by=jonas.pk, tool="model.ask", arguments={"prompt": "How many?"})
    real.until(lambda: model.requests, what="the model is asked")
    model.mode = "accept"
    real.ended(run)
    step, spent = step_of(run), Run.everywhere.get(pk=run.pk).spent
    assert (step.kind, step.status, step.attempt) == ("model", "SUCCEEDED", 2)
    assert step.output["text"] == "Forty-two."
    assert len(model.requests) == 2
    assert (spent["model_calls"], spent.get("tool_calls", 0)) == (2, 0)
    assert spent["tokens"] > 100 + 27
    assert Decimal(str(spent["cost"])) == Decimal(spent["tokens"]) / 1_000_000
    assert timeline.verify(run_id=run.pk) == []


def test_o8_a_tool_that_hangs_occupies_no_worker_of_any_kind(start, who, jonas):
    """Guards `runs.node.pump.Pump._scan` and `_disobeyed`: a tool that hears nothing is ended at its cap, its child is
    replaced, and the next call of the same kind goes through: on the loop, in a thread, in a process of its own."""
    kinds = ("io", "thread", "cpu")
    for kind in kinds:
        cap = {"effect_class": "read_only", "isolation": kind, "timeout_seconds": 1, "max_attempts": 1}
        make.contract(who[0], f"deaf.{kind}", **cap, target="drill.deaf")
        make.contract(who[0], f"quick.{kind}", **{**cap, "timeout_seconds": 60}, target="drill.pid_blocking")
    node = start(COUNTERSIGN_POOLS="io:1:4,thread:1:1,cpu:1:1")
    before = {kind: node.child(kind).pid for kind in kinds}
    deaf = {kind: _called(who[0], jonas, f"deaf.{kind}") for kind in kinds}
    real.ended(*deaf.values(), seconds=60)
    assert {kind: step_of(run).error_code for kind, run in deaf.items()} == dict.fromkeys(kinds, "timeout")
    quick = {kind: _called(who[0], jonas, f"quick.{kind}") for kind in kinds}
    real.ended(*quick.values(), seconds=60)
    assert {real.status(run) for run in quick.values()} == {"SUCCEEDED"}
    after = {kind: step_of(run).output["pid"] for kind, run in quick.items()}
    assert {kind for kind in kinds if after[kind] == before[kind]} == set()
    real.until(
        lambda: not [pid for pid in before.values() if psutil.pid_exists(pid)], what="the deaf are gone"
    )


def _called(tenant: Tenant, by: User, tool: str) -> Run:
    return call(tenant_id=tenant.pk, by=by.pk, tool=tool, arguments={})

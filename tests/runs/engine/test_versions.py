"""Runs are pinned: to the version and code of their agent, and to the contracts of their tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db.models.functions import Now

from accounts.models import Role, Tenant, User
from runs.agents import registry
from runs.agents.base import Agent, Call, Context, Directive, Finish, WaitFor
from runs.engine.signal import signal
from runs.engine.stranded import tell_stranded
from runs.engine.submit import submit
from runs.engine.types import Stop
from runs.engine.unblock import unblock
from runs.models import Event, Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools import samples
from tools.models import Contract, Intent, Tool

pytestmark = pytest.mark.django_db(transaction=True)
House = tuple[Tenant, User]


class Letter(Agent):
    """An effect, a wait, and the end."""

    name, version, tools = "drill-letter", "1", ("drill.effect_keyed",)
    send = "send"

    def next(self, context: Context) -> Sequence[Directive]:
        if context.live:
            return []
        if context.status(self.send) is None:
            return [Call(self.send, "drill.effect_keyed")]
        return [WaitFor("reply", "reply")] if context.status("reply") is None else [Finish({})]


class Renamed(Letter):
    """The same a version later, with another key for the effect."""

    version = "2"
    send = "dispatch"


Deploy = Callable[..., None]


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch) -> Deploy:
    """What is installed from now on."""

    def install(*agents: Agent) -> None:
        loaded = {(agent.name, agent.version): agent for agent in agents}
        digests = [type(agent).digest() for agent in agents]
        monkeypatch.setattr(registry, "_loaded", loaded)
        monkeypatch.setattr("runs.engine.claim.plannable_digests", lambda: digests)

    return install


@pytest.fixture
def house() -> House:
    tenant = make.tenant()
    make.person(tenant, Role.APPROVER)
    user = make.person(tenant, Role.SUBMITTER, name="Ada")
    samples.seed(tenant)
    return tenant, user


def letter(house: House) -> Run:
    run, _ = submit(
        tenant_id=house[0].pk,
        submitter_id=house[1].pk,
        agent="drill-letter",
        goal="Send it",
        input={},
        submit_key="one",
    )
    return run


def again(run: Run) -> Run:
    found: Run = Run.everywhere.get(pk=run.pk)
    return found


def live_node(*digests: str) -> Any:
    node = hands.worker()
    type(node).objects.filter(pk=node.pk).update(agents=list(digests), last_seen_at=Now())
    return node


def test_b30_a_run_whose_agent_is_on_no_node_says_so_and_goes_on_when_it_is_back(
    house: House, deploy: Deploy
) -> None:
    """Guards `runs/engine/stranded.py: tell_stranded` and its statement."""
    deploy(Letter())
    run = letter(house)
    live_node(Renamed.digest())
    assert tell_stranded() == 0, "not before its time"
    assert tell_stranded(grace=0) == 1
    run = again(run)
    assert run.status == "WAITING_EXTERNAL"
    assert "drill-letter 1" in run.waiting_on
    assert tell_stranded(grace=0) == 0, "once"
    me = live_node(Letter.digest())
    (claimed,) = hands.take(me)
    hands.put(me, hands.done(claimed))
    run = again(run)
    assert (run.status, run.waiting_on) == ("RUNNING", "")
    assert tell_stranded(grace=0) == 0
    assert Event.everywhere.filter(run=run, type="run.stranded").count() == 1


def test_b30_nobody_is_stranded_while_a_node_has_the_code_or_none_lives(house: House, deploy: Deploy) -> None:
    """Guards runs/sql/stranded_runs.sql."""
    deploy(Letter())
    run = letter(house)
    assert tell_stranded(grace=0) == 0
    live_node(Renamed.digest(), Letter.digest())
    live_node(Renamed.digest())
    assert tell_stranded(grace=0) == 0
    assert again(run).status == "PENDING"


def test_b48_a_renamed_step_repeats_no_effect_and_a_rollback_goes_on(house: House, deploy: Deploy) -> None:
    """Guards `runs/sql/claim_steps.sql`: a node claims only runs of the code that it has."""
    deploy(Letter())
    run, me = letter(house), hands.worker()
    effects: list[str] = []

    def act(claimed: Any) -> Any:
        if claimed.intent_id is None:
            return hands.done(claimed)
        return hands.sent(me, claimed, effects)

    hands.run_all(me, act)
    assert again(run).status == "WAITING_EXTERNAL"
    deploy(Renamed())
    signal(tenant_id=run.tenant_id, run_id=run.pk, name="reply", external_id="1", payload={})
    assert hands.take(me) == []
    live_node(Renamed.digest())
    type(me).objects.filter(pk=me.pk).update(agents=[Renamed.digest()])
    assert tell_stranded(grace=0) == 1
    deploy(Renamed(), Letter())
    hands.run_all(me, act)
    run = again(run)
    assert (run.status, run.agent_version) == ("SUCCEEDED", "1")
    assert effects == ["send"]
    assert Intent.everywhere.filter(run_id=run.pk).count() == 1


def test_b30_a_run_keeps_the_contract_that_it_was_submitted_with(house: House, deploy: Deploy) -> None:
    """Guards `runs/engine/planner.py: contract_of`: the pinned contract, retired or not."""
    deploy(Letter())
    run, me = letter(house), hands.worker()
    pinned = Contract.everywhere.get(tenant=house[0], tool__name="drill.effect_keyed", status="PUBLISHED")
    newer = make.contract(house[0], "drill.effect_keyed", target="drill.effect_keyed")
    assert newer.version > pinned.version
    hands.run_all(
        me, lambda claimed: hands.done(claimed) if claimed.intent_id is None else hands.sent(me, claimed)
    )
    assert Step.everywhere.get(run=run, key="send").contract_id == pinned.pk


def test_b30_a_paused_tool_blocks_with_a_reason_and_goes_on(house: House, deploy: Deploy) -> None:
    """Guards `runs/engine/begin.py: _refused`: switches are asked at the send."""
    deploy(Letter())
    run, me = letter(house), hands.worker()
    (plan,) = hands.take(me)
    hands.put(me, hands.done(plan))
    tool = Tool.everywhere.filter(name="drill.effect_keyed")
    tool.update(paused_at=Now(), paused_by=house[1], paused_reason="It is being repaired.")
    (claimed,) = hands.take(me)
    answer = hands.asked(me, claimed)
    assert isinstance(answer, Stop)
    assert answer.why == "waiting"
    run = again(run)
    assert run.status == "WAITING_EXTERNAL"
    assert "It is being repaired." in run.waiting_on
    Tool.everywhere.update(paused_at=None, paused_reason="")
    assert unblock() == 1
    assert again(run).status == "RUNNING"


def test_b30_a_contract_that_is_not_there_ends_in_a_takeover(house: House, deploy: Deploy) -> None:
    """Guards `runs/engine/planner.py: contract_of`."""
    deploy(Letter())
    run, me = letter(house), hands.worker()
    Run.everywhere.filter(pk=run.pk).update(contracts={"drill.effect_keyed": "0" * 32})
    hands.run_all(me)
    assert again(run).status == "WAITING_APPROVAL"
    assert "drill.effect_keyed" in again(run).waiting_on

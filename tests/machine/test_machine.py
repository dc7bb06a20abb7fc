"""Random stories: each rule is one verb of the engine, or two of them whose transactions overlap; after each the oracle
looks at the tables and the ledger, and every story must come to rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from accounts import audit, failpoints
from tests.crashes import checker
from tests.machine import nodes, world
from tests.machine.seams import Act, Pair, Seams
from tests.machine.world import World
from tests.runs.node import real

pytestmark = pytest.mark.django_db(transaction=True)

PICK = st.integers(0, 47)
VERBS = (
    *("submit", "claim", "hold_plan", "begin", "send", "finish", "repeat", "kill_child", "kill_node"),
    *("let_lease_end", "renew", "sweep", "answer", "settle", "old_tab", "let_question_end", "cancel"),
    *("change_rights", "pause_tool"),
)
#: What a quiet day is made of, so that stories get somewhere.
QUIET = ("claim", "answer", "begin", "send", "finish", "sweep", "settle")
#: Verbs with a transaction worth stopping in.
STOPPING = ("claim", "begin", "finish", "let_lease_end", "sweep", "answer", "settle", "cancel", "repeat")
#: Verbs that may run into it. Those that write to a run stand twice.
MEETING = (*STOPPING, *VERBS)
#: Verbs with the number they are given; None takes a drawn one.
UP_TO_BEGIN = (("submit", None), ("answer", 3), ("sweep", 2), ("claim", None), ("begin", None))
LOOKED = (("settle", None), ("sweep", 2), ("claim", None), ("begin", None), ("send", None), ("finish", 1))
SCENES: dict[str, tuple[tuple[str, int | None], ...]] = {
    "sent": (*UP_TO_BEGIN, ("send", None)),
    "child dies before the send": (*UP_TO_BEGIN, ("kill_child", None), ("finish", None), *LOOKED),
    "child dies after the send": (
        *UP_TO_BEGIN,
        ("send", None),
        ("kill_child", None),
        ("finish", None),
        *LOOKED,
    ),
    "paused": (*UP_TO_BEGIN, ("let_lease_end", 1), *LOOKED, ("send", None), ("finish", 1)),
    "node dies": (*UP_TO_BEGIN, ("kill_node", None), ("sweep", 1), *LOOKED),
    "rights change": (
        ("submit", None),
        ("answer", 3),
        ("change_rights", 0),
        ("claim", None),
        ("begin", None),
    ),
    "stopped": (*UP_TO_BEGIN, ("cancel", None), ("send", None), ("finish", None)),
}


#: What stories came to: kinds of events, answers to open outcomes, late truths.
MET = """
    SELECT e.type, count(*) FROM runs_event e GROUP BY e.type
    UNION ALL SELECT 'settled ' || d.verdict, count(*) FROM approvals_decision d JOIN approvals_pendingaction a
        ON a.id = d.action_id WHERE a.kind = 'settle' GROUP BY d.verdict
    UNION ALL SELECT 'sent twice', count(*) FROM tools_intent WHERE dispatches > 1
    UNION ALL SELECT 'quarantined', count(*) FROM accounts_auditentry WHERE act = 'step.quarantined'"""
OFTEN = (
    *(
        "step.sending",
        "step.unknown",
        "step.resumed",
        "step.lost",
        "run.succeeded",
        "run.cancelled",
        "approval.voided",
    ),
    *("settled happened", "settled not_happened", "settled nobody_knows", "sent twice"),
)


@dataclass
class Stage:
    """What all stories of one test share."""

    cast: nodes.Cast
    database: psycopg.Connection[Any]
    pair: Pair
    stories: int = 0
    steps: int = 0
    met: Counter[str] = field(default_factory=Counter)


class Machine(RuleBasedStateMachine):
    """One story. ``stage`` is set by the test."""

    stage: ClassVar[Stage]

    def __init__(self) -> None:
        super().__init__()
        world.empty(self.stage.database)
        self.world = World(self.stage.cast, self.stage.database)
        self.stage.stories += 1
        self.broken = False

    def verb(self, names: Sequence[str], number: int, pick: int) -> Act | None:
        """The verb of that number, or the next one for which there is something to do."""
        for turn in range(len(names)):
            act: Act | None = getattr(self.world, names[(number + turn) % len(names)])(pick)
            if act:
                return act
        return None

    def do(self, name: str, pick: int) -> None:
        if act := self.verb([name], 0, pick):
            act()

    @rule(number=st.integers(0, len(VERBS) - 1), pick=PICK)
    def one(self, number: int, pick: int) -> None:
        """Any verb."""
        if act := self.verb(VERBS, number, pick):
            act()

    @rule(number=st.integers(0, len(QUIET) - 1), pick=PICK)
    def onwards(self, number: int, pick: int) -> None:
        if act := self.verb(QUIET, number, pick):
            act()

    @rule(
        scene=st.sampled_from(sorted(SCENES)),
        pick=PICK,
        number=st.integers(0, len(VERBS) - 1),
        other=PICK,
        at=st.integers(0, 11),
    )
    def scene(self, scene: str, pick: int, number: int, other: int, at: int) -> None:
        """What often goes wrong, in its order, with something else in the middle of it."""
        for place, (name, how) in enumerate(SCENES[scene]):
            if place == at and (act := self.verb(VERBS, number, other)):
                act()
            self.do(name, pick if how is None else how)

    @rule(
        first=st.integers(0, len(STOPPING) - 1),
        second=st.integers(0, len(MEETING) - 1),
        pick=PICK,
        other=PICK,
    )
    def at_once(self, first: int, second: int, pick: int, other: int) -> None:
        """Two verbs in two transactions: the first stops before its commit while the second runs into it."""
        if not self.world.jobs:
            for name, how in UP_TO_BEGIN:
                self.do(name, pick if how is None else how)
        one, two = self.verb(STOPPING, first, pick), self.verb(MEETING, second, other)
        if one and two:
            self.stage.pair.race(one, two)

    @invariant()
    def holds(self) -> None:
        self.stage.steps += 1
        self.said(checker.always(self.stage.database, self.world.ledger))

    def said(self, found: list[checker.Finding]) -> None:
        self.broken = self.broken or bool(found)
        assert not found, "\n".join(map(str, found))

    def teardown(self) -> None:
        """The end of every story that went well so far."""
        if self.broken:
            return
        self.world.come_to_rest()
        self.said(checker.at_rest(self.stage.database, self.world.ledger, relayed=False))
        assert audit.verify(tenant_id=self.stage.cast.tenant.pk) == []
        self.stage.met.update(dict(self.stage.database.execute(MET).fetchall()))


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    seams = Seams()
    monkeypatch.setattr(failpoints, "_active", lambda: seams)
    with (
        psycopg.connect(real.database_url(), autocommit=True) as database,
        psycopg.connect(real.database_url(), autocommit=True) as observer,
    ):
        pair = Pair(seams, observer)
        yield Stage(nodes.cast(), database, pair)
        pair.close()


def play(stage: Stage, *, stories: int, steps: int, shrink: bool, derandomize: bool) -> None:
    Machine.stage = stage
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=stories,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=derandomize,
            phases=phases,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
    blocked = stage.pair.blocked
    print(f"{stage.stories} stories, {stage.steps} steps, {blocked} waits for a lock, met {dict(stage.met)}")
    thin = {name: stage.met[name] for name in OFTEN if stage.met[name] < stories / 100}
    assert not thin, f"inconclusive, met too seldom: {thin}"
    assert blocked >= stories / 20, "inconclusive: the two connections hardly ever met"


@pytest.mark.timeout(1200)
def test_no_story_breaks_a_promise(stage: Stage) -> None:
    """The same 200 stories each time."""
    play(stage, stories=200, steps=8, shrink=False, derandomize=True)


@pytest.mark.drills
@pytest.mark.timeout(3600)
def test_no_longer_story_breaks_a_promise(stage: Stage) -> None:
    """Others each time; what breaks is told as short as possible."""
    play(stage, stories=1000, steps=40, shrink=True, derandomize=False)

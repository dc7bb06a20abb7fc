"""Crashes at every seam of begin, send and record, against a far side of each class: the ledger has at most one effect for a
key, and a person is asked exactly when nobody else can tell. What must follow stands here, not in the product's table."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from accounts.models import Role, Tenant, User
from approvals.decide import decide
from approvals.models import Decision, PendingAction
from runs import timeline
from runs.engine.heard import ask_due
from runs.engine.reclaim import reclaim, release_gone
from runs.engine.resume import resume_decided
from runs.models import Run
from tests.crashes.drill import environment
from tests.crashes.far_side import CLASSES, FarSide
from tests.runs.engine import hands
from tests.runs.node import real
from tests.tools import make
from tools.models import EffectClass, Intent

pytestmark = [pytest.mark.crash, pytest.mark.timeout(600)]

#: Seam → at which hit, who dies there, and how far the effect had come: not begun, begun but not sent, sent, or recorded.
SEAMS = {
    "begin.before_ask": (1, "child", "before"),
    "begin.before_commit": (1, "node", "before"),
    "begin.committed": (1, "node", "begun"),
    "begin.answered": (1, "node", "begun"),
    "send.before": (1, "child", "begun"),
    "no answer": (0, "child", "sent"),
    "send.answered": (1, "child", "sent"),
    # The first commit is that of the plan.
    "record.before_commit": (2, "node", "sent"),
    "record.committed": (2, "node", "recorded"),
}
#: In every run of the tests; the rest in `make drills`.
ALWAYS = ("send.before", "no answer")
#: The classes of which a person must say what happened, once it was begun and not recorded.
NOBODY_ELSE = ("deadline", "none")


@dataclass
class House:
    tenant: Tenant
    ada: User
    ben: User
    far: FarSide
    arms: Path

    def declare(self, kind: str) -> None:
        """The contract of a far side of this class."""
        host = f"127.0.0.1:{self.far.port}"
        called = {"adapter": "http", "isolation": "thread", "egress_hosts": [host]}
        more: dict[str, dict[str, Any]] = {
            "keys": {"native_idempotency": True, "retry_safe": True},
            "query": {
                "result_query": "drill.noop",
                "query_arguments": {"key": {"from": "key"}},
                "query_answer": {
                    "pointer": "/body/state",
                    "yes": ["booked"],
                    "no": ["none"],
                    "reference": "/body/id",
                },
            },
            "deadline": {"enforces_deadline": True},
            "none": {},
        }
        make.contract(
            self.tenant,
            "drill.noop",
            **{**called, "target": f"http://{host}/lookup", "effect_class": EffectClass.READ_ONLY},
            config={"method": "GET", "query": ["key"]},
        )
        make.contract(
            self.tenant,
            "drill.effect",
            **{**called, "target": f"http://{host}/{kind}", "config": {"method": "POST", "reference": "/id"}},
            effect_class=EffectClass.COMPENSABLE,
            compensating_tool="drill.undo",
            timeout_seconds=30,
            **more[kind],
        )

    def arm(self, entries: str) -> None:
        for file in self.arms.glob("*@*"):
            file.unlink()
        (self.arms / "file").write_text(entries)


@pytest.fixture
def house(transactional_db: None, tmp_path: Path) -> Iterator[House]:
    tenant, far = make.tenant(), FarSide()
    ben, ada = make.person(tenant, Role.APPROVER), make.person(tenant, Role.SUBMITTER, name="Ada")
    yield House(tenant, ada, ben, far, tmp_path / "arms")
    far.stop()


@pytest.fixture
def start(house: House, tmp_path: Path) -> Iterator[Callable[..., real.Node]]:
    """Nodes that end before the far side does."""
    with real.nodes(tmp_path) as starter:
        env = {**environment(house.arms), "COUNTERSIGN_LEASE_SECONDS": "6"}
        yield lambda: starter(**env)


def _open_settle(run: Run) -> PendingAction | None:
    return PendingAction.everywhere.filter(run_id=run.pk, kind="settle", status="OPEN").first()


def _came_to_rest(run: Run, node: Callable[[], None]) -> bool:
    """What the coordinator does from its polls; true when the run has ended or only a person can go on."""
    node()
    release_gone(), reclaim(), ask_due(), resume_decided()
    if real.status(run) in ("SUCCEEDED", "FAILED"):
        return True
    return _open_settle(run) is not None and real.status(run) == "WAITING_APPROVAL"


def _crash(house: House, node: real.Node, seam: str, kind: str) -> Run:
    """One task whose only effect meets a crash at the seam."""
    hit, who, _ = SEAMS[seam]
    if hit:
        house.arm(f"{seam}=kill@{hit}")
    else:
        house.far.held.clear()
        house.far.mute.set()
    call = {"do": "call", "key": "pay", "tool": "drill.effect", "arguments": {"amount": 7}}
    run = hands.script_run(house.tenant, house.ada, [call])
    if hit:
        marks = house.arms
        real.until(lambda: list(marks.glob("*@*")), seconds=120, what=f"a process died at {seam}")
        if who == "node":
            real.until(lambda: node.process.poll() is not None, seconds=120, what=f"the node died at {seam}")
    else:
        real.until(house.far.held.is_set, seconds=120, what="the effect was done")
        house.far.mute.clear()
        node.child("thread").kill()
    return run


def _check(house: House, run: Run, seam: str, kind: str) -> None:
    """The independent expectation, by how far it had come and what the far side offers."""
    came = SEAMS[seam][2]
    intent = Intent.everywhere.get(run_id=run.pk)
    key = hashlib.sha256(intent.key.encode()).hexdigest()
    open_ = came in ("begun", "sent")
    effects, arrived = house.far.ledger.effects[key], house.far.arrived[kind, key]
    assert effects <= 1
    assert timeline.verify(run.pk) == []
    if open_ and kind in NOBODY_ELSE:
        assert (intent.status, real.status(run)) == ("UNKNOWN", "WAITING_APPROVAL")
        assert _open_settle(run) is not None
        assert (effects, arrived, intent.dispatches) == ((1, 1, 1) if came == "sent" else (0, 0, 1))
        return
    assert (intent.status, real.status(run)) == ("CONFIRMED", "SUCCEEDED"), intent.evidence
    assert _open_settle(run) is None
    assert not Decision.everywhere.filter(action__run_id=run.pk).exists()
    assert effects == 1
    if kind == "keys":
        assert arrived == (2 if came == "sent" else 1)
    else:
        assert arrived == 1
    was_open = bool(real.events(run, "step.unknown"))
    assert was_open == (open_ and kind == "query")


def _settle(house: House, run: Run) -> None:
    """A person looks at the ledger and says what is there."""
    action = _open_settle(run)
    assert action is not None
    key = hashlib.sha256(Intent.everywhere.get(run_id=run.pk).key.encode()).hexdigest()
    happened = house.far.ledger.happened(key)
    decide(
        action_id=action.pk,
        user_id=house.ben.pk,
        verdict="happened" if happened else "not_happened",
        digest=action.digest,
        generation=action.generation,
        channel="web",
        authenticated="session",
        fresh=True,
        reference="the ledger" if happened else "",
        comment="looked",
    )


def _story(house: House, start: Callable[..., real.Node], seam: str, kinds: tuple[str, ...]) -> None:
    node = start()
    living = [node]

    def keep_one() -> None:
        if living[-1].process.poll() is not None:
            house.arm("")
            living.append(start())

    for kind in kinds:
        house.arm("")
        house.declare(kind)
        run = _crash(house, living[-1], seam, kind)
        real.until(functools.partial(_came_to_rest, run, keep_one), seconds=150, what=f"{kind} at {seam}")
        _check(house, run, seam, kind)
        house.arm("")
        while real.status(run) == "WAITING_APPROVAL":
            if _open_settle(run) is not None:
                _settle(house, run)
            real.until(
                functools.partial(_came_to_rest, run, keep_one),
                seconds=150,
                what=f"{kind} at {seam}, settled",
            )
        key = hashlib.sha256(Intent.everywhere.get(run_id=run.pk).key.encode()).hexdigest()
        assert (real.status(run), house.far.ledger.effects[key]) == ("SUCCEEDED", 1)
    assert psutil.pid_exists(living[-1].process.pid)


@pytest.mark.parametrize(
    "seam", [pytest.param(seam, marks=() if seam in ALWAYS else pytest.mark.drills) for seam in SEAMS]
)
def test_b67_a_crash_leaves_one_effect_and_a_question_only_where_nobody_else_can_tell(house, start, seam):
    """Guards tools/reconcile.py `decide` and runs/engine/unknown.py: each class of far side in turn, the same crash."""
    _story(house, start, seam, CLASSES)

"""The child's side without a process: execution, planning, frames."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from runs import blobs
from runs.agents.drill import Counter
from runs.engine.types import Claimed, Go, Outcome, Plan, Stop
from runs.node import planning
from runs.node.child_io import drive
from runs.node.clock import boot
from runs.node.execute import execution
from runs.node.lesser import lesser
from runs.node.tool_context import StepContext
from runs.node.wire import BrokenFrame, pack, unpack
from runs.node.work import Report, Work
from tools import toolbox
from tools.adapters.base import Failed, Unknown


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test adds to the toolbox is gone after it."""
    toolbox.load()
    monkeypatch.setattr(toolbox, "_tools", dict(toolbox._tools))


def work(tool: str = "drill.noop", *, effect: str = "read_only", **changes: Any) -> Work:
    values: dict[str, Any] = {
        "step": uuid.uuid4().hex,
        "fence": 7,
        "attempt": 1,
        "run": "r",
        "tenant": "t",
        "key": "count/1",
        "kind": "call",
        "tool": tool,
        "timeout": 10.0,
        "start_by": boot() + 5,
        "lease_until": boot() + 10,
        "intent_key": "k" if effect != "read_only" else "",
        "agent": "drill-counter",
        "agent_version": "1",
        "version": 3,
        "given": {"arguments": {}},
        "spec": {"adapter": "python", "target": tool, "effect": effect},
        "context": {
            "goal": "g",
            "input": {"steps": 2},
            "summary": {},
            "recent": [],
            "live": ["count/1"],
            "ended": 0,
            "today": "2026-11-30",
            "summarised": 0,
            "code": Counter.digest(),
        },
    }
    return Work(**{**values, **changes})


def go(seconds: float = 5) -> Go:
    return Go(uuid.uuid4(), "k", 7, seconds)


def run(item: Work, answer: Any = None, function: Any = None) -> Report:
    """Executes with this answer to "may I begin?" and, if given, this function as the tool."""
    if function is not None:
        toolbox._tools[item.tool] = toolbox.PythonTool(item.tool, function, True)
    return drive(execution(item, StepContext(item)), lambda: answer)


def raising(error: BaseException) -> Any:
    def tool(ctx: Any, arguments: Any) -> Any:
        raise error

    return tool


@pytest.mark.parametrize(
    ("error", "read_only", "effect"),
    [
        (Failed("no", "known"), "failed", "failed"),
        (Unknown("maybe", "nobody knows"), "failed", "unknown"),
        (ValueError("?"), "failed", "unknown"),
        (SystemExit(1), "failed", "unknown"),
        (MemoryError(), "failed", "unknown"),
    ],
)
def test_what_a_tool_raises_decides_the_ending(error, read_only, effect):
    """After begin only `Failed` says that it did not happen."""
    assert run(work("t.raises"), function=raising(error)).ending == read_only
    assert run(work("t.raises", effect="compensable"), go(), raising(error)).ending == effect


def test_an_effect_is_not_sent_before_main_says_go():
    called = []
    item = work("t.effect", effect="compensable")
    report = run(item, Stop("waiting", "blocked", "paused"), lambda ctx, arguments: called.append(1))
    assert (report.ending, report.sent, called) == ("waiting", False, [])


def test_b35_an_effect_whose_time_has_passed_is_not_sent():
    """Guards `runs.node.execute._steps`: the deadline is compared once more, after go and before the send."""
    called = []
    report = run(work("t.late", effect="compensable"), go(0), lambda ctx, arguments: called.append(1))
    assert (report.ending, report.error_code, report.sent, called) == ("failed", "too_late", False, [])


def test_a_first_answer_is_given_again():
    report = run(work(effect="compensable"), Stop("answered", "confirmed", "", {"first": 1}))
    assert (report.ending, report.output, report.sent) == ("succeeded", {"first": 1}, False)


def test_a_step_that_waited_too_long_is_given_back():
    report = run(work(start_by=boot() - 1))
    assert report.ending == "drained"


def with_secret(tool: str) -> Work:
    spec = {"adapter": "python", "target": tool, "effect": "read_only", "secrets": {"crm": "canary/7f3a"}}
    return work(tool, spec=spec)


def test_b75_echoes_of_a_secret_do_not_leave_the_child():
    """Guards `runs.node.execute.execution`: answer, reference and error are masked before the report is made."""
    report = run(
        with_secret("t.echo"), function=lambda ctx, arguments: {"canary/7f3a": ["Bearer canary/7f3a"]}
    )
    assert report.output == {"(crm)": ["Bearer (crm)"]}
    report = run(with_secret("t.fail"), function=raising(Failed("no", "at /?key=canary%2F7f3a it failed")))
    assert report.error_text == "at /?key=(crm) it failed"


def test_b75_a_stored_answer_holds_no_secret(monkeypatch):
    """Guards `runs.node.tool_context.StepContext.store`: what is too long to be inlined is masked as well."""
    kept: list[bytes] = []

    def put(data: bytes, media_type: str) -> tuple[str, int, str]:
        kept.append(data)
        return "0" * 64, len(data), ""

    monkeypatch.setattr(blobs, "put", put)
    StepContext(with_secret("t.long")).store(b"said canary/7f3a", name="a", media_type="text/plain")
    assert kept == [b"said (crm)"]


def test_a_large_answer_stays_a_success():
    report = run(work("t.large"), function=lambda ctx, arguments: {"text": "x" * 2_000_000})
    assert report.ending == "succeeded"
    assert report.output == {"left_out": True, "bytes": 2_000_011}


def test_l6_a_step_that_was_told_to_stop_does_not_start():
    """Guards `runs.node.execute._steps`: it waited for a thread; meanwhile its lease was lost, or its task cancelled."""
    called: list[int] = []
    toolbox._tools["t.late"] = toolbox.PythonTool("t.late", lambda ctx, arguments: called.append(1), True)
    for why, ending in (("lost", "lost"), ("cancel", "cancelled"), ("drain", "drained")):
        item = work("t.late")
        ctx = StepContext(item)
        ctx.stop(why)
        assert drive(execution(item, ctx), lambda: None).ending == ending
    assert called == []


def test_l7_no_call_is_made_after_the_lease():
    """Guards `runs.node.execute._steps`: the deadline is looked at once more, directly before the call."""
    called: list[int] = []
    report = run(work("t.late", lease_until=boot()), function=lambda ctx, arguments: called.append(1))
    assert (report.ending, report.error_code, called) == ("lost", "lease_lost", [])


def test_progress_is_reported_but_not_at_every_breath():
    said: list[int] = []
    ctx = StepContext(work(), lambda: said.append(1))
    for _ in range(100):
        ctx.progress()
    assert said == [1]


def test_the_plan_counts_the_step_that_just_ended():
    item = work()
    plan = planning.plan(item, Report(item.step, 7, "succeeded", output={"ok": True}))
    assert plan is not None
    assert plan["version"] == 3
    assert [(d["do"], d["key"]) for d in plan["directives"]] == [("call", "count/2")]


def test_no_plan_for_what_has_not_ended():
    item = work()
    assert planning.plan(item, Report(item.step, 7, "unknown")) is None


def test_an_agent_that_hangs_is_stopped_and_says_so(monkeypatch):
    """Guards `runs.node.planning._arm`."""

    class Hanging(Counter):
        def next(self, context: Any) -> Any:
            while True:
                try:
                    while True:
                        pass
                except Exception:  # noqa: BLE001 - as careless authors do
                    continue

    monkeypatch.setattr(planning, "LIMIT", 0.05)
    monkeypatch.setattr("runs.agents.registry.get", lambda name, version: Hanging())
    item = work(kind="plan")
    item.context["code"] = Hanging.digest()
    plan = planning.plan(item)
    assert plan is not None
    assert plan["error"].startswith("PlanningTooLong")
    assert plan["directives"] == []


def test_nonsense_from_an_agent_is_no_plan(monkeypatch):
    class Nonsense(Counter):
        def next(self, context: Any) -> Any:
            return ["call me"]

    monkeypatch.setattr("runs.agents.registry.get", lambda name, version: Nonsense())
    item = work(kind="plan")
    item.context["code"] = Nonsense.digest()
    plan = planning.plan(item)
    assert plan is not None
    assert "no directive" in plan["error"]


def test_old_steps_are_folded_into_the_summary():
    recent = [
        {"key": f"count/{n}", "kind": "call", "tool": "t", "status": "SUCCEEDED", "output": None}
        for n in range(1, 8)
    ]
    item = work(key="count/8")
    item.context.update(recent=recent, ended=7, live=["count/8"])
    plan = planning.plan(item, Report(item.step, 7, "succeeded"))
    assert plan is not None
    assert plan["folded"] == 4


def test_b48_other_code_under_the_same_version_does_not_go_on():
    """Guards `runs.node.planning._same_code`: the digest that the run was submitted with is compared."""
    item = work()
    item.context["code"] = "of the day before"
    plan = planning.plan(item, Report(item.step, 7, "succeeded"))
    assert plan is not None
    assert plan["directives"] == []
    assert plan["error"].startswith("OtherCode")


def test_frames_come_out_whole_whatever_the_pieces():
    sent = [{"done": [1]}, {"begin": [["a", 1]]}, {"hello": 5}]
    stream, buffer, got = b"".join(pack(message) for message in sent), bytearray(), []
    for at in range(0, len(stream), 3):
        buffer += stream[at : at + 3]
        got += unpack(buffer)
    assert got == sent


def test_a_frame_that_is_none_is_refused():
    with pytest.raises(BrokenFrame):
        unpack(bytearray(b"\xff\xff\xff\xff1"))


def test_an_outcome_that_cannot_be_stored_never_becomes_a_retry_of_an_effect():
    claimed = Claimed(
        *(uuid.uuid4(), uuid.uuid4(), uuid.uuid4(), "k", "call", "t", "io", 1, 0, 0, 1, 7, 10.0, "{}", "{}"),
        *(1, "a", "1", {}),
    )
    sent = Outcome(claimed, "succeeded", {"x": 1}, plan=Plan(1), dispatch_id=uuid.uuid4(), reference="r")
    assert [lesser(sent, degree).ending for degree in (1, 2, 3)] == ["succeeded", "succeeded", "unknown"]
    assert lesser(sent, 1).plan is None
    assert lesser(sent, 3).error_code == "cannot_be_stored"
    assert lesser(Outcome(claimed, "succeeded"), 3).ending == "failed"

"""Asking the agent what comes next, in a child. Author code: it may raise, hang or answer nonsense, and none of that may
spoil the outcome it travels with."""

import os
import signal
from collections.abc import Sequence
from dataclasses import fields
from types import FrameType
from typing import Any

from accounts.canonical import storable
from runs.agents import registry
from runs.agents.base import Agent, AskPerson, Call, Context, Directive, Fail, Finish, StepView, WaitFor
from runs.node.work import Report, Work
from runs.states import CHECKPOINT_EVERY

#: Seconds that one plan may take (``COUNTERSIGN_PLAN_SECONDS``).
LIMIT = float(os.environ.get("COUNTERSIGN_PLAN_SECONDS") or 10)
#: So often the alarm is heard by code that swallows it; then the process ends.
RINGS = 3
#: The newest `KEEP` ended steps at least stay in full (S6).
KEEP = 4
MAX_DIRECTIVES = 1000

_WORDS: dict[type, str] = {Call: "call", AskPerson: "ask", WaitFor: "wait", Finish: "finish", Fail: "fail"}
_CORES = os.cpu_count() or 1
_rings = 0
_STATUS = {"succeeded": "SUCCEEDED", "failed": "FAILED"}


class PlanningTooLong(BaseException):
    """The agent did not answer within :data:`LIMIT` seconds. Not an Exception: author code that catches those must not
    catch this."""


class OtherCode(Exception):
    """The agent of that name and version has been changed since the run started."""


class BadPlan(Exception):
    """The agent answered something that is no plan."""


def plan(work: Work, report: Report | None = None) -> dict[str, Any] | None:
    """The `Plan` of the engine as a dictionary, or None when there is nothing to plan for. Call it from the main thread
    of the process: the time limit is a signal."""
    if work.kind == "undo" or (report is not None and report.ending not in _STATUS):
        return None
    answer: dict[str, Any] = {
        "version": work.version,
        "directives": [],
        "summary": None,
        "folded": 0,
        "error": "",
    }
    try:
        _arm(LIMIT)
        try:
            agent = registry.get(work.agent, work.agent_version)
            _same_code(agent, work)
            context, folded = rebuild(agent, work, report)
            answer["directives"] = [directive(d) for d in _checked(agent.next(context))]
            if folded > work.context["summarised"]:
                answer["summary"], answer["folded"] = context.summary, folded
        finally:
            _disarm()
    except (Exception, PlanningTooLong) as error:  # noqa: BLE001 - whatever author code raises becomes a takeover
        # Once more: the signal may have come in the middle of the first time.
        _disarm()
        answer.update(directives=[], summary=None, folded=0)
        answer["error"] = storable(f"{type(error).__name__}: {error}"[:500])[0]
    return answer


def rebuild(agent: Agent, work: Work, report: Report | None) -> tuple[Context, int]:
    """The agent's context as if this step had already ended, and how many ended steps its summary takes in.

    Where the summary ends follows from the number of ended steps alone, and it is folded in the same portions each time:
    whoever starts from an older checkpoint comes to the same context.
    """
    data = work.context
    recent = [StepView(**view) for view in data["recent"]]
    ended = int(data["ended"])
    if report is not None:
        ended += 1
        recent.append(
            StepView(
                key=work.key,
                kind=work.kind,
                tool=work.tool,
                status=_STATUS[report.ending],
                output=report.output,
                error_code=report.error_code,
                error_text=report.error_text,
            )
        )
    summary, folded = data["summary"], int(data["summarised"])
    border = max(0, ended - ended % CHECKPOINT_EVERY - KEEP)
    while folded < border:
        portion = min(CHECKPOINT_EVERY - folded % CHECKPOINT_EVERY, border - folded)
        summary = storable(_plain(agent.summarise(summary, recent[:portion])))[0]
        recent, folded = recent[portion:], folded + portion
    context = Context(
        goal=data["goal"],
        input=data["input"],
        summary=summary,
        recent=tuple(recent),
        live=tuple(key for key in data["live"] if key != work.key),
        ended=ended,
        today=data["today"],
    )
    return context, folded


def directive(said: Directive) -> dict[str, Any]:
    """A directive as a tagged dictionary that can be stored."""
    return {"do": _WORDS[type(said)], **_fields(said)}


def _fields(said: Directive) -> dict[str, Any]:
    values: dict[str, Any] = storable(
        {field.name: _plain(getattr(said, field.name)) for field in fields(said)}
    )[0]
    return values


def _plain(value: Any) -> Any:
    """Mappings and sequences of any kind as dictionaries and lists."""
    if isinstance(value, str | bytes):
        return value
    if hasattr(value, "items"):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, Sequence) else value


def _checked(said: Any) -> list[Directive]:
    if not isinstance(said, Sequence) or isinstance(said, str | bytes):
        raise BadPlan(f"next() gave {type(said).__name__}, not a list of directives.")
    for item in said:
        if type(item) not in _WORDS:
            raise BadPlan(f"next() gave a {type(item).__name__}, which is no directive.")
    if len(said) > MAX_DIRECTIVES:
        raise BadPlan(f"next() gave {len(said)} directives at once; {MAX_DIRECTIVES} are allowed.")
    return list(said)


def _same_code(agent: Agent, work: Work) -> None:
    """A run is planned by the code it started with, or not at all (B48)."""
    if type(agent).digest() != work.context["code"]:
        raise OtherCode(
            f"The code of {agent.name} {agent.version} is not the code that this task started with."
        )


def _arm(seconds: float) -> None:
    global _rings  # noqa: PLW0603 - a signal handler has no other place
    _rings = 0
    if signal.getsignal(signal.SIGALRM) is not _too_long:
        signal.signal(signal.SIGALRM, _too_long)
    # It comes again, for code that swallows the first. What never comes back to the interpreter, as a regular expression,
    # hears no alarm: the kernel ends the process by its use of the processor.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    signal.setitimer(signal.ITIMER_PROF, seconds * (1 + _CORES))


def _disarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(number: int, frame: FrameType | None) -> None:
    global _rings  # noqa: PLW0603
    _rings += 1
    if _rings > RINGS:
        os._exit(70)
    raise PlanningTooLong(f"next() took longer than {LIMIT:g} s.")

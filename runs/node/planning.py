"""Asking the agent what comes next, in a child. Author code: it may raise, hang or answer nonsense, and none of that may
spoil the outcome it travels with."""

import signal
from collections.abc import Sequence
from dataclasses import fields
from types import FrameType
from typing import Any

from accounts.canonical import storable
from runs.agents import registry
from runs.agents.base import Agent, Call, Context, Directive, Fail, Finish, StepView
from runs.node.work import Report, Work

#: Seconds that one plan may take.
LIMIT = 5.0
#: A summary is due when so many ended steps are not in it; the newest `KEEP` stay in full (S6).
FOLD_AT, KEEP = 8, 4
MAX_DIRECTIVES = 1000

_WORDS: dict[type, str] = {Call: "call", Finish: "finish", Fail: "fail"}
_STATUS = {"succeeded": "SUCCEEDED", "failed": "FAILED"}


class PlanningTooLong(BaseException):
    """The agent did not answer within :data:`LIMIT` seconds. Not an Exception: author code that catches those must not
    catch this."""


class BadPlan(Exception):
    """The agent answered something that is no plan."""


def plan(work: Work, report: Report | None = None) -> dict[str, Any] | None:
    """The `Plan` of the engine as a dictionary, or None when there is nothing to plan for. Call it from the main thread
    of the process: the time limit is a signal."""
    if report is not None and report.ending not in _STATUS:
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
            context = rebuild(work, report)
            answer["directives"] = [directive(d) for d in _checked(agent.next(context))]
            answer["summary"], answer["folded"] = _fold(agent, context)
        finally:
            _disarm()
    except (Exception, PlanningTooLong) as error:  # noqa: BLE001 - whatever author code raises becomes a takeover
        # Once more: the signal may have come in the middle of the first time.
        _disarm()
        answer.update(directives=[], summary=None, folded=0)
        answer["error"] = storable(f"{type(error).__name__}: {error}"[:500])[0]
    return answer


def rebuild(work: Work, report: Report | None) -> Context:
    """The agent's context as if this step had already ended."""
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
    return Context(
        goal=data["goal"],
        input=data["input"],
        summary=data["summary"],
        recent=tuple(recent),
        live=tuple(key for key in data["live"] if key != work.key),
        ended=ended,
        today=data["today"],
    )


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


def _fold(agent: Agent, context: Context) -> tuple[dict[str, Any] | None, int]:
    """A new summary and how many steps it takes in, when it is time."""
    if len(context.recent) < FOLD_AT:
        return None, 0
    oldest = context.recent[: len(context.recent) - KEEP]
    summary: dict[str, Any] = storable(_plain(agent.summarise(context.summary, oldest)))[0]
    return summary, len(oldest)


def _arm(seconds: float) -> None:
    if signal.getsignal(signal.SIGALRM) is not _too_long:
        signal.signal(signal.SIGALRM, _too_long)
    # It comes again, for code that swallows the first.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)


def _disarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise PlanningTooLong(f"next() took longer than {LIMIT:g} s.")

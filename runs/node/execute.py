"""One execution of a step, without any input or output of its own: a generator that says what it needs next, so that the
event loop, the threads and the killable child run the same rules.

It yields :class:`Ask` (may I begin? answered with `Go` or `Stop`) and :class:`Send` (call this; answered with the tool's
answer, or the exception is thrown in), and returns the `Report`. Planning comes after it, in `planning`.
"""

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

import orjson

from accounts.canonical import storable
from accounts.failpoints import fp
from runs import blobs, budget
from runs.engine.types import DAMAGED, Go, Stop
from runs.node.clock import boot
from runs.node.tool_context import StepContext
from runs.node.work import NOT_STARTED, Report, Work
from tools import adapters
from tools.adapters.base import Answer, Failed, Unknown

MAX_OUTPUT = 1_000_000
MAX_TEXT = 1000


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask main to begin the effect."""


@dataclass(frozen=True, slots=True)
class Send:
    """Call ``do``; what it returns may be awaitable."""

    do: Callable[[], Any]


class Interrupted(BaseException):
    """The execution was ended from outside: its task was cancelled, or a limit of the process was reached."""

    def __init__(self, code: str = "interrupted", text: str = "The call was interrupted.") -> None:
        super().__init__(text)
        self.code, self.text = code, text


_STOPPED = {
    "timeout": "timeout",
    "silent": "timeout",
    "lost": "lost",
    "drain": "drained",
    "cancel": "cancelled",
}

Execution = Generator[Ask | Send, Any, Report]


def execution(work: Work, ctx: StepContext) -> Execution:
    """Runs the step. Never raises: whatever happens becomes a report."""
    started = boot()
    sent: list[Go] = []
    report = yield from _guarded(work, ctx, sent)
    # What the far side repeats of a credential ends here: nothing of it is stored, shown or written to a log.
    report.output = ctx.mask.value(report.output)
    report.reference, report.error_text = ctx.mask.text(report.reference), ctx.mask.text(report.error_text)
    report.sent = bool(sent)
    report.milliseconds = round((boot() - started) * 1000)
    report.artifacts = ctx.files
    report.tokens, report.cost = int(ctx.tokens), budget.text(ctx.cost)
    return report


def _guarded(work: Work, ctx: StepContext, sent: list[Go]) -> Execution:
    try:
        report: Report = yield from _steps(work, ctx, sent)
    except Failed as error:
        return _unread(work, error) or _failed(work, error)
    except Unknown as error:
        return _ended(work, "unknown" if sent else "failed", error.code, error.text)
    except Interrupted as error:
        if sent:
            return _ended(work, "unknown", error.code, error.text)
        return _ended(work, _STOPPED.get(ctx.stop_reason, "failed"), error.code, error.text)
    except MemoryError:
        text = f"It needed more than {work.spec.get('memory_mb', 0)} MB of memory."
        return _ended(work, "unknown" if sent else "failed", "memory_limit", text)
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001 - tool code may raise anything
        # After go only the tool knows how far it came.
        unread = None if sent else _unread(work, error)
        code = "storage_unavailable" if isinstance(error, blobs.Unavailable) else "tool_error"
        text = f"{type(error).__name__}: {error}"
        return unread or _ended(work, "unknown" if sent else "failed", code, text)
    return report


def _failed(work: Work, error: Failed) -> Report:
    report = _ended(work, "failed", error.code, error.text)
    if error.facts is not None:
        report.output = storable(dict(error.facts))[0]
    return report


def _unread(work: Work, error: BaseException | None) -> Report | None:
    """A failure that goes back to an artifact that is lost or corrupt: the engine finds out what can be done (S15)."""
    while error is not None and not isinstance(error, blobs.Damaged):
        error = error.__cause__
    if error is None:
        return None
    report = _ended(work, "failed", DAMAGED, str(error))
    report.output = {"artifact": error.sha256, "found": error.found}
    return report


def _steps(work: Work, ctx: StepContext, sent: list[Go]) -> Execution:
    if boot() > work.start_by:
        return _ended(work, "drained", NOT_STARTED, "It was not started in time.")
    if ctx.stop_reason:
        return _ended(work, _STOPPED[ctx.stop_reason], "stopped", "It was told to stop before it started.")
    spec = work.spec
    adapter = adapters.get(spec["adapter"])
    prepared = adapter.prepare(spec, work.arguments, spec.get("tenant") or {})
    go: Go | None = None
    effect = spec["effect"] != "read_only"
    if effect or spec.get("rationed"):
        fp("begin.before_ask")
        asked = boot()
        reply = yield Ask()
        if isinstance(reply, Stop):
            return _refused(work, reply)
        go = reply
        if go.version >= 0:
            # Begin moved the run, and nothing else did: what follows is planned against that version.
            work.version = go.version
        fp("send.before")
        # What follows is the last moment at which "it did not happen" is known for sure.
        if effect and (ctx.lost or boot() >= asked + go.seconds):
            return _ended(work, "failed", "too_late", "The time to send it had passed; it was not sent.")
    if effect and go is not None:
        # Counted from the question on: the time that the answer took is not given twice.
        go = replace(go, seconds=asked + go.seconds - boot())
        sent.append(go)
    elif ctx.lost:
        return _ended(work, "lost", "lease_lost", "Its lease had ended before the call.")
    answer: Answer = yield Send(lambda: adapter.send(prepared, go if effect else None, ctx))
    fp("send.answered")
    return _succeeded(work, answer.output, answer.reference)


def _refused(work: Work, stop: Stop) -> Report:
    if stop.why == "answered":
        return _succeeded(work, stop.answer, "")
    return _ended(
        work, {"unknown": "unknown", "waiting": "waiting"}.get(stop.why, "lost"), stop.code, stop.text
    )


def _succeeded(work: Work, output: Any, reference: str) -> Report:
    """A success stays one, whatever it answered: what cannot be stored is escaped and marked, what is too large is left
    out and says so."""
    value, changed = storable(output)
    if changed:
        value = {**value, "escaped": True} if isinstance(value, dict) else {"value": value, "escaped": True}
    with contextlib.suppress(orjson.JSONEncodeError):
        size = len(orjson.dumps(value))
        if size > MAX_OUTPUT:
            value = {"left_out": True, "bytes": size}
    return Report(work.step, work.fence, "succeeded", output=value, reference=storable(reference)[0][:500])


def _ended(work: Work, ending: str, code: str, text: str) -> Report:
    return Report(
        work.step, work.fence, ending, error_code=code[:60], error_text=storable(text)[0][:MAX_TEXT]
    )

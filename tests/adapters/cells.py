"""The table of the conformance suite: every adapter × every case. A case that cannot exist for an adapter stands here too,
with the reason and with what proves it.

Cases: *happy*; a time-out *before* the send and *after* it; a connection *reset* before and after; a *refusal* and a *fault*
of the far side; *garbage*; a *huge* answer; *NUL* and *surrogates* in it; *cancel* before the send; the *same key* twice;
as a *query* the answers yes, no and unsure (``QUERIES``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.adapters.calls import Call, Context, Go
from tests.adapters.far_model import completion
from tests.tools import make
from tools.contradictions import contradictions

CASES = (
    "happy", "timeout_before_send", "timeout_after_send", "reset_before_send", "reset_after_send", "refusal_4xx",
    "fault_5xx", "garbage", "huge_answer", "nul", "surrogates", "cancel", "same_key_twice",
)  # fmt: skip
Happened = tuple[str, int]
#: How the call ends, and how many effects (or questions on the wire) the far side counted.
DONE: Happened = ("succeeded", 1)
NOT_DONE: Happened = ("failed", 0)
NOBODY_KNOWS: Happened = ("unknown", 1)
#: A question that was asked and has no answer: nothing happened, so it may be asked again.
NO_ANSWER: Happened = ("failed", 1)


@dataclass(frozen=True)
class Cell:
    """``stage`` makes the far side, or the call, behave as the case says."""

    ends: Happened
    stage: Callable[[Call], None]
    go: Go = field(default_factory=Go)
    ctx: Callable[[Call], Context] = lambda _: Context()
    times: int = 1


@dataclass(frozen=True)
class Absent:
    """``proof`` fails on the day on which the case becomes possible."""

    why: str
    proof: Callable[[Call], None]


def mode(name: str) -> Callable[[Call], None]:
    def stage(call: Call) -> None:
        call.far.mode = name

    return stage


def gone(call: Call) -> None:
    call.far.stop()


def statement(text: str) -> Callable[[Call], None]:
    def stage(call: Call) -> None:
        call.spec["config"] = {**call.spec["config"], "statement": f"{text} /* question of the suite */"}
        call.arguments = {}

    return stage


def _problems(adapter: str, **values: object) -> list[str]:
    return [problem.code for problem in contradictions(make.unsaved(adapter=adapter, **values))]


def _never_an_effect(call: Call) -> None:
    assert f"{call.adapter}_effect" in _problems(call.adapter, effect_class="irreversible")


def _has_no_statuses(call: Call) -> None:
    assert "target" not in call.spec, "over pipes there is nothing but the protocol's own errors"


READS_ONLY = Absent("carries-no-key-because-it-only-reads", _never_an_effect)
NO_STATUS = Absent("no-statuses-over-pipes", _has_no_statuses)
LATE = Cell(NOT_DONE, mode("accept"), Go(seconds=0.0), lambda _: Context(seconds_left=0.0))
TOLD_TO_STOP = Cell(NOT_DONE, mode("accept"), ctx=lambda _: Context(cancelled=True))


def silent(ends: Happened) -> Cell:
    return Cell(ends, mode("silent"), ctx=lambda call: Context(seconds_left=call.limit))


@dataclass(frozen=True)
class Query:
    """How the adapter asks what became of an effect. ``stage`` lets the far side say a word, ``pointer`` leads to it."""

    pointer: str
    stage: Callable[[Call, str], None]


def _never_reads(call: Call) -> None:
    assert "read_only_mail" in _problems(call.adapter, effect_class="read_only", isolation="thread")


def _says(call: Call, word: str) -> None:
    call.far.mode = f"says:{word}"
    call.spec |= {"effect": "read_only"}


def _says_over_http(call: Call, word: str) -> None:
    _says(call, word)
    call.spec["config"] = {"method": "GET"}


def _function_says(call: Call, word: str) -> None:
    call.spec |= {"target": "suite.state", "effect": "read_only"}
    call.arguments = {"state": word}


def _model_says(call: Call, word: str) -> None:
    call.far.says = completion({"content": word})


#: The words of the far sides, and what a contract's rule makes of them; the last is the answer of one that does not know.
WORDS = {"booked": "yes", "missing": "no", "perhaps": "unsure"}
QUERIES: dict[str, Query | Absent] = {
    "python": Query("/state", _function_says),
    "smtp": Absent("a-letter-is-never-read-only", _never_reads),
    "http": Query("/body/state", _says_over_http),
    "mcp_http": Query("/content/0/text", _says),
    "mcp_pipes": Query("/content/0/text", _says),
    "sql": Query(
        "/rows/0/0", lambda call, word: statement(f"SELECT '{word}' WHERE '{word}' <> 'perhaps'")(call)
    ),
    "model": Query("/text", _model_says),
}
Row = dict[str, Cell | Absent]
#: What holds for every adapter whose far side acts.
EFFECT: Row = {
    "happy": Cell(DONE, mode("accept")),
    "timeout_before_send": LATE,
    "timeout_after_send": silent(NOBODY_KNOWS),
    "reset_after_send": Cell(NOBODY_KNOWS, mode("reset")),
    "refusal_4xx": Cell(NOT_DONE, mode("refuse")),
    "garbage": Cell(NOBODY_KNOWS, mode("garbage")),
    "huge_answer": Cell(DONE, mode("huge")),
    "nul": Cell(DONE, mode("odd")),
    "surrogates": Cell(DONE, mode("odd")),
    "cancel": TOLD_TO_STOP,
    "same_key_twice": Cell(("succeeded", 2), mode("accept"), times=2),
}
#: What holds for every adapter that only asks.
QUESTION: Row = {
    **EFFECT,
    "timeout_after_send": silent(NO_ANSWER),
    "reset_after_send": Cell(NO_ANSWER, mode("reset")),
    "garbage": Cell(NO_ANSWER, mode("garbage")),
    "same_key_twice": READS_ONLY,
}
TABLE: dict[str, Row] = {
    "python": {
        **EFFECT,
        "reset_before_send": Cell(NOT_DONE, mode("vanish_early")),
        "fault_5xx": Cell(NOT_DONE, mode("refuse_late")),
        # The function was called; when to stop is its own business: it knows its safe points.
        "cancel": Cell(DONE, mode("accept"), ctx=lambda _: Context(cancelled=True)),
    },
    "smtp": {
        **EFFECT,
        "reset_before_send": Cell(NOT_DONE, mode("vanish_early")),
        # 554 to the dot: the server says that it does not take the message.
        "fault_5xx": Cell(NOT_DONE, mode("refuse_late")),
        "huge_answer": Cell(NOBODY_KNOWS, mode("huge")),
    },
    # A request is acted on as it arrives: only a connection that never came about is known to have done nothing.
    "http": {
        **EFFECT,
        "reset_before_send": Cell(NOT_DONE, gone),
        "fault_5xx": Cell(NOBODY_KNOWS, mode("busy")),
    },
    "mcp_http": {
        **EFFECT,
        "reset_before_send": Cell(NOT_DONE, gone),
        "fault_5xx": Cell(NOBODY_KNOWS, mode("busy")),
        "huge_answer": Cell(NOBODY_KNOWS, mode("huge")),
    },
    "mcp_pipes": {
        **EFFECT,
        "reset_before_send": Cell(NOT_DONE, gone),
        "fault_5xx": NO_STATUS,
        "huge_answer": Cell(NOBODY_KNOWS, mode("huge")),
    },
    "sql": {
        **QUESTION,
        "reset_before_send": Cell(NOT_DONE, mode("vanish_early")),
        "refusal_4xx": Cell(NO_ANSWER, statement("SELECT secret FROM pg_catalog.pg_authid")),
        "fault_5xx": Cell(NO_ANSWER, statement("SELECT pg_terminate_backend(pg_backend_pid())")),
        "huge_answer": Cell(DONE, statement("SELECT repeat('x', 9999) FROM generate_series(1, 100000)")),
        "nul": Cell(DONE, statement("""SELECT '{"a": "b\\u0000c"}'::json""")),
        "surrogates": Cell(DONE, statement("""SELECT '{"a": "b\\ud800c"}'::json""")),
    },
    "model": {
        **QUESTION,
        "reset_before_send": Cell(NOT_DONE, gone),
        "refusal_4xx": Cell(NO_ANSWER, mode("refuse")),
        "fault_5xx": Cell(NO_ANSWER, mode("busy")),
        "huge_answer": Cell(NO_ANSWER, mode("huge")),
    },
}

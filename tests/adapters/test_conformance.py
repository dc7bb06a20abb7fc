"""What every adapter keeps to, against a real far side that misbehaves. The far side's own count of effects is what
decides whether the adapter told the truth. The table of cases is in ``cells``."""

from __future__ import annotations

import pytest

from accounts.canonical import check_storable, storable
from tests.adapters.builders import ALL, BUILDERS
from tests.adapters.calls import Call, Context, Go
from tests.adapters.cells import CASES, QUERIES, TABLE, WORDS, Absent, Cell
from tools import result_query
from tools.adapters import registry
from tools.adapters.base import Answer, Failed, Unknown


def _name(adapter: str, case: str) -> str:
    cell = TABLE[adapter][case]
    return f"{adapter}-{case}-" + (f"ABSENT-{cell.why}" if isinstance(cell, Absent) else cell.ends[0])


CELLS = [pytest.param(a, c, id=_name(a, c)) for a in sorted(TABLE) for c in CASES if c in TABLE[a]]


def test_no_adapter_and_no_case_is_left_out(request):
    """The table is whole; an adapter without a row, or a row without a case, fails here."""
    assert set(TABLE) == set(QUERIES) == set(ALL)
    assert {name: [case for case in CASES if case not in row] for name, row in TABLE.items()} == {
        name: [] for name in TABLE
    }
    assert {ALL[name](request).adapter for name in ALL} == set(registry.NAMES)


@pytest.mark.parametrize(("adapter", "case"), CELLS)
def test_b67_an_adapter_says_exactly_what_is_known(adapter: str, case: str, request: pytest.FixtureRequest):
    """Guards every file of ``tools/adapters``: what broke after the send is never a failure, what never left never unknown,
    a read never in doubt, and nothing is sent a second time. A success stays one, whatever it answered."""
    cell, call = TABLE[adapter][case], ALL[adapter](request)
    if isinstance(cell, Absent):
        cell.proof(call)
        return
    cell.stage(call)
    ending, counted = cell.ends
    for _ in range(cell.times):
        said = _outcome(call, cell)
        assert {Answer: "succeeded", Failed: "failed", Unknown: "unknown"}[type(said)] == ending
        if isinstance(said, Answer):
            kept, _changed = storable(said.output)
            check_storable(kept)
            check_storable(storable(said.reference)[0])
        else:
            assert said.code
            assert said.text
    assert call.count() == counted


def _outcome(call: Call, cell: Cell) -> Answer | Failed | Unknown:
    try:
        return call(go=cell.go, ctx=cell.ctx(call))
    except (Failed, Unknown) as error:
        return error


def _asks(adapter: str, word: str) -> str:
    query = QUERIES[adapter]
    return f"{adapter}-query-" + (f"ABSENT-{query.why}" if isinstance(query, Absent) else WORDS[word])


ASKED = [pytest.param(a, w, id=_asks(a, w)) for a in sorted(QUERIES) for w in WORDS]


@pytest.mark.parametrize(("adapter", "word"), ASKED)
def test_a_query_tells_yes_from_no_and_from_neither(adapter: str, word: str, request: pytest.FixtureRequest):
    """The answer of every adapter that can ask is read by the rule of a contract; what is neither word is unsure."""
    query, call = QUERIES[adapter], ALL[adapter](request)
    if isinstance(query, Absent):
        query.proof(call)
        return
    query.stage(call, word)
    answer = call()
    rule = {"pointer": query.pointer, "yes": ["booked"], "no": ["missing"]}
    assert result_query.read(rule, storable(answer.output)[0]).said == WORDS[word]


@pytest.mark.parametrize("adapter", ["http", "python", "mcp_http", "mcp_pipes"])
def test_a_question_names_the_effect_as_the_far_side_saw_it(adapter: str, request: pytest.FixtureRequest):
    """Guards ``tools.adapters.kind.Kind.named``: a far side that is asked by our key must know that key."""
    call = ALL[adapter](request)
    call(go=Go(key="k"), ctx=Context(key="k"))
    assert _names(call) == [registry.kind(call.adapter).named("k")]


@pytest.mark.parametrize("adapter", ["http", "python"])
@pytest.mark.parametrize("mode", ["close"])
def test_b67_a_connection_that_is_closed_instead_of_an_answer_is_unknown(adapter, mode, request):
    call = ALL[adapter](request)
    call.far.mode = mode
    with pytest.raises(Unknown):
        call()
    assert call.count() == 1


@pytest.mark.parametrize("adapter", sorted(BUILDERS))
def test_equal_keys_carry_one_name_to_the_far_side(adapter: str, request: pytest.FixtureRequest):
    call = ALL[adapter](request)
    first, second = call(), call()
    assert len(set(_names(call))) == 1
    assert call.count() == 2, "an adapter never drops a send by itself: that is the intent's part"
    assert first.output.keys() == second.output.keys()


@pytest.mark.parametrize("adapter", sorted(BUILDERS))
def test_two_keys_are_two_names(adapter: str, request: pytest.FixtureRequest):
    call = ALL[adapter](request)
    call(go=Go(key="a"), ctx=Context(key="a"))
    call(go=Go(key="b"), ctx=Context(key="b"))
    assert len(set(_names(call))) == 2


def _names(call: Call) -> list[str]:
    """Under which key the far side saw each effect."""
    return getattr(call.far, "lines", None) or [letter["Message-ID"] for letter in call.far.letters]


@pytest.mark.parametrize("adapter", sorted(ALL))
def test_nothing_is_sent_when_the_lease_is_lost(adapter: str, request: pytest.FixtureRequest):
    call = ALL[adapter](request)
    with pytest.raises(Failed):
        call(ctx=Context(lost=True))
    assert call.count() == 0


@pytest.mark.parametrize("adapter", sorted(ALL))
def test_nobody_there_is_known_not_to_have_happened(adapter: str, request: pytest.FixtureRequest):
    call = ALL[adapter](request)
    call.far.stop()
    with pytest.raises(Failed):
        call()
    assert call.count() == 0

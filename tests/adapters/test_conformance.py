"""What every adapter keeps to, against a real far side that misbehaves. The far side's own count of effects is what
decides whether the adapter told the truth."""

from __future__ import annotations

import time

import pytest

from accounts.canonical import check_storable, storable
from tests.adapters.calls import Call, Context, Go
from tools.adapters.base import Failed, Unknown


def test_it_happened_and_has_a_reference(call: Call):
    answer = call()
    assert call.count() == 1
    assert answer.reference
    check_storable(answer.output)


@pytest.mark.parametrize("mode", ["refuse", "refuse_late", "vanish_early"])
def test_known_not_to_have_happened(call: Call, mode):
    call.far.mode = mode
    if mode == "vanish_early" and call.adapter in ("http", "mcp"):
        # A request is acted on as it arrives, so for HTTP only what broke before it is known.
        call.far.stop()
    with pytest.raises(Failed) as failed:
        call()
    assert call.count() == 0
    assert failed.value.code
    assert failed.value.text


@pytest.mark.parametrize("mode", ["reset", "close", "garbage"])
def test_b67_an_effect_without_a_clear_answer_is_unknown(call: Call, mode):
    """Guards ``tools/adapters/smtp.py`` (``dot`` and the end of ``send``): what breaks after the hand-over is never a
    failure, and nothing is sent a second time."""
    call.far.mode = mode
    with pytest.raises(Unknown):
        call()
    assert call.count() == 1


def test_b67_silence_after_the_effect_is_unknown_within_the_limit(call: Call):
    """Guards ``tools/egress.py`` (``Reader``): the wait for the answer ends at the step's limit, as unknown."""
    call.far.mode = "silent"
    started = time.monotonic()
    with pytest.raises(Unknown):
        call(ctx=Context(seconds_left=call.limit))
    assert time.monotonic() - started < call.limit + 3
    assert call.count() == 1


def test_b78_b79_an_answer_that_cannot_be_stored_is_still_a_success(call: Call):
    """Guards the decoding of answers in the adapters: NUL and bytes that are no text never turn a success into an error,
    and what comes out can be escaped for storage."""
    call.far.mode = "odd"
    answer = call()
    assert call.count() == 1
    kept, _ = storable(answer.output)
    check_storable(kept)
    check_storable(storable(answer.reference)[0])


def test_equal_keys_carry_one_name_to_the_far_side(call: Call):
    first, second = call(), call()
    names = [getattr(call.far, "lines", None) or [m["Message-ID"] for m in call.far.letters]]
    assert len(set(names[0])) == 1
    assert call.count() == 2, "an adapter never drops a send by itself: that is the intent's part"
    assert first.output.keys() == second.output.keys()


def test_two_keys_are_two_names(call: Call):
    call(go=Go(key="a"), ctx=Context(key="a"))
    call(go=Go(key="b"), ctx=Context(key="b"))
    names = getattr(call.far, "lines", None) or [m["Message-ID"] for m in call.far.letters]
    assert len(set(names)) == 2


def test_nothing_is_sent_after_the_deadline(call: Call):
    with pytest.raises(Failed) as failed:
        call(go=Go(seconds=0.0), ctx=Context(seconds_left=0.0))
    assert call.count() == 0
    assert failed.value.code in ("too_late", "deadline")


def test_nothing_is_sent_when_the_lease_is_lost(call: Call):
    with pytest.raises(Failed, match=r"too_late|passed"):
        call(ctx=Context(lost=True))
    assert call.count() == 0


def test_nobody_there_is_known_not_to_have_happened(call: Call):
    call.far.stop()
    with pytest.raises(Failed):
        call()
    assert call.count() == 0

"""The table of reconciling, asked about every combination of facts: what it may never say."""

from __future__ import annotations

import itertools

import pytest

from tools.reconcile import CLASSES, Blocked, By, Facts, Next, Said, decide, rows

FLAGS = (False, True)
ALL = [
    Facts(keys, again, query, asks, said, by, blocked, early)
    for keys, again, query, asks, early in itertools.product(FLAGS, repeat=5)
    for said in Said
    for by in By
    for blocked in Blocked
]


def test_it_is_sent_again_only_where_repeats_are_dropped_and_tries_are_left():
    for facts in ALL:
        if decide(facts) == Next.SEND_AGAIN:
            assert facts.keys
            assert facts.again
            assert facts.said != Said.YES


def test_it_counts_as_not_happened_only_by_a_no_that_was_said_when_nobody_could_send_any_more():
    for facts in ALL:
        sound = facts.said == Said.NO and facts.blocked == Blocked.NO and not facts.too_early
        assert (decide(facts) == Next.NOT_HAPPENED) == sound


def test_a_yes_is_final_and_nothing_else_is_a_yes():
    for facts in ALL:
        assert (decide(facts) == Next.HAPPENED) == (facts.said == Said.YES)


def test_nobody_is_asked_who_cannot_answer_or_was_asked_often_enough():
    for facts in ALL:
        word = decide(facts)
        if word in (Next.ASK, Next.PERSON_MEANWHILE):
            assert facts.query
            assert facts.asks


def test_a_wait_has_an_end_that_is_known_or_a_person_who_said_so():
    for facts in ALL:
        if decide(facts) == Next.WAIT:
            assert facts.blocked != Blocked.NO
            assert facts.by == By.PERSON or facts.blocked == Blocked.UNTIL


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_stands_in_the_reference(name):
    assert (
        len({case for far, case, _ in rows() if far == name}) == sum(far == name for far, _, _ in rows()) > 0
    )

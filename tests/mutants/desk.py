"""Guards of several answers at once."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

MANY = "tests/approvals/test_decide_many.py"
PAGE = "tests/approvals/test_batch_page.py"

DESK = (
    Mutant(
        number="B53",
        guard="a row of a batch is judged like an answer given alone",
        file="approvals/decide_many.py",
        old="    judge(action, user_id, _own(action, given), sight, now, channel=channel)\n",
        new="    pass\n",
        tests=(
            f"{MANY}::test_b53_one_row_that_was_overtaken_stops_all_and_is_named",
            f"{MANY}::test_four_eyes_hold_for_every_row",
        ),
    ),
    Mutant(
        number="B53",
        guard="a batch compares what was seen, not what stands there now",
        file="approvals/decide_many.py",
        old="                    Sight(row.digest, row.generation),\n",
        new="                    Sight(action.digest, action.generation),\n",
        tests=(f"{MANY}::test_another_digest_than_the_one_seen_stops_all",),
    ),
    Mutant(
        number="B53",
        guard="only questions that are alike are answered at once",
        file="approvals/decide_many.py",
        old="if words := alike.difference(alike.kinship(actions[0]), alike.kinship(action)):",
        new="if (words := alike.difference(alike.kinship(actions[0]), alike.kinship(action))) and False:",
        tests=(f"{MANY}::test_only_what_is_alike_is_answered_at_once",),
    ),
    Mutant(
        number="B53",
        guard="the sum or the number is typed before a batch of high risk is approved",
        file="approvals/decide_many.py",
        old="    if expected and given.gesture != expected:\n",
        new="    if False:\n",
        tests=(f"{MANY}::test_the_count_is_typed_before_high_risk_is_approved",),
    ),
    Mutant(
        number="B50",
        guard="the same batch again is answered with the first decisions",
        file="approvals/decide_many.py",
        old="    if len(firsts) == len(rows) and firsts[0].batch",
        new="    if not firsts and firsts[0].batch",
        tests=(f"{MANY}::test_b50_the_same_batch_again_gives_the_first_decisions",),
    ),
)

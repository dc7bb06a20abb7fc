"""Guards of the gate: rules and totals, switches, and what an approval is bound to."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

TOTALS = "tests/runs/engine/test_totals.py"
STOPS = "tests/runs/engine/test_stops.py"
DIGEST = "tests/runs/engine/test_digest.py"
POLICY = "tests/tools/test_policy.py"

GATE = (
    Mutant(
        number="B33",
        guard="a cancelled run lets no second effect go",
        file="runs/engine/begin.py",
        old="        if not run.lives_for(step.kind):\n            return LOST\n",
        new="",
        tests=(f"{STOPS}::test_b33_the_second_of_two_gated_effects_never_starts_after_a_cancel",),
    ),
    Mutant(
        number="B52",
        guard="what the child was handed is what was approved",
        file="runs/engine/begin.py",
        old="            if not as_recorded(claimed, intent.arguments):\n",
        new="            if False:\n",
        tests=(f"{DIGEST}::test_b52_one_byte_of_each_ingredient",),
    ),
    Mutant(
        number="B52",
        guard="the many at once compare it too",
        file="runs/engine/begin_many.py",
        old="    if not as_recorded(claimed, intent.arguments):\n        return None\n",
        new="",
        tests=(f"{TOTALS}::test_b52_the_fast_path_compares_what_would_be_sent",),
    ),
    Mutant(
        number="B52",
        guard="a grant is bound to the generation of each credential",
        file="approvals/shown.py",
        old='    "credentials",\n    "sender",\n',
        new='    "sender",\n',
        tests=(f"{DIGEST}::test_b52_one_byte_of_each_ingredient",),
    ),
    Mutant(
        number="B52",
        guard="the end that was shown is the end that counts",
        file="approvals/grants.py",
        old='        if approved.get("expires_at") != ',
        new='        if False and approved.get("expires_at") != ',
        tests=(f"{DIGEST}::test_b52_one_byte_of_each_ingredient",),
    ),
    Mutant(
        number="B62",
        guard="a call that needs a person by now does not go without one",
        file="runs/engine/begin.py",
        old="        return _ask(run, step, intent, contract, word)\n    drift",
        new="        return None\n    drift",
        tests=(f"{TOTALS}::test_b62_a_total_is_judged_again_at_begin",),
    ),
    Mutant(
        number="B62",
        guard="totals are judged again by the fast path",
        file="runs/engine/begin_many.py",
        old='    if word.path != "auto" or resources.ordered',
        new="    if resources.ordered",
        tests=(f"{TOTALS}::test_the_fast_path_judges_totals_as_well",),
    ),
    Mutant(
        number="B62",
        guard="a total may want more people than agreed",
        file="approvals/grants.py",
        old="    if entitled >= max(rules.quorum(action), needed):\n",
        new="    if entitled >= rules.quorum(action):\n",
        tests=(f"{TOTALS}::test_b62_a_grant_from_before_the_total_grew_does_not_suffice",),
    ),
    Mutant(
        number="B62",
        guard="the calls of one plan count for each other",
        file="runs/engine/planner.py",
        old="        unsaved=run.proposals,\n",
        new="",
        tests=(f"{TOTALS}::test_what_a_plan_splits_is_added_up",),
    ),
    Mutant(
        number="B62",
        guard="what waits for a person counts for what comes after it",
        file="tools/sql/earlier_calls.sql",
        old="  AND (i.status <> 'PROPOSED'\n       OR i.id <",
        new="  AND (i.status <> 'PROPOSED'\n       OR false AND i.id <",
        tests=(f"{TOTALS}::test_whatever_may_have_happened_counts",),
    ),
    Mutant(
        number="B62",
        guard="money as text is a number",
        file="tools/compare.py",
        old="    return Decimal(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else None\n",
        new="    return None\n",
        tests=(f"{POLICY}::test_money_is_compared_digit_for_digit",),
    ),
    Mutant(
        number="B62",
        guard="money is compared digit for digit",
        file="tools/compare.py",
        old="            return left > right if",
        new="            return float(left) > float(right) if",
        tests=(f"{POLICY}::test_money_is_compared_digit_for_digit",),
    ),
    Mutant(
        number="B62",
        guard="nothing negative makes room in a total",
        file="tools/compare.py",
        old="max(amount, Decimal(0))",
        new="amount",
        tests=(f"{POLICY}::test_nothing_negative_makes_room_in_a_total",),
    ),
    Mutant(
        number="B62",
        guard="begin obeys a switch",
        file="tools/gate.py",
        old="    blocked = [stopped(stop) for stop in run.stops]\n",
        new="    blocked: list[Reason] = []\n",
        tests=(f"{STOPS}::test_b62_begin_obeys_at_once_and_it_goes_on_when_lifted",),
    ),
    Mutant(
        number="B62",
        guard="nothing of a stopped tenant is claimed",
        file="runs/sql/claim_steps.sql",
        old="x.run_id IS NULL AND x.tool IS NULL)),",
        new="x.run_id IS NULL AND x.tool IS NULL AND false)),",
        tests=(f"{STOPS}::test_claim_obeys_at_once",),
    ),
    Mutant(
        number="B62",
        guard="nothing of a stopped run is claimed",
        file="runs/sql/claim_steps.sql",
        old="x.run_id = s.run_id OR",
        new="false OR",
        tests=(f"{STOPS}::test_claim_obeys_at_once",),
    ),
    Mutant(
        number="B62",
        guard="a commit under a stop takes nothing with it",
        file="runs/engine/commit.py",
        old="        if not run.takes_work or run.stopped:\n",
        new="        if not run.takes_work:\n",
        tests=(f"{STOPS}::test_a_commit_under_a_stop_takes_nothing_with_it",),
    ),
    Mutant(
        number="B62",
        guard="a high risk that nobody would notice twice asks a person",
        file="tools/gate.py",
        old="contract.risk == Risk.HIGH and not repeatable:",
        new="contract.risk == Risk.HIGH and not contract.native_idempotency:",
        tests=("tests/tools/test_gate_l17.py",),
    ),
)

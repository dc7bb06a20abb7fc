"""Guards of undoing (B49)."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_UNDO = "tests/runs/engine/test_undo.py"
_COVERAGE = "tests/runs/engine/test_coverage.py"

UNDO = (
    Mutant(
        number="B49",
        guard="the last effect is undone first",
        file="runs/engine/compensate.py",
        old='order_by("-dispatched_at", "-fence")',
        new='order_by("dispatched_at", "fence")',
        tests=(f"{_UNDO}::test_b49_a_run_that_fails_is_undone_in_reverse_each_under_a_key_of_its_own",),
    ),
    Mutant(
        number="L15",
        guard="below the floor of the tenant a person is asked",
        file="tools/gate.py",
        old="    if not then.below(run.floor):\n        return []\n",
        new="    return []\n",
        tests=(f"{_COVERAGE}::test_l15_below_the_floor_of_the_tenant_a_person_is_asked_and_told_why",),
    ),
    Mutant(
        number="B49",
        guard="only what is known to have happened is undone",
        file="runs/engine/compensate.py",
        old="        status=Intent.Status.CONFIRMED,\n        compensates__isnull=True,",
        new="        compensates__isnull=True,",
        tests=(
            f"{_UNDO}::test_b49_what_is_unknown_is_settled_first_and_undone_only_if_it_happened[nobody_knows]",
        ),
    ),
    Mutant(
        number="B49",
        guard="an undo that failed for good is put before a person",
        file="runs/engine/record.py",
        old="    if step.kind == Step.Kind.UNDO and not _stopping(run, step):\n",
        new="    if False:\n",
        tests=(
            f"{_UNDO}::test_b49_an_undo_that_fails_for_good_is_put_before_a_person_and_never_swallowed[continue]",
        ),
    ),
    Mutant(
        number="B49",
        guard="the run ends after the last undo, not after the first",
        file="runs/engine/end_run.py",
        old="    if compensate.go_on(run):\n        return\n",
        new="",
        tests=(f"{_UNDO}::test_b49_one_undo_is_under_way_at_a_time_and_the_run_is_not_over_before_the_last",),
    ),
)

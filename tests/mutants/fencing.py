"""Guards of fences, epochs, joins, restores and of many hands at one run."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_FENCING = "tests/runs/engine/test_fencing.py"
_HANDS = "tests/races/test_many_hands.py"

FENCING = (
    Mutant(
        number="B13",
        guard="the write of a sweep compares the fence it saw",
        file="runs/sql/finish_steps.sql",
        old="s.fence = f.fence AND s.epoch = f.epoch AND",
        new="s.epoch = f.epoch AND",
        tests=(f"{_FENCING}::test_b13_a_sweep_that_looked_too_early_takes_nothing_back",),
    ),
    Mutant(
        number="B13",
        guard="the write of a sweep compares the expiry it saw",
        file="runs/sql/finish_steps.sql",
        old="WHEN 'expired' THEN s.lease_until <= clock_timestamp()",
        new="WHEN 'expired' THEN true",
        tests=(f"{_FENCING}::test_b13_a_sweep_does_not_take_a_step_whose_lease_was_renewed",),
    ),
    Mutant(
        number="B15",
        guard="a run that has ended is not cancelled",
        file="runs/engine/cancel.py",
        old="    if run.status in RUN_TERMINAL and run.was == run.status:\n",
        new="    if False:\n",
        tests=(f"{_FENCING}::test_a_cancel_after_the_end_is_refused_and_counted",),
    ),
    Mutant(
        number="B28",
        guard="a cancel takes back grants that were not used",
        file="runs/engine/cancel.py",
        old="    grants.void_unused(run_id=run.id, reason=sentences.CANCELLED())\n",
        new="",
        tests=(f"{_HANDS}::test_b28_a_decision_just_before_a_cancel_is_applied_and_its_grant_void",),
    ),
    Mutant(
        number="B29",
        guard="only a running step is lost",
        file="runs/sql/finish_steps.sql",
        old="  AND COALESCE(s.status, '') = 'RUNNING'\n",
        new="",
        tests=(f"{_FENCING}::test_b29_two_sweeps_over_one_dead_lease_count_one_loss",),
    ),
    Mutant(
        number="B31",
        guard="a verb that PostgreSQL gave up is done again",
        file="accounts/again.py",
        old="                if not left or not isinstance(",
        new="                if True or not isinstance(",
        tests=(f"{_HANDS}::test_b31_a_verb_that_postgresql_gave_up_is_done_again",),
    ),
    Mutant(
        number="B34",
        guard="the quota is counted from the leases",
        file="runs/sql/claim_steps.sql",
        old="WHERE s.status = 'RUNNING' AND s.tenant_id = c.tenant LIMIT terms.quota",
        new="WHERE s.attempt > 0 AND s.tenant_id = c.tenant LIMIT terms.quota",
        tests=(f"{_HANDS}::test_b34_what_is_under_way_is_counted_from_the_leases",),
    ),
    Mutant(
        number="B45",
        guard="a decision is applied one time",
        file="runs/engine/resume.py",
        old="action.status == Status.OPEN or action.applied_at is not None:",
        new="action.status == Status.OPEN:",
        tests=(f"{_HANDS}::test_b45_three_that_see_the_same_decision_five_times_resume_it_one_time",),
    ),
    Mutant(
        number="B46",
        guard="a cancelled run waits for its last step",
        file="runs/engine/status.py",
        old="        if not live:\n            end_as_cancelled(run)",
        new="        if True:\n            end_as_cancelled(run)",
        tests=(f"{_HANDS}::test_b46_a_cancelled_run_ends_after_the_last_of_its_parallel_steps",),
    ),
    Mutant(
        number="B61",
        guard="a grant is compared with what would be sent now",
        file="approvals/grants.py",
        old="        changed = [name for name in shown.BOUND if not _same(approved.get(name), current[name])]\n",
        new="        changed: list[str] = []\n",
        tests=(
            "tests/approvals/test_old_version.py::test_b61_an_approval_of_the_old_version_does_not_count_for_the_new_one",
        ),
    ),
)

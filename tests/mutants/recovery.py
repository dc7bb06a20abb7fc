"""Guards of retries, budgets, recovery and cancel."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

STOPPING = "tests/runs/engine/test_stopping.py"
ORPHANS = "tests/runs/engine/test_orphans.py"
RETRY = "tests/runs/engine/test_retry.py"
BUDGETS = "tests/runs/engine/test_budgets.py"
WATCHDOG = "tests/runs/engine/test_watchdog.py"

RECOVERY = (
    Mutant(
        number="B03",
        guard="a step that was lost too often fails",
        file="runs/engine/commit.py",
        old='return "FAILED" if poison else "PENDING", 0.0, None',
        new='return "PENDING", 0.0, None',
        tests=(f"{RETRY}::test_b03_a_step_that_always_dies_fails_after_three_losses",),
    ),
    Mutant(
        number="B05",
        guard="health is the age of ready work",
        file="runs/selectors/health.py",
        old="return self.oldest_ready is not None and self.oldest_ready > STALLED_AFTER",
        new="return self.last_claim is None",
        tests=("tests/runs/selectors/test_health.py::test_b05_a_process_that_breathes_and_takes_nothing",),
    ),
    Mutant(
        number="B08",
        guard="what has not started ends with the cancel",
        file="runs/engine/cancel.py",
        old='        stop(run, step, code="cancelled", actor=f"user:{user_id.hex}")\n',
        new="        pass\n",
        tests=(f"{STOPPING}::test_b08_a_cancel_without_any_worker_holds_when_they_come",),
    ),
    Mutant(
        number="B09",
        guard="what has ended is not cancelled",
        file="runs/engine/cancel.py",
        old="        if run.status in RUN_TERMINAL:\n            conflict(",
        new="        if False:\n            conflict(",
        tests=(f"{STOPPING}::test_b09_cancelling_what_has_ended_harms_nobody",),
    ),
    Mutant(
        number="B14",
        guard="a run that nobody holds is found",
        file="runs/engine/orphans.py",
        old="        run.plan_again()\n        return",
        new="        return",
        tests=(f"{ORPHANS}::test_b14_a_run_that_nobody_holds_goes_on_with_an_alert",),
    ),
    Mutant(
        number="B14",
        guard="it is asked again under the lock",
        file="runs/engine/orphans.py",
        old='        if run is None or not select("runs", "orphan_runs", {**_grace(), "only": run_id, "limit": 1}):\n',
        new="        if run is None:\n",
        tests=(f"{ORPHANS}::test_b14_a_second_sweep_that_looked_at_the_same_moment_does_nothing",),
    ),
    Mutant(
        number="B14",
        guard="an open question is a waiter",
        file="runs/sql/orphan_runs.sql",
        old="AND (a.status = 'OPEN' OR a.applied_at IS NULL)))))",
        new="AND a.status = 'APPROVED'))))",
        tests=(f"{ORPHANS}::test_what_is_waited_for_is_no_orphan_however_long",),
    ),
    Mutant(
        number="B27",
        guard="a key names its first task",
        file="runs/engine/submit.py",
        old="    if run.input_digest != input_digest:\n",
        new="    if False:\n",
        tests=(f"{STOPPING}::test_b27_the_key_of_a_failed_task_still_names_that_task",),
    ),
    Mutant(
        number="B32",
        guard="a lost step of a cancelled run is not put back",
        file="runs/engine/given_back.py",
        old='        return _end(run, outcome, "CANCELLED")\n',
        new='        return "PENDING"\n',
        tests=(f"{STOPPING}::test_b32_what_a_lost_worker_held_is_cancelled_when_it_is_taken_back",),
    ),
    Mutant(
        number="B32",
        guard="an effect of a cancelled run that was not begun is not put back",
        file="runs/engine/record.py",
        old="    if _stopping(run, step):\n",
        new="    if False:\n",
        tests=(f"{STOPPING}::test_b32_what_a_lost_worker_held_is_cancelled_when_it_is_taken_back",),
    ),
    Mutant(
        number="B33",
        guard="the dispatch looks at the state of the run",
        file="runs/engine/begin.py",
        old="        if not run.lives_for(step.kind):\n            return LOST\n",
        new="",
        tests=(f"{STOPPING}::test_b33_between_two_effects_a_cancel_stops_the_second",),
    ),
)

"""Guards of the engine, of its clock and of the rows in the database."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_HOST_NOW = '__import__("django.utils.timezone", fromlist=["now"]).now()'
_CLOCKS = "tests/runs/engine/test_clocks.py"
_WINNER = "tests/runs/engine/test_one_winner.py"
_BYPASS = "tests/runs/engine/test_bypass.py"

ENGINE = (
    Mutant(
        number="B12",
        guard="the wake-up is a row of the same transaction",
        file="runs/engine/submit.py",
        old='    append(topic="step.ready", tenant_id=tenant_id, payload=wake)\n',
        new='    transaction.on_commit(lambda: append(topic="step.ready", tenant_id=tenant_id, payload=wake) and None)\n',
        tests=("tests/runs/engine/test_told.py::test_b12_what_commits_late_is_told_after_its_commit",),
    ),
    Mutant(
        number="B12",
        guard="a message is noted after it was told",
        file="outbox/relay.py",
        old="    failures = _tell(taken)\n",
        new="    _mark(taken)\n    failures = _tell(taken)\n",
        tests=("tests/outbox/test_relay.py::test_killed_between_telling_and_noting_it_comes_again",),
    ),
    Mutant(
        number="B16",
        guard="a key that the run has is not planned again",
        file="runs/engine/planner.py",
        old="            if key in known or any(",
        new="            if any(",
        tests=(
            "tests/runs/engine/test_gated.py::test_b16_the_effect_before_the_wait_is_not_repeated_after_it",
        ),
    ),
    Mutant(
        number="B41",
        guard="a lease is counted from the clock of the database",
        file="runs/engine/claim.py",
        old='"lease": settings.COUNTERSIGN.lease_seconds,',
        new='"lease": settings.COUNTERSIGN.lease_seconds + ('
        f'{_HOST_NOW} - __import__("approvals.clock", fromlist=["db_now"]).db_now()).total_seconds(),',
        tests=(f"{_CLOCKS}::test_b41_a_lease_is_as_long_as_it_should_be_whatever_the_host_thinks",),
    ),
    Mutant(
        number="B41",
        guard="a question is due by the clock of the database",
        file="runs/engine/expire.py",
        old="expires_at__lte=Now())",
        new=f"expires_at__lte={_HOST_NOW})",
        tests=(f"{_CLOCKS}::test_b41_a_question_ends_by_the_clock_of_the_database",),
    ),
    Mutant(
        number="B41",
        guard="the desk asks the database for the time",
        file="approvals/clock.py",
        old="    at: datetime = row[0]\n    return at\n",
        new=f"    return row and {_HOST_NOW}\n",
        tests=(f"{_CLOCKS}::test_b41_a_question_ends_by_the_clock_of_the_database",),
    ),
    Mutant(
        number="B41",
        guard="deadlines of a node run on the clock of the machine's start",
        file="runs/node/clock.py",
        old="    return time.clock_gettime(_CLOCK)\n",
        new="    return time.time()\n",
        tests=(f"{_CLOCKS}::test_b41_a_step_of_the_wall_clock_moves_no_deadline_of_the_node",),
    ),
    Mutant(
        number="B42",
        guard="the state that was read is compared while writing",
        file="accounts/arrows.py",
        old="filter(pk=row.pk, **{field: before}, **guards).update(",
        new="filter(pk=row.pk, **guards).update(",
        tests=(f"{_WINNER}::test_b42_of_two_that_take_the_same_arrow_one_wins_and_the_other_hears_it",),
    ),
    Mutant(
        number="B43",
        guard="what has ended stays so (`keep_terminal`)",
        file="accounts/migrations/0002_guards.py",
        old="        ELSIF NEW.status IS DISTINCT FROM OLD.status THEN",
        new="        ELSIF FALSE THEN",
        tests=(f"{_BYPASS}::test_b43_no_path_opens_again_what_has_ended",),
    ),
    Mutant(
        number="B43",
        guard="`decision_append_only`",
        file="approvals/migrations/0002_guards.py",
        old='"CREATE TRIGGER decision_append_only BEFORE UPDATE OR DELETE ON approvals_decision"',
        new='"CREATE TRIGGER decision_append_only BEFORE DELETE ON approvals_decision"',
        tests=(f"{_BYPASS}::test_b43_no_path_rewrites_what_was_written_down",),
    ),
    Mutant(
        number="B43",
        guard="`event_append_only`",
        file="runs/migrations/0012_event_months.py",
        old="CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON runs_event",
        new="CREATE TRIGGER event_append_only BEFORE UPDATE ON runs_event",
        tests=(f"{_BYPASS}::test_b43_no_path_rewrites_what_was_written_down",),
    ),
    Mutant(
        number="B43",
        guard="`run_terminal` knows SUCCEEDED",
        file="runs/migrations/0015_lean_rows.py",
        old="    WHEN (OLD.status IN ('SUCCEEDED', 'FAILED', 'CANCELLED') AND",
        new="    WHEN (OLD.status IN ('FAILED', 'CANCELLED') AND",
        tests=(f"{_BYPASS}::test_b43_no_path_opens_again_what_has_ended",),
    ),
    Mutant(
        number="B43",
        guard="`contract_published_stays`",
        file="tools/migrations/0003_sender_done_and_published_stays.py",
        old="CREATE TRIGGER contract_published_stays BEFORE UPDATE OR DELETE ON tools_contract",
        new="CREATE TRIGGER contract_published_stays BEFORE DELETE ON tools_contract",
        tests=(f"{_BYPASS}::test_b43_a_published_contract_stays_as_it_was_approved",),
    ),
    Mutant(
        number="B43",
        guard="Django's admin is not mounted",
        file="config/urls.py",
        old='    path("healthz", healthz, name="healthz"),\n',
        new='    path("healthz", healthz, name="healthz"),\n'
        '    path("admin/", __import__("django.contrib.admin").contrib.admin.site.urls),\n',
        tests=(f"{_BYPASS}::test_b43_no_admin_edits_the_tables_of_the_engine",),
    ),
    Mutant(
        number="B52",
        guard="the grant is checked before the send",
        file="runs/engine/begin.py",
        old="    if drift is None:\n",
        new="    if True:\n",
        tests=("tests/runs/engine/test_effects.py::test_b52_what_changed_after_the_approval_is_not_sent",),
    ),
    Mutant(
        number="B54",
        guard="the wait ends with the question",
        file="runs/engine/expire.py",
        old="        if step is not None and step.status == Step.Status.WAITING_APPROVAL:\n",
        new="        if False:\n",
        tests=(
            "tests/runs/engine/test_effects.py::test_an_expired_approval_denies_and_ends_the_wait_at_once",
        ),
    ),
    Mutant(
        number="B57",
        guard="a task that a person ends takes back its questions",
        file="runs/engine/taken_over.py",
        old="    withdraw_open(\n        run_id=run.id,\n        kinds=[PendingAction.Kind.APPROVE, PendingAction.Kind.ANSWER],\n        reason=sentences.ENDED(),\n    )\n",
        new="",
        tests=(
            "tests/runs/engine/test_open_questions.py::test_b57_a_run_that_fails_leaves_no_question_open",
        ),
    ),
    Mutant(
        number="B57",
        guard="a cancelled task takes back its questions",
        file="runs/engine/cancel.py",
        old="    withdraw_open(run_id=run.id, kinds=kinds, reason=sentences.CANCELLED())\n",
        new="",
        tests=(
            "tests/runs/engine/test_open_questions.py::test_b57_a_run_that_is_cancelled_leaves_no_question_open",
        ),
    ),
    Mutant(
        number="B83",
        guard="a child that reads too long is killed",
        file="runs/node/pump.py",
        old="            elif now >= entry.wall and (",
        new="            elif False and (",
        tests=(
            "tests/runs/node/test_hostile_files.py::test_b83_a_pdf_that_loops_is_killed_and_the_rest_is_read",
        ),
    ),
)

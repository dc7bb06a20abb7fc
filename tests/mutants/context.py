"""Guards of checkpoints, of waits and questions, and of what a run is pinned to."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_CHECKPOINTS = "tests/runs/engine/test_checkpoints.py"
_SIGNALS = "tests/runs/engine/test_signals.py"
_QUESTIONS = "tests/runs/engine/test_questions.py"
_VERSIONS = "tests/runs/engine/test_versions.py"
_MANY = "tests/runs/node/test_many.py"

CONTEXT = (
    Mutant(
        number="B06",
        guard="a timer is looked for in the database",
        file="runs/engine/timers.py",
        old="    found = list(due.",
        new="    found = [] and list(due.",
        tests=(f"{_MANY}::test_b06_timers_outlive_every_worker_and_the_broker",),
    ),
    Mutant(
        number="B18",
        guard="a decision is about its own intent",
        file="approvals/decide.py",
        old="get(pk=action.intent_id)\n    return intent",
        new="filter(run_id=action.run_id).order_by('pk').first()\n    return intent",
        tests=(f"{_QUESTIONS}::test_b18_each_answer_reaches_its_own_call",),
    ),
    Mutant(
        number="B18",
        guard="an answer moves the step that asked",
        file="runs/engine/resume.py",
        old="        step = lock_step(seen.step_id) if seen.step_id else None\n        action =",
        new="        step = Step.everywhere.filter(run_id=run_id, status='WAITING_APPROVAL').order_by('seq').first()\n"
        "        action =",
        tests=(f"{_QUESTIONS}::test_b18_each_answer_reaches_its_own_call",),
    ),
    Mutant(
        number="B19",
        guard="the summary leaves the process before save returns",
        file="runs/engine/checkpoints.py",
        old='        into.execute(statement("runs", "insert_checkpoints"), {"checkpoints": orjson.dumps(rows).decode()})',
        new='        __import__("django.db").db.transaction.on_commit(lambda: into.connection.execute('
        'statement("runs", "insert_checkpoints"), {"checkpoints": orjson.dumps(rows).decode()}) and None)',
        tests=(f"{_CHECKPOINTS}::test_b19_what_is_stored_is_the_value_at_the_call",),
    ),
    Mutant(
        number="B19",
        guard="the digest of a checkpoint is made again on load",
        file="runs/sql/run_contexts.sql",
        old="    WHERE b.run_id = r.id AND b.digest = encode(sha256(convert_to(",
        new="    WHERE b.run_id = r.id AND b.digest IS NOT NULL OR b.run_id = r.id AND b.digest = encode(sha256(convert_to(",
        tests=(f"{_CHECKPOINTS}::test_b19_a_spoilt_checkpoint_is_noticed_passed_over_and_told_once",),
    ),
    Mutant(
        number="B19",
        guard="where a summary ends follows from the steps alone",
        file="runs/node/planning.py",
        old="    while folded < border:",
        new="    while folded < border - 4:",
        tests=(f"{_CHECKPOINTS}::test_a_rebuilt_context_is_what_somebody_who_was_there_would_see",),
    ),
    Mutant(
        number="B24",
        guard="who parks looks whether the signal is there",
        file="runs/engine/park.py",
        old="    kept = _kept(run, name) if name else None",
        new="    kept = None",
        tests=(f"{_SIGNALS}::test_b24_a_signal_that_came_before_its_wait_is_taken_by_it",),
    ),
    Mutant(
        number="B24",
        guard="a signal looks for its wait under the run's lock",
        file="runs/engine/signal.py",
        old="        workspace, run = locked_one(run_id)\n",
        new="        early = Step.everywhere.filter(run_id=run_id, kind='wait', status='WAITING_EXTERNAL').first()\n"
        "        globals()['_waiting'] = lambda *_: early\n        workspace, run = locked_one(run_id)\n",
        tests=(f"{_SIGNALS}::test_b24_a_signal_between_the_look_and_the_park_waits_for_the_run",),
    ),
    Mutant(
        number="B25",
        guard="a cancelled run ends its waits",
        file="runs/engine/cancel.py",
        old='status__in=["PENDING", "WAITING_APPROVAL", "WAITING_EXTERNAL"]',
        new='status__in=["PENDING", "WAITING_APPROVAL"]',
        tests=(f"{_SIGNALS}::test_b25_of_signal_time_and_cancel_one_ends_the_wait_and_none_stays_open",),
    ),
    Mutant(
        number="B26",
        guard="what was decided and not applied is looked for",
        file="runs/engine/resume.py",
        old="    found = list(waiting.",
        new="    found = [] and list(waiting.",
        tests=(f"{_QUESTIONS}::test_b26_an_answer_whose_bell_was_lost_is_found",),
    ),
    Mutant(
        number="B30",
        guard="a run whose agent is on no node says so",
        file="runs/engine/stranded.py",
        old='        run.move("wait_outside")\n',
        new="",
        tests=(f"{_VERSIONS}::test_b30_a_run_whose_agent_is_on_no_node_says_so_and_goes_on_when_it_is_back",),
    ),
    Mutant(
        number="B30",
        guard="a contract that is not there is no crash",
        file="runs/engine/planner.py",
        old="    except Contract.DoesNotExist:",
        new="    except ZeroDivisionError:",
        tests=(f"{_VERSIONS}::test_b30_a_contract_that_is_not_there_ends_in_a_takeover",),
    ),
    Mutant(
        number="B48",
        guard="a node claims runs of the code that it has",
        file="runs/sql/claim_steps.sql",
        old="r.agent_digest = ANY (%(digests)s)",
        new="(r.agent_digest = ANY (%(digests)s) OR true)",
        tests=(f"{_VERSIONS}::test_b48_a_renamed_step_repeats_no_effect_and_a_rollback_goes_on",),
    ),
    Mutant(
        number="B48",
        guard="a child plans with the code that the run started with",
        file="runs/node/planning.py",
        old='    if type(agent).digest() != work.context["code"]:',
        new='    if not work.context["code"]:',
        tests=(
            "tests/runs/node/test_child_side.py::test_b48_other_code_under_the_same_version_does_not_go_on",
        ),
    ),
)

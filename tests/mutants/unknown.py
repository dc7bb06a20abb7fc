"""Guards of open outcomes: what is sent again, who is asked, and which answer counts."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

_UNKNOWN = "tests/runs/engine/test_unknown.py"
_KEYS = "tests/rest/test_same_key.py"

UNKNOWN = (
    Mutant(
        number="B22",
        guard="a time-out after begin is no failure",
        file="runs/engine/record.py",
        old='        case "failed" | "timeout" | "cancelled" if not dispatched:\n',
        new='        case "failed" | "timeout" | "cancelled":\n',
        tests=(f"{_UNKNOWN}::test_b22_a_time_out_is_unknown_and_the_late_answer_ends_it",),
    ),
    Mutant(
        number="B22",
        guard="the late answer of the sender is taken",
        file="runs/engine/record.py",
        old='outcome.ending not in ("succeeded", "unknown", "failed"):\n        return\n',
        new='outcome.ending not in ("unknown", "failed"):\n        return\n',
        tests=(f"{_UNKNOWN}::test_b22_a_time_out_is_unknown_and_the_late_answer_ends_it",),
    ),
    Mutant(
        number="B67",
        guard="a refusal of the second send leaves the first open",
        file="runs/engine/record.py",
        old="    return intent.open_since is not None or (\n",
        new="    return False and (\n",
        tests=(f"{_UNKNOWN}::test_b67_a_no_of_the_second_time_says_nothing_of_the_first",),
    ),
    Mutant(
        number="B67",
        guard="it is sent again only while the key is remembered",
        file="tools/reconcile.py",
        old="    if facts.keys and facts.again:\n",
        new="    if facts.again:\n",
        tests=(f"{_UNKNOWN}::test_b67_a_key_that_may_be_forgotten_is_not_sent_again",),
    ),
    Mutant(
        number="B67",
        guard="the memory of keys counts from the first open send",
        file="tools/workers.py",
        old="    first = intent.open_since or intent.dispatched_at\n",
        new="    first = intent.dispatched_at\n",
        tests=(f"{_UNKNOWN}::test_b67_the_memory_counts_from_the_first_time_that_is_open",),
    ),
    Mutant(
        number="B67",
        guard="the senders of all open sends must be gone",
        file="tools/workers.py",
        old="    if any(one is None for one in earlier):\n",
        new="    if False:\n",
        tests=(f"{_UNKNOWN}::test_b67_a_paused_sender_of_the_first_time_still_counts_after_the_second",),
    ),
    Mutant(
        number="B67",
        guard="begin asks the gate before it sends again",
        file="runs/engine/begin.py",
        old='    if word.path == "blocked" or not as_recorded(claimed, intent.arguments):\n        return False\n'
        '    if intent.grant is None:\n        return word.path == "auto"\n',
        new="    if intent.grant is None:\n        return True\n",
        tests=(f"{_UNKNOWN}::test_b67_begin_does_not_send_again_what_became_forbidden_meanwhile",),
    ),
    Mutant(
        number="B67",
        guard="a no that was said too early does not count",
        file="runs/engine/unknown.py",
        old="        too_early=bool(early),\n",
        new="        too_early=False,\n",
        tests=(f"{_UNKNOWN}::test_a_person_who_looked_too_early_is_spared_when_the_far_side_can_be_asked",),
    ),
    Mutant(
        number="B67",
        guard="an answer counts for the dispatch that it was asked about",
        file="runs/engine/heard.py",
        old='    dispatch = intent.dispatch_id.hex if intent.dispatch_id else ""\n',
        new='    dispatch = asking.input["dispatch"]\n',
        tests=(f"{_UNKNOWN}::test_b67_an_answer_about_an_earlier_dispatch_says_nothing_of_this_one",),
    ),
    Mutant(
        number="B67",
        guard="the far side is asked a bounded number of times",
        file="runs/engine/query.py",
        old="    return int(intent.asks) < settings.COUNTERSIGN.query_tries\n",
        new="    return True\n",
        tests=(f"{_UNKNOWN}::test_an_unsure_far_side_is_asked_a_bounded_number_of_times_and_then_a_person",),
    ),
    Mutant(
        number="B67",
        guard="only a tool that reads is asked",
        file="tools/selectors.py",
        old="return found if found is not None and found.effect_class == EffectClass.READ_ONLY else None",
        new="return found",
        tests=(f"{_UNKNOWN}::test_a_query_that_cannot_be_put_any_more_leaves_it_to_a_person",),
    ),
    Mutant(
        number="B67",
        guard="what the far side denies is sent no more often than the contract says",
        file="runs/engine/unknown.py",
        old="    if intent.dispatches >= most:\n",
        new="    if False:\n",
        tests=(f"{_UNKNOWN}::test_a_no_leads_to_no_more_sends_than_the_contract_says",),
    ),
    Mutant(
        number="B67",
        guard="a cancel does not take what may have happened for never sent",
        file="runs/engine/unknown.py",
        old="    if intent is None or intent.status != Intent.Status.UNKNOWN:\n",
        new="    if True:\n",
        tests=(f"{_UNKNOWN}::test_what_was_to_be_sent_again_is_still_unknown_when_its_task_is_cancelled",),
    ),
    Mutant(
        number="B67",
        guard="a cancelled task still learns the truth",
        file="runs/sql/claim_steps.sql",
        old="s.kind = 'query' AND r.status IN (",
        new="false AND r.status IN (",
        tests=(f"{_UNKNOWN}::test_a_cancelled_task_still_learns_the_truth_and_sends_nothing",),
    ),
    Mutant(
        number="B77",
        guard="another body under the same key is refused",
        file="accounts/rest/idempotency.py",
        old="        if found.digest != digest:\n",
        new="        if False:\n",
        tests=(f"{_KEYS}::test_b77_another_body_under_the_same_key_is_refused",),
    ),
    Mutant(
        number="B77",
        guard="what is in progress is not taken over before its time",
        file="accounts/rest/idempotency.py",
        old="started_at__lt=Now() - TAKE_OVER_AFTER",
        new="started_at__lt=Now()",
        tests=(
            f"{_KEYS}::test_b77_a_request_that_died_in_progress_is_taken_over_after_its_time_and_not_before",
        ),
    ),
    Mutant(
        number="B77",
        guard="drift under one key is kept",
        file="tools/intents.py",
        old="    if first.pk != made.pk and first.request_digest != made.request_digest:\n",
        new="    if False:\n",
        tests=(f"{_UNKNOWN}::test_b77_the_key_of_an_effect_belongs_to_one_tenant_and_the_first_body_wins",),
    ),
    Mutant(
        number="B77",
        guard="the key of an effect belongs to a tenant",
        file="tools/keys.py",
        old='    key = f"{tenant_id.hex}:{lineage.hex}:{step_key}:{tool}"\n',
        new='    key = f"{lineage.hex}:{step_key}:{tool}"\n',
        tests=(f"{_UNKNOWN}::test_b77_the_key_of_an_effect_belongs_to_one_tenant_and_the_first_body_wins",),
    ),
)

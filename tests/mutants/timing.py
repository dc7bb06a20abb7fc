"""Guards of time and people: what nobody can decide, reminders, escalation, silence."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

CHASE, ENOUGH, SILENCE = (f"tests/approvals/test_{name}.py::" for name in ("chase", "enough", "silence"))

TIMING = (
    Mutant(
        number="B54",
        guard="nothing is told of a question that is closed",
        file="approvals/chase.py",
        old="lives, pk=action_id, status=PendingAction.Status.OPEN, successor__isnull=True, **when",
        new="lives, pk=action_id, successor__isnull=True, **when",
        tests=(f"{CHASE}test_b54_nothing_is_told_of_what_is_closed_superseded_or_past_its_end",),
    ),
    Mutant(
        number="B54",
        guard="nothing is told of a question that has a successor",
        file="approvals/chase.py",
        old="status=PendingAction.Status.OPEN, successor__isnull=True, **when",
        new="status=PendingAction.Status.OPEN, **when",
        tests=(f"{CHASE}test_b54_nothing_is_told_of_what_is_closed_superseded_or_past_its_end",),
    ),
    Mutant(
        number="B54",
        guard="nothing is told of a question past its end",
        file="approvals/chase.py",
        old="        lives, pk=action_id",
        new="        pk=action_id",
        tests=(f"{CHASE}test_b54_nothing_is_told_of_what_is_closed_superseded_or_past_its_end",),
    ),
    Mutant(
        number="B54",
        guard="a question that somebody holds is left",
        file="approvals/chase.py",
        old='select_for_update(of=("self",), skip_locked=True)',
        new="all()",
        tests=(f"{CHASE}test_b54_a_question_that_somebody_is_deciding_is_left_and_found_again",),
    ),
    Mutant(
        number="B60",
        guard="a group that does not exist or is empty is refused at publish",
        file="tools/staffing.py",
        old="    if group and not staff.group(group):\n",
        new="    if False:\n",
        tests=(
            "tests/tools/test_publish.py::test_b60_a_group_without_people_enough_is_refused_and_says_who_is_missing",
        ),
    ),
    Mutant(
        number="B60",
        guard="only members of the group are counted at publish",
        file="tools/staffing.py",
        old="            agree &= self.group(group) or frozenset()\n",
        new="            pass\n",
        tests=(
            "tests/tools/test_publish.py::test_b60_a_group_without_people_enough_is_refused_and_says_who_is_missing",
        ),
    ),
    Mutant(
        number="B60",
        guard="a question that nobody can decide when it opens says so at once",
        file="approvals/open.py",
        old="    if chase.stuck(only=action.pk) and chase.look(action_id=action.pk):\n",
        new="    if False:\n",
        tests=(f"{ENOUGH}test_b60_without_an_owner_or_when_they_have_left_every_administrator_is",),
    ),
    Mutant(
        number="B60",
        guard="whoever is away until it is too late does not count",
        file="approvals/enough.py",
        old="    late = [user for user in found.away if found.until[user.pk] >= end]\n",
        new="    late: list[User] = []\n",
        tests=(f"{ENOUGH}test_b60_away_counts_as_gone_only_when_everybody_is_back_too_late",),
    ),
    Mutant(
        number="B60",
        guard="a signature counts only while its giver may still decide",
        file="approvals/enough.py",
        old="    signed = len(rules.entitled_signers(free, rules.signatures(free)))\n",
        new="    signed = len(rules.signatures(free))\n",
        tests=(f"{ENOUGH}test_b60_a_signature_of_who_may_no_more_does_not_count_and_one_who_still_may_does",),
    ),
    Mutant(
        number="B60",
        guard="the sweep finds people who left, not only those who lost a role",
        file="approvals/sql/stuck.sql",
        old="    WHERE m.disabled_at IS NULL AND m.tenant_id",
        new="    WHERE m.tenant_id",
        tests=(
            f"{ENOUGH}test_b60_when_the_last_approver_leaves_it_goes_to_the_owner_who_decides_it",
            f"{ENOUGH}test_b60_the_database_finds_exactly_what_the_rules_find",
        ),
    ),
    Mutant(
        number="B60",
        guard="the owner decides only while nobody else can",
        file="approvals/rules.py",
        old="    stuck = action.escalated_at is not None and action.undecidable_since is not None\n",
        new="    stuck = action.escalated_at is not None\n",
        tests=(
            f"{ENOUGH}test_b60_the_mark_goes_when_there_are_enough_again_and_with_it_the_right_of_the_owner",
        ),
    ),
    Mutant(
        number="B60",
        guard="without an owner the administrators are asked",
        file="accounts/rights.py",
        old="    return [found.user] if found else people_with(tenant_id=tenant_id, role=Role.ADMINISTRATOR)\n",
        new="    return [found.user] if found else []\n",
        tests=(f"{ENOUGH}test_b60_without_an_owner_or_when_they_have_left_every_administrator_is",),
    ),
    Mutant(
        number="B64",
        guard="a quorum that cannot be read denies",
        file="approvals/rules.py",
        old="        return 2**31  # an unreadable rule denies\n",
        new="        return 1\n",
        tests=(f"{SILENCE}test_b64_a_rule_that_cannot_be_read_denies",),
    ),
    Mutant(
        number="B64",
        guard="the end of the time to decide is compared when somebody decides",
        file="approvals/decide.py",
        old="    if action.expires_at is not None and (now or db_now()) >= action.expires_at:\n",
        new="    if False:\n",
        tests=(f"{SILENCE}test_b64_time_and_errors_of_the_service_deny",),
    ),
    Mutant(
        number="B64",
        guard="an answer that is given twice is none",
        file="approvals/forms.py",
        old='        if any(len(several(name)) > 1 for name in ("verdict", "digest", "generation")):\n',
        new="        if False:\n",
        tests=(f"{SILENCE}test_b64_a_malformed_form_denies",),
    ),
)

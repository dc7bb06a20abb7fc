"""Guards of who may decide: groups, delegation, standing in, escalation, four eyes in every disguise."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

RULES = "approvals/rules.py"
TESTS = "tests/approvals/test_rights.py::"
AGREES = "tests/approvals/test_inbox_agrees.py::test_b60_the_inbox_holds_exactly_what_the_rules_allow"

RIGHTS = (
    Mutant(
        number="B59",
        guard="whoever changed the arguments does not approve them",
        file=RULES,
        old="    edited = user_id in action.editors and verdict == Verdict.APPROVE\n",
        new="    edited = False\n",
        tests=(f"{TESTS}test_b59_whoever_changed_the_arguments_does_not_approve_them_by_any_right",),
    ),
    Mutant(
        number="B59",
        guard="four eyes come before escalation",
        file=RULES,
        old="    if reasons := _four_eyes(action, user_id, verdict):\n",
        new="    if not _has_escalated_to(action, facts, user_id) and (\n"
        "        reasons := _four_eyes(action, user_id, verdict)\n    ):\n",
        tests=(f"{TESTS}test_b59_escalation_opens_no_second_pair_of_eyes",),
    ),
    Mutant(
        number="B60",
        guard="a group asks its members alone",
        file=RULES,
        old="    if group and user_id not in (facts.group or ()):\n",
        new="    if False:\n",
        tests=(f"{TESTS}test_b60_a_group_asks_its_members_who_hold_the_role",),
    ),
    Mutant(
        number="B60",
        guard="being in the group is no role",
        file=RULES,
        old="    if role not in facts.members[user_id].roles:\n",
        new="    if not group and role not in facts.members[user_id].roles:\n",
        tests=(f"{TESTS}test_b60_a_group_asks_its_members_who_hold_the_role",),
    ),
    Mutant(
        number="B60",
        guard="a closed group lets nobody decide",
        file="accounts/rights.py",
        old="    rows = Group.everywhere.filter(tenant_id=tenant_id, name=name, closed_at__isnull=True)\n",
        new="    rows = Group.everywhere.filter(tenant_id=tenant_id, name=name)\n",
        tests=(f"{TESTS}test_b60_a_group_that_is_not_there_denies_in_words",),
    ),
    Mutant(
        number="B60",
        guard="what was handed to somebody who may no more is for the others",
        file=RULES,
        old="    return None if _lacks(action, facts, one) else one\n",
        new="    return one\n",
        tests=(f"{TESTS}test_b60_what_was_handed_to_somebody_who_may_no_more_goes_to_the_others",),
    ),
    Mutant(
        number="B60",
        guard="the escalation owner decides only what nobody else can",
        file=RULES,
        old="    stuck = action.escalated_at is not None and action.undecidable_since is not None\n",
        new="    stuck = action.escalated_at is not None\n",
        tests=(f"{TESTS}test_b60_the_escalation_owner_decides_what_nobody_else_can",),
    ),
    Mutant(
        number="B60",
        guard="the inbox knows who is bound as the rules do",
        file="approvals/reach.py",
        old='    return Q(assignee__isnull=False) & entitled & ~submitted & ~_edited(F("assignee_id"))\n',
        new='    return Q(assignee__isnull=False) & ~submitted & ~_edited(F("assignee_id"))\n',
        tests=(AGREES,),
    ),
    Mutant(
        number="B60",
        guard="the inbox knows stand-ins as the rules do",
        file="approvals/reach.py",
        old=" & ~Q(Exists(_absences().filter(stand_in_id=user_id)))\n",
        new="\n",
        tests=(AGREES,),
    ),
    Mutant(
        number="B62",
        guard="at begin role and group of who signed are read again",
        file=RULES,
        old="        return True\n    return not _lacks(action, facts, user_id)\n",
        new="        return True\n    return True\n",
        tests=(f"{TESTS}test_b62_at_begin_the_group_is_read_again",),
    ),
    Mutant(
        number="B66",
        guard="rights are read when the answer comes",
        file="approvals/decide.py",
        old="    if reasons := rules.refusals(action=action, user_id=user_id, verdict=given.verdict):\n",
        new="    if False:\n",
        tests=(f"{TESTS}test_b66_what_changed_since_the_page_was_read_is_refused_in_words",),
    ),
    Mutant(
        number="B66",
        guard="what was handed to one person is decided by nobody else",
        file=RULES,
        old="    if holder and user_id != holder and not facts.stands_in(user_id, absent=holder):\n",
        new="    if False:\n",
        tests=(f"{TESTS}test_b66_whoever_was_asked_and_is_no_more_does_not_answer",),
    ),
    Mutant(
        number="B66",
        guard="who stands in does so while the other is away",
        file="accounts/rights.py",
        old="begins_at__lte=Now(), ends_at__gt=Now(), cancelled_at__isnull=True",
        new="begins_at__lte=Now(), ends_at__gt=Now()",
        tests=(
            "tests/approvals/test_handling.py::test_whoever_stands_in_decides_while_the_other_is_away_and_no_longer",
        ),
    ),
    Mutant(
        number="B66",
        guard="nothing is handed to who may not decide it",
        file="approvals/delegate.py",
        old="        if reasons := unfit(action, to_id, by=user_id):\n",
        new="        if False:\n",
        tests=("tests/approvals/test_handling.py::test_it_is_handed_to_nobody_who_may_not_decide",),
    ),
)

"""Guards of editing what would be sent, and of reading it before it is approved."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

FOLDED = "tests/approvals/test_folded.py"
EDIT = "tests/runs/engine/test_edit_proposal.py"
OTHER = f"{EDIT}::test_what_is_sent_is_what_was_edited_and_approved_by_somebody_else"

PROPOSALS = (
    Mutant(
        number="B61",
        guard="who edited counts as an author of the new version",
        file="approvals/open.py",
        old='*([uuid.UUID(edited["by"])] if edited else [])',
        new="",
        tests=(OTHER,),
    ),
    Mutant(
        number="B61",
        guard="a version that was overtaken takes no answer",
        file="approvals/decide.py",
        old="        raise Superseded(successor)\n",
        new="        pass\n",
        tests=(f"{EDIT}::test_b61_a_signature_on_the_old_version_counts_for_nothing",),
    ),
    Mutant(
        number="B61",
        guard="the effect holds the arguments that were asked",
        file="runs/verbs/edit_proposal.py",
        old='"arguments": given, "edited": True}',
        new='"edited": True}',
        tests=(OTHER,),
    ),
    Mutant(
        number="B61",
        guard="the new arguments are judged by the rules",
        file="runs/verbs/edit_proposal.py",
        old='    if word.path == "blocked":\n',
        new="    if False:\n",
        tests=(f"{EDIT}::test_a_rule_over_the_new_arguments_counts",),
    ),
    Mutant(
        number="B61",
        guard="whoever approves what they wrote says why",
        file="approvals/answers.py",
        old="user_id in action.editors and not given.comment",
        new="False",
        tests=(f"{EDIT}::test_an_editor_approves_only_where_the_rules_say_so_and_with_a_reason",),
    ),
    Mutant(
        number="B63",
        guard="what is folded must have been opened",
        file="approvals/decide.py",
        old="viewing.unread(action, user_id=user_id, channel=channel)",
        new="False",
        tests=(f"{FOLDED}::test_b63_a_payload_that_is_folded_is_reachable_whole_and_must_be_opened",),
    ),
    Mutant(
        number="B63",
        guard="who opened it is who answers",
        file="approvals/viewing.py",
        old="filter(action=action, user_id=user_id).first()",
        new="filter(action=action).first()",
        tests=(f"{FOLDED}::test_who_opened_it_is_not_somebody_else",),
    ),
)

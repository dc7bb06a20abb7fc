"""Guards of the workbench: credentials (B75), the second administrator and test calls (L16), reports of duplicates (L20)."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

VAULT = "tests/tools/test_vault.py"
MASKING = "tests/tools/test_masking.py"
REVIEWS = "tests/tools/test_reviews.py"
DUPLICATES = "tests/runs/pages/test_duplicates.py"

WORKBENCH = (
    Mutant(
        number="B75",
        guard="a report is masked before it leaves the child",
        file="runs/node/execute.py",
        old="    report.output = ctx.mask.value(report.output)\n",
        new="",
        tests=("tests/runs/node/test_child_side.py::test_b75_echoes_of_a_secret_do_not_leave_the_child",),
    ),
    Mutant(
        number="B75",
        guard="errors and references are masked as well",
        file="runs/node/execute.py",
        old="    report.reference, report.error_text = ctx.mask.text(report.reference), ctx.mask.text(report.error_text)\n",
        new="",
        tests=("tests/runs/node/test_child_side.py::test_b75_echoes_of_a_secret_do_not_leave_the_child",),
    ),
    Mutant(
        number="B75",
        guard="files are masked before they are stored",
        file="runs/node/tool_context.py",
        old="            data = self.mask.data(data)\n",
        new="            pass\n",
        tests=("tests/runs/node/test_child_side.py::test_b75_a_stored_answer_holds_no_secret",),
    ),
    Mutant(
        number="B75",
        guard="half a secret counts as one",
        file="tools/masking.py",
        old="                    head = form[: len(form) // 2] if len(form) >= HALVED else form\n",
        new="                    head = form\n",
        tests=(f"{MASKING}::test_b75_a_secret_that_was_cut_is_masked_as_well",),
    ),
    Mutant(
        number="B75",
        guard="a secret is known as addresses write it",
        file="tools/masking.py",
        old='plain.replace("/", "\\\\/"), *addresses}',
        new='plain.replace("/", "\\\\/")}',
        tests=(f"{MASKING}::test_b75_an_echo_is_masked_however_it_is_written",),
    ),
    Mutant(
        number="B75",
        guard="a change of keys seals everything anew",
        file="tools/vault.py",
        old="                done += Secret.everywhere.filter(pk=pk).update(ciphertext=sealed)\n",
        new="                done += bool(sealed)\n",
        tests=(f"{VAULT}::test_b75_the_key_of_the_installation_is_changed_and_each_tenant_keeps_its_own",),
    ),
    Mutant(
        number="B75",
        guard="each tenant has a key of its own",
        file="accounts/sealing.py",
        old='info=purpose + b"\\0" + tenant_id.bytes)',
        new='info=purpose + b"\\0")',
        tests=(f"{VAULT}::test_b75_the_key_of_the_installation_is_changed_and_each_tenant_keeps_its_own",),
    ),
    Mutant(
        number="B75",
        guard="a secret of a contract in force is not deleted",
        file="tools/vault.py",
        old="        if tools := used_by(tenant_id=tenant_id).get(name):\n",
        new="        if tools := used_by(tenant_id=tenant_id).get(None):  # type: ignore[call-overload]\n",
        tests=(f"{VAULT}::test_a_call_gets_the_secret_that_its_contract_names_as_it_is_now",),
    ),
    Mutant(
        number="L16",
        guard="publishing needs the review where two must",
        file="tools/publish.py",
        old="    if by is not None and publish_rule.needed(tenant_id=contract.tenant_id):\n",
        new="    if False:\n",
        tests=(f"{REVIEWS}::test_one_person_alone_publishes_nothing",),
    ),
    Mutant(
        number="L16",
        guard="author and asker do not answer their own review",
        file="tools/reviews.py",
        old="    if by in (review.asked_by_id, draft.created_by_id):\n",
        new="    if by is None:\n",
        tests=(f"{REVIEWS}::test_who_wrote_it_does_not_answer_when_another_one_asked",),
    ),
    Mutant(
        number="L16",
        guard="the content that was asked for is the one that is published",
        file="tools/reviews.py",
        old="    if review.digest != drafts.seen(draft):\n",
        new="    if False:\n",
        tests=(f"{REVIEWS}::test_a_change_after_asking_voids_the_review",),
    ),
    Mutant(
        number="L16",
        guard="a change makes the review void",
        file="tools/drafts.py",
        old="        standing.void(tool=tool, by=by)\n        draft.created_by_id = by\n",
        new="        draft.created_by_id = by\n",
        tests=(f"{REVIEWS}::test_a_change_after_asking_voids_the_review",),
    ),
    Mutant(
        number="L16",
        guard="who asks to switch the second administrator off does not make it so",
        file="tools/publish_rule.py",
        old="        won = asked.exclude(off_asked_by_id=by).update(\n",
        new="        won = asked.update(\n",
        tests=(f"{REVIEWS}::test_switching_it_off_takes_two",),
    ),
    Mutant(
        number="L20",
        guard="who reported a duplicate does not confirm it",
        file="tools/duplicates.py",
        old="        if found.reported_by_id == user_id:\n",
        new="        if False:\n",
        tests=(f"{DUPLICATES}::test_the_story_over_rest",),
    ),
    Mutant(
        number="L20",
        guard="who only submits answers no report",
        file="tools/duplicates.py",
        old="        if not may_answer(tenant_id=tenant_id, user_id=user_id):\n",
        new="        if False:\n",
        tests=(f"{DUPLICATES}::test_who_only_submits_answers_nothing",),
    ),
    Mutant(
        number="L16",
        guard="an effect is never tried from the editor",
        file="runs/verbs/test_call.py",
        old="    if contract.effect_class != EffectClass.READ_ONLY:\n",
        new="    if False:\n",
        tests=("tests/runs/pages/test_test_call.py::test_an_effect_is_never_tried",),
    ),
)

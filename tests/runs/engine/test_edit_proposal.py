"""An approver changes what would be sent: a new version with a digest of its own, judged anew, approved by somebody else."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import transaction

from accounts.models import AuditEntry, Membership, Role, User
from approvals import errors, shown
from approvals.decide import decide
from approvals.models import PendingAction
from runs import timeline
from runs.engine.resume import resume_decided
from runs.engine.types import Go, Stop
from runs.models import Step
from runs.verbs.edit_proposal import edit_proposal
from tests.approvals.test_races import begin
from tests.make.approvals import again
from tests.races.waiting import wait_until_blocked
from tests.runs.engine import hands
from tests.runs.engine.test_effects import Story, answered
from tests.tools import make
from tools.models import Contract, Intent
from tools.reasons import told

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def story() -> Story:
    return Story()


def edit(
    story: Story, action: PendingAction, arguments: dict[str, Any], user_id: uuid.UUID | None = None
) -> PendingAction:
    return edit_proposal(
        action_id=action.pk,
        user_id=user_id or story.approver.pk,
        arguments=arguments,
        why="A better subject",
        digest=action.digest,
        generation=action.generation,
        channel="web",
    )


def sign(action: PendingAction, who: Any, **more: Any) -> Any:
    return decide(
        action_id=action.pk,
        user_id=who.pk,
        verdict="approve",
        digest=action.digest,
        generation=action.generation,
        channel="web",
        authenticated="password",
        fresh=True,
        gesture=action.second_gesture,
        **more,
    )


def changed(story: Story) -> dict[str, Any]:
    return {**story.intent.arguments, "subject": "Notice, mended"}


def rule(story: Story, **policy: Any) -> None:
    """Another version of the tool is in force, with this policy: rules of now count for every task."""
    live = Contract.everywhere.get(tool__tenant=story.tenant, tool__name="mail.send", status="PUBLISHED")
    fields = ("adapter", "effect_class", "concerns", "risk", "isolation", "input_schema", "retryable_codes")
    make.contract(story.tenant, "mail.send", **{name: getattr(live, name) for name in fields}, policy=policy)


def test_what_is_sent_is_what_was_edited_and_approved_by_somebody_else(story):
    """Guards `runs/verbs/edit_proposal.py`: intent, step and question hold the same new arguments."""
    first = story.action()
    second = edit(story, first, changed(story))
    first = again(first)
    assert (first.status, second.generation, second.successor_of_id) == ("WITHDRAWN", 2, first.pk)
    assert second.digest != first.digest
    assert second.editors == [story.approver.pk]
    other = make.person(story.tenant, Role.APPROVER)
    with pytest.raises(errors.NotAllowed, match="You changed what would be sent"):
        sign(second, story.approver)
    sign(second, other)
    resume_decided()
    claimed = story.claim()
    go = story.begin(claimed)
    assert isinstance(go, Go)
    assert story.intent.arguments["subject"] == "Notice, mended"
    hands.put(story.me, answered(claimed, go))
    story.finish()
    assert Step.everywhere.get(pk=story.step.pk).input["arguments"]["subject"] == "Notice, mended"
    acts = set(AuditEntry.everywhere.filter(tenant_id=story.tenant.pk).values_list("act", flat=True))
    assert {"action.edited", "action.opened"} <= acts
    assert timeline.verify(story.run_id) == []


def test_b61_a_signature_on_the_old_version_counts_for_nothing(story):
    """Guards `approvals/edit.py: close` and `open.py`: the successor begins without signatures, the old one is closed."""
    PendingAction.everywhere.filter(pk=story.action().pk).update(policy={"role": "approver", "quorum": 2})
    first = story.action()
    other, third = make.person(story.tenant, Role.APPROVER), make.person(story.tenant, Role.APPROVER)
    sign(first, other)
    rule(story, quorum=2)
    second = edit(story, first, changed(story))
    assert "count no more: 1" in again(first).void_reason
    with pytest.raises(errors.Superseded):
        sign(first, third)
    sign(second, third)
    assert again(second).status == "OPEN", "one signature on the new version is one of two"
    sign(second, other)
    assert again(second).status == "APPROVED"


def test_an_editor_approves_only_where_the_rules_say_so_and_with_a_reason(story):
    """Guards `approvals/answers.py: check` and `approvals/rules.py: _four_eyes`."""
    first = story.action()
    rule(story, editor_may_approve=True)
    second = edit(story, first, changed(story))
    with pytest.raises(errors.BadAnswer, match="You changed this yourself"):
        sign(second, story.approver)
    assert sign(second, story.approver, comment="The customer called.").authority == "role"


def test_whoever_submitted_does_not_edit(story):
    """Guards `approvals/edit.py: check`: the right to edit is that of asking for changes."""
    with pytest.raises(errors.NotAllowed):
        edit(story, story.action(), changed(story), user_id=story.submitter.pk)
    assert story.action().generation == 1


@pytest.mark.parametrize(
    ("arguments", "field", "words"),
    [
        (lambda now: now, "", "proposed already"),
        (lambda now: {**now, "subject": 7}, "subject", "does not fit"),
        (lambda now: {**now, "text": "one\x00two"}, "", "cannot be used"),
        (lambda now: {**now, "to": "nobody"}, "to", "does not fit"),
    ],
)
def test_what_cannot_be_asked_changes_nothing(story, arguments, field, words):
    """Guards `runs/verbs/edit_proposal.py: _judged` and `_readable`."""
    before, action = story.intent.arguments, story.action()
    with pytest.raises(errors.BadAnswer, match=words) as refused:
        edit(story, action, arguments(before))
    assert refused.value.field == field
    assert (story.intent.arguments, story.action().pk, story.action().status) == (before, action.pk, "OPEN")


def test_a_rule_over_the_new_arguments_counts(story):
    """Guards `runs/verbs/edit_proposal.py: _judged`: more money, more people; or not at all."""
    rules = [
        {"argument": "to", "not_ends_with": "@halden.example", "then": "approval", "quorum": 2},
        {"argument": "text", "longer_than": 50, "then": "blocked", "why": "Never so much."},
    ]
    make.person(story.tenant, Role.APPROVER, name="Mira Sandoval")
    rule(story, rules=rules)
    first = story.action()
    with pytest.raises(errors.BadAnswer, match="Never so much"):
        edit(story, first, {**story.intent.arguments, "text": "a" * 51})
    second = edit(story, first, {**story.intent.arguments, "to": "legal@other.example"})
    assert (second.policy["quorum"], second.target) == (2, "legal@other.example")
    assert "legal@other.example" in second.sentence


def test_who_edits_a_version_that_does_not_stand_is_told(story):
    first = story.action()
    second = edit(story, first, changed(story))
    with pytest.raises(errors.Superseded) as refused:
        edit(story, first, {**changed(story), "text": "Or so."})
    assert refused.value.by.pk == second.pk


def test_who_edited_stays_said_when_it_is_asked_once_more(story):
    """Guards approvals/open.py `_history`: a version that drifted still says that a person wrote it, and four eyes hold."""
    second = edit(story, story.action(), changed(story))
    other = make.person(story.tenant, Role.APPROVER)
    sign(second, other)
    resume_decided()
    Intent.everywhere.filter(pk=story.intent.pk).update(target="other@halden.example")
    story.begin(story.claim())
    third = story.action()
    assert (again(second).status, third.generation, third.status) == ("VOIDED", 3, "OPEN")
    said = shown.read(third.shown)["edited"]
    assert (said["by"], said["why"]) == (story.approver.pk.hex, "A better subject")
    assert third.editors == [story.approver.pk]
    with pytest.raises(errors.NotAllowed, match="You changed what would be sent"):
        sign(third, story.approver)


@pytest.mark.parametrize("first", ["edit", "approve"])
def test_edit_and_approve_at_once_have_one_winner(story, first):
    """Guards runs/verbs/edit_proposal.py and approvals/decide.py: both lock the question and look again. Whoever comes
    second is told, and an approval never covers arguments that its giver did not see."""
    other = make.person(story.tenant, Role.APPROVER)
    action, given = story.action(), changed(story)
    acts = {"edit": lambda: edit(story, action, given), "approve": lambda: sign(action, other)}
    second = "approve" if first == "edit" else "edit"
    with transaction.atomic():
        PendingAction.everywhere.select_for_update().get(pk=action.pk)
        ahead = begin(acts[first])
        wait_until_blocked(1)
        behind = begin(acts[second])
        wait_until_blocked(2)
    assert (ahead.result(30), behind.result(30)) == (
        "ok",
        "superseded" if first == "edit" else "already_decided",
    )
    subject = story.intent.arguments["subject"]
    assert (again(action).status, subject == given["subject"]) == (
        ("WITHDRAWN", True) if first == "edit" else ("APPROVED", False)
    )
    assert PendingAction.everywhere.filter(run_id=story.run_id, status="OPEN").count() == (first == "edit")


def disabled(story, who):
    User.objects.filter(pk=who.pk).update(is_active=False)


def without_the_role(story, who):
    Membership.everywhere.filter(user=who).update(roles=[Role.SUBMITTER])


@pytest.mark.parametrize("change", [disabled, without_the_role])
def test_an_approver_who_may_not_any_more_is_named_as_the_reason(story, change):
    """Guards approvals/grants.py `_signers`: nothing is sent, and the new question says why it is asked again."""
    first = story.action()
    other = make.person(story.tenant, Role.APPROVER)
    sign(first, other)
    resume_decided()
    claimed = story.claim()
    change(story, other)
    assert isinstance(story.begin(claimed), Stop)
    second = story.action()
    assert (again(first).status, second.status, second.generation) == ("VOIDED", "OPEN", 2)
    assert "Somebody who approved may not approve any more." in told(second.policy["lapsed"])
    assert story.intent.dispatches == 0

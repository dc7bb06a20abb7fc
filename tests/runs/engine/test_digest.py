"""Everything that an approval is bound to, one byte of each changed after the grant: nothing is sent, and a person is asked
again and told what differs (faults B52 and B62, checklist 13 to 16)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from accounts.ids import new_id
from accounts.models import Membership, Role, Tenant
from approvals import grants, shown
from approvals.decide import decide
from approvals.models import PendingAction
from runs.engine.resume import resume_decided
from runs.engine.types import Go, Stop
from runs.models import Run, Step
from tests.runs.engine import hands
from tests.tools import make
from tools import samples, vault
from tools.models import Contract, Intent, Secret
from tools.reasons import told

pytestmark = pytest.mark.django_db(transaction=True)

ARGUMENTS = {"amount": "100.00", "to": "DE02"}
DECLARED: dict[str, Any] = {
    "adapter": "http",
    "target": "https://bank.example/pay",
    "config": {"method": "POST", "auth": {"secret": "bank"}},
    "effect_class": "irreversible",
    "isolation": "thread",
    "max_attempts": 1,
    "egress_hosts": ["bank.example"],
}


class Story:
    """A payment that an approver has allowed, by a tool with a secret; nothing was sent yet."""

    def __init__(self) -> None:
        self.tenant = make.tenant()
        self.ben = make.person(self.tenant, Role.APPROVER)
        self.mira = make.person(self.tenant, Role.APPROVER, name="Mira Sandoval")
        self.submitter = make.person(self.tenant, Role.SUBMITTER, name="Ada")
        samples.seed(self.tenant)
        vault.keep(tenant_id=self.tenant.pk, name="bank", value="s3cr3t-1", by=self.ben.pk)
        self.contract = make.contract(self.tenant, "drill.effect_final", **DECLARED)
        self.me = hands.worker()
        call = {"do": "call", "key": "pay", "tool": "drill.effect_final", "arguments": ARGUMENTS}
        self.run = hands.script_run(self.tenant, self.submitter, [call])
        hands.run_all(self.me)
        self.asked = PendingAction.everywhere.get(run_id=self.run.pk)
        decide(
            action_id=self.asked.pk,
            user_id=self.ben.pk,
            verdict="approve",
            digest=self.asked.digest,
            generation=self.asked.generation,
            channel="web",
            authenticated="session",
            fresh=True,
            gesture=self.asked.second_gesture,
        )
        resume_decided()

    @property
    def intent(self) -> Intent:
        found: Intent = Intent.everywhere.get(run_id__isnull=False, tenant=self.tenant)
        return found

    def change(self, **values: Any) -> None:
        assert Intent.everywhere.filter(tenant=self.tenant).update(**values) == 1

    def begin(self) -> Go | Stop:
        (claimed,) = hands.take(self.me)
        return hands.asked(self.me, claimed)


def other_version(story: Story, **changes: Any) -> Contract:
    made: Contract = make.contract(story.tenant, "drill.effect_final", **{**DECLARED, **changes})
    return made


def other_tool(story: Story) -> None:
    with transaction.atomic():
        story.change(contract=make.contract(story.tenant, "bank.pay", **DECLARED))


def secret(story: Story) -> None:
    vault.keep(tenant_id=story.tenant.pk, name="bank", value="s3cr3t-2", by=story.ben.pk)


def step_input(story: Story) -> None:
    """Not the intent, but what the child would be handed."""
    step = Step.everywhere.get(key="pay")
    Step.everywhere.filter(pk=step.pk).update(input={**step.input, "arguments": {**ARGUMENTS, "to": "DE03"}})


def later_end(story: Story) -> None:
    ends = story.asked.expires_at
    assert ends is not None
    PendingAction.everywhere.filter(pk=story.asked.pk).update(expires_at=ends.replace(year=ends.year + 1))


CHANGES: dict[str, tuple[str, Callable[[Story], Any]]] = {
    "run": ("run", lambda s: s.change(run_id=new_id())),
    "step": ("step", lambda s: s.change(step_id=new_id())),
    "intent key": ("intent_key", lambda s: s.change(key=s.intent.key + "x")),
    "tool": ("tool_id", other_tool),
    "definition": (
        "definition_digest",
        lambda s: s.change(contract=other_version(s, timeout_seconds=61)),
    ),
    "version": ("contract_version", lambda s: s.change(contract=other_version(s))),
    "arguments": ("arguments", lambda s: s.change(arguments={**ARGUMENTS, "amount": "100.01"})),
    "type of an argument": ("arguments", lambda s: s.change(arguments={**ARGUMENTS, "amount": 100})),
    "what would be sent": ("arguments", step_input),
    "target": ("target", lambda s: s.change(target="https://bank.example/pax")),
    "credential": ("credentials", secret),
    "credential deleted": (
        "credentials",
        lambda s: Secret.everywhere.filter(tenant=s.tenant).delete(),
    ),
    "sender": (
        "sender",
        lambda s: Tenant.objects.filter(pk=s.tenant.pk).update(mail_from="x@linden.example"),
    ),
    "policy": ("rules_digest", lambda s: other_version(s, policy={"quorum": 2})),
    "time to live": ("rules_digest", lambda s: other_version(s, approval_ttl_seconds=60)),
    "epoch": ("epoch", lambda s: s.change(epoch=s.intent.epoch + 1)),
    "end": ("expires_at", later_end),
}


@pytest.mark.parametrize("name", CHANGES)
def test_b52_one_byte_of_each_ingredient(name):
    """Guards approvals/shown.py `BOUND`, approvals/grants.py `_differences` and runs/engine/begin.py `as_recorded`: nothing
    is sent, the grant is void, and the next question says what differs."""
    story = Story()
    code, change = CHANGES[name]
    change(story)
    answer = story.begin()
    assert isinstance(answer, Stop), answer
    intent = story.intent
    assert (intent.status, intent.grant, intent.dispatches) == ("PROPOSED", None, 0)
    before = PendingAction.everywhere.get(pk=story.asked.pk)
    again = PendingAction.everywhere.get(successor_of=before)
    assert (before.status, again.status, again.generation) == ("VOIDED", "OPEN", 2)
    assert str(grants.DIFFERENCES[code]) in told(again.policy["lapsed"])
    assert str(grants.DIFFERENCES[code]) in before.void_reason
    assert Step.everywhere.get(key="pay").status == "WAITING_APPROVAL"
    assert Run.everywhere.get(pk=story.run.pk).status == "WAITING_APPROVAL"


def test_unchanged_it_is_sent():
    assert isinstance(Story().begin(), Go)


def test_b62_the_approver_lost_the_role():
    """Guards approvals/grants.py `_signers`: authority is read again at begin."""
    story = Story()
    Membership.everywhere.filter(user=story.ben).update(roles=["submitter"])
    answer = story.begin()
    assert isinstance(answer, Stop)
    assert story.intent.dispatches == 0


def test_b62_the_limit_was_lowered_after_the_approval():
    """Guards approvals/grants.py: approved under one policy, sent under none but that."""
    story = Story()
    rule = {"argument": "amount", "over": "50.00", "then": "blocked", "why": "Too much since today."}
    other_version(story, policy={"rules": [rule]})
    answer = story.begin()
    assert isinstance(answer, Stop)
    assert "Too much since today." in answer.text
    assert story.intent.dispatches == 0
    assert Step.everywhere.get(key="pay").status == "WAITING_EXTERNAL"


def test_encrypting_a_secret_anew_is_no_change():
    story = Story()
    vault.rotate()
    assert isinstance(story.begin(), Go)


def test_the_page_is_made_from_the_bytes_with_every_ingredient():
    """Guards approvals/shown.py `bound_facts`: what checklist 13 names is in the digested bytes."""
    story = Story()
    data = json.loads(bytes(story.asked.shown))
    assert shown.digest_of(story.asked.shown) == story.asked.digest
    assert {*shown.BOUND, "expires_at", "policy"} <= set(data)
    (credential,) = data["credentials"]
    assert credential["name"] == "bank"
    assert credential["set_at"]
    assert b"s3cr3t" not in bytes(story.asked.shown)


def test_a_step_whose_bytes_were_changed_gets_back_what_was_judged():
    """Guards runs/engine/begin.py `_other_bytes`, where nobody was asked: the intent counts."""
    story = Story()
    call = {"do": "call", "key": "free", "tool": "drill.effect", "arguments": {"amount": 1}}
    hands.script_run(story.tenant, story.submitter, [call])
    (plan,) = [one for one in hands.take(story.me) if one.kind == "plan"]
    hands.put(story.me, hands.done(plan))
    step = Step.everywhere.get(key="free")
    Step.everywhere.filter(pk=step.pk).update(input={"arguments": {"amount": 2}})
    (claimed,) = [one for one in hands.take(story.me) if one.key == "free"]
    assert isinstance(hands.asked(story.me, claimed), Stop)
    (again,) = [one for one in hands.take(story.me) if one.key == "free"]
    assert json.loads(again.arguments)["arguments"] == {"amount": 1}
    assert isinstance(hands.asked(story.me, again), Go)

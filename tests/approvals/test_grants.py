"""A grant covers exactly what was shown, once, while those who gave it still may."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts.arrows import RefusedTransition
from accounts.models import Tenant
from approvals import grants
from approvals.models import PendingAction
from tests.make import approvals as make
from tests.tools import make as bench
from tools.models import Contract, Intent

pytestmark = pytest.mark.django_db


@pytest.fixture
def house():
    return make.house()


@pytest.fixture
def granted(house):
    action = make.question(house)
    make.answer(action, house.ben, "approve")
    return make.again(action)


def codes(action: PendingAction, contract: Contract, *, epoch: int = 1, **given) -> list[str]:
    intent = Intent.everywhere.get(pk=action.intent_id)
    drift = grants.check(action_id=action.pk, intent=intent, contract=contract, epoch=epoch, **given)
    return [reason.code for reason in drift.reasons] if drift else []


def changed(house, **values) -> Contract:
    contract: Contract = Contract.everywhere.select_related("tool").get(pk=house.contract.pk)
    for name, value in values.items():
        setattr(contract, name, value)
    return contract


def test_nothing_drifted_means_go(house, granted):
    assert codes(granted, house.contract) == []


def test_b52_one_byte_of_the_arguments(house, granted):
    """Guards approvals/shown.py, BOUND: arguments."""
    letter = {**make.LETTER, "text": make.LETTER["text"] + " "}
    Intent.everywhere.filter(pk=granted.intent_id).update(arguments=letter)
    assert codes(granted, house.contract) == ["arguments"]


def test_b52_another_file_under_the_same_name(house, granted):
    """Guards approvals/shown.py: attachments are in the arguments by checksum."""
    letter = {**make.LETTER, "attachments": [{**make.LETTER["attachments"][0], "sha256": "cd" * 32}]}
    Intent.everywhere.filter(pk=granted.intent_id).update(arguments=letter)
    assert codes(granted, house.contract) == ["arguments"]


def test_b52_the_target(house, granted):
    """Guards approvals/shown.py, BOUND: target."""
    Intent.everywhere.filter(pk=granted.intent_id).update(target="legal@ha1den-freight.example")
    assert codes(granted, house.contract) == ["target"]


def test_b52_the_declaration_of_the_tool(house, granted):
    """Guards approvals/shown.py, BOUND: the definition digest is computed again from the contract."""
    assert codes(granted, changed(house, timeout_seconds=61)) == ["definition_digest"]
    assert codes(granted, changed(house, version=2)) == ["contract_version", "definition_digest"]


@pytest.mark.parametrize("field", ["mail_from", "mail_reply_to"])
def test_b52_the_sender_of_the_tenant(house, granted, field):
    """Guards approvals/shown.py, BOUND: sender."""
    Tenant.objects.filter(pk=house.tenant.pk).update(**{field: "other@linden.example"})
    assert codes(granted, house.contract) == ["sender"]


def test_b52_the_rules_for_approving(house, granted):
    """Guards approvals/shown.py, ``rules_digest``: the newest published rules count, not those of the pinned version."""
    declared = {"adapter": "smtp", "target": "", "isolation": Contract.Isolation.THREAD, "risk": "high"}
    bench.contract(house.tenant, **declared, policy={"quorum": 2})
    assert codes(granted, house.contract) == ["rules_digest"]


def test_b52_a_tool_that_is_not_published_any_more(house, granted):
    """Guards approvals/shown.py, BOUND: rules that are gone are not the rules that were approved under."""
    Contract.everywhere.filter(pk=house.contract.pk).update(status=Contract.Status.RETIRED)
    assert codes(granted, house.contract) == ["rules_digest"]


def test_b52_a_tool_that_had_no_rules_when_it_was_approved(house):
    """Guards approvals/grants.py: no rules in force equal no approval, even when there were none before."""
    Contract.everywhere.filter(pk=house.contract.pk).update(status=Contract.Status.RETIRED)
    action = make.question(house)
    make.answer(action, house.ben, "approve")
    assert codes(action, house.contract) == ["rules_digest"]


def test_b52_another_epoch(house, granted):
    """Guards approvals/shown.py, BOUND: epoch."""
    assert codes(granted, house.contract, epoch=2) == ["epoch"]


def test_b52_bytes_exchanged_behind_the_digest(house, granted):
    """Guards approvals/grants.py: the shown bytes must still have their digest."""
    forged = bytes(granted.shown).replace(b"notice.pdf", b"n0tice.pdf")
    PendingAction.everywhere.filter(pk=granted.pk).update(shown=forged)
    assert codes(granted, house.contract) == ["shown"]


def test_b52_bytes_and_digest_exchanged_together(house, granted):
    """Guards approvals/grants.py, ``_signers``: what people saw is in their decisions, which nobody can rewrite."""
    from approvals import shown

    forged = bytes(granted.shown).replace(b"notice.pdf", b"n0tice.pdf")
    PendingAction.everywhere.filter(pk=granted.pk).update(shown=forged, digest=shown.digest_of(forged))
    assert codes(granted, house.contract) == ["arguments", "approver"]


def test_b62_the_approver_lost_the_role(house, granted):
    """Guards approvals/grants.py, ``_signers``: authority is read again at begin."""
    make.roles(house, house.ben, "submitter")
    assert codes(granted, house.contract) == ["approver"]


def test_a_grant_expires_by_the_clock(house, granted):
    at = granted.expires_at
    assert codes(granted, house.contract, now=at - timedelta(microseconds=1)) == []
    assert codes(granted, house.contract, now=at) == ["expired"]


def test_a_grant_belongs_to_one_intent(house, granted):
    other = make.intent(house)
    drift = grants.check(action_id=granted.pk, intent=other, contract=house.contract, epoch=1)
    assert drift is not None
    assert [reason.code for reason in drift.reasons] == ["other_intent"]


def test_an_open_question_is_no_grant(house):
    action = make.question(house)
    assert codes(action, house.contract) == ["not_approved"]


def test_a_used_grant_serves_the_same_intent_again(house, granted):
    grants.consume(action_id=granted.pk)
    grants.consume(action_id=granted.pk)
    assert make.again(granted).status == "CONSUMED"
    assert codes(granted, house.contract) == []


def test_a_grant_is_void_only_before_begin(house, granted):
    grants.void(action_id=granted.pk, reason="taken back")
    intent = Intent.everywhere.get(pk=granted.intent_id)
    assert (make.again(granted).status, intent.status, intent.grant) == ("VOIDED", "PROPOSED", None)
    assert codes(granted, house.contract) == ["not_approved"]
    with pytest.raises(RefusedTransition):
        grants.consume(action_id=granted.pk)


def test_a_used_grant_cannot_be_taken_back(house, granted):
    grants.consume(action_id=granted.pk)
    with pytest.raises(RefusedTransition):
        grants.void(action_id=granted.pk, reason="too late")


def test_a_run_that_ends_leaves_no_unused_grant(house, granted):
    assert [one.pk for one in grants.void_unused(run_id=granted.run_id, reason="cancelled")] == [granted.pk]
    assert grants.void_unused(run_id=granted.run_id, reason="cancelled") == []

"""An approval is of a version: whoever signed the old one has not signed the new one."""

from __future__ import annotations

import pytest
from django.db import transaction

from approvals import errors, grants
from approvals.models import PendingAction
from approvals.reopen import reopen
from tests.make import approvals as make
from tools.models import Intent

pytestmark = pytest.mark.django_db(transaction=True)

TWO = {**make.POLICY, "quorum": 2}


def test_b61_an_approval_of_the_old_version_does_not_count_for_the_new_one():
    """Guards approvals/grants.py `check` and approvals/reopen.py: the edit voids the grant and says why; the next question
    shows what differs, names the one before it, and needs both signatures anew."""
    house = make.house()
    old = make.question(house, policy=TWO)
    make.answer(old, house.ben, "approve")
    intent = Intent.everywhere.get(pk=old.intent_id)
    Intent.everywhere.filter(pk=intent.pk).update(arguments={**intent.arguments, "text": "We do renew."})
    make.answer(old, house.mira, "approve")
    assert make.again(old).status == "APPROVED"
    with transaction.atomic():
        edited = Intent.everywhere.get(pk=intent.pk)
        drift = grants.check(action_id=old.pk, intent=edited, contract=edited.contract, epoch=old.epoch)
        assert drift is not None
        assert [reason.code for reason in drift.reasons] == ["arguments"]
        grants.void(action_id=old.pk, reason=str(drift))
        edited.refresh_from_db(from_queryset=Intent.everywhere.all())
        shown = {"action_id": old.pk, "intent": edited, "contract": edited.contract, "epoch": old.epoch}
        new = reopen(**shown, preview={"sentence": "Send it"}, policy=TWO)
    assert make.again(old).status == "VOIDED"
    assert "not the ones that were approved" in make.again(old).void_reason
    assert (new.generation, new.successor_of_id, new.digest == old.digest) == (2, old.pk, False)
    with pytest.raises(errors.DeskError):
        make.answer(old, house.mira, "reject", comment="No.")
    make.answer(new, house.mira, "approve")
    assert make.again(new).status == "OPEN"
    assert Intent.everywhere.get(pk=intent.pk).status == "PROPOSED"
    make.answer(new, house.ben, "approve")
    assert make.again(new).status == "APPROVED"
    assert PendingAction.everywhere.filter(intent=intent, status="APPROVED").count() == 1

"""Contracts come into force, and nothing changes them afterwards."""

from __future__ import annotations

import uuid

import pytest
from django.db import transaction
from django.db.utils import Error

from accounts import audit
from accounts.arrows import RefusedTransition
from accounts.models import Absence, AuditEntry, Group, GroupMember, Membership
from tests.tools import make
from tools import publish, samples, selectors, staffing
from tools.contracts import definition_digest
from tools.errors import ContractRefused
from tools.models import Contract, StopSwitch, Tool

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make.tenant()


def test_publishing_retires_the_one_before_and_is_audited(tenant):
    ben = make.person(tenant, "approver", "administrator")
    make.person(tenant, "submitter", name="Ada")
    tool = make.tool(tenant)
    first = publish.publish(contract_id=publish.draft(tool=tool, **make.DECLARED).pk, by=ben.pk)
    second = publish.publish(contract_id=publish.draft(tool=tool, **make.DECLARED, risk="high").pk, by=ben.pk)
    assert (first.version, second.version) == (1, 2)
    first.refresh_from_db()
    assert (first.status, second.status) == ("RETIRED", "PUBLISHED")
    assert second.definition_digest == definition_digest(second)
    assert (second.published_by_id, second.published_at is not None) == (ben.pk, True)
    entries = AuditEntry.everywhere.filter(tenant=tenant, act="contract.published").order_by("sequence")
    assert [entry.payload["version"] for entry in entries] == [1, 2]
    assert entries[1].payload["retired_version"] == 1
    assert entries[1].actor_id == ben.pk
    assert audit.verify(tenant_id=tenant.pk) == []


def test_a_contract_that_contradicts_itself_is_refused_with_its_reasons(tenant):
    ben = make.person(tenant)
    drafted = publish.draft(tool=make.tool(tenant), **{**make.DECLARED, "effect_class": "compensable"})
    with pytest.raises(ContractRefused) as refused:
        publish.publish(contract_id=drafted.pk, by=ben.pk)
    assert [problem.code for problem in refused.value.problems] == ["compensation_missing"]
    drafted.refresh_from_db()
    assert drafted.status == "DRAFT"


def test_nobody_who_may_agree_no_contract_that_asks(tenant):
    drafted = publish.draft(tool=make.tool(tenant), **make.DECLARED)
    with pytest.raises(ContractRefused, match="there are 0"):
        publish.put_in_force(contract_id=drafted.pk, by=None)


def test_a_contract_is_published_once(tenant):
    contract = make.contract(tenant)
    with pytest.raises(RefusedTransition):
        publish.put_in_force(contract_id=contract.pk, by=None)
    contract.refresh_from_db()
    assert contract.status == "PUBLISHED"


@pytest.mark.parametrize("change", [{"risk": "high"}, {"policy": {"path": "approval"}}, {"status": "DRAFT"}])
def test_no_sql_changes_what_is_published(tenant, change):
    contract = make.contract(tenant)
    with pytest.raises(Error, match="can only be retired"), transaction.atomic():
        Contract.everywhere.filter(pk=contract.pk).update(**change)
    with pytest.raises(Error, match="can only be retired"), transaction.atomic():
        Contract.everywhere.filter(pk=contract.pk).delete()


def test_a_draft_can_be_changed_and_deleted(tenant):
    drafted = publish.draft(tool=make.tool(tenant), **make.DECLARED)
    assert Contract.everywhere.filter(pk=drafted.pk).update(risk="high") == 1
    assert Contract.everywhere.filter(pk=drafted.pk).delete()[0] == 1


def test_a_retired_tool_is_not_in_force(tenant):
    ben = make.person(tenant)
    contract = make.contract(tenant)
    publish.retire(contract_id=contract.pk, by=ben.pk)
    assert selectors.contract_for(tenant_id=tenant.pk, tool="mail.send") is None
    assert AuditEntry.everywhere.filter(tenant=tenant, act="contract.retired").exists()


def test_the_newest_contract_is_found_at_once(tenant):
    first = make.contract(tenant)
    assert selectors.contract_for(tenant_id=tenant.pk, tool="mail.send") == first
    second = make.contract(tenant, risk="high")
    assert selectors.contract_for(tenant_id=tenant.pk, tool="mail.send") == second
    assert selectors.by_id(first.pk).version == 1, "runs stay pinned to the version they have"


def test_contracts_of_another_tenant_are_not_found(tenant):
    make.contract(tenant)
    other = make.tenant("aldergate")
    assert selectors.contract_for(tenant_id=other.pk, tool="mail.send") is None
    mine = make.contract(other)
    found = selectors.contracts_for(
        {(tenant.pk, "mail.send"), (other.pk, "mail.send"), (other.pk, "nothing")}
    )
    assert found[other.pk, "mail.send"] == mine
    assert len(found) == 2


def test_a_contract_is_read_once(tenant, django_assert_num_queries):
    contract = make.contract(tenant)
    selectors.by_id(contract.pk)
    with django_assert_num_queries(0):
        assert selectors.by_id(contract.pk).tool.name == "mail.send"
    with django_assert_num_queries(1):
        selectors.contract_for(tenant_id=tenant.pk, tool="mail.send")


def test_what_a_child_is_told(tenant):
    tenant.mail_reply_to = "answers@linden.example"
    tenant.save()
    make.person(tenant)
    contract = {row.tool.name: row for row in samples.seed(tenant)}["mail.send"]
    told = selectors.spec(contract)
    assert told["tenant"] == {
        "slug": tenant.slug,
        "name": tenant.name,
        "mail_from": tenant.mail_from,
        "mail_reply_to": "answers@linden.example",
    }
    assert (told["adapter"], told["isolation"], told["effect"]) == ("smtp", "thread", "irreversible")
    newest = make.contract(tenant, egress_hosts=["relay.example:25"])
    assert selectors.spec(contract, newest=newest)["egress"] == ["relay.example:25"]


def test_what_is_switched_off_blocks_now_whatever_is_in_memory(tenant):
    ben = make.person(tenant, "administrator", "approver")
    contract = make.contract(tenant)
    other = make.contract(tenant, "other.tool")
    run = make.intent(contract).run_id

    def path(of: Contract = contract, run_id: uuid.UUID | None = run) -> str:
        return selectors.verdict(tenant_id=tenant.pk, contract=of, arguments={}, run_id=run_id).path

    assert path() == "approval"
    Tool.everywhere.filter(pk=contract.tool_id).update(
        paused_at="2026-01-01T00:00Z", paused_by=ben, paused_reason="x"
    )
    assert (path(), path(other)) == ("blocked", "approval")
    Tool.everywhere.filter(pk=contract.tool_id).update(paused_at=None, paused_by=None, paused_reason="")
    for scope in ({"tool": contract.tool}, {"run_id": run}, {}):
        switch = StopSwitch.everywhere.create(tenant=tenant, reason="Stop.", set_by=ben, **scope)
        assert path() == "blocked"
        assert (path(other, run_id=None) == "blocked") == (not scope)
        StopSwitch.everywhere.filter(pk=switch.pk).update(lifted_at="2026-01-01T00:00Z", lifted_by=ben)
        assert path() == "approval"


def test_the_samples_are_published_once(tenant):
    make.person(tenant)
    first = samples.seed(tenant)
    assert samples.seed(tenant) == first
    assert {row.status for row in first} == {"PUBLISHED"}
    paths = {
        row.tool.name: selectors.verdict(tenant_id=tenant.pk, contract=row, arguments={}).path
        for row in first
    }
    assert paths["contracts.review"] == paths["contracts.join"] == paths["drill.noop"] == "auto"
    assert paths["drill.effect"] == paths["drill.effect_keyed"] == "auto"
    assert paths["drill.effect_final"] == "approval"
    letter = {"to": "ann@example.org", "subject": "s", "text": "t"}
    mail = next(row for row in first if row.tool.name == "mail.send")
    word = selectors.verdict(tenant_id=tenant.pk, contract=mail, arguments=letter)
    assert word.path == "approval"
    assert {"irreversible", "concerns_commitment", "high_risk_without_key"} <= {r.code for r in word.reasons}


def test_whoever_submits_is_not_among_those_who_may_agree(tenant):
    """Guards tools/staffing.py: four eyes leave nobody when the one who may agree is the one who may submit."""
    ben = make.person(tenant, "approver", "administrator")
    drafted = publish.draft(tool=make.tool(tenant), **make.DECLARED)
    with pytest.raises(ContractRefused) as refused:
        publish.publish(contract_id=drafted.pk, by=ben.pk)
    (problem,) = refused.value.problems
    assert str(problem).endswith("besides whoever submits there are 0.")
    assert (problem.code, problem.params) == ("policy_unsatisfiable", {"quorum": 1, "people": 0})
    make.person(tenant, "submitter", name="Ada")
    assert publish.publish(contract_id=drafted.pk, by=ben.pk).status == "PUBLISHED"


def put(group: Group, *people) -> None:
    for user in people:
        GroupMember.everywhere.create(tenant_id=group.tenant_id, group=group, user=user)


def test_b60_a_group_without_people_enough_is_refused_and_says_who_is_missing(tenant):
    """Guards tools/staffing.py `problems` and tools/publish.py `_problems`: group and role count together, without
    whoever submits, and the words say what is missing."""
    jonas = make.person(tenant, "administrator", name="Jonas")
    ben, mira = (make.person(tenant, "approver", name=name) for name in ("Ben", "Mira"))
    ada = make.person(tenant, "submitter", name="Ada")
    rules = [{"argument": "amount", "over": 5, "then": "approval", "quorum": 2}]
    drafted = publish.draft(
        tool=make.tool(tenant), **make.DECLARED, policy={"group": "Finance", "rules": rules}
    )

    def told() -> str:
        with pytest.raises(ContractRefused) as refused:
            publish.publish(contract_id=drafted.pk, by=jonas.pk)
        return " ".join(str(problem) for problem in refused.value.problems)

    assert told() == "There is no group Finance, so nobody could agree."
    finance = Group.everywhere.create(tenant=tenant, name="Finance")
    assert told() == "Nobody is in the group Finance, so nobody could agree."
    put(finance, ben, ada)
    assert told() == (
        "The policy needs 2 people of the group Finance with the role approver; besides whoever submits there are 1. "
        "Without the role are: Ada."
    )
    assert staffing.unsatisfiable(tenant_id=tenant.pk) == []
    put(finance, mira)
    Absence.everywhere.create(
        tenant=tenant, user=mira, begins_at="2026-01-01T00:00Z", ends_at="2099-01-01T00:00Z"
    )
    assert publish.publish(contract_id=drafted.pk, by=jonas.pk).status == "PUBLISHED"
    GroupMember.everywhere.filter(group=finance, user=mira).delete()
    (short,) = staffing.unsatisfiable(tenant_id=tenant.pk)
    assert (short.needed, short.people, short.group) == (2, 1, "Finance")


def test_a_policy_that_nobody_can_satisfy_any_more_is_found(tenant):
    """Guards tools/staffing.py `unsatisfiable`: people leave after a contract was published."""
    approvers = [make.person(tenant, "approver", name=name) for name in ("Ben", "Mira")]
    make.person(tenant, "submitter", name="Ada")
    make.contract(tenant, "pay", policy={"quorum": 2})
    make.contract(tenant, "look", effect_class="read_only", isolation="thread")
    make.contract(tenant, "mail.send")
    assert staffing.unsatisfiable(tenant_id=tenant.pk) == []
    Membership.everywhere.filter(user=approvers[0]).update(disabled_at="2026-01-01T00:00Z")
    (short,) = staffing.unsatisfiable(tenant_id=tenant.pk)
    assert (short.tool, short.needed, short.people) == ("pay", 2, 1)
    Membership.everywhere.filter(user=approvers[1]).update(roles=["submitter"])
    assert [one.tool for one in staffing.unsatisfiable(tenant_id=tenant.pk)] == ["mail.send", "pay"]

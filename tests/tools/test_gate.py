"""The gate as a table: facts in, verdict out. No database."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import translation

from tests.tools import make
from tools import gate
from tools.coverage import Coverage
from tools.gate import ContractFacts, RunFacts, Stop

READ = ContractFacts("t", "read_only")
UNDOABLE = ContractFacts("t", "compensable")
FINAL = ContractFacts("t", "irreversible")


def facts(base: ContractFacts = UNDOABLE, **changes) -> ContractFacts:
    return ContractFacts(**{**{name: getattr(base, name) for name in base.__slots__}, **changes})


TABLE = [
    (READ, "auto", ["read_only"]),
    (facts(READ, risk="high"), "auto", ["read_only"]),
    (UNDOABLE, "auto", ["compensable"]),
    (facts(risk="medium"), "auto", ["compensable"]),
    (facts(concerns="data"), "auto", ["compensable"]),
    (FINAL, "approval", ["irreversible"]),
    (facts(FINAL, native_idempotency=True), "approval", ["irreversible"]),
    # L17: funds, commitments, permissions are only ever proposed, however safe a repeat would be.
    (facts(concerns="funds", native_idempotency=True), "approval", ["concerns_funds"]),
    (facts(concerns="commitment", native_idempotency=True), "approval", ["concerns_commitment"]),
    (facts(concerns="permission", native_idempotency=True), "approval", ["concerns_permission"]),
    # L17: high risk with neither native idempotency nor dedup by our own gateway.
    (facts(risk="high"), "approval", ["high_risk_without_key"]),
    (facts(risk="high", native_idempotency=True), "auto", ["compensable"]),
    (facts(risk="high", proxy_dedup=True), "auto", ["compensable"]),
    (
        facts(FINAL, risk="high", concerns="commitment"),
        "approval",
        ["irreversible", "concerns_commitment", "high_risk_without_key"],
    ),
    (facts(READ, policy={"path": "approval"}), "approval", ["policy"]),
]


@pytest.mark.parametrize(("contract", "path", "codes"), TABLE)
def test_the_table(contract, path, codes):
    verdict = gate.decide(contract=contract, arguments={}, run=RunFacts())
    assert (verdict.path, [reason.code for reason in verdict.reasons]) == (path, codes)
    assert all(str(reason) for reason in verdict.reasons)


@pytest.mark.parametrize(
    ("base", "before", "floor", "path"),
    [
        (UNDOABLE, (1, 2), 66, "auto"),
        (UNDOABLE, (1, 2), 67, "approval"),
        (UNDOABLE, (0, 0), 100, "auto"),
        (UNDOABLE, (0, 9), None, "auto"),
        (READ, (0, 9), 100, "auto"),
    ],
)
def test_below_the_floor_of_coverage_a_person_is_asked(base, before, floor, path):
    run = RunFacts(floor=floor, coverage=Coverage(*map(Decimal, before)))
    verdict = gate.decide(contract=base, arguments={}, run=run)
    assert verdict.path == path
    assert [reason.code for reason in verdict.reasons if reason.code == "coverage"] == ["coverage"] * (
        path == "approval"
    )


def test_the_weight_of_the_call_counts_in_its_coverage():
    run = RunFacts(floor=80, coverage=Coverage(Decimal(1), Decimal(2)))
    assert gate.decide(contract=facts(weight=Decimal(4)), arguments={}, run=run).path == "auto"
    verdict = gate.decide(contract=facts(weight=Decimal(2)), arguments={}, run=run)
    assert [str(reason) for reason in verdict.reasons] == [
        "With this call 75 % of what the task does could be undone, by weight; below 80 % a person is asked."
    ]


def test_the_policy_snapshot_always_has_four_eyes():
    verdict = gate.decide(contract=facts(FINAL, approval_ttl_seconds=60), arguments={}, run=RunFacts())
    assert verdict.policy == {"role": "approver", "quorum": 1, "not_submitter": True, "ttl_seconds": 60}


def test_the_policy_snapshot_has_the_group_the_editors_and_the_times():
    """Guards tools/gate.py `decide`: the desk keeps what the policy says, and nothing that it leaves out."""
    said = {"group": "Finance", "editor_may_approve": True, "escalate_after_seconds": 60}
    policy = {**said, "remind_after_seconds": 0, "path": "approval"}
    snapshot = gate.decide(contract=facts(FINAL, policy=policy), arguments={}, run=RunFacts()).policy
    assert {name: snapshot.get(name) for name in (*said, "remind_after_seconds")} == {
        **said,
        "remind_after_seconds": None,
    }


@pytest.mark.parametrize("scope", ["tenant", "tool", "run", "paused"])
@pytest.mark.parametrize("contract", [READ, FINAL])
def test_what_is_stopped_is_blocked_and_says_why(contract, scope):
    run = RunFacts(stops=(Stop(scope, "Ben looks into 100%"),))
    verdict = gate.decide(contract=contract, arguments={}, run=run)
    assert verdict.path == "blocked"
    assert "Ben looks into 100%" in str(verdict.reasons[0])


RULES = [
    ({"over": 1000}, {"amount": 1000}, False),
    ({"over": 1000}, {"amount": 1000.01}, True),
    ({"under": 5}, {"amount": 4}, True),
    ({"under": 5}, {"amount": 5}, False),
    ({"is": "EUR"}, {"amount": "EUR"}, True),
    ({"is": "EUR"}, {"amount": "USD"}, False),
    ({"one_of": ["a", "b"]}, {"amount": "b"}, True),
    ({"one_of": ["a", "b"]}, {"amount": "c"}, False),
    ({"not_one_of": ["a"]}, {"amount": "b"}, True),
    ({"not_one_of": ["a"]}, {"amount": "a"}, False),
    # What cannot be judged is not let through.
    ({"over": 1000}, {}, True),
    ({"over": 1000}, {"amount": "EUR 999"}, True),
    ({"over": 1000}, {"amount": True}, True),
    ({"not_one_of": ["a"]}, {"other": "a"}, True),
]


@pytest.mark.parametrize("then", ["approval", "blocked"])
@pytest.mark.parametrize(("comparison", "arguments", "applies"), RULES)
def test_rules_over_arguments(comparison, arguments, applies, then):
    rule = {"argument": "amount", **comparison, "then": then, "why": "Too much."}
    verdict = gate.decide(contract=facts(policy={"rules": [rule]}), arguments=arguments, run=RunFacts())
    assert (verdict.path == then) == applies
    assert any("Too much." in str(reason) for reason in verdict.reasons) == applies


def test_a_rule_raises_the_quorum_only_when_it_applies():
    rule = {"argument": "invoice.amount", "over": 10, "then": "approval", "quorum": 2}
    contract = facts(FINAL, policy={"quorum": 1, "rules": [rule]})
    small = gate.decide(contract=contract, arguments={"invoice": {"amount": 5}}, run=RunFacts())
    large = gate.decide(contract=contract, arguments={"invoice": {"amount": 50}}, run=RunFacts())
    assert (small.policy["quorum"], large.policy["quorum"]) == (1, 2)


def test_arguments_that_do_not_fit_the_schema_are_blocked():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    contract = facts(input_schema=schema)
    assert gate.decide(contract=contract, arguments={"n": 1}, run=RunFacts()).path == "auto"
    verdict = gate.decide(contract=contract, arguments={"n": "1"}, run=RunFacts())
    assert verdict.path == "blocked"
    assert "$.n" in str(verdict.reasons[0])


@pytest.mark.parametrize(
    "arguments",
    [
        {"to": "a@b.example, c@d.example", "subject": "s", "text": "t"},
        {"to": "a@b.example", "subject": "s\r\nBcc: x@y.example", "text": "t"},
        {"to": "a@b.example", "subject": "s", "text": ""},
    ],
)
def test_arguments_that_make_no_letter_are_blocked_before_anybody_is_asked(arguments):
    verdict = gate.decide(contract=facts(FINAL, adapter="smtp"), arguments=arguments, run=RunFacts())
    assert (verdict.path, verdict.reasons[0].code) == ("blocked", "arguments")


def test_facts_take_the_definition_from_the_run_and_the_rules_from_now():
    pinned = make.unsaved(timeout_seconds=5, policy={}, approval_ttl_seconds=10)
    newest = make.unsaved(timeout_seconds=9, policy={"path": "approval"}, approval_ttl_seconds=20)
    found = gate.facts(pinned, newest=newest)
    assert (found.policy, found.approval_ttl_seconds) == ({"path": "approval"}, 20)


def test_reasons_can_be_stored_and_are_shown_in_the_readers_language():
    reason = gate.decide(contract=FINAL, arguments={}, run=RunFacts()).reasons[0]
    assert reason.as_json() == {"code": "irreversible", "text": "It cannot be undone.", "params": {}}
    with translation.override("en"):
        assert str(reason) == "It cannot be undone."

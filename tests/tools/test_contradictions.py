"""Contracts that contradict themselves, and what the definition covers. No database."""

from __future__ import annotations

import pytest

from tests.tools import make
from tools import contracts, samples
from tools.contradictions import contradictions
from tools.models import Contract

EFFECT = {"effect_class": "compensable", "compensating_tool": "drill.undo"}
PROBLEMS = [
    ({**EFFECT, "retry_safe": True}, "retry_without_key"),
    ({"effect_class": "compensable"}, "compensation_missing"),
    ({"compensating_tool": "drill.undo"}, "compensation_impossible"),
    ({**EFFECT, "compensating_tool": "drill.effect_final"}, "compensation_self"),
    ({**EFFECT, "compensation_arguments": {"id": "/answer/id"}}, "compensation_form"),
    ({**EFFECT, "compensation_arguments": {"id": {"from": "secrets"}}}, "compensation_form"),
    ({**EFFECT, "compensation_arguments": {"id": {"value": 1, "more": 2}}}, "compensation_form"),
    ({**EFFECT, "compensation_arguments": [{"from": "key"}]}, "compensation_form"),
    ({"compensation_arguments": {"id": {"from": "key"}}}, "compensation_idle"),
    ({"native_idempotency": True, "key_memory_seconds": 3600}, "key_forgotten"),
    ({"key_memory_seconds": 10**7}, "memory_without_key"),
    ({"effect_class": "read_only", "concerns": "funds"}, "read_only_concerns"),
    ({"effect_class": "read_only", "adapter": "smtp", "isolation": "thread"}, "read_only_mail"),
    ({"adapter": "smtp", "isolation": "io"}, "isolation_unfit"),
    ({"adapter": "http", "isolation": "io", "target": "https://a.example/x"}, "isolation_unfit"),
    ({"adapter": "http", "isolation": "thread", "target": "a.example"}, "target_missing"),
    (
        {
            "adapter": "http",
            "isolation": "thread",
            "target": "https://a.example",
            "config": {"method": "GET"},
        },
        "effect_by_get",
    ),
    (
        {
            "adapter": "http",
            "isolation": "thread",
            "target": "https://a.example",
            "config": {"method": "SEND"},
        },
        "operation",
    ),
    ({"adapter": "carrier pigeon"}, "adapter_unknown"),
    ({"target": ""}, "target_missing"),
    ({"fence_rule": "strict"}, "fence_without_resource"),
    ({"retryable_codes": ["a", "b"], "fatal_codes": ["b"]}, "codes_twice"),
    ({"timeout_seconds": 4000}, "timeout_beyond_total"),
    ({"approval_ttl_seconds": 0}, "approval_ttl"),
    ({"egress_hosts": ["Example.org"]}, "egress_host"),
    ({"egress_hosts": ["https://example.org/x"]}, "egress_host"),
    ({"egress_hosts": ["user@example.org"]}, "egress_host"),
    ({"egress_hosts": ["*.example.org"]}, "egress_host"),
    ({"input_schema": {"type": "wrong"}}, "schema"),
    ({"input_schema": {"$ref": "https://example.org/schema"}}, "schema"),
    ({"policy": {"role": "emperor"}}, "policy_form"),
    ({"policy": {"quorum": 0}}, "policy_form"),
    ({"policy": {"quorum": True}}, "policy_form"),
    ({"policy": {"rules": [{"argument": "a", "then": "approval"}]}}, "policy_form"),
    ({"policy": {"rules": [{"argument": "a", "over": "9 EUR", "then": "approval"}]}}, "policy_form"),
    ({"policy": {"surprise": 1}}, "policy_form"),
    ({"policy": []}, "policy_form"),
    ({"policy": {"group": 7}}, "policy_form"),
    ({"policy": {"group": " Finance "}}, "policy_form"),
    ({"policy": {"group": "x" * 81}}, "policy_form"),
    ({"policy": {"editor_may_approve": 1}}, "policy_form"),
    ({"policy": {"remind_after_seconds": True}}, "policy_form"),
    ({"policy": {"escalate_after_seconds": -1}}, "policy_form"),
    ({"policy": {"escalate_after_seconds": "3600"}}, "policy_form"),
    ({"policy": {"escalate_after_seconds": 259_200}}, "escalation_after_expiry"),
    ({"policy": {"remind_after_seconds": 259_200}}, "reminder_after_expiry"),
    ({"policy": {"remind_after_seconds": 60, "escalate_after_seconds": 60}}, "reminder_after_escalation"),
]


@pytest.mark.parametrize(("declared", "code"), PROBLEMS)
def test_each_contradiction_is_found_and_named(declared, code):
    found = contradictions(make.unsaved(**declared))
    assert code in [problem.code for problem in found]
    problem = next(problem for problem in found if problem.code == code)
    assert str(problem)
    assert problem.where in {field.name for field in Contract._meta.get_fields()}


ASKED = {
    "result_query": "drill.pid",
    "query_arguments": {"key": {"from": "key"}},
    "query_answer": {"pointer": "/state", "yes": ["booked"], "no": ["none"]},
}
FINE = [
    {},
    EFFECT,
    {**EFFECT, "retry_safe": True, "native_idempotency": True},
    {**EFFECT, "retry_safe": True, **ASKED},
    {"native_idempotency": True, "key_memory_seconds": 300_000},
    {"egress_hosts": ["api.example.org", "api.example.org:8443", "[::1]:25", "10.0.0.7"]},
    {"policy": {"quorum": 2, "rules": [{"argument": "a.b", "over": 9.5, "then": "blocked", "why": "No."}]}},
    {"policy": {"group": "Finance", "remind_after_seconds": 59, "escalate_after_seconds": 60}},
    {"policy": {"group": "", "remind_after_seconds": 0, "escalate_after_seconds": 259_199}},
    {"input_schema": {"$defs": {"n": {"type": "integer"}}, "properties": {"n": {"$ref": "#/$defs/n"}}}},
]


@pytest.mark.parametrize("declared", FINE)
def test_a_sound_contract_has_no_problem(declared):
    assert contradictions(make.unsaved(**declared)) == []


def test_every_field_of_a_contract_is_definition_or_rule_or_bookkeeping():
    """A field that is in none of them would be covered by no digest and compared by nobody."""
    fields = [field.name for field in Contract._meta.concrete_fields]
    assert sorted(fields) == sorted(
        [*contracts.DEFINITION, *contracts.LATER, *contracts.RULES, *contracts.BOOKKEEPING]
    )


#: A changed value for every field of the definition.
CHANGED = {
    "version": 2, "adapter": "smtp", "target": "x", "config": {"a": 1}, "input_schema": {"a": 1},
    "output_schema": {"a": 1}, "effect_class": "compensable", "concerns": "funds", "risk": "high", "weight": 2,
    "native_idempotency": True, "key_memory_seconds": 1, "enforces_deadline": True, "result_query": "q",
    "cancellable": True, "retry_safe": True, "compensating_tool": "c", "compensation_idempotent": True,
    "timeout_seconds": 61, "quiet_seconds": 1, "max_attempts": 4, "max_total_seconds": 3601, "backoff_seconds": 2,
    "retryable_codes": ["x"], "fatal_codes": ["x"], "fallback_tool": "f", "takeover_rule": "known_gone",
    "fence_rule": "strict", "resource": "r", "isolation": "cpu", "memory_mb": 1, "cpu_seconds": 1,
    "data_residency": "EU", "last_resort": "take_over", "attempt_tokens": 5, "attempt_cost": 5,
    "query_arguments": {"key": {"from": "key"}}, "query_answer": {"yes": [1]},
    "compensation_arguments": {"id": {"from": "key"}},
}  # fmt: skip


@pytest.mark.parametrize("field", [*contracts.DEFINITION, *contracts.LATER])
def test_b52_every_field_of_the_definition_is_in_its_digest(field):
    """Guards ``tools/contracts.py`` (``DEFINITION``): a contract that differs in one field has another digest, so an
    approval of the one does not hold for the other."""
    changed = make.unsaved()
    setattr(changed, field, CHANGED[field])
    assert contracts.definition_digest(changed) != contracts.definition_digest(make.unsaved())


@pytest.mark.parametrize("field", contracts.RULES)
def test_rules_are_not_pinned(field):
    value = {"policy": {"quorum": 2}, "egress_hosts": ["a.example"]}.get(field, 5)
    changed = make.unsaved(**{field: value})
    assert contracts.definition_digest(changed) == contracts.definition_digest(make.unsaved())
    assert contracts.rules(changed) != contracts.rules(make.unsaved())


def test_the_sample_contracts_are_sound(settings):
    declared = [*samples._work(), *samples._drills()]
    for one in declared:
        fields = {name: value for name, value in one.items() if name not in ("name", "title", "description")}
        assert contradictions(make.unsaved(tool_name=one["name"], **fields)) == [], one["name"]


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ({"result_query": "drill.effect_final"}, "query_self"),
        ({"effect_class": "read_only"}, "query_of_reading"),
        ({"result_query": ""}, "query_missing"),
        ({"query_arguments": {}}, "query_blind"),
        ({"query_arguments": {"key": {"value": 1}}}, "query_blind"),
        ({"query_arguments": {"key": {"from": "secret"}}}, "query_arguments"),
        ({"query_arguments": {"key": {"from": "argument", "pointer": "x"}}}, "query_arguments"),
        ({"query_arguments": {"key": "$.a"}}, "query_arguments"),
        ({"query_answer": {}}, "query_answer"),
        ({"query_answer": {"yes": ["a"], "no": ["a"]}}, "query_answer"),
        ({"query_answer": {"yes": ["a"], "no": []}}, "query_answer"),
        ({"query_answer": {"yes": ["a"], "no": ["b"], "pointer": "state"}}, "query_pointer"),
        ({"query_answer": {"yes": ["a"], "no": ["b"], "run": "code"}}, "query_answer"),
    ],
)
def test_a_question_that_cannot_be_put_or_read_is_not_published(declared, code):
    found = contradictions(make.unsaved(**{**ASKED, **declared}))
    assert code in [problem.code for problem in found]

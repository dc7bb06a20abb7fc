"""L17, every combination: the requirement in its own words, coded apart from the gate, and the gate asked."""

from __future__ import annotations

from itertools import product

import pytest

from tools import gate
from tools.gate import ContractFacts, RunFacts
from tools.models import Contract, EffectClass, Risk

ALL = list(product(EffectClass.values, Risk.values, (False, True), (False, True), Contract.Concerns.values))
#: Nothing that an administrator may write in a policy takes the person away.
POLICIES = [{}, {"path": "auto"}, {"quorum": 1, "rules": []}]


def only_by_a_person(effect: str, risk: str, native: bool, proxy: bool, concerns: str) -> bool:
    """The words of the requirement, and of O3: "irreversible write: a person confirms"."""
    if concerns in ("funds", "commitment", "permission"):
        return True  # "the agent may only propose"
    if effect == "read_only":
        return False  # no effect at all
    if effect == "irreversible":
        return True
    return risk == "high" and not native and not proxy  # "can only take the approval path"


@pytest.mark.parametrize("policy", POLICIES)
def test_l17_every_combination(policy):
    """Guards tools/gate.py `_asks`: all of 180 combinations, under each policy that tries to loosen it."""
    wrong = []
    for effect, risk, native, proxy, concerns in ALL:
        facts = ContractFacts(
            "t",
            effect,
            risk=risk,
            native_idempotency=native,
            proxy_dedup=proxy,
            concerns=concerns,
            policy=policy,
        )
        path = gate.decide(contract=facts, arguments={}, run=RunFacts()).path
        expected = "approval" if only_by_a_person(effect, risk, native, proxy, concerns) else "auto"
        if path != expected:
            wrong.append((effect, risk, native, proxy, concerns, path, expected))
    assert len(ALL) == 180
    assert wrong == []

"""Each kind of effect is shown in a form of its own, from the shown bytes alone."""

from __future__ import annotations

import json
from html import unescape
from re import sub
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Tenant
from approvals import links, shown
from approvals.models import PendingAction
from approvals.present import preview as module
from approvals.present.preview import preview
from approvals.present.wire import indented, request
from tests.approvals.test_pages import page, signed_in
from tests.make import approvals as make
from tests.tools import make as bench
from tools import previews
from tools.adapters import registry
from tools.models import Contract, Intent, Tool

PAYMENT = {
    "debtor": "DE68210501700012345678",
    "creditor": "DE02120300000000552100",
    "name": "Tessera Print GmbH",
    "amount": "1840.10",
    "currency": "EUR",
    "reference": "Invoice 88213",
}


def declared(adapter: str) -> Contract:
    """A contract of each adapter, with what its adapter needs to be shown."""
    known: dict[str, dict[str, Any]] = {
        "http": {"target": "https://bank.example/v2/{day}?a=1&b=2%203", "config": {"method": "POST"}},
        "mcp": {"config": {"server": "ledger", "tool": "book"}},
        "sql": {
            "config": {
                "statement": "select 1 where amount = %(amount)s",
                "parameters": {"amount": {"argument": "amount"}},
                "secret": "db",
            }
        },
    }
    return bench.unsaved(adapter=adapter, **known.get(adapter, {}))


def bytes_of(contract: Contract, arguments: dict[str, Any]) -> dict[str, Any]:
    tenant = Tenant(slug="linden", name="Linden", mail_from="notices@linden.example")
    return {
        "run": "0" * 32,
        "arguments": arguments,
        "contract": {"adapter": contract.adapter},
        "preview": previews.render(contract=contract, arguments=arguments, tenant=tenant),
    }


def test_every_adapter_has_a_form_of_its_own():
    """Guards approvals/present/preview.py `RENDERERS`: a new adapter is no sentence without its arguments."""
    assert set(module.RENDERERS) == set(registry.NAMES)


@pytest.mark.parametrize("adapter", registry.NAMES)
def test_no_adapter_falls_back_to_a_sentence(adapter):
    assert preview(bytes_of(declared(adapter), {"day": "7", "amount": "1.10"})).kind != "text"


def test_a_request_tells_its_parts_apart():
    made = request(
        {
            "method": "POST",
            "url": "https://bank.example@evil.example/v2/pay?to=a%20b&amount=1.10",
            "headers": [["X-A", "1"]],
            "body": '{"n":9007199254740993,"d":1.10,"e":"\\u0041","n":007}',
        }
    )
    assert (made.before, made.host) == ("https://bank.example@", "evil.example")
    assert (
        made.before + made.host + made.path == "https://bank.example@evil.example/v2/pay?to=a%20b&amount=1.10"
    )
    assert made.query == (("to", "a b"), ("amount", "1.10"))
    assert not made.indented, "007 is no JSON: it stays as it is"


LEAF = st.none() | st.integers() | st.sampled_from([0.1, "1.10", True]) | st.text(max_size=6)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.dictionaries(st.text(max_size=6), LEAF | st.lists(LEAF, max_size=3), max_size=3), max_size=3)
)
def test_only_the_space_between_the_signs_of_a_body_is_changed(value):
    """Guards approvals/present/wire.py `indented`: every token as it is sent."""
    sent = json.dumps(value, default=str, separators=(",", ":"))
    outside = r'("(?:[^"\\]|\\.)*")|\s+'
    assert sub(outside, lambda found: found[1] or "", indented(sent)) == sent


def test_a_body_keeps_every_digit():
    sent = '{"n":9007199254740993,"d":1.10,"n":[0.1000,1E400],"e":"\\u0041 , : {"}'
    assert indented(sent).split("\n") == [
        "{",
        '  "n": 9007199254740993,',
        '  "d": 1.10,',
        '  "n": [',
        "    0.1000,",
        "    1E400",
        "  ],",
        '  "e": "\\u0041 , : {"',
        "}",
    ]


def payment(house: make.House) -> PendingAction:
    return make.question(
        house, about=make.intent(house, arguments=PAYMENT, target="https://bank.example/pay")
    )


@pytest.mark.django_db
def test_money_is_shown_as_a_slip_with_its_digits_as_sent():
    """Guards approvals/present/slip.py: from, to, and the amount last, not regrouped."""
    house = make.house(
        adapter="http",
        target="https://bank.example/pay",
        config={"method": "POST"},
        concerns=Contract.Concerns.FUNDS,
        egress_hosts=["bank.example"],
    )
    html = page(signed_in(house.ben), links.action(payment(house).pk))
    slip = html.partition('<dl class="slip">')[2].partition("</dl>")[0]
    places = [
        slip.index(words) for words in ("DE682105", "DE021203", "Tessera", "Invoice 88213", "EUR 1840.10")
    ]
    assert places == sorted(places)
    assert "<b>POST</b> https://<b>bank.example</b>/pay" in html


@pytest.mark.django_db
def test_two_fields_that_could_be_the_receiver_make_no_slip():
    house = make.house(adapter="python", target="pay", concerns=Contract.Concerns.FUNDS, isolation="io")
    action = make.question(house, about=make.intent(house, arguments={**PAYMENT, "to": "DE99"}))
    assert preview(shown.read(action.shown)).slip is None


@pytest.mark.django_db
def test_the_form_is_drawn_from_the_shown_bytes():
    """Guards approvals/present/preview.py: tool, contract, tenant and effect change behind it, what is shown does not."""
    house = make.house(
        adapter="http",
        target="https://bank.example/pay",
        config={"method": "POST"},
        concerns=Contract.Concerns.FUNDS,
        egress_hosts=["bank.example"],
    )
    action, ben = payment(house), signed_in(house.ben)

    def drawn() -> str:
        html = unescape(page(ben, links.action(action.pk)))
        return html.partition('<div class="cols">')[2].partition("Every parameter")[0]

    before = drawn()
    assert "DE02120300000000552100" in before
    Intent.everywhere.filter(pk=action.intent_id).update(
        arguments={"amount": "1"}, target="https://good.example"
    )
    Tool.everywhere.filter(pk=house.contract.tool_id).update(title="Harmless")
    Contract.everywhere.filter(pk=house.contract.pk).update(status="RETIRED")
    Tenant.objects.filter(pk=house.tenant.pk).update(name="Other", mail_from="other@linden.example")
    assert drawn() == before

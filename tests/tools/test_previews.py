"""What a person sees of a call over HTTP is what would go over the wire, without the secret."""

from __future__ import annotations

from accounts.models import Tenant
from tests.tools import make
from tools import previews
from tools.adapters import http
from tools.models import Contract


def _contract() -> Contract:
    config = {"method": "POST", "auth": {"secret": "crm"}, "headers": {"X-Account": "account"}}
    target = "https://crm.example/orders/{id}"
    return make.unsaved(adapter="http", isolation="thread", target=target, config=config)


def test_the_preview_of_a_request_is_the_request():
    arguments = {"id": "a/7", "account": "linden", "amount": "820000.00"}
    shown = previews.render(contract=_contract(), arguments=arguments, tenant=Tenant(slug="x", name="X"))
    sent = http.request(
        "https://crm.example/orders/{id}", _contract().config, arguments, secrets={"crm": "s3cret"}
    )
    assert shown["http"]["url"] == sent.url == shown["target"] == "https://crm.example/orders/a%2F7"
    assert shown["http"]["body"].encode() == sent.body == b'{"amount":"820000.00"}'
    assert ["X-Account", "linden"] in shown["http"]["headers"]


def test_a_preview_names_the_secret_and_does_not_tell_it():
    shown = previews.render(contract=_contract(), arguments={"id": 7}, tenant=Tenant(slug="x", name="X"))
    assert ["Authorization", "Bearer (crm)"] in shown["http"]["headers"]


def test_arguments_that_make_no_request_are_shown_as_they_are():
    shown = previews.render(contract=_contract(), arguments={"id": ".."}, tenant=Tenant(slug="x", name="X"))
    assert "http" not in shown
    assert shown["arguments"] == {"id": ".."}

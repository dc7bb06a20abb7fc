"""The connection of a SQL or a model tool in fields of its own."""

from __future__ import annotations

import pytest

from tests.tools.test_pages import Desk
from tools.models import Contract

pytestmark = pytest.mark.django_db(transaction=True)

SQL = {
    "adapter": "sql", "effect_class": "read_only", "isolation": "thread", "egress_hosts": "db.example:5432",
    "compensating_tool": "", "sql_statement": "SELECT %(id)s::int", "sql_secret": "warehouse", "sql_max_rows": "20",
    "input_schema": '{"type": "object", "properties": {"id": {"type": "integer"}}}',
}  # fmt: skip
MODEL = {
    "adapter": "model", "effect_class": "read_only", "isolation": "thread", "target": "https://models.example/v1",
    "compensating_tool": "", "attempt_tokens": "1000", "model_name": "small-2026", "model_secret": "key",
    "model_max_tokens": "300", "model_limit_name": "max_tokens", "model_price_in": "0.15",
    "model_system": "Be brief.", "model_parameters": '{"temperature": 0.2}',
}  # fmt: skip


@pytest.fixture
def desk() -> Desk:
    return Desk()


def draft(desk: Desk, tool: str) -> Contract:
    found: Contract = Contract.everywhere.get(tool__tenant=desk.tenant, tool__name=tool, status="DRAFT")
    return found


@pytest.mark.parametrize(
    ("typed", "config"),
    [
        (SQL, {"statement": "SELECT %(id)s::int", "auth": {"secret": "warehouse"}, "max_rows": 20}),
        (
            MODEL,
            {
                "model": "small-2026", "max_tokens": 300, "limit_name": "max_tokens", "auth": {"secret": "key"},
                "price_in": "0.15", "system": "Be brief.", "parameters": {"temperature": 0.2},
            },
        ),
    ],
)  # fmt: skip
def test_fields_make_the_connection_and_show_it_again(desk: Desk, typed, config):
    desk.save("drill.noop", **typed)
    stored = draft(desk, "drill.noop")
    assert stored.config == config
    again = desk.form("drill.noop")
    for name, value in typed.items():
        if name.startswith(typed["adapter"]) and name != "model_parameters":
            assert str(again[name]) == value, name
    desk.save("drill.noop", title_of_nothing="x")
    assert draft(desk, "drill.noop").config == config, "saving it once more changes nothing"


def test_what_is_missing_is_said_as_a_contradiction(desk: Desk):
    page = desk.save("drill.noop", **{**SQL, "sql_statement": ""}).content.decode()
    assert "there is no statement" in page


def test_another_adapter_keeps_its_json(desk: Desk):
    way = {
        "adapter": "http",
        "target": "https://crm.example/x",
        "isolation": "thread",
        "config": '{"method": "GET"}',
    }
    desk.save("drill.noop", **way, sql_statement="SELECT 1", model_name="small")
    assert draft(desk, "drill.noop").config == {"method": "GET"}

"""The way back: what an undo is given, and what speaks against a declaration."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools import make
from tools import compensation, publish, samples
from tools.contradictions import contradictions
from tools.errors import ContractRefused
from tools.models import Contract

KNOWN = {
    "argument": {"room": "hall", "guests": [{"name": "Ada"}, {"name": "Ben"}], "a/b": 1, "~": 2},
    "answer": {"id": 7, "none": None},
    "reference": "far",
    "target": "there",
    "key": "k",
}


def at(source: str, pointer: str = "") -> dict[str, Any]:
    return {"from": source, "pointer": pointer} if pointer else {"from": source}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (at("answer", "/id"), 7),
        (at("answer", "/none"), None),
        (at("argument", "/guests/1/name"), "Ben"),
        (at("argument", "/a~1b"), 1),
        (at("argument", "/~0"), 2),
        (at("reference"), "far"),
        (at("target"), "there"),
        (at("key"), "k"),
        (at("answer"), {"id": 7, "none": None}),
        ({"value": [1, None]}, [1, None]),
        ({"value": at("key")}, at("key")),
    ],
)
def test_an_argument_is_what_the_declaration_leads_to(source, value):
    assert compensation.arguments({"it": source}, KNOWN) == {"it": value}


@pytest.mark.parametrize("pointer", ["/no", "/id/deeper", "/none/deeper"])
def test_a_pointer_that_leads_nowhere_is_no_value(pointer):
    with pytest.raises(compensation.CannotMake) as raised:
        compensation.arguments({"it": at("answer", pointer)}, KNOWN)
    assert (raised.value.name, raised.value.pointer) == ("it", f"answer {pointer}")


@pytest.mark.parametrize("place", ["2", "-1", "first"])
def test_a_list_has_places_from_0_on(place):
    with pytest.raises(compensation.CannotMake):
        compensation.arguments({"it": at("argument", f"/guests/{place}")}, KNOWN)


def test_without_a_declaration_the_undo_is_given_the_effect_whole():
    contract = make.unsaved(effect_class="compensable", compensating_tool="undo")
    given = compensation.arguments(compensation.mapping(contract), KNOWN)
    assert given == {"arguments": KNOWN["argument"], "answer": KNOWN["answer"], "reference": "far"}


BOOK = {
    "tool_name": "book",
    "effect_class": "compensable",
    "compensating_tool": "free",
    "compensation_arguments": {"id": at("answer", "/id"), "why": {"value": "undone"}},
    "input_schema": {"properties": {"room": {}}, "additionalProperties": False},
}
FREE = {"tool_name": "free", "effect_class": "irreversible"}
TAKES = {"type": "object", "properties": {"id": {}, "why": {"type": "string"}}, "additionalProperties": False}
CASES = [
    ({}, {}, []),
    ({}, {"input_schema": {**TAKES, "required": ["id", "why"]}}, []),
    ({}, None, ["compensation_unpublished"]),
    ({}, {"effect_class": "read_only"}, ["compensation_reads"]),
    ({}, {"input_schema": {**TAKES, "required": ["id", "room"]}}, ["compensation_misfit"]),
    (
        {},
        {"input_schema": {"properties": {"id": {}}, "additionalProperties": False}},
        ["compensation_misfit"],
    ),
    ({}, {"input_schema": {"properties": {"why": {"type": "integer"}}}}, ["compensation_misfit"]),
    ({"compensation_arguments": {"id": at("argument", "/table")}}, {}, ["compensation_misfit"]),
    ({"compensation_arguments": {"id": at("argument", "/room")}}, {}, []),
    ({}, {"effect_class": "compensable", "compensating_tool": "book"}, []),
    ({}, {"effect_class": "compensable", "compensating_tool": "third"}, ["compensation_chain"]),
    ({}, {"effect_class": "compensable", "compensating_tool": "back"}, []),
]


@pytest.mark.parametrize(("book", "free", "codes"), CASES)
def test_a_way_back_that_cannot_work_is_not_published(book, free, codes):
    tools = {
        name: make.unsaved(tool_name=name, effect_class="compensable", compensating_tool=undo)
        for name, undo in (("third", "fourth"), ("back", "free"))
    }
    if free is not None:
        tools["free"] = make.unsaved(**{**FREE, **free})
    found = contradictions(make.unsaved(**{**BOOK, **book}), tools=tools)
    assert [problem.code for problem in found] == codes
    assert all(str(problem) for problem in found)


def declared(**more: Any) -> dict[str, Any]:
    return {**make.DECLARED, **more}


@pytest.mark.django_db
def test_what_undoes_comes_into_force_first_and_stays_while_it_is_named():
    tenant = make.tenant()
    ben = make.person(tenant)
    book = {"effect_class": "compensable", "compensating_tool": "free"}
    drafted = publish.draft(tool=make.tool(tenant, "book"), **declared(**book))
    with pytest.raises(ContractRefused) as refused:
        publish.put_in_force(contract_id=drafted.pk, by=None)
    assert [problem.code for problem in refused.value.problems] == ["compensation_unpublished"]
    free = make.contract(tenant, "free")
    make.contract(tenant, "book", **book)
    with pytest.raises(ContractRefused, match="book"):
        publish.retire(contract_id=free.pk, by=ben.pk)
    free.refresh_from_db()
    assert free.status == "PUBLISHED"


@pytest.mark.django_db
def test_a_version_that_would_break_the_way_back_of_another_tool_is_not_published():
    tenant = make.tenant()
    make.person(tenant)
    free = make.contract(tenant, "free")
    make.contract(tenant, "book", effect_class="compensable", compensating_tool="free")
    drafted = publish.draft(tool=free.tool, **declared(input_schema={"required": ["id"]}))
    with pytest.raises(ContractRefused, match="book"):
        publish.put_in_force(contract_id=drafted.pk, by=None)


@pytest.mark.django_db
def test_tools_that_undo_each_other_come_into_force_together():
    tenant = make.tenant()
    make.person(tenant)
    seeded = {one.tool.name: one for one in samples.seed(tenant)}
    assert seeded["drill.effect"].compensating_tool == "drill.undo"
    assert Contract.everywhere.filter(tenant=tenant, status="DRAFT").count() == 0
    assert [one.pk for one in samples.seed(tenant)] == [one.pk for one in seeded.values()]

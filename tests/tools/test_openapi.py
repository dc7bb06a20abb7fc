"""Operations of an OpenAPI document become drafts that call what the document describes, and claim nothing for it."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import Role
from tests.make import people
from tests.tools import make
from tools import forms, openapi, selectors
from tools.adapters import http
from tools.contradictions import contradictions, schema_fault
from tools.models import Contract

DOCUMENT = """
openapi: 3.0.3
info: {title: Shop, version: '1'}
servers: [{url: 'https://{region}.shop.example/v1', variables: {region: {default: eu}}}]
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getOrder
      summary: Read an order
      parameters:
        - {name: expand, in: query, schema: {type: array, items: {type: string}}}
        - {name: X-Account, in: header, required: true, schema: {type: string}}
        - {name: session, in: cookie, schema: {type: string}}
    put:
      operationId: replaceOrder
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}
  /orders:
    post:
      summary: Create an order
      requestBody: {$ref: '#/components/requestBodies/Order'}
  /login:
    post:
      operationId: login
      requestBody:
        content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {user: {type: string}}}}}
  /upload:
    post:
      operationId: upload
      requestBody: {content: {multipart/form-data: {schema: {type: object}}}}
  /batch:
    post:
      operationId: batch
      requestBody: {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Order'}}}}}
components:
  requestBodies:
    Order: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
  schemas:
    Order:
      type: object
      required: [item]
      additionalProperties: false
      properties:
        item: {type: string, nullable: true, example: lens}
        example: {type: string}
        amount: {type: number, minimum: 0, exclusiveMinimum: true}
        parent: {$ref: '#/components/schemas/Order'}
"""


def found() -> dict[str, openapi.Operation]:
    return {one.name: one for one in openapi.operations(openapi.read(DOCUMENT), prefix="shop")}


def contract(name: str) -> Contract:
    return make.unsaved(tool_name=name, **found()[name].declared)


def sent(name: str, **arguments: object) -> tuple[str, str, object]:
    declared = found()[name].declared
    made = http.request(declared["target"], declared["config"], arguments, secrets={})
    return made.method, made.url, json.loads(made.body) if made.body else None


def test_every_operation_is_found_and_named_for_agents():
    assert list(found()) == [
        "shop.get_order",
        "shop.replace_order",
        "shop.post_orders",
        "shop.login",
        "shop.upload",
        "shop.batch",
    ]


def test_what_a_document_claims_is_not_believed():
    """Only reading is taken from the method; everything else cannot be undone until a person says otherwise."""
    classes = {name: one.declared["effect_class"] for name, one in found().items()}
    assert classes.pop("shop.get_order") == "read_only"
    assert set(classes.values()) == {"irreversible"}


@pytest.mark.parametrize("name", list(found()))
def test_every_draft_could_be_published_as_it_is(name):
    assert schema_fault(found()[name].declared["input_schema"]) == ""
    assert [problem.code for problem in contradictions(contract(name))] == []


def test_the_call_is_the_one_that_the_document_describes():
    assert sent("shop.get_order", id="a/7", expand=["lines", "tax"], **{"X-Account": "x"}) == (
        "GET",
        "https://eu.shop.example/v1/orders/a%2F7?expand=lines&expand=tax",
        None,
    )
    assert sent("shop.replace_order", id="7", item="lens") == (
        "PUT",
        "https://eu.shop.example/v1/orders/7",
        {"item": "lens"},
    )
    assert sent("shop.batch", body=[{"item": "lens"}])[2] == [{"item": "lens"}]


def test_arguments_are_checked_against_the_schemas_of_the_document():
    from tools import gate

    known = gate.facts(contract("shop.post_orders"))
    fits = {"item": None, "example": "x", "amount": 1, "parent": {"item": "y"}}
    for arguments, path in (
        (fits, "approval"),
        ({"amount": 1}, "blocked"),
        ({"item": "x", "amount": 0}, "blocked"),
        ({"item": "x", "more": 1}, "blocked"),
        ({"item": "x", "parent": {}}, "blocked"),
    ):
        assert gate.decide(contract=known, arguments=arguments, run=gate.RunFacts()).path == path, arguments


def test_what_cannot_be_sent_is_left_out_and_said():
    assert found()["shop.get_order"].notes == ("cookie session: left out",)
    assert "multipart/form-data" in found()["shop.upload"].notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "swagger: '2.0'",
        "openapi: 3.1.0",
        '{"openapi": "3.1.0", "openapi": "3.0.0", "paths": {}}',
        "openapi: 3.1.0\npaths: {}\npaths: {}",
        "a: &a [x, x]\nopenapi: 3.1.0\npaths: {a: *a}",
        "openapi: 3.1.0\npaths: {/a: {get: {parameters: [{$ref: '#/nowhere'}]}}}\nservers: [{url: https://a.example}]",
        "openapi: 3.1.0\npaths: {/a: {get: {}}}",
        "openapi: 3.1.0\nservers: [{url: /v1}]\npaths: {/a: {get: {}}}",
        (
            "openapi: 3.1.0\nservers: [{url: https://a.example}]\npaths: {/a: {post: {requestBody: "
            "{content: {application/json: {schema: {$ref: 'https://evil.example/x'}}}}}}}"
        ),
        "{" * 2000,
        "openapi: !!python/object/apply:os.system [id]",
    ],
)
def test_what_is_no_document_is_refused_in_words(text):
    with pytest.raises(openapi.BadDocument) as bad:
        openapi.operations(openapi.read(text), prefix="x")
    assert str(bad.value)


@pytest.mark.django_db(transaction=True)
def test_the_page_imports_what_was_chosen_as_drafts_that_nobody_can_call():
    tenant = make.tenant()
    browser = people.browser(make.person(tenant, Role.ADMINISTRATOR))
    typed = {"begins": "shop", "document": DOCUMENT}
    shown = browser.post("/tools/import/", typed)
    assert "Create an order" in shown.content.decode()
    assert not Contract.everywhere.exists(), "reading stores nothing"
    chosen = {**typed, "choose": "1", "operation": ["shop.get_order", "shop.post_orders", "shop.invented"]}
    browser.post("/tools/import/", chosen)
    drafts = Contract.everywhere.filter(tenant=tenant, status="DRAFT")
    assert set(drafts.values_list("tool__name", flat=True)) == {"shop.get_order", "shop.post_orders"}
    assert selectors.contract_for(tenant_id=tenant.pk, tool="shop.post_orders") is None
    assert browser.get("/tools/shop.post_orders/").status_code == 200
    browser.post("/tools/import/", chosen)
    assert drafts.count() == 2, "a second import makes nothing twice"
    assert "cannot be imported" in browser.post("/tools/import/", {**typed, "document": "x"}).content.decode()


@pytest.mark.django_db
def test_the_page_opens_without_a_reproach():
    tenant = make.tenant()
    admin = people.browser(make.person(tenant, Role.ADMINISTRATOR))
    assert "This field is required" not in admin.get("/tools/import/").content.decode()


def test_a_large_document_is_taken_as_a_file_and_its_text_is_kept_for_the_next_step():
    document = {
        "openapi": "3.1.0",
        "servers": [{"url": "https://a.example"}],
        "paths": {"/a": {"get": {"operationId": "look"}}},
        "x-note": "é" * 2_000_000,
    }
    text = json.dumps(document, ensure_ascii=False)
    form = forms.ImportForm({"begins": "shop"}, {"file": SimpleUploadedFile("a.json", text.encode())})
    assert form.is_valid(), form.errors
    assert [one.name for one in form.found] == ["shop.look"]
    assert form["document"].value() == text
    assert "openapi" not in str(form["file"])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{" + b" " * openapi.MAX_BYTES, "larger than 10 MB"),
        (b"#" * (openapi.MAX_YAML + 1), "As YAML it is read up to 2 MB"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_file_that_is_too_large_or_no_text_is_refused_at_its_field(content, why):
    form = forms.ImportForm({"begins": "shop"}, {"file": SimpleUploadedFile("a.json", content)})
    assert not form.is_valid()
    assert why in str(form.errors["file"])


@pytest.mark.django_db
def test_a_form_that_is_too_large_says_so_with_the_limit():
    """Guards ``config/ui/faults.py``: without it the page says that the request was not as expected."""
    browser = people.browser(make.person(make.tenant(), Role.ADMINISTRATOR))
    answer = browser.post("/tools/import/", {"begins": "shop", "document": "x" * 3_000_000})
    assert answer.status_code == 413
    assert "larger than the 2.5 MB" in answer.content.decode()

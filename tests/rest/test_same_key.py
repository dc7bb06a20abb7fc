"""The same Idempotency-Key again (B77): with another body, from another tenant, and while the first is in progress."""

from __future__ import annotations

import pytest

from accounts.models import IdempotentRequest
from runs.models import Run
from tests.make.runs import house
from tests.rest.client import Rest

pytestmark = pytest.mark.django_db(transaction=True)

BODY = {"agent": "contract-review", "goal": "Review", "files": []}


@pytest.fixture
def linden():
    return house()


@pytest.fixture
def ada(linden):
    return Rest(linden.ada, linden.tenant, "read", "submit")


def given(ada: Rest) -> dict[str, object]:
    file = ada.upload(b"SERVICE AGREEMENT. 1. Term. Until 2030.", "a.txt").json()
    return {**BODY, "files": [file["id"]]}


def test_b77_another_body_under_the_same_key_is_refused(ada):
    """Guards accounts/rest/idempotency.py `once`: the digest of the request is compared."""
    body = given(ada)
    assert ada.post("tasks/", body, key="k").status_code == 202
    other = ada.post("tasks/", {**body, "goal": "Pay"}, key="k")
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    assert Run.everywhere.count() == 1


def test_b77_the_same_key_of_another_tenant_is_another_request(linden, ada):
    """Guards accounts/rest/idempotency.py `once`: tenant and person are part of the key."""
    otto = Rest(linden.otto, linden.other, "read", "submit")
    first = ada.post("tasks/", given(ada), key="k")
    second = otto.post("tasks/", {**given(otto), "goal": "Other"}, key="k")
    assert (first.status_code, second.json().get("code")) == (202, second.json().get("code"))
    assert second.json().get("code") != "key_reused"
    assert second.headers.get("Idempotent-Replay") is None
    assert IdempotentRequest.everywhere.filter(key="k").count() == 2


def test_b77_a_request_that_died_in_progress_is_taken_over_after_its_time_and_not_before(ada):
    """Guards accounts/rest/idempotency.py `once`: what a killed process left behind."""
    body = given(ada)
    ada.post("tasks/", body, key="k")
    left = IdempotentRequest.everywhere.filter(key="k")
    left.update(status=None, body=None)
    early = ada.post("tasks/", body, key="k")
    assert (early.status_code, early.json()["code"]) == (409, "in_progress")
    left.update(started_at="2020-01-01T00:00:00Z")
    assert ada.post("tasks/", body, key="k").status_code == 202
    assert Run.everywhere.count() == 1

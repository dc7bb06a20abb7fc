"""Editing a proposal over REST: under the version that was read, once, and never approved by who wrote it."""

from __future__ import annotations

import json

import pytest

from approvals.models import PendingAction
from tests.make.runs import CONTRACT, house
from tests.rest.client import Rest

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_edit_asks_the_next_version_once():
    """Guards runs/api/edit_proposal.py: If-Match, the key, and the words for what the tool does not take."""
    linden = house()
    ada, ben = (
        Rest(linden.ada, linden.tenant, "read", "submit"),
        Rest(linden.ben, linden.tenant, "read", "decide"),
    )
    file = ada.upload(CONTRACT.encode(), "halden.txt").json()
    asked = {"notify": "legal@halden.example"}
    ada.post("tasks/", {"agent": "contract-review", "goal": "Review", "input": asked, "files": [file["id"]]})
    linden.finish()
    (row,) = ben.get("inbox/").json()["results"]
    action = ben.get(f"actions/{row['id']}/")
    address, seen = f"actions/{row['id']}/edit/", {"If-Match": action["ETag"]}
    arguments = json.loads(action.json()["shown"])["arguments"]
    body = {"arguments": {**arguments, "subject": "Mended"}, "comment": "Shorter"}
    assert ben.post(address, body).status_code == 428
    assert ben.post(address, {"arguments": ["no"]}, **seen).status_code == 400
    refused = ben.post(address, {"arguments": {**arguments, "subject": 7}}, **seen)
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_answer")
    made = ben.post(address, body, key="one", **seen)
    assert made.status_code == 201, made.content
    assert ben.post(address, body, key="one", **seen).json() == made.json()
    assert (made.json()["generation"], json.loads(made.json()["shown"])["arguments"]["subject"]) == (
        2,
        "Mended",
    )
    assert "You changed what would be sent" in made.json()["why_not"][0]
    late = ben.post(address, body, **seen)
    assert (late.status_code, late.json()["code"]) == (409, "superseded")
    assert PendingAction.everywhere.count() == 2
    approve = {"verdict": "approve", "gesture": made.json()["second_gesture"]}
    own = ben.post(f"actions/{made.json()['id']}/decide/", approve, **{"If-Match": made["ETag"]})
    assert own.status_code == 403

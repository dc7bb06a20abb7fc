"""The main job over REST: upload, submit, follow, decide, results; and what is refused on the way."""

from __future__ import annotations

import pytest

from accounts.models import Role
from runs.models import Run
from tests.make import people
from tests.make.runs import CONTRACT, house
from tests.rest.client import Rest

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def linden():
    return house()


@pytest.fixture
def ada(linden):
    return Rest(linden.ada, linden.tenant, "read", "submit")


@pytest.fixture
def ben(linden):
    return Rest(linden.ben, linden.tenant, "read", "decide")


def submitted(ada: Rest):
    file = ada.upload(CONTRACT.encode(), "halden.txt").json()
    body = {
        "agent": "contract-review",
        "goal": "Review Halden",
        "input": {"notify": "legal@halden.example"},
        "files": [file["id"]],
    }
    return ada.post("tasks/", body)


def test_the_story(linden, ada, ben):
    answer = submitted(ada)
    assert answer.status_code == 202, answer.content
    task = answer.json()
    assert answer["Location"].endswith(f"/api/v1/tasks/{task['id']}/")
    linden.finish()
    assert ada.get(f"tasks/{task['id']}/").json()["status"] == "WAITING_APPROVAL"
    (row,) = ben.get("inbox/").json()["results"]
    action = ben.get(f"actions/{row['id']}/")
    assert "legal@halden.example" in action.json()["shown"]
    decided = ben.post(
        f"actions/{row['id']}/decide/",
        {"verdict": "approve", "gesture": action.json()["second_gesture"]},
        **{"If-Match": action["ETag"]},
    )
    assert decided.status_code == 200, decided.content
    assert decided.json()["status"] == "APPROVED"
    events = ada.get(f"tasks/{task['id']}/events/", after=1).json()
    assert [e["sequence"] for e in events["results"]] == list(range(2, events["newest"] + 1))
    results = ada.get(f"tasks/{task['id']}/results/").json()["results"]
    report = next(f for f in results if f["name"] == "report.md")
    content = ada.get(f"tasks/{task['id']}/results/{report['id']}/")
    assert b"MASTER SERVICES AGREEMENT" in b"".join(content.streaming_content)


def test_the_same_key_is_the_same_task_and_another_body_is_refused(linden, ada):
    """B77: idempotency.py compares the digest of the request."""
    file = ada.upload(CONTRACT.encode(), "halden.txt").json()
    body = {"agent": "contract-review", "goal": "Review", "files": [file["id"]]}
    first, again = ada.post("tasks/", body, key="k1"), ada.post("tasks/", body, key="k1")
    assert first.status_code == again.status_code == 202
    assert first.json()["id"] == again.json()["id"]
    assert Run.everywhere.count() == 1
    other = ada.post("tasks/", {**body, "goal": "Another"}, key="k1")
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    assert other["Content-Type"] == "application/problem+json"
    assert Run.everywhere.count() == 1


def test_a_token_cannot_approve_unless_that_is_granted(linden, ada):
    submitted(ada)
    linden.finish()
    reader = Rest(linden.ben, linden.tenant, "read")
    (row,) = reader.get("inbox/").json()["results"]
    etag = reader.get(f"actions/{row['id']}/")["ETag"]
    refused = reader.post(f"actions/{row['id']}/decide/", {"verdict": "approve"}, **{"If-Match": etag})
    assert refused.status_code == 403
    assert "decide" in refused.json()["detail"]


def test_b59_the_submitter_cannot_approve_through_a_token(linden, ada):
    """Guards approvals/rules.py: refusals() compares the submitter, whatever the channel."""
    membership = people.membership(linden.tenant, linden.ada)
    type(membership).everywhere.filter(pk=membership.pk).update(roles=[Role.SUBMITTER, Role.APPROVER])
    submitted(ada)
    linden.finish()
    mine = Rest(linden.ada, linden.tenant, "read", "decide")
    action = linden.action(Run.everywhere.get())
    found = mine.get(f"actions/act_{action.pk.hex}/")
    assert found.json()["why_not"]
    refused = mine.post(
        f"actions/act_{action.pk.hex}/decide/",
        {"verdict": "approve", "gesture": action.second_gesture},
        **{"If-Match": found["ETag"]},
    )
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
    action.refresh_from_db(from_queryset=type(action).everywhere.all())
    assert action.status == "OPEN"


def test_deciding_needs_what_was_seen(linden, ada, ben):
    submitted(ada)
    linden.finish()
    (row,) = ben.get("inbox/").json()["results"]
    path, body = f"actions/{row['id']}/decide/", {"verdict": "reject", "comment": "no"}
    assert ben.post(path, body).status_code == 428
    assert ben.post(path, body, **{"If-Match": f'"{"0" * 64}.1"'}).status_code == 412
    done = ben.post(path, body, **{"If-Match": ben.get(f"actions/{row['id']}/")["ETag"]})
    assert done.status_code == 200
    late = ben.post(path, {"verdict": "reject", "comment": "still no"}, **{"If-Match": done["ETag"]})
    assert late.status_code == 409
    assert late.json()["first"]["comment"] == "no"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"agent": "contract-review", "goal": "a", "goal": "b"}', "duplicate_key"),
        (b'{"agent": "contract-review", "goal": NaN}', None),
        (b'{"goal": "a\\u0000b"}', None),
        (b'{"goal": "\\ud800"}', None),
        (b"[" * 5000, None),
        (b"not json", None),
    ],
)
def test_b81_json_that_parsers_read_differently_is_refused_at_the_edge(ada, body, code):
    """B78–B82: parsers.py hands the body to strict_loads."""
    answer = ada.post("tasks/", raw=body)
    assert answer.status_code == 400, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    assert code is None or answer.json()["code"] == code
    assert Run.everywhere.count() == 0


def test_bad_tasks_say_what_to_change(ada):
    answer = ada.post("tasks/", {"agent": "contract-review", "goal": "x"})
    assert answer.status_code == 422
    assert "files" in answer.json()["detail"]
    assert ada.post("tasks/", {"agent": "nobody", "goal": "x"}).json()["code"] == "unknown_agent"
    missing = ada.client.post("/api/v1/tasks/", b"{}", content_type="application/json")
    assert missing.status_code == 400


def test_a_cancelled_task_stops_and_a_second_cancel_says_it_ended(linden, ada):
    task = submitted(ada).json()
    linden.finish()
    stopped = ada.post(f"tasks/{task['id']}/cancel/", {"reason": "changed my mind"})
    assert (stopped.status_code, stopped.json()["status"]) == (202, "CANCELLED")
    again = ada.post(f"tasks/{task['id']}/cancel/")
    assert (again.status_code, again.json()["code"]) == (409, "already_ended")


def test_b74_foreign_ids_are_404_everywhere(linden, ada):
    """Guards accounts/scope.py: the default manager filters by tenant."""
    task = submitted(ada).json()
    linden.finish()
    action = linden.action(Run.everywhere.get())
    otto = Rest(linden.otto, linden.other, "read", "submit", "decide")
    results = ada.get(f"tasks/{task['id']}/results/").json()["results"]
    paths = [
        *(f"tasks/{task['id']}/{part}" for part in ("", "steps/", "events/", "results/")),
        f"tasks/{task['id']}/results/{results[0]['id']}/",
        f"actions/act_{action.pk.hex}/",
    ]
    for path in paths:
        mine = ada.get(path)
        assert mine.status_code == 200, path
        mine.close()
        assert otto.get(path).status_code == 404, path
    assert otto.post(f"tasks/{task['id']}/cancel/").status_code == 404
    assert otto.get("tasks/").json()["results"] == []
    assert otto.get("inbox/").json()["results"] == []
    assert otto.get("tasks/", q=task["id"]).json()["results"] == []


def test_without_a_token_nothing_is_said(client):
    answer = client.get("/api/v1/tasks/")
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"
    assert client.get("/api/v1/nowhere/").status_code == 404
    assert client.get("/api/v1/openapi.json").json()["openapi"].startswith("3.1")


def test_pages_of_tasks_go_on_where_they_stopped(linden, ada):
    for number in range(5):
        linden.submitted(goal=f"Task {number}")
    first = ada.get("tasks/", page_size=2).json()
    second = ada.client.get(first["next"]).json()
    goals = [row["goal"] for row in first["results"] + second["results"]]
    assert goals == ["Task 4", "Task 3", "Task 2", "Task 1"]


def test_a_checksum_is_no_key_to_the_files_of_others(linden, ada):
    """Guards submit.py: files come from uploads of the submitter alone."""
    file = ada.upload(CONTRACT.encode(), "halden.txt").json()
    otto = Rest(linden.otto, linden.other, "read", "submit")
    stolen = {key: file[key] for key in ("name", "sha256", "size", "media_type")}
    stolen["uri"] = f"sha256:{file['sha256']}"
    refused = otto.post("tasks/", {"agent": "contract-review", "goal": "steal", "input": {"files": [stolen]}})
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_task")
    named = otto.post("tasks/", {"agent": "contract-review", "goal": "steal", "files": [file["id"]]})
    assert named.status_code == 422
    assert Run.everywhere.count() == 0


def test_another_file_under_the_same_key_is_refused(ada):
    """Guards idempotency.py: `_form` takes the content of the files into the digest."""
    first = ada.upload(b"one contract", "a.txt", key="u1")
    assert ada.upload(b"one contract", "a.txt", key="u1").json()["id"] == first.json()["id"]
    other = ada.upload(b"another contract", "a.txt", key="u1")
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")


def test_an_address_that_is_none_is_refused_before_anything_runs(ada):
    file = ada.upload(CONTRACT.encode(), "halden.txt").json()
    body = {
        "agent": "contract-review",
        "goal": "x",
        "input": {"notify": "not an address"},
        "files": [file["id"]],
    }
    refused = ada.post("tasks/", body)
    assert refused.status_code == 422
    assert "notify" in refused.json()["detail"]
    assert Run.everywhere.count() == 0


def test_a_post_to_an_unknown_address_is_a_problem_too(ada):
    """Guards config/api.py `nothing_here`: it answers before the check against forged forms."""
    strict = type(ada.client)(enforce_csrf_checks=True)
    answer = strict.post("/api/v1/nowhere/", b"{}", content_type="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_an_approval_is_taken_back_and_the_answer_says_whether_in_time(linden, ada, ben):
    submitted(ada)
    linden.finish()
    (row,) = ben.get("inbox/").json()["results"]
    action = ben.get(f"actions/{row['id']}/")
    detail = action.json()
    body = {"verdict": "approve", "gesture": detail["second_gesture"]}
    ben.post(f"actions/{row['id']}/decide/", body, **{"If-Match": action["ETag"]})
    taken = ben.post(f"actions/{row['id']}/take-back/", {"reason": "Wrong address"})
    assert (taken.status_code, taken.json()["status"]) == (200, "VOIDED"), taken.content
    again = ben.post(f"actions/{row['id']}/take-back/")
    assert (again.status_code, again.json()["code"]) == (409, "not_granted")

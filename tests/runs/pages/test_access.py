"""Who may see and do what: every address of tasks × another tenant, a lesser role, nobody."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.urls import reverse

from accounts.ids import public
from runs import urls
from runs.models import Artifact, FindingCorrection, Run
from tests.make import runs as make
from tests.make.people import browser

pytestmark = pytest.mark.django_db(transaction=True)

#: Addresses without an id: what another tenant sees there is its own.
SHARED = {"home", "task_list", "export", "new_task", "plan_preview", "upload", "cancel_several"}
#: What only submitters and administrators may do.
SUBMITTERS = {"new_task", "plan_preview", "upload", "remove_upload", "cancel_several", "cancel"}
POSTS = {"plan_preview", "upload", "remove_upload", "cancel_several", "correct", "take_back"}
#: What is held to the same by `tests/house/test_routes.py` and by tests of its own.
ELSEWHERE = {
    *("stops", "stop_everything", "lift_everything", "stop_run", "go_on", "check_again"),
    *("test_call", "test_call_state", "duplicates", "answer_duplicate", "duplicate"),
    *("import_mcp", "import_mcp_list"),
}


@pytest.fixture
def house() -> make.House:
    return make.house()


@pytest.fixture
def addresses(house: make.House) -> dict[str, str]:
    run = house.reviewed()
    report = Artifact.everywhere.get(run=run, name="report.md")
    ids: dict[str, list[Any]] = {
        "remove_upload": [house.upload().pk],
        "download": [run.pk, report.pk],
        "printable": [run.pk, report.pk],
        "file": [run.pk, report.sha256],
        "correct": [run.pk, "ab" * 32, "governing_law-1"],
        "take_back": [run.pk, "ab" * 32, "governing_law-1"],
    }
    names = [str(pattern.name) for pattern in urls.urlpatterns if pattern.name not in ELSEWHERE]
    return {
        name: reverse(f"runs:{name}", args=[] if name in SHARED else ids.get(name, [run.pk]))
        for name in names
    }


def ask(client, name: str, address: str) -> Any:
    answer = client.post(address) if name in POSTS else client.get(address)
    answer.getvalue()
    return answer


def test_b74_a_foreign_id_is_no_id(house, addresses):
    """Guards ``accounts.scope.TenantManager`` under ``runs/selectors``: a member of another tenant, whatever the role, finds
    nothing there; the answer equals that to an id which never was."""
    client = browser(house.otto)
    for name, address in addresses.items():
        if name in SHARED:
            continue
        answer = ask(client, name, address)
        assert answer.status_code == 404, (name, answer.status_code)
        run = Run.everywhere.get()
        never = address.replace(public("run", run.pk), public("run", uuid.uuid4()))
        if never != address:
            assert ask(client, name, never).status_code == 404
    assert client.post(addresses["cancel"], {"reason": "x"}).status_code == 404
    assert make.again(Run.everywhere.get()).status == "WAITING_APPROVAL"
    assert not FindingCorrection.everywhere.exists()


def test_b74_lists_show_only_ones_own(house, addresses):
    """Guards ``runs/selectors/runs.py`` and the export: both read through the tenant's scope."""
    goal = Run.everywhere.get().goal
    client = browser(house.otto)
    assert goal not in client.get("/tasks/").content.decode()
    assert goal not in client.get("/tasks/", {"q": public("run", Run.everywhere.get().pk)}).content.decode()
    assert goal.encode() not in client.get("/tasks/export.csv").getvalue()
    chosen = {"run": [Run.everywhere.get().pk.hex], "confirmed": "yes"}
    client.post(reverse("runs:cancel_several"), chosen)
    assert Run.everywhere.get().status == "WAITING_APPROVAL"


def test_b74_nobody_is_sent_to_the_door(house, addresses):
    """Guards ``accounts.access.member`` on every view of ``runs/urls.py``."""
    client = browser()
    for name, address in addresses.items():
        answer = ask(client, name, address)
        if name == "home":
            assert answer["Location"] == "/tasks/"
            continue
        assert answer.status_code in (302, 403), (name, answer.status_code)
        if answer.status_code == 302:
            assert answer["Location"].startswith("/sign-in/"), name


def test_b74_an_approver_may_look_but_neither_start_nor_stop(house, addresses):
    """Guards the roles on ``runs/views``."""
    client = browser(house.ben)
    for name, address in addresses.items():
        status = ask(client, name, address).status_code
        if name in SUBMITTERS:
            assert status == 403, (name, status)
        else:
            assert status in (200, 302, 404), (name, status)
    assert client.post(addresses["cancel"]).status_code == 403
    assert Run.everywhere.get().status == "WAITING_APPROVAL"


def test_b74_who_was_disabled_sees_nothing_at_the_next_click(house, addresses):
    from accounts.models import Membership

    client = browser(house.ada)
    assert client.get(addresses["task_detail"]).status_code == 200
    Membership.everywhere.filter(user=house.ada).update(disabled_at="2026-01-01T00:00:00Z")
    assert client.get(addresses["task_detail"]).status_code == 403


def test_a_get_changes_nothing(house, addresses):
    before = (Run.everywhere.get().version, Artifact.everywhere.count())
    client = browser(house.ada)
    for address in addresses.values():
        answer = client.get(address)
        answer.getvalue()
    assert (Run.everywhere.get().version, Artifact.everywhere.count()) == before
    assert Run.everywhere.get().status == "WAITING_APPROVAL"


def test_an_id_that_is_none_names_nothing(house):
    client = browser(house.ada)
    for text in ("run_xyz", "act_" + "0" * 32, "..", "run_" + "0" * 31, "0" * 32):
        assert client.get(f"/tasks/{text}/").status_code == 404

"""New task: files in and out, the plan before the start, one task for two clicks."""

from __future__ import annotations

import uuid
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from django.urls import reverse

from accounts.ids import public
from runs import blobs
from runs.agents.contract_review import tools as review_tools
from runs.models import Artifact, Run
from tests.make import runs as make
from tests.make.people import browser

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def send(client: Client, data: bytes, name: str = "halden.txt"):
    return client.post("/tasks/uploads/", {"file": SimpleUploadedFile(name, data)})


def filled(*files: str, **changes) -> dict[str, object]:
    given = {
        "agent": "contract-review",
        "goal": "Review the Halden contract",
        "in_notify": make.ADDRESS,
        "files": list(files),
        "submit_key": str(uuid.uuid4()),
    }
    return {**given, **changes}


def test_two_clicks_and_the_back_button_make_one_task(house):
    client = browser(house.ada)
    form = filled(send(client, make.CONTRACT.encode()).json()["id"])
    first, second = client.post("/tasks/new/", form), client.post("/tasks/new/", form)
    assert first.status_code == second.status_code == 302
    assert first["Location"] == second["Location"]
    run = Run.everywhere.get()
    assert run.submitter == house.ada
    assert [file["name"] for file in run.input["files"]] == ["halden.txt"]
    assert run.input["notify"] == make.ADDRESS


def test_the_same_page_does_not_start_another_task(house):
    client = browser(house.ada)
    form = filled(send(client, make.CONTRACT.encode()).json()["id"])
    client.post("/tasks/new/", form)
    answer = client.post("/tasks/new/", {**form, "goal": "Something else"})
    assert answer.status_code == 409
    assert "has started a task already" in answer.content.decode()
    assert Run.everywhere.count() == 1


def test_an_error_loses_nothing_that_was_typed(house):
    client = browser(house.ada)
    file = send(client, make.CONTRACT.encode()).json()["id"]
    answer = client.post("/tasks/new/", filled(file, goal="", in_notify="not an address"))
    html = unescape(answer.content.decode())
    assert answer.status_code == 422
    assert "Give the task a goal" in html
    assert 'value="not an address"' in html
    assert file in html
    assert not Run.everywhere.exists()


def test_a_task_without_files_is_not_started(house):
    answer = browser(house.ada).post("/tasks/new/", filled())
    assert answer.status_code == 422
    assert "Add at least one file. Nothing was started." in answer.content.decode()


@override_settings()
def test_too_many_files_are_said_in_words(house, settings):
    client = browser(house.ada)
    ids = [send(client, f"{n} {make.CONTRACT}".encode()).json()["id"] for n in range(3)]
    settings.COUNTERSIGN = settings.COUNTERSIGN.model_copy(update={"max_uploads": 2})
    answer = client.post("/tasks/new/", filled(*ids))
    assert answer.status_code == 422
    assert "2 at most" in answer.content.decode()


def test_the_plan_shows_the_path_of_each_step_and_creates_nothing(house):
    client = browser(house.ada)
    file = send(client, make.CONTRACT.encode()).json()["id"]
    answer = client.post("/tasks/preview/", filled(file))
    html = unescape(answer.content.decode())
    assert "Review halden.txt" in html
    assert "by itself, read-only" in html
    assert f"Send an e-mail to {make.ADDRESS}" in html
    assert "Asks first:" in html
    assert "not you, because you submit" in html
    assert "Start with 1 file" in html
    assert "at most 120 steps" in html
    assert not Run.everywhere.exists()


def test_a_tool_without_contract_is_shown_as_blocked(house):
    """Guards ``runs/preview_plan.py``: the plan asks the contracts in force, not what the agent hopes for."""
    from tools.models import Contract

    Contract.everywhere.filter(tool__name="mail.send").update(status="RETIRED")
    client = browser(house.ada)
    file = send(client, make.CONTRACT.encode()).json()["id"]
    html = client.post("/tasks/preview/", filled(file)).content.decode()
    assert "Blocked:" in html
    assert "An administrator can publish one." in html


def test_a_sample_starts_with_one_click(house):
    client = browser(house.ada)
    html = unescape(client.get("/tasks/new/", {"sample": "renewal"}).content.decode())
    assert "Halden-warehouse-services.docx" in html
    assert not Artifact.everywhere.exists()
    answer = client.post("/tasks/new/", filled("sample-renewal-0"))
    assert answer.status_code == 302
    run = Run.everywhere.get()
    house.finish()
    assert make.again(run).status == "WAITING_APPROVAL"


def test_drills_are_not_offered(house):
    html = browser(house.jonas).get("/tasks/new/").content.decode()
    assert "Contract reviewer" in html
    assert "drill" not in html


def test_an_upload_can_be_taken_out_again(house):
    client = browser(house.ada)
    file = send(client, make.CONTRACT.encode()).json()["id"]
    gone = reverse("runs:remove_upload", args=[file])
    assert client.delete(gone).status_code == 204
    assert client.delete(gone).status_code == 404
    answer = client.post("/tasks/new/", filled(file))
    assert answer.status_code == 422
    assert not Run.everywhere.exists()


def test_nobody_else_may_take_out_or_use_an_upload(house):
    file = public("artifact", house.upload().pk)
    for stranger in (house.jonas, house.otto):
        client = browser(stranger)
        assert client.delete(reverse("runs:remove_upload", args=[file])).status_code == 404
        assert client.post("/tasks/new/", filled(file)).status_code == 422
    assert Artifact.everywhere.get().removed_at is None


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"", "empty.pdf", "This file is empty"),
        (b"PK\x03\x04" + b"\0" * 40, "marlow.pdf", "an archive named .pdf"),
        (b"\x7fELF" + b"\1" * 40, "tool.txt", "This is a program"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, "scan.png", "This is a picture"),
    ],
)
def test_a_file_that_is_no_document_is_refused_in_words(house, data, name, words):
    answer = send(browser(house.ada), data, name)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert "not kept" in answer.json()["detail"]
    assert not Artifact.everywhere.exists()


def test_b83_the_web_process_never_parses_what_people_upload(house, monkeypatch):
    """Guards ``runs/uploads.py`` ``keep``: it looks at the first bytes; the parsers run in a killable child alone."""

    def parsed(*args, **kwargs):
        raise AssertionError("a parser ran in the web process")

    import docx
    import pypdfium2

    monkeypatch.setattr(pypdfium2, "PdfDocument", parsed)
    monkeypatch.setattr(docx, "Document", parsed)
    monkeypatch.setattr(review_tools, "review", parsed)
    client = browser(house.ada)
    loop = b"%PDF-1.7\n1 0 obj << /Type /Pages /Kids [1 0 R] >> endobj\ntrailer << /Root 1 0 R /Prev 0 >>"
    answer = send(client, loop, "loop.pdf")
    assert answer.status_code == 201
    assert client.post("/tasks/preview/", filled(answer.json()["id"])).status_code == 200
    sent = client.post("/tasks/new/", filled(answer.json()["id"]))
    assert client.get(sent["Location"]).status_code == 200


def test_a_file_over_the_limit_is_refused_while_it_comes(house, settings, monkeypatch):
    """Guards ``runs/views/uploads.py`` ``CappedUpload``."""
    settings.COUNTERSIGN = settings.COUNTERSIGN.model_copy(update={"max_upload_mb": 1})
    stored = []
    monkeypatch.setattr(blobs, "put", lambda *args, **kwargs: stored.append(args))
    answer = send(browser(house.ada), b"a" * 1_300_000)
    assert answer.status_code == 413
    assert "larger than 1 MB" in answer.json()["detail"]
    assert not stored
    assert not Artifact.everywhere.exists()


def test_an_upload_needs_the_token_of_our_page(house):
    client = Client(enforce_csrf_checks=True)
    client.force_login(house.ada, backend="django.contrib.auth.backends.ModelBackend")
    assert send(client, make.CONTRACT.encode()).status_code == 403
    assert not Artifact.everywhere.exists()


def test_b86_a_name_is_shown_and_never_a_path(house):
    """Guards ``runs/uploads.py``: the address comes from the content, whatever the name says."""
    names = (
        "../../etc/passwd.txt",
        "a#b.txt",
        "%2e%2e%2fsecret.txt",
        "C:\\x\\..\\y.txt",
        "a" * 400 + ".txt",
        "n\u00e4me \u202etxt.exe.txt",
    )
    kept = [house.upload(f"{number} {make.CONTRACT}", name) for number, name in enumerate(names)]
    assert {file.uri for file in kept} == {f"sha256:{file.sha256}" for file in kept}
    assert kept[0].name == "../../etc/passwd.txt"
    assert len(kept[4].name) <= 255
    assert kept[4].name.endswith(".txt")
    client = browser(house.ada)
    run = house.submitted(*kept[:3])
    page = client.get(reverse("runs:task_detail", args=[run.pk]))
    assert "../../etc/passwd.txt" in page.content.decode()
    file = Artifact.everywhere.get(run=run, kind="input", name="../../etc/passwd.txt")
    answer = client.get(reverse("runs:download", args=[run.pk, file.pk]))
    assert answer.getvalue().decode() == f"0 {make.CONTRACT}"
    assert "/" not in answer["Content-Disposition"].partition("filename")[2].replace("%2F", "")


def test_b79_a_name_that_cannot_be_stored_is_made_visible(house):
    r"""Guards ``runs/uploads.py`` ``display_name``: NUL and half characters are written out."""
    file = house.upload(name="a\x00b\ud800.txt")
    assert file.name == "a\\u0000b\\ud800.txt"

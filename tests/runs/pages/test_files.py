"""Files leave as downloads that no browser runs; previews are tame; damage is noticed."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEntry, TokenScope
from accounts.verbs.issue_token import issue_token
from runs import blobs
from runs.models import Artifact, Damage
from runs.present import preview
from runs.present.results import _kept
from tests.make import runs as make
from tests.make.people import browser

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


def stored(house: make.House, run, data: bytes, name: str, media_type: str) -> Artifact:
    sha256, size, uri = blobs.put(data)
    row: Artifact = Artifact.everywhere.create(
        tenant=house.tenant,
        run=run,
        kind="report",
        name=name,
        sha256=sha256,
        size=size,
        media_type=media_type,
        uri=uri,
    )
    return row


def download(client, file: Artifact):
    answer = client.get(reverse("runs:download", args=[file.run_id, file.pk]))
    body = answer.getvalue()
    return answer, body


def test_a_download_is_whole_and_carries_its_checksum(house):
    run = house.reviewed()
    for file in Artifact.everywhere.filter(run=run):
        answer, body = download(browser(house.ben), file)
        assert answer.status_code == 200
        assert len(body) == file.size
        assert answer["X-Checksum-Sha256"] == file.sha256
        assert answer["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize(
    ("name", "media_type", "data"),
    [
        (
            "logo.svg",
            "image/svg+xml",
            b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>',
        ),
        ("page.html", "text/html", b"<script>alert(1)</script>"),
        (
            "note.xml",
            "application/xhtml+xml",
            b"<html xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></html>",
        ),
    ],
)
def test_b87_a_file_never_runs_in_our_origin(house, name, media_type, data):
    """Guards ``runs/views/files.py``: attachment, nosniff, a sandbox of its own, and plain bytes for what a browser runs."""
    run = house.counted()
    file = stored(house, run, data, name, media_type)
    client = browser(house.ada)
    answer, body = download(client, file)
    assert body == data
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox")
    html = client.get(reverse("runs:task_detail", args=[run.pk])).content
    assert b"alert(" not in html
    assert b"No preview for this kind of file" in html


def test_b87_a_report_is_cleaned_before_it_is_shown(house):
    """Guards ``runs/present/preview.py`` ``markdown``: no HTML, no pictures, no script addresses; ``nh3`` has the last word."""
    evil = b"""# Report <script>alert(1)</script>

<img src=x onerror=alert(2)> [click](javascript:alert(3)) ![seen](https://spy.example/pixel.png)

<svg onload=alert(4)></svg> [data](data:text/html;base64,PHNjcmlwdD4=) [good](https://linden.example/)
"""
    run = house.counted()
    file = stored(house, run, evil, "report.md", "text/markdown")
    client = browser(house.ada)
    for address in (
        reverse("runs:task_detail", args=[run.pk]),
        reverse("runs:printable", args=[run.pk, file.pk]),
    ):
        html = client.get(address).content.decode()
        report = html.partition('class="doc"')[2].partition("</article>")[0].partition("</section>")[0]
        assert "Report" in report
        for bad in ("<script", "<img", "<svg", 'href="javascript', 'href="data', "spy.example"):
            assert bad not in report, (address, bad)
        assert 'href="https://linden.example/"' in report
        assert 'rel="noopener noreferrer nofollow"' in report
    assert (
        "1 picture was not loaded." in client.get(reverse("runs:task_detail", args=[run.pk])).content.decode()
    )


def test_a_table_is_shown_with_its_kinds_and_its_formulas_as_text():
    shown = preview.table(b"order,days,net,note\n00048117,0,412.00,=HYPERLINK(1)\n00048118,-1,1080.50,ok\n")
    assert [column["type"] for column in shown.columns] == ["whole number", "whole number", "decimal", "text"]
    assert shown.rows[0] == ["00048117", "0", "412.00", "=HYPERLINK(1)"]
    assert "1 cell begins like a formula" in shown.foot[0]


def test_json_is_shown_without_rounding_a_digit():
    text = '{"last_id": 90071992547409931, "sum": 218940.350}'
    shown = preview.of("application/json", text.encode()).text
    assert shown == '{\n  "last_id": 90071992547409931,\n  "sum": 218940.350\n}'
    lines = text.replace(", ", ",\n")
    assert preview.of("application/json", lines.encode()).text == lines


def test_a_table_of_many_rows_is_cut_and_says_so():
    data = "a\n" + "\n".join(str(number) for number in range(1000))
    shown = preview.table(data.encode())
    assert len(shown.rows) == 200
    assert shown.more == 800


@pytest.mark.parametrize("harm", ["gone", "changed"])
def test_a_damaged_file_is_neither_shown_nor_sent(house, harm):
    """Guards ``runs/blobs.py`` ``open`` through the pages (S15)."""
    run = house.reviewed()
    file = Artifact.everywhere.get(run=run, name="report.md")
    path = blobs.path_or_bytes(file.uri)
    assert isinstance(path, Path)
    whole = path.read_bytes()
    path.unlink() if harm == "gone" else path.write_bytes(b"forged" + whole[6:])
    _kept.cache_clear()
    try:
        client = browser(house.ada)
        html = unescape(client.get(reverse("runs:task_detail", args=[run.pk])).content.decode())
        found = {"gone": "found to be gone from the storage", "changed": "found to be damaged"}[harm]
        assert found in html
        assert "The step that made it runs again" in html
        assert "forged" not in html
        answer, body = download(client, file)
        assert answer.status_code == 410
        assert found in unescape(body.decode())
        assert b"forged" not in body
        assert Damage.everywhere.filter(run=run).count() == 1
    finally:
        path.write_bytes(whole)


def test_a_damaged_file_of_a_task_that_has_ended_is_told_of_and_served_again_when_it_is_back(house):
    run = house.sent(house.reviewed())
    file = Artifact.everywhere.get(run=run, name="report.md")
    path = blobs.path_or_bytes(file.uri)
    assert isinstance(path, Path)
    whole = path.read_bytes()
    path.write_bytes(b"forged" + whole[6:])
    _, plain = issue_token(
        user_id=house.ada.pk, tenant_id=house.tenant.pk, name="test", scopes=[TokenScope.READ]
    )
    headers = {"Authorization": f"Bearer {plain}"}
    content = reverse("api:content", args=[run.pk, file.pk])
    try:
        refused = Client().get(content, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (410, "file_damaged")
        assert "because the task has ended, nothing was changed" in refused.json()["detail"]
        assert AuditEntry.everywhere.filter(act="artifact.damaged", run_id=run.pk).count() == 1
    finally:
        path.write_bytes(whole)
    assert Client().get(content, headers=headers).getvalue() == whole
    _kept.cache_clear()
    html = unescape(browser(house.ada).get(reverse("runs:task_detail", args=[run.pk])).content.decode())
    assert "Later it was read whole again." in html


def test_a_storage_that_does_not_answer_is_no_damage(house, tmp_path, monkeypatch):
    run = house.reviewed()
    file = Artifact.everywhere.get(run=run, name="report.md")
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    answer, body = download(browser(house.ada), file)
    assert answer.status_code == 503
    assert "does not answer" in body.decode()
    assert str(tmp_path) not in body.decode()
    assert not Damage.everywhere.exists()

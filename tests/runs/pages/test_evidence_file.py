"""A file as evidence of what became of an effect: kept among the files of the task, named in the record."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from approvals import links
from approvals.models import Decision
from runs.models import Artifact
from tests.approvals.test_pages import signed_in
from tests.make.runs import house

pytestmark = pytest.mark.django_db(transaction=True)

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 64


@pytest.fixture
def linden():
    return house()


@pytest.fixture
def question(linden):
    run = linden.lost(linden.reviewed())
    return linden.action(run, "settle")


def answer(client, action, **given):
    body = {
        "verdict": "happened",
        "digest": action.digest,
        "generation": action.generation,
        "reference": "MSG-1",
        "comment": "Seen in the mailbox",
        **given,
    }
    return client.post(links.verb("decide", action.pk), body)


def screen(data: bytes = PNG, name: str = "mailbox.png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def test_a_file_is_kept_and_named_on_the_settled_card(linden, question):
    """Guards approvals/views/action.py `_file` and runs/evidence.py."""
    ben = signed_in(linden.ben)
    assert answer(ben, question, file=screen()).status_code == 302
    decision = Decision.everywhere.get(action=question, verdict="happened")
    kept = Artifact.everywhere.get(kind="evidence")
    assert decision.evidence == [{"file": "mailbox.png", "sha256": kept.sha256, "size": len(PNG)}]
    assert kept.run_id == question.run_id
    page = ben.get(links.action(question.pk)).content.decode()
    assert "mailbox.png" in page
    got = ben.get(links.file(question.run_id, kept.sha256))
    assert got.getvalue() == PNG
    assert "attachment" in got["Content-Disposition"]


def test_a_file_that_is_refused_loses_nothing_that_was_typed(linden, question):
    """Guards approvals/evidence.py `keep`: the words of the workshop stand at the field."""
    ben = signed_in(linden.ben)
    refused = answer(ben, question, file=screen(b"MZ" + b"\x00" * 80, "look.exe"))
    page = refused.content.decode()
    assert refused.status_code == 422
    assert "This is a program" in page
    assert "Seen in the mailbox" in page
    assert not Artifact.everywhere.filter(kind="evidence").exists()


def test_a_file_is_not_chosen_twice(linden, question):
    """Guards approvals/evidence.py `ticket`: what was kept with an answer that was refused is named in the form."""
    ben = signed_in(linden.ben)
    again = answer(ben, question, file=screen(), reference="")
    assert again.status_code == 422
    ticket = again.context["kept"]["ticket"]
    assert "mailbox.png is kept" in again.content.decode()
    assert answer(ben, question, kept=ticket).status_code == 302
    assert Decision.everywhere.get(action=question, verdict="happened").evidence[0]["file"] == "mailbox.png"
    assert Artifact.everywhere.filter(kind="evidence").count() == 1


def test_whoever_may_not_settle_leaves_no_file(linden, question):
    """Guards approvals/views/action.py `_file`: rights are read before anything is kept."""
    assert answer(signed_in(linden.ada), question, file=screen()).status_code == 403
    assert not Artifact.everywhere.filter(kind="evidence").exists()


def test_a_ticket_of_another_question_names_nothing(linden, question):
    """Guards approvals/evidence.py `of_ticket`."""
    from approvals.evidence import of_ticket, ticket

    other = linden.action(linden.lost(linden.reviewed()), "settle")
    assert of_ticket(ticket({"file": "x", "sha256": "0" * 64, "size": 1}, other), question) is None
    assert of_ticket("forged", question) is None

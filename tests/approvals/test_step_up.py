"""High risk asks for a recent proof of who answers; nothing is lost on the way to it, and nothing decided."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts import tokens
from accounts.models import ApiToken
from approvals import errors, links
from approvals.models import Decision, PendingAction
from tests.make import approvals as make
from tests.make import people
from tests.rest.client import Rest
from tools.models import Risk

pytestmark = pytest.mark.django_db

OLD = settings.COUNTERSIGN.step_up_seconds + 1
GESTURE = make.ADDRESS


@pytest.fixture
def house() -> make.House:
    return make.house()


def visitor(house: make.House, *, ago: float) -> Client:
    house.ben.set_password(people.PASSWORD)
    house.ben.save()
    client = people.browser(house.ben)
    people.prove(client, house.ben, ago=ago)
    return client


def post(client: Client, action: PendingAction, verdict: str, **given: str):
    seen = {"digest": action.digest, "generation": str(action.generation)}
    return client.post(links.verb("decide", action.pk), {"verdict": verdict, **seen, **given})


def test_c11_an_old_sign_in_approves_no_high_risk_until_it_is_proved_anew(house: make.House) -> None:
    """Guards approvals/decide.py, the line that asks ``step_up.needed``; and approvals/views/proving.py."""
    action = make.question(house, second_gesture=GESTURE)
    client = visitor(house, ago=OLD)
    sent = post(client, action, "approve", gesture=GESTURE)
    assert sent.status_code == 302
    assert sent["Location"].startswith("/sign-in/again/?next=")
    assert not Decision.everywhere.filter(action=action).exists()

    # Back without a proof: the page is as it always is.
    plain = unescape(client.get(links.action(action.pk)).content.decode())
    assert f'value="{GESTURE}"' not in plain

    assert client.post(sent["Location"], {"password": "wrong"}).status_code == 200
    back = client.post(sent["Location"], {"password": people.PASSWORD})
    assert back.status_code == 302
    assert back["Location"] == links.action(action.pk)
    assert not Decision.everywhere.filter(action=action).exists()

    html = unescape(client.get(back["Location"]).content.decode())
    assert "Nothing was decided yet." in html
    assert f'value="{GESTURE}"' in html
    assert post(client, action, "approve", gesture=GESTURE).status_code == 302
    decision = Decision.everywhere.get(action=action)
    assert (decision.user, decision.authenticated, decision.channel) == (house.ben, "password", "web")
    assert make.again(action).status == "APPROVED"


def test_c11_settling_asks_too_and_the_answer_comes_back_filled(house: make.House) -> None:
    """Guards approvals/step_up.py ``LETS_HAPPEN``."""
    action = make.settle(house)
    client = visitor(house, ago=OLD)
    typed = {"reference": "4KxR2p-typed", "comment": "Seen in the mailbox."}
    sent = post(client, action, "happened", **typed)
    back = client.post(sent["Location"], {"password": people.PASSWORD})
    html = unescape(client.get(back["Location"]).content.decode())
    assert all(words in html for words in typed.values())
    assert re.search(r'id="answer-happened"[^>]* checked', html)
    assert make.again(action).status == "OPEN"
    assert post(client, action, "happened", **typed).status_code == 302
    assert make.again(action).status == "SETTLED"


def test_saying_no_and_what_is_of_low_risk_ask_for_nothing(house: make.House) -> None:
    old = visitor(house, ago=OLD)
    action = make.question(house)
    post(old, action, "reject", comment="Wrong year.")
    assert make.again(action).status == "REJECTED"
    low = make.house(risk=Risk.LOW)
    action = make.question(low)
    post(visitor(low, ago=OLD), action, "approve", gesture=action.second_gesture)
    assert make.again(action).status == "APPROVED"


def test_what_changed_meanwhile_is_not_answered_with_what_was_typed(house: make.House) -> None:
    action = make.question(house, second_gesture=GESTURE)
    client = visitor(house, ago=OLD)
    sent = client.post(
        links.verb("decide", action.pk),
        {"verdict": "approve", "digest": action.digest, "generation": "1", "gesture": GESTURE},
    )
    PendingAction.everywhere.filter(pk=action.pk).update(generation=2)
    back = client.post(sent["Location"], {"password": people.PASSWORD})
    html = unescape(client.get(back["Location"]).content.decode())
    assert "Nothing was decided yet." not in html
    assert f'value="{GESTURE}"' not in html


def test_c11_a_proof_from_the_future_is_none(house: make.House) -> None:
    """Guards accounts/proof.py ``fresh``: a clock that was set back does not make an old proof a new one."""
    action = make.question(house)
    assert post(visitor(house, ago=-3600), action, "approve")["Location"].startswith("/sign-in/again/")
    assert make.again(action).status == "OPEN"


def test_c11_who_stands_in_front_of_somebody_elses_proof_has_none(house: make.House) -> None:
    """Guards accounts/proof.py: the proofs of a session are those of the person who is signed in."""
    client = visitor(house, ago=0)
    people.prove(client, house.mira)
    action = make.question(house)
    assert post(client, action, "approve")["Location"].startswith("/sign-in/again/")


def test_c07_a_proof_gives_the_session_a_new_key(house: make.House) -> None:
    """Guards accounts/proof.py ``rotating``: whoever knew the key of the lesser session has nothing of the greater one."""
    client = visitor(house, ago=OLD)
    before = client.session.session_key
    assert client.post("/sign-in/again/", {"password": "wrong"}).status_code == 200
    assert client.session.session_key == before
    client.post("/sign-in/again/", {"password": people.PASSWORD})
    assert client.session.session_key != before
    thief = people.browser()
    thief.cookies["countersign_session"] = str(before)
    assert thief.get("/inbox/").status_code == 302


def test_c11_a_token_needs_the_express_grant(house: make.House) -> None:
    """Guards approvals/api/views.py: ``fresh`` is the scope of the token, nothing else."""
    action = make.question(house)
    etag: Any = {"If-Match": f'"{action.digest}.{action.generation}"'}
    body = {"verdict": "approve", "gesture": action.second_gesture}
    path = f"actions/act_{action.pk.hex}/decide/"
    lesser = Rest(house.ben, house.tenant, "read", "decide", high_risk=False).post(path, body, **etag)
    assert (lesser.status_code, lesser.json()["code"]) == (403, "proof_needed")
    assert "decide_high_risk" in lesser.json()["detail"]
    assert make.again(action).status == "OPEN"
    assert Rest(house.ben, house.tenant, "read", "decide").post(path, body, **etag).status_code == 200


def test_c06_the_express_grant_is_given_after_a_proof_to_approvers_with_an_end(house: make.House) -> None:
    """Guards accounts/views/tokens.py and accounts/forms.py ``TokenForm``."""
    given = {"name": "ERP", "scopes": ["decide", "decide_high_risk"], "lifetime": "30"}
    client = visitor(house, ago=OLD)
    sent = client.post("/settings/tokens/", given)
    assert sent["Location"].startswith("/sign-in/again/")
    assert not ApiToken.everywhere.filter(user=house.ben).exists()
    back = client.post(sent["Location"], {"password": people.PASSWORD})
    assert b'value="ERP"' in client.get(back["Location"]).content
    for wrong in ({"lifetime": ""}, {"scopes": ["decide_high_risk"]}):
        assert client.post("/settings/tokens/", {**given, **wrong}).status_code == 200
    assert not ApiToken.everywhere.filter(user=house.ben).exists()
    assert b"cst_" in client.post("/settings/tokens/", given).content
    assert ApiToken.everywhere.get(user=house.ben).scopes == ["decide", "decide_high_risk"]
    with pytest.raises(tokens.NotGranted):
        tokens.issue(user_id=house.ben.pk, tenant_id=house.tenant.pk, name="x", scopes=["decide_high_risk"])


def test_the_service_refuses_whoever_forgets_to_say(house: make.House) -> None:
    action = make.question(house)
    with pytest.raises(errors.NeedsProof):
        make.answer(action, house.ben, "approve", fresh=False)

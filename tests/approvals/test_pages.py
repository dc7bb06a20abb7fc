"""The pages of the desk, over HTTP."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client

from approvals import links
from approvals.models import PendingAction
from tests.make import approvals as make
from tests.make.people import prove
from tools.models import Intent

pytestmark = pytest.mark.django_db


@pytest.fixture
def house():
    return make.house()


def signed_in(person) -> Client:
    client = Client(enforce_csrf_checks=False)
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    prove(client, person)
    return client


def page(client: Client, address: str, status: int = 200, **extra) -> str:
    answer = client.get(address, **extra)
    assert answer.status_code == status, answer.content[:400]
    return unescape(answer.content.decode())


def fields(html: str) -> dict[str, str]:
    """What the decision form on the page carries."""
    found = re.findall(r'<input type="hidden" name="(digest|generation)" value="([^"]+)">', html)
    return dict(found)


def post(client: Client, action: PendingAction, verdict: str, **given):
    seen = {"digest": action.digest, "generation": action.generation}
    return client.post(links.verb("decide", action.pk), {"verdict": verdict, **seen, **given})


def test_the_page_shows_what_would_be_sent(house):
    action = make.question(house, second_gesture=make.ADDRESS)
    html = page(signed_in(house.ben), links.action(action.pk))
    for words in (
        make.ADDRESS,
        "Notice of non-renewal",
        "We do not wish to renew the agreement.",
        house.tenant.mail_from,
        "notice.pdf",
        "84 KB",
        "abab abab",
        "not less than ninety days",
        "page 11",
        "The price rises above the limit",
        "Nothing undoes a sent e-mail",
        "did not submit the task",
        action.digest,
        'data-expected="legal@halden-freight.example"',
    ):
        assert words in html
    assert fields(html) == {"digest": action.digest, "generation": "1"}


def test_the_page_is_drawn_from_the_shown_bytes(house):
    """Guards approvals/present: columns beside the bytes change, the page does not."""
    action = make.question(house)
    PendingAction.everywhere.filter(pk=action.pk).update(
        sentence="Nothing bad",
        target="friend@linden.example",
        preview={},
        rationale="trust me",
        irreversible=False,
    )
    Intent.everywhere.filter(pk=action.intent_id).update(arguments={"to": "friend@linden.example"})
    html = page(signed_in(house.ben), links.action(action.pk))
    sheet = html[html.index('<article class="action"') :]
    assert "We do not wish to renew the agreement." in sheet
    assert "Cannot be undone" in sheet
    assert "friend@linden.example" not in sheet
    assert "trust me" not in sheet


def test_what_hides_or_pretends_is_spelled_out(house):
    asked = make.intent(
        house,
        arguments={**make.LETTER, "to": "legal@hаlden.example", "subject": "pay\u202etxt.exe \u200bnow"},
        target="legal@hаlden.example",
    )
    action = make.question(house, about=asked, target="legal@hаlden.example", sentence="Send it")
    html = page(signed_in(house.ben), links.action(action.pk))
    assert "U+0430" in html
    assert "U+202E" in html
    assert "U+200B" in html
    assert "xn--" in html
    assert "the address is not what it looks like" in html


def test_markup_from_outside_stays_text(house):
    asked = make.intent(house, arguments={**make.LETTER, "text": "<script>alert(1)</script><b>x</b>"})
    action = make.question(house, about=asked, rationale="<img src=x onerror=alert(1)>")
    answer = signed_in(house.ben).get(links.action(action.pk))
    assert b"<script>alert" not in answer.content
    assert b"<img src=x" not in answer.content
    assert "script-src 'self'" in answer["Content-Security-Policy"]


def test_approving_opens_the_next_item(house):
    action, other = make.question(house), make.question(house)
    client = signed_in(house.ben)
    answer = post(client, action, "approve")
    assert (answer.status_code, answer["Location"]) == (302, links.action(other.pk))
    html = page(client, answer["Location"])
    assert "Approved: Send" in html


def test_after_the_last_one_the_card_goes_on_living(house):
    action = make.question(house)
    client = signed_in(house.ben)
    answer = post(client, action, "approve")
    assert answer["Location"] == links.action(action.pk)
    html = page(client, answer["Location"])
    assert "COUNTERSIGNED" in html
    assert "Ben Okafor" in html
    assert 'name="digest"' not in html


def test_b17_an_old_tab_is_told_who_was_faster(house):
    """Guards approvals/views/shared.py, ``notice_of``, and the 409 of ``decide``."""
    action = make.question(house)
    mira = signed_in(house.mira)
    seen = fields(page(mira, links.action(action.pk)))
    post(signed_in(house.ben), action, "approve")
    answer = mira.post(links.verb("decide", action.pk), {"verdict": "reject", "comment": "no", **seen})
    html = unescape(answer.content.decode())
    assert answer.status_code == 409
    assert "Ben Okafor was faster." in html
    assert "Approved by Ben Okafor" in html
    assert make.again(action).status == "APPROVED"


def test_a_rejection_without_a_reason_comes_back_with_its_dialog(house):
    action = make.question(house)
    answer = post(signed_in(house.ben), action, "reject")
    assert answer.status_code == 422
    assert b"data-dialog-shown" in answer.content
    assert "Say why." in answer.content.decode()


def test_the_submitter_sees_why_not_and_may_still_reject(house):
    make.roles(house, house.ada, "submitter", "approver")
    action = make.question(house)
    client = signed_in(house.ada)
    html = page(client, links.action(action.pk))
    assert "You submitted this task" in html
    assert 'value="approve"' not in html
    assert 'value="reject"' in html
    assert post(client, action, "approve").status_code == 403
    assert post(client, action, "reject", comment="changed my mind").status_code == 302


def test_somebody_of_another_tenant_finds_nothing(house):
    action = make.question(house)
    client = signed_in(house.otto)
    assert client.get(links.action(action.pk)).status_code == 404
    assert post(client, action, "approve").status_code == 404
    assert make.again(action).status == "OPEN"


def test_deciding_needs_the_token_of_the_form(house):
    """Checklist C 8: a form on another site cannot decide."""
    action = make.question(house)
    client = Client(enforce_csrf_checks=True)
    client.force_login(house.ben, backend="django.contrib.auth.backends.ModelBackend")
    prove(client, house.ben)
    assert post(client, action, "approve").status_code == 403
    assert make.again(action).status == "OPEN"


def links_of(html: str) -> set[str]:
    found = set(re.findall(r'(?:href|action|src|data-fragment-url)="(/[^"#]*)', html))
    return {address for address in found if not address.startswith("/static/")}


def everything() -> dict[str, int]:
    """A count and a checksum over every table of the desk and the bench."""
    tables = [
        "approvals_pendingaction",
        "approvals_decision",
        "tools_intent",
        "outbox_message",
        "accounts_auditentry",
    ]
    state: dict[str, int] = {}
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT coalesce(sum(hashtextextended(t::text, 0)), 0) FROM {table} t")
            state[table] = cursor.fetchone()[0]
    return state


@pytest.mark.parametrize("method", ["get", "head", "options"])
def test_b51_no_link_changes_anything(house, method):
    """Guards approvals/views, ``require_POST`` and ``require_safe``: every address of every page of the desk, followed as
    a mail scanner would, changes nothing."""
    actions = [make.question(house), make.settle(house), make.takeover(house)]
    client = signed_in(house.ben)
    addresses = {"/inbox/", "/inbox/?tab=claimed", "/inbox/?tab=decided"}
    for address in [*addresses, *(links.action(action.pk) for action in actions)]:
        addresses |= {address} | links_of(page(client, address))
    verbs = {links.verb(name, action.pk) for action in actions for name in ("decide", "claim", "release")}
    assert verbs & addresses
    before = everything()
    for address in sorted(a for a in addresses | verbs if a.startswith("/inbox/")):
        query = {"verdict": "approve", "digest": actions[0].digest, "generation": "1"}
        answer = getattr(client, method)(address, query)
        assert answer.status_code in (200, 404, 405), address
    assert everything() == before


def test_the_inbox_orders_by_urgency(house):
    later = make.question(house, policy={**make.POLICY, "ttl_seconds": 900_000})
    soon = make.question(house, policy={**make.POLICY, "ttl_seconds": 60})
    unknown = make.settle(house)
    html = page(signed_in(house.ben), "/inbox/")
    places = [html.index(f'id="item-{action.pk.hex}"') for action in (unknown, soon, later)]
    assert places == sorted(places)
    assert html.index("Outcome unknown, settle first") < html.index("Later")


def test_the_list_alone_is_served_to_a_live_page(house):
    make.question(house)
    answer = signed_in(house.ben).get("/inbox/", headers={"X-Live": "true", "HX-Request": "true"})
    assert b"<html" not in answer.content
    assert b'class="item"' in answer.content


def test_a_live_page_is_served_list_and_sheet(house):
    action = make.question(house)
    client = signed_in(house.mira)
    live = {"X-Live": "true", "HX-Request": "true"}
    assert 'name="digest"' in page(client, links.action(action.pk), headers=live)
    make.answer(action, house.ben, "approve")
    html = page(client, links.action(action.pk), headers=live)
    assert "<html" not in html
    assert "COUNTERSIGNED" in html
    assert f'id="item-{action.pk.hex}" data-row aria-current="true"' in html
    assert 'name="digest"' not in html


def test_a_claim_moves_the_row_for_the_others(house):
    action = make.question(house)
    ben, mira = signed_in(house.ben), signed_in(house.mira)
    ben.post(links.verb("claim", action.pk))
    row = f'id="item-{action.pk.hex}"'
    assert row in page(ben, "/inbox/")
    assert row not in page(mira, "/inbox/")
    assert "claimed by Ben Okafor" in page(mira, "/inbox/?tab=claimed")
    mira.post(links.verb("claim", action.pk))
    assert make.again(action).claimed_by == house.ben
    ben.post(links.verb("release", action.pk))
    assert row in page(mira, "/inbox/")


def test_the_page_of_an_unknown_outcome(house):
    action = make.settle(house)
    client = signed_in(house.mira)
    html = page(client, links.action(action.pk))
    for words in (
        "It happened",
        "It did not happen",
        "Nobody can know",
        "may still send it",
        make.ADDRESS,
        "Ben Okafor",
    ):
        assert words in html
    answer = post(client, action, "happened")
    assert answer.status_code == 422
    assert "Give the reference" in answer.content.decode()
    assert post(client, action, "not_happened", comment="Asked the receiver.").status_code == 302
    html = page(client, links.action(action.pk))
    assert "Asked the receiver." in html
    assert "may still send it" in html


def test_the_page_of_a_takeover(house):
    action = make.takeover(house)
    html = page(signed_in(house.ada), links.action(action.pk))
    assert "KeyError: 'file'" in html
    assert post(signed_in(house.ada), action, "continue").status_code == 302


@pytest.mark.parametrize("bad", ["act_nothing", "run_" + "0" * 32, "0" * 32])
def test_an_address_that_names_nothing_is_404(house, bad):
    assert signed_in(house.ben).get(f"/inbox/{bad}/").status_code == 404


def test_a_stranger_is_sent_to_the_door(house):
    action = make.question(house)
    answer = Client().get(links.action(action.pk))
    assert answer.status_code == 302
    assert "/sign-in/" in answer["Location"]
    assert post(Client(), action, "approve").status_code == 302
    assert make.again(action).status == "OPEN"


def test_the_last_of_two_reads_that_one_has_signed(house):
    action = make.question(house, policy={**make.POLICY, "quorum": 2})
    assert "You and 1 more" in page(signed_in(house.mira), links.action(action.pk))
    make.answer(action, house.ben, "approve")
    html = page(signed_in(house.mira), links.action(action.pk))
    assert "You, as the last one" in html
    assert "You alone" not in html

"""Several at once, over HTTP: the page, the answer and what became of each; and over REST."""

from __future__ import annotations

import re

import pytest

from accounts.ids import public
from approvals import inbox, links, present
from approvals.models import Decision
from tests.approvals.test_pages import page, signed_in
from tests.make import approvals as make
from tests.rest.client import Rest
from tools.models import Risk

pytestmark = pytest.mark.django_db


@pytest.fixture
def house():
    return make.house()


def address(actions) -> str:
    return "/inbox/batch/?" + "&".join(f"row={public('pendingaction', one.pk)}" for one in actions)


def seen(html: str) -> list[str]:
    """The rows that the form of the page carries."""
    form = html[html.index('value="approve"') :] if 'value="approve"' in html else html
    return re.findall(r'name="row" value="(act_[^"]+\.[0-9a-f]{64}\.\d+)"', form[: form.index("</form>")])


def test_rows_that_are_alike_carry_the_same_mark_in_the_list(house):
    alike = [make.question(house) for _ in range(2)]
    other = make.question(house, risk=Risk.LOW)
    make.takeover(house)
    html = page(signed_in(house.ben), "/inbox/")
    marks = dict(re.findall(r'name="row" value="(act_[^"]+)" form="together" data-alike="([^"]+)"', html))
    assert set(marks) == {public("pendingaction", one.pk) for one in (*alike, other)}
    assert len({marks[public("pendingaction", one.pk)] for one in alike}) == 1
    assert len(set(marks.values())) == 2


def test_the_page_shows_what_all_share_and_every_row_whole(house):
    rule = {"argument": "amount", "total_over": 9_000_000, "per": "day", "then": "approval"}
    bank = make.house(policy={"rules": [rule]})
    actions = [
        make.question(
            bank, about=make.intent(bank, arguments={**make.LETTER, "amount": one, "currency": "EUR"})
        )
        for one in ("12345678901234567.10", "0.05")
    ]
    html = page(signed_in(bank.ben), address(actions))
    for words in ("EUR 12345678901234567.15", "EUR 0.05", "same risk class", "2 things to decide at once"):
        assert words in html
    assert html.count("We do not wish to renew the agreement.") >= 2
    assert 'data-expected="12345678901234567.15"' in html


def test_all_are_approved_from_the_page_and_it_says_what_became_of_each(house):
    actions = [make.question(house) for _ in range(3)]
    client = signed_in(house.ben)
    rows = seen(page(client, address(actions)))
    given = {"verdict": "approve", "row": rows, "gesture": "3"}
    answer = client.post("/inbox/batch/decide/", given)
    assert answer.status_code == 302
    html = page(client, answer["Location"])
    assert html.count("Approved by Ben Okafor") == 3
    assert "3 things were decided together" in html
    page(signed_in(house.mira), answer["Location"], status=404)


def test_b53_a_row_that_stops_holding_in_between_is_named_and_nothing_is_recorded(house):
    """Guards approvals/views/batch.py `decide`: the digests of the page are the ones that are compared."""
    actions = [make.question(house) for _ in range(3)]
    client = signed_in(house.ben)
    rows = seen(page(client, address(actions)))
    make.answer(actions[1], house.mira, "reject")
    answer = client.post("/inbox/batch/decide/", {"verdict": "approve", "row": rows, "gesture": "3"})
    html = answer.content.decode()
    assert answer.status_code == 409
    assert "Row 2 does not hold" in html
    assert "Take row 2 out" in html
    assert 'value="approve"' not in html
    assert Decision.everywhere.count() == 1
    (without,) = re.findall(r'href="([^"]+)" data-key="a"', html)
    without = without.replace("&amp;", "&")
    assert len(seen(page(client, without))) == 2


def test_a_wrong_gesture_comes_back_with_the_page(house):
    actions = [make.question(house) for _ in range(2)]
    client = signed_in(house.ben)
    rows = seen(page(client, address(actions)))
    answer = client.post("/inbox/batch/decide/", {"verdict": "approve", "row": rows, "gesture": "3"})
    assert answer.status_code == 422
    assert not Decision.everywhere.exists()


def test_a_stranger_finds_no_batch(house):
    actions = [make.question(house)]
    page(signed_in(house.otto), address(actions), status=404)
    for odd in ("", "?row=", "?row=act_1"):
        page(signed_in(house.ben), "/inbox/batch/" + odd, status=404)


def items(actions):
    return [
        {"action": public("pendingaction", one.pk), "digest": one.digest, "generation": one.generation}
        for one in actions
    ]


def test_a_batch_over_rest(house):
    actions = [make.question(house) for _ in range(2)]
    ben = Rest(house.ben, house.tenant, "read", "decide")
    stale = items(actions)
    stale[1]["digest"] = "0" * 64
    body = {"verdict": "approve", "gesture": "2"}
    refused = ben.post("inbox/decide/", {**body, "items": stale})
    assert (refused.status_code, refused.json()["code"], refused.json()["row"]) == (409, "row_refused", 2)
    assert refused.json()["action"] == stale[1]["action"]
    assert refused.json()["cause"] == "stale"
    assert not Decision.everywhere.exists()
    answer = ben.post("inbox/decide/", {**body, "items": items(actions)}, key="once")
    assert answer.status_code == 200, answer.content
    assert [one["status"] for one in answer.json()["results"]] == ["APPROVED", "APPROVED"]
    again = ben.post("inbox/decide/", {**body, "items": items(actions)}, key="once")
    assert again.json() == answer.json()
    reader = Rest(house.ben, house.tenant, "read")
    assert reader.post("inbox/decide/", {**body, "items": items(actions)}).status_code == 403


@pytest.mark.parametrize("tab", inbox.TABS)
def test_every_tab_has_its_entry_with_how_many_are_in_it(house, tab):
    action = make.question(house)
    client = signed_in(house.ben)
    signed_in(house.mira).post(links.verb("claim", action.pk))
    html = page(client, f"/inbox/?tab={tab}")
    assert html.count('aria-current="true"') == 1
    assert '>Claimed <span class="k">1</span>' in html
    for words in ("For me", "My groups", "Set aside", "Decided"):
        assert f">{words}" in html


def test_a_long_list_says_that_there_is_more_and_where_it_ended(house):
    actions = [make.question(house) for _ in range(3)]
    asked = {"user_id": house.ben.pk, "tenant_id": house.tenant.pk}
    short = present.listing(**asked, limit=2)
    assert [item.id for group in short.groups for item in group.items] == [one.pk.hex for one in actions[:2]]
    assert short.more.endswith(f"shown={2 + inbox.SHOWN}#item-{actions[1].pk.hex}")
    assert present.listing(**asked, limit=3).more == ""
    for odd in ("-1", "0", "9" * 30, "²", "x"):
        assert page(signed_in(house.ben), f"/inbox/?shown={odd}").count("data-pick") == 3

"""Three hundred things in the inbox."""

from __future__ import annotations

import time

import pytest

from tests.approvals.test_pages import page, signed_in
from tests.make import approvals as make

pytestmark = pytest.mark.django_db

#: What a page may take on the server (ui.md, "How it feels"), times five for a machine that is busy.
PROMISE = 0.2 * 5


def test_an_inbox_of_three_hundred_stays_quick_and_whole():
    house = make.house()
    actions = [make.question(house) for _ in range(300)]
    client = signed_in(house.ben)
    first = page(client, "/inbox/")
    assert first.count('class="item"') == 200
    assert "shown=400#item-" in first
    began = time.perf_counter()
    whole = page(client, "/inbox/?shown=400")
    took = time.perf_counter() - began
    assert all(f'id="item-{action.pk.hex}"' in whole for action in actions)
    assert "shown=600" not in whole
    assert took < PROMISE, f"{took:.2f} s"

"""How quick the relay is: the promise is 1,000 messages a second (`make bench`); here a fifth of it."""

from __future__ import annotations

import pytest

from bench.relay import pace

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("table")]


def test_one_relay_tells_its_messages_in_order_and_quickly() -> None:
    assert pace(messages=1_000, keys=50) > 200

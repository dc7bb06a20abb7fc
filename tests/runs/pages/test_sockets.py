"""Sockets over a real server: they only say how far things are, to whom it concerns."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.contrib.sessions.models import Session
from django.urls import reverse
from websockets.exceptions import ConnectionClosed, InvalidStatus

from accounts.ids import public
from accounts.models import Membership
from outbox.relay import drain
from runs import consumers
from runs.models import Run
from tests.make import runs as make
from tests.make.people import browser
from tests.runs.engine import hands
from tests.runs.pages.server import Web, heard, said, serving

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house() -> make.House:
    return make.house()


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as server:
        yield server


def path(run: Run) -> str:
    return f"/ws/runs/{public('run', run.pk)}/"


def after(socket, seq: int) -> None:
    socket.send(json.dumps({"after": seq}))


def listened(socket, *, seconds: float = 20) -> tuple[list[dict[str, int]], int]:
    """All messages until the server closes, and the code with which it does."""
    messages: list[dict[str, int]] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            messages.append(json.loads(socket.recv(timeout=until - time.monotonic())))
        except ConnectionClosed as end:
            return messages, end.rcvd.code if end.rcvd else 1006
    raise AssertionError("it stayed open")


def closed(socket) -> int:
    """The code with which the server closes."""
    return listened(socket)[1]


def step_on(house: make.House, run: Run) -> int:
    """One more step, told to nobody; the sequence that it makes."""
    hands.put(house.me, *[hands.done(one) for one in hands.take(house.me)])
    return make.again(run).event_seq


def test_b70_what_fell_between_page_and_socket_is_caught_up(house, web):
    """Guards ``runs/consumers.py``: the answer to ``after`` is read from the table, not from the channel layer."""
    run = house.counted(steps=5)
    drawn = int(browser(house.ada).get(reverse("runs:task_detail", args=[run.pk]))["X-Live-Seq"])
    missed = step_on(house, run)
    assert missed > drawn
    with web.socket(path(run), cookie=web.cookie(house.ada)) as socket:
        after(socket, drawn)
        assert heard(socket, missed)["seq"] == missed


def test_b70_what_happened_while_the_line_was_cut_is_caught_up(house, web):
    """Guards the same on every later connect."""
    run = house.counted(steps=5)
    cookie = web.cookie(house.ada)
    with web.socket(path(run), cookie=cookie) as socket:
        after(socket, 0)
        drawn = said(socket)["seq"]
        assert drawn == run.event_seq
    newest = [step_on(house, run) for _ in range(3)][-1]
    with web.socket(path(run), cookie=cookie) as socket:
        after(socket, drawn)
        assert heard(socket, newest)["seq"] == newest


def test_b70_a_bell_that_never_rings_costs_latency_only(house, web):
    """Guards ``runs/consumers.py`` ``_watch``: it looks at an interval, whatever the channel layer does."""
    run = house.counted(steps=5)
    with web.socket(path(run), cookie=web.cookie(house.ada)) as socket:
        after(socket, 0)
        said(socket)
        newest = step_on(house, run)
        assert heard(socket, newest, seconds=consumers.LOOK_EVERY + 10)["seq"] == newest


def test_a_bell_brings_news_at_once(house, web, monkeypatch):
    monkeypatch.setattr(consumers, "LOOK_EVERY", 60.0)
    run = house.counted(steps=5)
    with web.socket(path(run), cookie=web.cookie(house.ada)) as socket:
        after(socket, 0)
        said(socket)
        newest = step_on(house, run)
        ring(f"run.{run.pk.hex}", {"type": "run.progress", "run": run.pk.hex, "seq": newest})
        assert heard(socket, newest)["seq"] == newest


def ring(group: str, message: dict[str, object]) -> None:
    async def send() -> None:
        layer = get_channel_layer()
        await layer.group_send(group, message)
        await layer.flush()

    async_to_sync(send)()


def test_the_list_hears_of_any_task_of_the_tenant(house, web):
    run = house.counted(steps=5)
    with web.socket("/ws/tasks/", cookie=web.cookie(house.ben)) as socket:
        after(socket, 0)
        first = said(socket)["seq"]
        step_on(house, run)
        assert heard(socket, first + 1)["seq"] > first


def test_the_inbox_hears_of_a_new_question_and_counts_it(house, web):
    with web.socket("/ws/inbox/", cookie=web.cookie(house.ben)) as socket:
        after(socket, 0)
        first = said(socket)
        assert first["inbox"] == 0
        house.reviewed()
        assert heard(socket, first["seq"] + 1)["inbox"] == 1


def test_any_page_hears_of_a_note_and_counts_it(house, web):
    """Guards runs/consumers.py ``NotesConsumer`` and outbox/consumers/hints.py ``inboxes``."""
    with web.socket("/ws/notes/", cookie=web.cookie(house.ben)) as socket:
        first = said(socket)
        assert (first["notes"], first["inbox"], first["loud"]) == (0, 0, 0)
        house.reviewed()
        drain(limit=100)
        while (now := said(socket))["notes"] == 0:
            assert now["inbox"] <= 1
        assert (now["notes"], now["inbox"], now["loud"]) == (1, 1, 0)


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        "http://127.0.0.1:{port}.evil.example",
    ],
)
def test_b72_a_socket_opens_from_our_own_pages_alone(house, web, origin):
    """Guards ``config/asgi.py``: the handshake needs exactly our Origin, session or not."""
    run = house.counted()
    cookie = web.cookie(house.ada)
    asked = origin.format(port=web.port) if origin else None
    for place in (path(run), "/ws/tasks/", "/ws/inbox/", "/ws/notes/"):
        with pytest.raises(InvalidStatus) as refused, web.socket(place, cookie=cookie, origin=asked):
            pass
        assert refused.value.response.status_code == 403
    with web.socket(path(run), cookie=cookie) as socket:
        after(socket, 0)
        assert said(socket)["seq"] == run.event_seq


@pytest.mark.parametrize(
    "message",
    [
        '{"cancel": true}',
        '{"after": 1, "cancel": true}',
        '{"after": -1}',
        '{"after": "1"}',
        '{"after": true}',
        "not json",
        "[" * 150,
        '{"after": 1}' + " " * 500,
        b"\x00\x01",
    ],
)
def test_b72_a_socket_carries_no_commands(house, web, message):
    """Guards ``runs/consumers.py`` ``_after``: one number is all that a client may say."""
    run = house.counted()
    with web.socket(path(run), cookie=web.cookie(house.ada)) as socket:
        socket.send(message)
        assert closed(socket) == consumers.NOT_OURS
    assert make.again(run).status == "PENDING"


def test_a_client_that_asks_too_often_is_cut_off(house, web):
    run = house.counted()
    with web.socket(path(run), cookie=web.cookie(house.ada)) as socket:
        for _ in range(consumers.MOST_MESSAGES + 5):
            after(socket, 0)
        assert closed(socket) == consumers.TOO_MANY


def test_b74_a_socket_of_another_tenant_is_refused_like_one_that_never_was(house, web):
    """Guards ``RunConsumer.allowed``."""
    run = house.counted()
    cookie = web.cookie(house.otto)
    for place in (path(run), f"/ws/runs/run_{'0' * 32}/"):
        with pytest.raises(InvalidStatus) as refused, web.socket(place, cookie=cookie):
            pass
        assert refused.value.response.status_code == 403


def test_nobody_is_told_to_sign_in(house, web):
    run = house.counted()
    with web.socket(path(run)) as socket:
        assert closed(socket) == consumers.SIGNED_OUT


def test_b71_signing_out_closes_the_open_socket(house, web):
    """Guards ``runs/consumers.py`` ``_read``: rights are read before every message and at an interval."""
    run = house.counted(steps=5)
    with web.socket(path(run), cookie=web.cookie(house.ada)) as socket:
        after(socket, 0)
        said(socket)
        Session.objects.all().delete()
        assert closed(socket) == consumers.SIGNED_OUT


def test_b71_who_lost_the_membership_hears_nothing_more(house, web):
    """Guards the same for a person who is still signed in, elsewhere or nowhere."""
    run = house.counted(steps=5)
    with web.socket(path(run), cookie=web.cookie(house.ada)) as socket:
        after(socket, 0)
        seen = said(socket)["seq"]
        Membership.everywhere.filter(user=house.ada).update(disabled_at="2026-01-01T00:00:00Z")
        step_on(house, run)
        messages, _code = listened(socket)
        assert all(message["seq"] <= seen for message in messages)

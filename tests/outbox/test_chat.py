"""Notes by chat: a real service's protocol on this machine, and what becomes of a service that hangs, refuses or is inside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest
from django.conf import settings as conf
from django.db import connection

from accounts.errors import Refused
from outbox.append import append
from outbox.chat import line, services
from outbox.models import ChatTarget, Message, Notification
from outbox.relay import drain, relay
from outbox.routes import CHAT, MAIL
from outbox.verbs.set_chat import set_chat
from outbox.verbs.try_chat import try_chat
from tests.make import approvals as make
from tests.outbox.conftest import PostOffice

pytestmark = pytest.mark.django_db(transaction=True)


class Ntfy:
    """Speaks as much of ntfy's protocol (https://docs.ntfy.sh/publish/) as a publisher meets: JSON to /, the topic in it."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.status = 200
        self.let_go = Event()
        self.let_go.set()
        ntfy = self

        class Door(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                ntfy.let_go.wait()
                if ntfy.status == 200:
                    ntfy.messages.append(body)
                self.send_response(ntfy.status)
                if ntfy.status == 302:
                    self.send_header("Location", "/elsewhere")
                answer = json.dumps({"id": "x", "event": "message", "topic": body["topic"]}).encode()
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
        self.address = f"ntfy://127.0.0.1:{self.server.server_port}/desk-s3cret"


@pytest.fixture
def ntfy(settings: Any) -> Iterator[Ntfy]:
    served = Ntfy()
    thread = Thread(target=served.server.serve_forever, daemon=True)
    thread.start()
    settings.COUNTERSIGN = conf.COUNTERSIGN.model_copy(update={"webhook_hosts": "127.0.0.1"})
    yield served
    served.let_go.set()
    served.server.shutdown()
    served.server.server_close()
    thread.join()


@pytest.fixture
def house() -> make.House:
    return make.house()


def mine(house: make.House, address: str) -> ChatTarget:
    return set_chat(tenant_id=house.tenant.pk, by=house.ben.pk, user_id=house.ben.pk, address=address)


def chat(**more: Any) -> Notification:
    found: Notification = Notification.everywhere.get(channel="chat", **more)
    return found


def test_a_note_arrives_with_its_link_and_no_payload(house: make.House, ntfy: Ntfy) -> None:
    mine(house, ntfy.address)
    action = make.question(house)
    drain(limit=100)
    assert relay(limit=10, lane=CHAT) == 1
    (message,) = ntfy.messages
    assert message["topic"] == "desk-s3cret"
    assert message["title"] == f"To decide: {action.sentence}"
    assert f"/inbox/act_{action.pk.hex}/" in message["message"]
    assert "decides nothing" in message["message"]
    assert "Dear" not in message["message"], "nothing of what would be sent"
    assert chat().status == Notification.Status.SENT


def test_the_chat_of_a_tenant_hears_thin_words(house: make.House, ntfy: Ntfy) -> None:
    """Others read there: no sentence, no name."""
    address = ntfy.address
    set_chat(
        tenant_id=house.tenant.pk, by=house.jonas.pk, user_id=None, address=address, kinds=["waits_for_me"]
    )
    action = make.question(house)
    unknown = make.settle(house)
    drain(limit=100)
    relay(limit=10, lane=CHAT)
    heard = json.dumps(ntfy.messages)
    assert unknown.pk.hex not in heard, "another kind"
    assert action.sentence not in heard
    assert "Something waits for a decision." in heard
    assert f"/inbox/act_{action.pk.hex}/" in heard


def test_an_address_is_sealed_and_never_shown(house: make.House, ntfy: Ntfy) -> None:
    target = mine(house, ntfy.address)
    assert b"s3cret" not in bytes(ChatTarget.everywhere.get().sealed)
    assert "s3cret" not in target.hint
    ntfy.status = 500
    try_chat(tenant_id=house.tenant.pk, by=house.ben.pk, user_id=house.ben.pk)
    relay(limit=10, lane=CHAT)
    said = [
        *Message.objects.values_list("last_error", "payload"),
        *ChatTarget.everywhere.values_list("last_error"),
    ]
    assert "answered 500" in str(said)
    assert "s3cret" not in str(said)


def test_the_test_button_says_that_it_is_one(house: make.House, ntfy: Ntfy) -> None:
    mine(house, ntfy.address)
    try_chat(tenant_id=house.tenant.pk, by=house.ben.pk, user_id=house.ben.pk)
    relay(limit=10, lane=CHAT)
    assert "This is a test" in ntfy.messages[0]["message"]
    assert chat().status == Notification.Status.SENT


@pytest.mark.parametrize("address", ["mailto://a:b@c.example", "https://hooks.example/x", "syslog://", "ntfys://", "file:///etc/passwd", ""])  # fmt: skip
def test_only_known_services_are_taken(address: str, house: make.House) -> None:
    with pytest.raises(Refused):
        mine(house, address)


@pytest.mark.parametrize("address", ["jsons://127.0.0.1/x", "jsons://10.0.0.8/x", "ntfy://ntfy.example/x", "jsons://metadata:8080/"])  # fmt: skip
def test_b76_no_chat_leads_inside(address: str, house: make.House, ntfy: Ntfy, settings: Any) -> None:
    """Guards outbox/chat/line.py `request`: the one way out of the house judges the address, and again when it is told."""
    settings.COUNTERSIGN = conf.COUNTERSIGN.model_copy(update={"webhook_hosts": ""})
    line.begin()
    with pytest.raises(services.NotSent):
        services.send(address, title="t", text="x")
    settings.COUNTERSIGN = conf.COUNTERSIGN.model_copy(update={"webhook_hosts": "127.0.0.1"})
    mine(house, ntfy.address)
    settings.COUNTERSIGN = conf.COUNTERSIGN.model_copy(update={"webhook_hosts": ""})
    try_chat(tenant_id=house.tenant.pk, by=house.ben.pk, user_id=house.ben.pk)
    relay(limit=10, lane=CHAT)
    assert ntfy.messages == []
    assert "not allowed" in ChatTarget.everywhere.get().last_error


def test_no_redirect_is_followed(house: make.House, ntfy: Ntfy) -> None:
    mine(house, ntfy.address)
    ntfy.status = 302
    try_chat(tenant_id=house.tenant.pk, by=house.ben.pk, user_id=house.ben.pk)
    assert relay(limit=10, lane=CHAT) == 0
    assert ntfy.messages == []
    assert "answered 302" in ChatTarget.everywhere.get().last_error


def test_b55_b65_a_chat_that_hangs_delays_no_mail_and_no_decision(
    house: make.House, ntfy: Ntfy, office: PostOffice
) -> None:
    """Guards outbox/routes.py `topics_of` and outbox/notify/spread.py `_key`: chat has a lane and keys of its own. Its
    server says nothing; the mail of the same note arrives, and the question is answered."""
    mine(house, ntfy.address)
    ntfy.let_go.clear()
    action = make.question(house)
    drain(limit=100)

    def tell() -> None:
        with closing(connection):
            relay(limit=10, lane=CHAT)

    hanging = Thread(target=tell)
    hanging.start()
    try:
        drain(limit=10, lane=MAIL)
        assert {letter["To"] for letter in office.letters} == {house.ben.email, house.mira.email}
        again = {"action_id": action.pk, "run_id": action.run_id}
        append(
            topic="action.reminder", key=f"action:{action.pk.hex}", tenant_id=house.tenant.pk, payload=again
        )
        drain(limit=100)
        drain(limit=10, lane=MAIL)
        assert len(office.to(house.ben.email)) == 2, "also the next mail about the same"
        make.answer(action, house.mira, "approve")
        drain(limit=100)
        drain(limit=10, lane=MAIL)
        assert chat(kind="waits_for_me", user=house.ben).status == Notification.Status.PENDING
        assert hanging.is_alive()
    finally:
        ntfy.let_go.set()
        hanging.join()


def test_b65_one_chat_that_refuses_costs_nobody_else_theirs(house: make.House, ntfy: Ntfy) -> None:
    """Guards outbox/notify/chats.py `chats`: each is sent and noted by itself."""
    mine(house, "ntfy://127.0.0.1:1/nobody-is-there")
    set_chat(tenant_id=house.tenant.pk, by=house.mira.pk, user_id=house.mira.pk, address=ntfy.address)
    make.question(house)
    drain(limit=100)
    relay(limit=10, lane=CHAT)
    assert len(ntfy.messages) == 1
    assert chat(user=house.mira).status == Notification.Status.SENT
    waiting = chat(user=house.ben)
    assert waiting.status == Notification.Status.PENDING
    assert "cannot be reached" in waiting.last_error
    assert ChatTarget.everywhere.get(user=house.ben).failing_since is not None
    assert ChatTarget.everywhere.get(user=house.mira).failing_since is None


def test_every_service_of_the_list_is_in_the_library() -> None:
    """Its class is there, and what it calls ``requests`` is ours."""
    for service in services.SERVICES:
        made = services._class(service)
        schemes = {*_listed(made.protocol), *_listed(made.secure_protocol)}
        assert set(service.schemes) <= schemes, service.word
        assert isinstance(vars(__import__(made.__module__, fromlist=["x"]))["requests"], line.Line)


def _listed(found: Any) -> tuple[str, ...]:
    return found if isinstance(found, tuple) else (found,) if found else ()

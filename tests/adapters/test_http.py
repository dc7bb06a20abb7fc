"""What is special about HTTP: addresses, redirects, bodies that break off, and what a status says about an effect."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.adapters.calls import Call, Context, Go
from tests.adapters.far_sides import Scripted
from tests.adapters.far_web import WebServer
from tools import egress, web
from tools.adapters import digits, http
from tools.adapters.base import Answer, Failed, Unknown


@pytest.fixture
def other() -> Iterator[WebServer]:
    server = WebServer()
    yield server
    server.stop()


def call(far: WebServer, *, path: str = "/orders", reads: bool = False, **values: Any) -> Call:
    spec = {
        "target": f"http://127.0.0.1:{far.port}{path}",
        "effect": "read_only" if reads else "irreversible",
        "config": {"method": "GET" if reads else "POST", **values.pop("config", {})},
        "egress": [f"127.0.0.1:{far.port}"],
        **values,
    }
    return Call("http", far, spec, {}, lambda: len(far.effects))


def test_key_and_fence_travel_with_an_effect(web_server: WebServer):
    call(web_server)(go=Go(key="t:l:notice:crm", fence=42))
    sent = web_server.requests[0].headers
    assert sent["Idempotency-Key"] == http.key_header("t:l:notice:crm")
    assert sent["Countersign-Fence"] == "42"
    assert "notice" not in sent["Idempotency-Key"]


@pytest.mark.parametrize("mode", ["busy", "away"])
def test_b67_a_status_that_leaves_it_open_is_unknown(web_server: WebServer, mode):
    """Guards ``tools/adapters/http.py`` (``send``, its last line): 5xx and a redirect after an effect say nothing about it."""
    web_server.mode = mode
    with pytest.raises(Unknown):
        call(web_server)()
    assert len(web_server.requests) == 1, "an effect is never sent on, nor a second time"


@pytest.mark.parametrize("mode", ["huge", "broken", "bomb"])
def test_an_effect_with_a_body_that_cannot_be_read_whole_has_happened(web_server: WebServer, mode):
    web_server.mode = mode
    stored: list[bytes] = []

    class Keeps(Context):
        def store(self, data: Any, **about: Any) -> dict[str, Any]:
            stored.append(data)
            return {"sha256": "…", "size": len(data)}

    answer = call(web_server)(ctx=Keeps())
    assert answer.output["incomplete"] is True
    assert all(len(data) <= http.MAX_ANSWER for data in stored)


@pytest.mark.parametrize(("reads", "ending"), [(False, "happened"), (True, "failed")])
def test_b67_an_answer_that_cannot_be_kept_is_no_second_call(web_server: WebServer, reads, ending):
    """Guards ``tools/adapters/http.py`` (``_answer``): the effect happened, so a storage that is full must not make it
    look as if nobody knew. A read is simply asked again."""
    web_server.mode = "huge"

    class Full(Context):
        def store(self, data: Any, **about: Any) -> dict[str, Any]:
            raise OSError("no space left on device")

    if ending == "happened":
        assert "no space left" in call(web_server)(ctx=Full()).output["not_kept"]
    else:
        with pytest.raises(OSError, match="no space"):
            call(web_server, reads=True)(ctx=Full())
    assert len(web_server.requests) == 1


def test_a_far_side_that_only_ever_announces_an_answer_gives_none():
    def talk(sock: socket.socket) -> None:
        sock.recv(10_000)
        while True:
            sock.sendall(b"HTTP/1.1 102 Processing\r\n\r\n" * 100)

    server = Scripted(talk)
    asked = web.Request("GET", f"http://127.0.0.1:{server.port}/")
    with pytest.raises(web.NoAnswer, match="announced"):
        web.exchange(
            asked, allow_hosts=[f"127.0.0.1:{server.port}"], deadline=egress.Deadline.after(20), cap=100
        )
    server.stop()


@pytest.mark.parametrize("sent", [b"X: " + b"y" * 100_000, b"X: y\r\n" * 20_000])
def test_c27_headers_without_end_are_not_read(sent):
    def talk(sock: socket.socket) -> None:
        sock.recv(10_000)
        sock.sendall(b"HTTP/1.1 200 OK\r\n" + sent)
        sock.recv(10_000)

    server = Scripted(talk)
    asked = web.Request("GET", f"http://127.0.0.1:{server.port}/")
    with pytest.raises(web.NoAnswer):
        web.exchange(
            asked, allow_hosts=[f"127.0.0.1:{server.port}"], deadline=egress.Deadline.after(20), cap=100
        )
    server.stop()


def test_c27_an_address_that_cannot_be_written_down_is_not_called(web_server: WebServer):
    """An effect that was never sent must not count as unknown."""
    with pytest.raises(Failed) as failed:
        call(web_server, path="/bücher")()
    assert failed.value.code == "bad_request"
    assert web_server.requests == []


def test_a_read_whose_answer_breaks_off_has_failed(web_server: WebServer):
    web_server.mode = "broken"
    with pytest.raises(Failed, match="broke off"):
        call(web_server, reads=True)()


@pytest.mark.parametrize("mode", ["busy", "reset", "close", "garbage"])
def test_a_read_without_an_answer_has_failed_and_is_never_unknown(web_server: WebServer, mode):
    web_server.mode = mode
    with pytest.raises(Failed):
        call(web_server, reads=True)()


def test_a_read_goes_after_a_redirect_and_keeps_its_secret_to_itself(web_server, other):
    web_server.mode = "away"
    auth = {"auth": {"secret": "crm"}}
    asked = call(web_server, path=f"/?to=http://127.0.0.1:{other.port}/there", reads=True, config=auth)
    asked.spec |= {
        "secrets": {"crm": "s3cret"},
        "egress": [f"127.0.0.1:{f.port}" for f in (web_server, other)],
    }
    asked()
    assert web_server.requests[0].headers["Authorization"] == "Bearer s3cret"
    assert other.requests[0].path == "/there"
    assert "Authorization" not in other.requests[0].headers


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://a.example@169.254.169.254/",
        "http://169.254.169.254\\@a.example/",
        "//169.254.169.254/",
        "ftp://a.example/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:25/x",
    ],
)
def test_b76_a_redirect_to_where_nothing_may_go_is_not_followed(web_server: WebServer, monkeypatch, to):
    """Guards ``tools/web.py`` (``address``, ``follow``) and ``tools/egress.py`` (``forbidden``): a read may reach any
    public host here, and still nothing connects to the landlord of the machine, however it is written."""
    reached: list[object] = []
    real = socket.socket.connect

    def connect(sock: socket.socket, address: Any) -> None:
        reached.append(address)
        real(sock, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    hidden = egress.forbidden
    monkeypatch.setattr(
        egress, "forbidden", lambda address: "" if address == "127.0.0.1" else hidden(address)
    )
    monkeypatch.setattr(web, "PORTS", {"http": web_server.port, "https": 443})
    monkeypatch.setattr(egress.checked, "__kwdefaults__", {"ports": (80, 443, web_server.port)})
    monkeypatch.setattr(egress.connect, "__kwdefaults__", {"ports": (80, 443, web_server.port)})
    web_server.mode = "away"
    with pytest.raises(Failed) as failed:
        call(web_server, path=f"/?to={quote(to, safe='')}", reads=True, egress=[])()
    assert failed.value.code in ("egress_forbidden", "bad_address")
    assert reached == [("127.0.0.1", web_server.port)]


def test_b76_a_redirect_is_checked_like_the_first_address(web_server, other):
    """Guards ``tools/web.py`` (``follow``): every hop goes through ``egress.connect`` with the rules of the contract."""
    web_server.mode = "away"
    with pytest.raises(Failed) as failed:
        call(web_server, path=f"/?to=http://127.0.0.1:{other.port}/there", reads=True)()
    assert failed.value.code == "egress_forbidden"
    assert other.requests == []


def test_b76_what_proves_who_we_are_stays_with_its_origin():
    """Guards ``tools/web.py`` (``_redirected``): a key can stand in a header of any name, so only harmless ones move on."""
    names = ("Accept", "Authorization", "Cookie", "Idempotency-Key", "Countersign-Fence", "X-Api-Key")
    asked = web.Request("GET", "https://a.example/x", tuple((name, "v") for name in names))
    assert web._redirected(asked, "/y").headers == asked.headers
    for elsewhere in ("https://b.example/y", "https://a.example:444/y", "https://a.example.b.example/y"):
        assert web._redirected(asked, elsewhere).headers == (("Accept", "v"),)


def test_redirects_come_to_an_end(web_server: WebServer):
    web_server.mode = "away"
    with pytest.raises(Failed) as failed:
        call(web_server, path="/?to=/again", reads=True)()
    assert failed.value.code in ("too_many_redirects", "http_302")
    assert len(web_server.requests) <= web.MAX_REDIRECTS + 1


def test_from_https_nothing_leads_to_http():
    with pytest.raises(web.NotSent, match="not followed"):
        web._redirected(web.Request("GET", "https://a.example/x"), "http://a.example/x")


@pytest.mark.parametrize("value", ["../admin", "a/b", "a?b=c", "a#b", "%2e%2e", "a b\r\nX: y"])
def test_an_argument_in_the_address_stays_one_piece(web_server: WebServer, value):
    asked = call(web_server, path="/orders/{id}", reads=True)
    asked.arguments = {"id": value}
    asked()
    path = web_server.requests[0].path
    assert path.startswith("/orders/")
    assert path.count("/") == 2
    assert not set("?#\r\n ") & set(path)


@pytest.mark.parametrize("value", ["", ".", "..", None, True, ["a"], {"a": 1}])
def test_an_address_is_not_made_of_nothing(web_server: WebServer, value):
    asked = call(web_server, path="/orders/{id}", reads=True)
    asked.arguments = {"id": value}
    with pytest.raises(Failed):
        asked()
    assert web_server.requests == []


@pytest.mark.parametrize("value", ["a\r\nX-Admin: yes", "a\x00b", "é"])
def test_an_argument_in_a_header_stays_one_value(web_server: WebServer, value):
    asked = call(web_server, config={"headers": {"X-Account": "account"}})
    asked.arguments = {"account": value}
    with pytest.raises(Failed):
        asked()
    assert web_server.requests == []


def test_where_arguments_go(web_server: WebServer):
    config = {"query": ["dry"], "headers": {"X-Account": "account"}, "reference": "/id"}
    asked = call(web_server, path="/a/{id}", config=config)
    asked.arguments = {"id": 7, "dry": True, "account": "x1", "lines": [{"n": 1}], "note": "zażółć"}
    answer = asked()
    sent = web_server.requests[0]
    assert sent.path == "/a/7?dry=true"
    assert sent.headers["X-Account"] == "x1"
    assert json.loads(sent.body) == {"lines": [{"n": 1}], "note": "zażółć"}
    assert answer.reference == "o-1"


def test_numbers_come_back_digit_for_digit():
    text = (
        b'{"id": 12345678901234567890, "small": 7, "price": 0.1, "rate": 1.00000000000000000001, "odd": NaN}'
    )
    assert digits.parsed(text) == {
        "id": "12345678901234567890",
        "small": 7,
        "price": 0.1,
        "rate": "1.00000000000000000001",
        "odd": "NaN",
    }


def test_without_its_secret_nothing_is_sent(web_server: WebServer):
    with pytest.raises(Failed) as failed:
        call(web_server, config={"auth": {"secret": "crm"}})()
    assert failed.value.code == "secret_missing"
    assert web_server.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "file:///etc/passwd",
        "http://",
        "https://user:pw@a.example/",
        "//a.example",
        "x",
        "http://@a.example/",
        "http://a.example\\@b.example/",
        "http://a.example\t.evil/",
        "http://a.example /",
        "http://a.example:99999/",
        "http://a.example\r\nX: y/",
    ],
)
def test_b76_what_is_no_http_address_is_not_called(url):
    with pytest.raises(Failed) as failed:
        http.prepare({"target": url, "effect": "read_only", "config": {"method": "GET"}}, {}, {})
    assert failed.value.code == "bad_address"


def test_a_read_ends_at_its_limit(web_server: WebServer):
    web_server.mode = "silent"
    asked = call(web_server)
    asked.spec["effect"] = "read_only"
    with pytest.raises(Failed):
        asked(ctx=Context(seconds_left=0.5))


def test_a_long_answer_becomes_a_file(web_server: WebServer, monkeypatch):
    monkeypatch.setattr(http, "MAX_INLINE", 5)

    class Keeps(Context):
        def store(self, data: Any, **about: Any) -> dict[str, Any]:
            return {"size": len(data), **about}

    answer: Answer = call(web_server)(ctx=Keeps())
    assert answer.output["file"]["media_type"] == "application/json"

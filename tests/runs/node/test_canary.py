"""Fault B75, checklist 24 and 25: a credential is planted, the far side repeats it in every way it can, and afterwards it is
nowhere: neither in the database, nor with the broker, in a log, a stored file, a mail, an answer or a page."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest
import redis
from django.conf import settings
from django.core import mail
from django.db import connection

from accounts.ids import public
from accounts.models import Role
from outbox.relay import drain
from outbox.routes import MAIL
from runs import blobs
from runs.models import Artifact, Run, Step
from tests.make import people
from tests.rest.client import Rest
from tests.runs.engine import hands
from tests.runs.node import real
from tests.tools import make
from tools import vault
from tools.models import Intent, Secret

pytestmark = [pytest.mark.crash, pytest.mark.timeout(400)]

CANARY = "canary/7f3a+Zq9&wXr51"
#: What the far side does with the credential that it was shown.
WAYS = ("answer", "text", "long", "refuse", "error", "moved", "away", "cut", "ok")


class Parrot:
    """Repeats what it was sent, in the way that the address asks for."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        parrot = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Nothing."""

            def _say(self) -> None:
                with contextlib.suppress(OSError):
                    parrot.repeat(self)

            do_GET = do_POST = _say  # noqa: N815 - names of the library

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def repeat(self, call: BaseHTTPRequestHandler) -> None:
        call.rfile.read(int(call.headers.get("Content-Length") or 0))
        said = call.headers.get("Authorization", "")
        self.heard.append(said)
        way = call.path.split("?")[0].rsplit("/", 1)[-1]
        status, kind, headers = 200, "application/json", {"X-Seen": said}
        body = json.dumps({"id": said, said: [{"auth": said, "url": f"/?key={quote(said)}"}]}).encode()
        if way == "text":
            kind, body = "text/plain", f"You sent {said}, that is {quote(said, safe='')}.".encode()
        elif way == "long":
            kind, body = "text/plain", (said + " and so on. ").encode() * 20_000
        elif way == "refuse":
            status = 422
        elif way == "error":
            status, body = 500, f"<h1>Failed with {said}</h1>".encode()
        elif way == "cut":
            # The text of an error ends in the middle of the credential.
            status, body = 422, ("x" * 280 + said).encode()
        elif way in ("moved", "away"):
            status, headers = (
                (201 if way == "moved" else 307),
                {"Location": f"/new?key={quote(said, safe='')}"},
            )
        call.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            call.send_header(name, value)
        call.end_headers()
        call.wfile.write(body)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


@pytest.fixture
def parrot() -> Iterator[Parrot]:
    bird = Parrot()
    yield bird
    bird.stop()


def test_b75_a_planted_secret_is_found_nowhere_afterwards(start, who, parrot):
    """Guards ``runs/node/execute.py`` (reports are masked before they leave the child), ``runs/node/tool_context.py`` (files
    are) and ``tools/masking.py``."""
    tenant, ada = who
    jonas = make.person(tenant, Role.ADMINISTRATOR, Role.APPROVER, name="Jonas Weber")
    vault.keep(tenant_id=tenant.pk, name="crm", value=CANARY, by=jonas.pk)
    runs = _runs(tenant, ada, parrot.port)
    node = start()
    real.until(lambda: not _busy(runs), seconds=90, what="every call has come to its end")
    assert {said.removeprefix("Bearer ") for said in parrot.heard} == {CANARY}, "it was really sent"
    assert len(parrot.heard) >= len(WAYS) * 2
    assert {i.status for i in Intent.everywhere.filter(tenant=tenant)} >= {"CONFIRMED", "VOIDED", "UNKNOWN"}
    drain(limit=1000)
    drain(limit=1000, lane=MAIL)
    found = {
        **_database(),
        **_broker(),
        "log": node.text(),
        "mails": "".join(str(letter.message()) for letter in mail.outbox),
        **_pages(jonas, tenant, runs),
        **_files(runs),
    }
    assert {"page /tools/secrets/", "table tools_intent", "table runs_event"} <= set(found)
    assert "(crm)" in found["table tools_intent"], "that something was left out is said"
    for form in (CANARY, quote(CANARY, safe=""), CANARY[:11], base64.b64encode(CANARY.encode()).decode()):
        assert [place for place, text in found.items() if form.lower() in text.lower()] == [], form
    assert Secret.everywhere.get().used_at is not None


def _runs(tenant, ada, port: int) -> list[Run]:
    """One run of calls that read, one of effects: each way once."""
    common = {
        "adapter": "http",
        "isolation": "thread",
        "target": f"http://127.0.0.1:{port}/{{way}}",
        "egress_hosts": [f"127.0.0.1:{port}"],
        "max_attempts": 1,
    }
    auth = {"auth": {"secret": "crm"}, "reference": "/id"}
    make.contract(
        tenant, "drill.noop", **{**common, "effect_class": "read_only", "config": {"method": "GET", **auth}}
    )
    effect = {"effect_class": "compensable", "compensating_tool": "drill.undo", "config": auth}
    make.contract(tenant, "drill.effect", **{**common, **effect})
    made = []
    for tool in ("drill.noop", "drill.effect"):
        # Each in a run of its own: a failure ends a run, and an unknown outcome makes it wait.
        made += [
            hands.script_run(
                tenant, ada, [{"do": "call", "key": way, "tool": tool, "arguments": {"way": way}}]
            )
            for way in WAYS
        ]
    return made


def _busy(runs: list[Run]) -> bool:
    """Not every call has come to an end, or to a doubt."""
    calls = Step.everywhere.filter(run__in=runs, kind="call")
    ended = calls.filter(status__in=["SUCCEEDED", "FAILED", "UNKNOWN"])
    return ended.count() < len(runs)


def _database() -> dict[str, str]:
    """Every table, row by row, as text; bytes both as they are and as hexadecimal digits."""
    found = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            text = "\n".join(row for (row,) in cursor.fetchall())
            digits = text.replace(CANARY.encode().hex(), CANARY)
            found[f"table {table}"] = digits
    return found


def _broker() -> dict[str, str]:
    client = redis.Redis.from_url(settings.CELERY_BROKER_URL)
    keys = list(client.scan_iter("*"))
    found = {f"broker {key!r}": repr(client.dump(key)) for key in keys}
    client.close()
    return found


def _files(runs: list[Run]) -> dict[str, str]:
    """What calls have stored as files."""
    rows = Artifact.everywhere.filter(run__in=runs)
    return {f"file {row.name} {row.pk}": blobs.open(row.uri).read().decode("latin-1") for row in rows}


def _pages(jonas, tenant, runs: list[Run]) -> dict[str, str]:
    browser, rest = people.browser(jonas), Rest(jonas, tenant, "read")
    paths = ["/tools/", "/tools/secrets/", "/tools/drill.effect/", "/tools/drill.effect/history/", "/audit/"]
    paths += ["/inbox/", "/metrics"]
    calls = ["inbox/"]
    for run in runs:
        name = public("run", run.pk)
        paths += [f"/tasks/{name}/", f"/tasks/{name}/steps/", f"/tasks/{name}/history/"]
        calls += [f"tasks/{name}/", f"tasks/{name}/steps/", f"tasks/{name}/events/", f"tasks/{name}/results/"]
    found = {f"page {path}": browser.get(path, follow=True).content.decode() for path in paths}
    return {**found, **{f"rest {path}": rest.get(path).content.decode() for path in calls}}

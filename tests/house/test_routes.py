"""Every address of the house × who knocks (faults B58 and B74). The table is compared with the URL conf: an address that
nobody thought about fails here, before it is mounted anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts import ids, letters, tokens
from accounts.models import TokenScope, User
from accounts.verbs.invite import invite
from outbox.models import Message, Notification, WebhookDelivery, WebhookEndpoint
from runs.models import Artifact
from runs.routing import websocket_urlpatterns
from tests.house.routes import ADMINISTRATOR, APPROVER, OPEN, ROUTES, SUBMITTER, TOKEN
from tests.make import people, rights
from tests.make import runs as make
from tools.models import Intent

SOCKETS = {"ws/runs/<run:run_id>/", "ws/tasks/", "ws/inbox/", "ws/notes/"}
METHODS = ("get", "post", "put", "patch", "delete")


def walk(resolver: URLResolver, names: str = "", path: str = "") -> Iterator[tuple[str, str, URLPattern]]:
    """(name with its namespace, path, pattern) of every address below."""
    for pattern in resolver.url_patterns:
        below = path + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = f"{names}{pattern.namespace}:" if pattern.namespace else names
            yield from walk(pattern, inner, below)
        else:
            yield f"{names}{pattern.name}", below, pattern


FOUND = {name: (path, pattern) for name, path, pattern in walk(get_resolver())}


def test_b58_no_address_is_unknown() -> None:
    """Guards config/urls.py: whoever mounts something says here who may enter."""
    assert set(FOUND) - set(ROUTES) == set(), "new addresses: say in ROUTES who may enter"
    assert set(ROUTES) - set(FOUND) == set(), "addresses that are gone"
    assert len(FOUND) == sum(1 for _ in walk(get_resolver())), "two addresses share a name"
    assert {str(pattern.pattern) for pattern in websocket_urlpatterns} == SOCKETS


@dataclass
class World:
    """One tenant with something behind every kind of id, and who knocks."""

    house: make.House
    ids: dict[str, str]
    tokens: dict[str, str] = field(default_factory=dict)

    def address(self, name: str) -> str:
        path, pattern = FOUND[name]
        prefix = path.removesuffix(str(pattern.pattern))
        for converter in pattern.pattern.converters:
            for form in (
                f"<{kind}:{converter}>"
                for kind in (
                    "run",
                    "artifact",
                    "intent",
                    "action",
                    "webhook",
                    "delivery",
                    "sha256",
                    "uuid",
                    "str",
                    "slug",
                )
            ):
                path = path.replace(form, self.ids[converter])
        if name == "account_reset_password_from_key":
            return f"/{prefix}sign-in/reset/0-guess/"
        return "/" + path.replace("^(?P<rest>.*)$", "anything")

    def has_id(self, name: str) -> bool:
        return "<" in FOUND[name][0] and ROUTES[name] != OPEN

    def token(self, user: User, *scopes: str) -> dict[str, Any]:
        key = f"{user.pk}{scopes}"
        if key not in self.tokens:
            tenant = self.house.tenant if user.pk != self.house.otto.pk else self.house.other
            made = tokens.issue(user_id=user.pk, tenant_id=tenant.pk, name="test", scopes=scopes)
            self.tokens[key] = made[1]
        return {"HTTP_AUTHORIZATION": f"Bearer {self.tokens[key]}", "HTTP_IDEMPOTENCY_KEY": "k" * 20}


@pytest.fixture
def world(transactional_db: None) -> World:
    house = make.house()
    run = house.reviewed()
    report = Artifact.everywhere.get(run=run, name="report.md")
    invitation = invite(
        tenant_id=house.tenant.pk, actor_id=house.jonas.pk, email="nia@new.example", roles=["submitter"]
    )
    endpoint = WebhookEndpoint.everywhere.create(
        tenant=house.tenant, name="ERP", url="https://erp.example/", active=False
    )
    delivery = WebhookDelivery.everywhere.create(
        tenant=house.tenant, endpoint=endpoint, event_id=ids.new_id(), type="run.failed"
    )
    message = Message.objects.create(tenant=house.tenant, topic="alert.raised", dead_at=Now())
    note = Notification.everywhere.create(
        tenant=house.tenant, user=house.ada, event_id=ids.new_id(), channel="page", status="sent"
    )
    token, _ = tokens.issue(user_id=house.ada.pk, tenant_id=house.tenant.pk, name="t", scopes=["read"])
    return World(
        house,
        {
            "run_id": ids.public("run", run.pk),
            "artifact_id": ids.public("artifact", report.pk),
            "sha256": report.sha256,
            "document": "ab" * 32,
            "finding": "governing_law-1",
            "action_id": ids.public("pendingaction", house.action(run).pk),
            "membership_id": str(people.membership(house.tenant, house.ada).pk),
            "invitation_id": str(invitation.pk),
            "group_id": str(rights.group(house.tenant, "Finance", house.ben).pk),
            "absence_id": str(rights.absence(house.tenant, house.ben).pk),
            "token_id": str(token.pk),
            "endpoint_id": str(endpoint.pk),
            "delivery_id": str(delivery.pk),
            "message_id": str(message.pk),
            "note_id": str(note.pk),
            "tenant_id": str(house.tenant.pk),
            "intent_id": ids.public("intent", Intent.everywhere.filter(run_id=run.pk)[0].pk),
            "sample_id": str(ids.new_id()),
            "report_id": str(ids.new_id()),
            "batch": str(ids.new_id()),
            "secret": letters.invitation_secret(invitation.pk),
            "name": "mail.send",
        },
    )


def read(answer: Any) -> Any:
    """Take a file that is sent in pieces to its end, so that it is closed."""
    if answer.streaming:
        b"".join(answer.streaming_content)
    return answer


def knock(client: Client, address: str, **headers: Any) -> dict[str, int]:
    """The status of every method; what leads to the sign-in page counts as 401."""
    found = {}
    for method in METHODS:
        body = (
            {"data": "{}", "content_type": "application/json"}
            if "/api/" in address and method != "get"
            else {}
        )
        answer = getattr(client, method)(address, **body, **headers)
        read(answer)
        to_door = answer.status_code in {302, 303} and answer["Location"].startswith("/sign-in/")
        found[method] = 401 if to_door else answer.status_code
    return found


def answered(statuses: dict[str, int]) -> dict[str, int]:
    """Without the methods that the address does not have."""
    return {method: status for method, status in statuses.items() if status != 405}


def test_b58_strangers_come_no_further_than_the_door(world: World) -> None:
    """Guards accounts/access.py `member` on every page and the permission classes of the REST interface."""
    client = people.browser()
    for name, who in ROUTES.items():
        if name not in FOUND:
            continue
        statuses = answered(knock(client, world.address(name)))
        assert statuses, name
        if who == OPEN:
            assert max(statuses.values()) < 500, (name, statuses)
        else:
            assert set(statuses.values()) <= {401, 403}, (name, statuses)
            assert 401 in statuses.values() or name == "runs:upload", (name, statuses)


def test_b74_another_tenant_finds_nothing(world: World) -> None:
    """Guards accounts/scope.py `TenantManager`: with every role and every scope, a foreign id is no id."""
    client = people.browser(world.house.otto)
    headers = world.token(world.house.otto, *TokenScope.values)
    for name, who in ROUTES.items():
        if name in FOUND and world.has_id(name):
            knocker, more = (people.browser(), headers) if who == TOKEN else (client, {})
            statuses = answered(knock(knocker, world.address(name), **more))
            assert set(statuses.values()) == {404}, (name, statuses)


def test_the_ids_are_real(world: World) -> None:
    """Else every 404 above would prove nothing."""
    client = people.browser(world.house.jonas)
    headers = world.token(world.house.ada, "read", "submit")
    reading = [name for name in FOUND if world.has_id(name) and ROUTES[name] == TOKEN]
    for name in ("api:task", "api:steps", "api:events", "api:results", "api:content", "api:action"):
        assert name in reading
        answer = read(people.browser().get(world.address(name), **headers))
        assert answer.status_code == 200, (name, answer.status_code)
    pages = ["task_detail", "steps", "history", "history_export", "download", "file", "printable", "cancel"]
    for name in [*(f"runs:{page}" for page in pages), "accounts:person", "accounts:group", "accounts:away_of", "approvals:action", *(f"outbox:{page}" for page in ("webhook", "delivery"))]:  # fmt: skip
        answer = read(client.get(world.address(name)))
        assert answer.status_code == 200, (name, answer.status_code)


def test_c10_every_answer_carries_the_policy(world: World) -> None:
    """Guards config/settings.py CONTENT_SECURITY_POLICY and its middleware: pages, fragments, files, errors, the API."""
    headers = world.token(world.house.jonas, "read")
    known, stranger = people.browser(world.house.jonas), people.browser()
    answers = {}
    for name, who in ROUTES.items():
        if name in FOUND:
            client, more = (stranger, headers) if who == TOKEN else (known, {})
            answers[name] = client.get(world.address(name), **more)
            answers[f"{name}, stranger"] = stranger.get(world.address(name))
    answers["404"] = known.get("/nothing/here/")
    answers["403"] = people.browser(world.house.ada).get("/people/")
    answers["405"] = known.delete("/inbox/")
    answers["csrf"] = Client(enforce_csrf_checks=True).post("/sign-in/", {"login": "a@b.example"})
    answers["host"] = stranger.get("/sign-in/", HTTP_HOST="evil.example")
    for name, answer in answers.items():
        policy = read(answer).headers.get("Content-Security-Policy", "")
        assert "frame-ancestors 'none'" in policy or "sandbox" in policy, (name, answer.status_code, policy)
        assert "unsafe" not in policy, (name, policy)


def test_b74_a_lesser_role_is_refused(world: World) -> None:
    """Guards the roles named at each view."""
    lesser = {
        ADMINISTRATOR: [world.house.ada, world.house.ben],
        APPROVER: [world.house.ada],
        SUBMITTER: [world.house.ben],
    }
    for name, who in ROUTES.items():
        for user in lesser.get(who, []) if name in FOUND else []:
            statuses = answered(knock(people.browser(user), world.address(name)))
            assert set(statuses.values()) == {403}, (name, user.name, statuses)


def test_b74_a_token_does_what_it_was_made_for(world: World) -> None:
    """Guards accounts/api_auth.py `needs`: a scope that was not granted opens nothing, and `decide` least of all."""
    ben = world.house.ben
    reading = world.token(ben, "read")
    for name, who in ROUTES.items():
        if who == TOKEN and name in FOUND:
            statuses = knock(people.browser(), world.address(name), **reading)
            writing = {status for method, status in answered(statuses).items() if method != "get"}
            assert writing <= {403}, (name, statuses)
    deciding = answered(
        knock(people.browser(), world.address("api:decide"), **world.token(ben, "read", "submit"))
    )
    assert set(deciding.values()) == {403}
    blind = answered(knock(people.browser(), world.address("api:tasks"), **world.token(ben, "submit")))
    assert blind["get"] == 403


def test_who_holds_no_membership_sees_no_page(world: World) -> None:
    loner = User.objects.create_user("loner@nowhere.example", people.PASSWORD, name="Loner")
    for name, who in ROUTES.items():
        if name in FOUND and who in {SUBMITTER, APPROVER, ADMINISTRATOR}:
            statuses = answered(knock(people.browser(loner), world.address(name)))
            assert set(statuses.values()) == {403}, (name, statuses)


def test_b78_odd_text_in_an_address_breaks_no_page(world: World) -> None:
    """NUL, half characters and text where a number belongs: 4xx or an empty list, never a 500 (B78, B79)."""
    names = (
        "q",
        "before",
        "after",
        "page",
        "status",
        "tab",
        "cursor",
        "limit",
        "agent",
        "sort",
        "next",
        "verdict",
    )
    headers = world.token(world.house.jonas, "read", "submit")
    client = people.browser(world.house.jonas)
    client.raise_request_exception = False
    stranger = people.browser()
    stranger.raise_request_exception = False
    for odd in ("%00", "%ED%A0%80", "%FF", "a%0D%0Ab", "9" * 400):
        query = "&".join(f"{name}={odd}" for name in names)
        for name, who in ROUTES.items():
            if name in FOUND:
                knocker, more = (stranger, headers) if who == TOKEN else (client, {})
                answer = read(knocker.get(f"{world.address(name)}?{query}", **more))
                assert answer.status_code < 500, (name, odd)
    for path in (
        "/invitation/%00/",
        "/inbox/%00/",
        "/inbox/act_%00/",
        "/tasks/run_%00/",
        "/sign-in/reset/0-%00/",
    ):
        assert read(client.get(path)).status_code < 500, path
    forms = {
        "/sign-in/": ("login", "password"),
        "/sign-in/reset/": ("email",),
        "/people/add/": ("name", "email", "password", "roles"),
        "/people/invite/": ("email", "name", "roles"),
        "/settings/profile/": ("name", "language", "time_zone"),
        "/settings/tokens/": ("name", "scopes", "lifetime"),
        "/i18n/language/": ("language", "next"),
        "/tasks/new/": ("goal", "agent", "notify", "submit_key"),
        "/tasks/cancel/": ("run", "reason", "confirmed"),
    }
    for path, fields in forms.items():
        for odd in ("a\x00b", "9" * 400):
            for knocker in (client, stranger):
                answer = read(knocker.post(path, dict.fromkeys(fields, odd)))
                assert answer.status_code < 500, (path, odd)

"""The matrix of channels × rules, generated: each cell is refused with the right status, and not one row has changed.

Guards approvals/decide.py, approvals/decide_many.py, approvals/take_back.py and the doors in front of them. The link in a
mail opens the page and is no channel; what else is mounted at the desk meets the rules that need no body (``ROUTES``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import URLPattern

from accounts.models import ApiToken, Membership, Tenant, User
from approvals import urls as pages
from approvals.api import urls as doors
from approvals.models import Decision, PendingAction
from tests.approvals.knocks import CHANNELS, Knock, grant, knock, picture
from tests.make import approvals as make
from tests.make import people, rights

pytestmark = pytest.mark.django_db

PAGE, REST, SESSION, BATCH, BACK, REST_BACK = CHANNELS
DECIDING = (PAGE, REST, BATCH)
Change = Callable[[Knock], Knock]


def _set(one: Knock, **values: object) -> Knock:
    PendingAction.everywhere.filter(pk=one.action.pk).update(**values)
    return one


def _roles(one: Knock) -> Knock:
    make.roles(one.house, one.user, "submitter")
    return one


def _submitter(one: Knock) -> Knock:
    house = one.house
    make.roles(house, house.ada, "submitter", "approver")
    return replace(
        one,
        user=house.ada,
        client=people.browser(house.ada),
        token=grant(house.ada, house.tenant.pk, ["read", "decide", "decide_high_risk"]),
    )


def _outsider(one: Knock) -> Knock:
    otto = one.house.otto
    return replace(
        one,
        user=otto,
        client=people.browser(otto),
        token=grant(
            otto, Membership.everywhere.get(user=otto).tenant_id, ["read", "decide", "decide_high_risk"]
        ),
    )


def _disabled(one: Knock) -> Knock:
    User.objects.filter(pk=one.user.pk).update(is_active=False)
    return one


def _left(one: Knock) -> Knock:
    Membership.everywhere.filter(user=one.user).update(disabled_at=Now())
    return one


def _tenant_off(one: Knock) -> Knock:
    Tenant.objects.filter(pk=one.house.tenant.pk).update(active=False)
    return one


def _grouped(one: Knock) -> Knock:
    rights.group(one.house.tenant, "Treasury", one.house.mira)
    return _set(one, policy={**make.POLICY, "group": "Treasury"})


def _decided(one: Knock) -> Knock:
    make.answer(one.action, one.house.mira, "reject")
    return one


def _superseded(one: Knock) -> Knock:
    newer = make.question(one.house)
    PendingAction.everywhere.filter(pk=newer.pk).update(successor_of=one.action)
    return one


def _token(one: Knock, *scopes: str, **values: object) -> Knock:
    plain = grant(one.user, one.house.tenant.pk, list(scopes)) if scopes else one.token
    if values:
        ApiToken.everywhere.filter(digest=_digest(plain)).update(**values)
    return replace(one, token=plain)


def _digest(plain: str) -> bytes:
    from accounts import tokens

    return tokens._digest(plain)


def _old(one: Knock) -> Knock:
    one.user.set_password(people.PASSWORD)
    one.user.save()
    one.client.force_login(one.user, backend="django.contrib.auth.backends.ModelBackend")
    people.prove(one.client, one.user, ago=10**6)
    return replace(_token(one, "read", "decide"), fresh=False)


def _csrf(one: Knock) -> Knock:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = one.client.cookies
    return replace(one, client=strict)


def _reject(one: Knock) -> Knock:
    return replace(one, given={**one.given, "verdict": "reject", "comment": " "})


#: Rule → how the world is changed → the status in each channel. Where a channel is not named, the rule means nothing there.
RULES: dict[str, tuple[Change, Mapping[str, int]]] = {
    "not signed in": (
        lambda one: replace(one, signed_in=False),
        {PAGE: 401, REST: 401, BACK: 401, REST_BACK: 401},
    ),
    "a session at the REST door": (lambda one: one, {SESSION: 401}),
    "another tenant": (_outsider, {PAGE: 404, REST: 404, BATCH: 403, BACK: 404, REST_BACK: 404}),
    "no role": (_roles, {PAGE: 403, REST: 403, BATCH: 403, BACK: 403, REST_BACK: 403}),
    "submitter": (_submitter, dict.fromkeys(DECIDING, 403)),
    "editor": (lambda one: _set(one, editors=[one.user.pk]), dict.fromkeys(DECIDING, 403)),
    "disabled user": (_disabled, {PAGE: 401, REST: 401, BATCH: 403, BACK: 401, REST_BACK: 401}),
    "left the tenant": (_left, {PAGE: 403, REST: 401, BATCH: 403, BACK: 403, REST_BACK: 401}),
    "disabled tenant": (_tenant_off, {PAGE: 403, REST: 401, BATCH: 403, BACK: 403, REST_BACK: 401}),
    "not in the group": (_grouped, {PAGE: 403, REST: 403, BATCH: 403, BACK: 403, REST_BACK: 403}),
    "handed to another": (
        lambda one: _set(one, assignee=one.house.mira),
        {PAGE: 403, REST: 403, BATCH: 403, BACK: 403, REST_BACK: 403},
    ),
    "wrong digest": (lambda one: replace(one, digest="0" * 64), {PAGE: 409, REST: 412, BATCH: 412}),
    "wrong generation": (lambda one: replace(one, generation=7), {PAGE: 409, REST: 412, BATCH: 412}),
    "nothing was seen": (lambda one: replace(one, match=False), {PAGE: 422, REST: 428, BATCH: 412}),
    "expired": (
        lambda one: _set(one, expires_at=Now() - timedelta(seconds=1)),
        {PAGE: 409, REST: 409, BATCH: 409},
    ),
    "decided already": (_decided, {PAGE: 409, REST: 409, BATCH: 409, BACK: 409, REST_BACK: 409}),
    "superseded": (_superseded, {PAGE: 409, REST: 409, BATCH: 409}),
    "a token that does not decide": (lambda one: _token(one, "read", "submit"), {REST: 403, REST_BACK: 403}),
    "a token that has ended": (
        lambda one: _token(one, expires_at=Now() - timedelta(seconds=1)),
        {REST: 401, REST_BACK: 401},
    ),
    "a token that was revoked": (lambda one: _token(one, revoked_at=Now()), {REST: 401, REST_BACK: 401}),
    "no proof of late": (_old, {PAGE: 401, REST: 403, BATCH: 401}),
    "no secret of the form": (_csrf, {PAGE: 403, BACK: 403}),
    "GET": (
        lambda one: replace(one, method="get"),
        {PAGE: 405, REST: 405, BACK: 405, REST_BACK: 405},
    ),
    "HEAD": (
        lambda one: replace(one, method="head"),
        {PAGE: 405, REST: 405, BACK: 405, REST_BACK: 405},
    ),
    "malformed": (lambda one: replace(one, body=b'{"verdict": '), {PAGE: 422, REST: 400, REST_BACK: 400}),
    "no gesture": (
        lambda one: replace(one, given={**one.given, "gesture": ""}),
        dict.fromkeys(DECIDING, 422),
    ),
    "no comment": (_reject, dict.fromkeys(DECIDING, 422)),
    "no such answer": (
        lambda one: replace(one, given={**one.given, "verdict": "expire"}),
        {PAGE: 422, REST: 400, BATCH: 422},
    ),
}
CELLS = [(channel, rule) for rule, (_, expected) in RULES.items() for channel in expected]


@pytest.fixture
def house() -> make.House:
    return make.house()


def asked(house: make.House, channel: str) -> Knock:
    action = make.question(house, second_gesture=make.ADDRESS)
    if channel in (BACK, REST_BACK):
        make.answer(action, house.ben, "approve")
    return knock(house, make.again(action), house.ben)


@pytest.mark.parametrize(("channel", "rule"), CELLS, ids=[f"{channel}: {rule}" for channel, rule in CELLS])
def test_c05_a_cell_is_refused_and_nothing_has_changed(house: make.House, channel: str, rule: str) -> None:
    """Guards the whole way of an answer: rights of this moment, what was seen, form, time, proof."""
    change, expected = RULES[rule]
    if rule == "decided already" and channel in (BACK, REST_BACK):
        action = make.question(house, second_gesture=make.ADDRESS)
        one = change(knock(house, action, house.ben))
    else:
        one = change(asked(house, channel))
    before = picture()
    status, said = CHANNELS[channel](one)
    assert status == expected[channel], said[-600:]
    assert picture() == before
    if rule == "decided already" and channel == REST:
        assert '"first":{"verdict":"reject"' in said
    if rule == "decided already" and channel == PAGE:
        assert "Mira Sandoval was faster" in said
    if rule == "superseded" and channel == REST:
        assert f"act_{PendingAction.everywhere.get(successor_of=one.action).pk.hex}" in said


@pytest.mark.parametrize("channel", [*DECIDING, BACK, REST_BACK])
def test_the_same_knock_in_order_is_let_in(house: make.House, channel: str) -> None:
    """Else every refusal above would prove nothing."""
    status, said = CHANNELS[channel](asked(house, channel))
    assert status in {200, 302}, said[-600:]
    assert Decision.everywhere.exists()


def test_every_channel_has_its_cells() -> None:
    assert {channel for channel, _ in CELLS} == set(CHANNELS)


ROUTES = [
    (prefix, pattern)
    for prefix, patterns in (("/inbox/", pages.urlpatterns), ("/api/v1/", doors.urlpatterns))
    for pattern in patterns
    if "action_id" in str(pattern.pattern)
]


@pytest.mark.parametrize(("prefix", "pattern"), ROUTES, ids=[f"{p}{r.pattern}" for p, r in ROUTES])
@pytest.mark.parametrize("who", ["nobody", "another tenant", "a session without its secret"])
def test_c03_whatever_is_mounted_at_the_desk_refuses_strangers(
    house: make.House, prefix: str, pattern: URLPattern, who: str
) -> None:
    """Guards every route of approvals/urls.py and approvals/api/urls.py, those to come too."""
    one = asked(house, PAGE)
    rest = prefix.startswith("/api/")
    if who == "another tenant":
        one = _outsider(one)
    client = one.client if who != "nobody" else people.browser()
    if who == "a session without its secret":
        client = _csrf(one).client
    headers: Any = {"HTTP_AUTHORIZATION": f"Bearer {one.token}"} if rest and who == "another tenant" else {}
    path = prefix + str(pattern.pattern)
    for form in ("<str:action_id>", "<action:action_id>"):
        path = path.replace(form, f"act_{one.action.pk.hex}")
    before = picture()
    answer = client.post(path, "{}", content_type="application/json", HTTP_IDEMPOTENCY_KEY="k", **headers)
    allowed = {"another tenant": {404, 405}}.get(who, {401, 403, 405})
    to_door = answer.headers.get("Location", "").startswith("/sign-in/")
    assert (401 if to_door else answer.status_code) in allowed, (path, answer.status_code)
    assert picture() == before

"""The ways in which an answer, or its taking back, can arrive; each tells one status and one code of a refusal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.test import Client

from accounts import tokens
from accounts.models import ApiToken, User
from approvals import links
from approvals.decide_many import Row, decide_many
from approvals.errors import BadAnswer, DeskError, NeedsProof, NotAllowed, RowRefused, Stale
from approvals.models import PendingAction
from tests.make import approvals as make
from tests.make import people

#: What must stay as it is when an answer is refused.
TABLES = (
    "approvals_pendingaction",
    "approvals_decision",
    "tools_intent",
    "accounts_auditentry",
    "accounts_audithead",
    "outbox_message",
)


@dataclass
class Knock:
    """One person with a question before them. ``client`` and ``token`` were got while everything was in order."""

    house: make.House
    action: PendingAction
    user: User
    client: Client
    token: str
    digest: str
    generation: int
    given: dict[str, str]
    signed_in: bool = True
    match: bool = True
    fresh: bool = True
    body: bytes | None = None
    method: str = "post"
    headers: dict[str, str] = field(default_factory=dict)


def knock(house: make.House, action: PendingAction, user: User) -> Knock:
    """Somebody who has opened the question and is about to approve it."""
    scopes = ["read", "decide", "decide_high_risk"]
    given = {"verdict": "approve", "gesture": action.second_gesture, "comment": ""}
    return Knock(
        house=house,
        action=action,
        user=user,
        client=people.browser(user),
        token=grant(user, house.tenant.pk, scopes),
        digest=action.digest,
        generation=action.generation,
        given=given,
    )


def grant(user: User, tenant_id: Any, scopes: list[str]) -> str:
    """A token whose making asks nobody: the right to it may be gone by now."""
    made = tokens.MARK + user.pk.hex + "".join(scopes)
    ApiToken.everywhere.create(
        tenant_id=tenant_id,
        user=user,
        name="test",
        prefix=made[:12],
        digest=tokens._digest(made),
        scopes=scopes,
    )
    return made


def web(one: Knock) -> tuple[int, str]:
    """The form of the page."""
    seen = {"digest": one.digest, "generation": str(one.generation)} if one.match else {}
    return _page(one, "decide", {**one.given, **seen})


def web_take_back(one: Knock) -> tuple[int, str]:
    """The button that takes an approval back."""
    return _page(one, "take_back", {})


def _page(one: Knock, verb: str, fields: dict[str, str]) -> tuple[int, str]:
    client = one.client if one.signed_in else people.browser()
    people_fields = {} if one.body is not None else fields
    answer = getattr(client, one.method)(links.verb(verb, one.action.pk), people_fields)
    where = answer.headers.get("Location", "")
    if where.startswith("/sign-in/again/"):
        return 401, "proof_needed"
    return (401 if where.startswith("/sign-in/") else answer.status_code), answer.content.decode()


def rest(one: Knock) -> tuple[int, str]:
    """POST /api/v1/actions/…/decide/ with a token."""
    etag: Any = {"HTTP_IF_MATCH": f'"{one.digest}.{one.generation}"'} if one.match else {}
    return _rest(one, "decide", one.given, **etag)


def rest_take_back(one: Knock) -> tuple[int, str]:
    """POST /api/v1/actions/…/take-back/ with a token."""
    return _rest(one, "take-back", {})


def rest_session(one: Knock) -> tuple[int, str]:
    """The REST interface with the cookie of a page: it takes tokens alone."""
    return _rest(
        one, "decide", one.given, client=one.client, HTTP_IF_MATCH=f'"{one.digest}.{one.generation}"'
    )


def _rest(
    one: Knock, verb: str, body: dict[str, str], *, client: Client | None = None, **headers: Any
) -> tuple[int, str]:
    import orjson

    if one.signed_in and client is None:
        headers["HTTP_AUTHORIZATION"] = f"Bearer {one.token}"
    path = f"/api/v1/actions/act_{one.action.pk.hex}/{verb}/"
    sent = {"data": one.body or orjson.dumps(body), "content_type": "application/json"}
    more = sent if one.method == "post" else {}
    answer = getattr(client or Client(), one.method)(path, HTTP_IDEMPOTENCY_KEY="k" * 20, **more, **headers)
    return answer.status_code, answer.content.decode()


def batch(one: Knock) -> tuple[int, str]:
    """The service behind several at once, which its pages and routes call."""
    row = Row(one.action.pk, one.digest if one.match else "", one.generation)
    gesture = "1" if one.given["gesture"] else ""
    try:
        decide_many(
            rows=[row],
            user_id=one.user.pk,
            verdict=one.given["verdict"],
            channel="web",
            authenticated="password",
            fresh=one.fresh,
            comment=one.given["comment"],
            gesture=gesture,
        )
    except DeskError as error:
        inner = error.cause if isinstance(error, RowRefused) else error
        kinds = {NeedsProof: 401, NotAllowed: 403, Stale: 412, BadAnswer: 422}
        return kinds.get(type(inner), 409), inner.code
    return 200, ""


CHANNELS: dict[str, Callable[[Knock], tuple[int, str]]] = {
    "page": web,
    "rest": rest,
    "rest with a session": rest_session,
    "batch": batch,
    "take back": web_take_back,
    "take back, rest": rest_take_back,
}


def picture() -> dict[str, str]:
    """A digest of every row that a refused answer might have touched."""
    found = {}
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(
                f"SELECT coalesce(md5(string_agg(md5(t::text), '' ORDER BY t::text)), '') FROM {table} t"
            )
            found[table] = str(cursor.fetchone()[0])
    return found

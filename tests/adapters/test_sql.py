"""What is special about SQL: one statement, bound arguments, nothing written, values digit for digit, limits, secrets."""

from __future__ import annotations

import socket
import threading
from typing import Any

import psycopg
import pytest

from tests.adapters.calls import Call, Context, Go
from tests.adapters.far_sql import MARK, READER, WRITER, Proxy
from tests.tools import make
from tools.adapters import sql
from tools.adapters.base import Failed
from tools.contradictions import contradictions

PLAIN = f"SELECT id, customer, total FROM orders WHERE id = %(id)s {MARK.decode()}"


def call(far: Proxy, statement: str, arguments: dict[str, Any] | None = None, **values: Any) -> Call:
    """A question through the proxy; ``user`` asks."""
    user = values.pop("user", READER)
    spec = {
        "target": "",
        "effect": "read_only",
        "config": {"statement": statement, "auth": {"secret": "warehouse"}, **values.pop("config", {})},
        "secrets": {"warehouse": far.database.address(far.port, user=user)},
        "egress": [f"127.0.0.1:{far.port}"],
        **values,
    }
    return Call("sql", far, spec, arguments or {}, lambda: far.asked)


def value(far: Proxy, expression: str) -> Any:
    """One value, as the step's output would have it."""
    return call(far, f"SELECT {expression}")().output["rows"][0][0]


def test_rows_come_with_the_names_of_their_columns(database: Proxy):
    answer = call(database, PLAIN, {"id": 1})()
    assert answer.output == {
        "columns": ["id", "customer", "total"],
        "rows": [[1, "Ann", "12.50"]],
        "more": False,
    }
    assert database.asked == 1


@pytest.mark.parametrize(
    "given",
    ["Ann'; DROP TABLE orders; --", "%(id)s", "$1", "\\", "'' OR true", "Ann\n--", "Zoë ☕"],
)
def test_an_argument_is_bound_and_never_becomes_sql(database: Proxy, given):
    """Guards ``tools/adapters/sql_session.py`` (``_rows``): arguments travel beside the statement."""
    asked = call(
        database, "SELECT %(given)s::text, count(*) FROM orders WHERE customer = %(given)s", {"given": given}
    )
    assert asked().output["rows"] == [[given, 0]]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE orders",
        "COMMIT; DROP TABLE orders",
        "SELECT 1 WHERE %(x)s; SELECT 2",
    ],
)
def test_the_server_refuses_a_second_statement(database: Proxy, statement):
    """Guards ``tools/adapters/sql_session.py`` (``_rows``): without arguments too it is the extended protocol that asks."""
    with pytest.raises(Failed) as failed:
        call(database, statement, {"x": True} if "%(x)s" in statement else {})()
    assert failed.value.code == "sql_42601"
    assert value(database, "count(*) FROM orders") == 2


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO orders VALUES (3) RETURNING id",
        "WITH gone AS (DELETE FROM orders RETURNING id) SELECT id FROM gone",
        "SELECT id FROM orders FOR UPDATE",
        "SELECT set_config('transaction_read_only', 'off', true)",
        "SELECT lo_create(0)",
        "CREATE TABLE theirs AS SELECT 1",
        "SET TRANSACTION READ WRITE",
        "COMMIT",
        "DO $$ BEGIN END $$",
        "COPY orders TO STDOUT",
        "SELECT pg_read_file('/etc/passwd')",
        "COPY (SELECT 1) TO PROGRAM 'touch /dev/null'",
        "LISTEN a",
    ],
)
def test_what_does_more_than_read_is_refused_even_to_the_owner_of_the_table(
    database: Proxy, statement, monkeypatch
):
    """Guards ``tools/adapters/sql_session.py`` (``_prepare``): the transaction is read-only by itself; here the check of
    the role is played away."""
    monkeypatch.setattr("tools.adapters.sql_session._FAR_ROLE", "SELECT 'x', false, NULL")
    with pytest.raises(Failed):
        call(database, statement, user=WRITER)()
    assert value(database, "count(*) FROM orders") == 2


def test_a_role_that_may_write_asks_nothing(database: Proxy):
    """Guards ``tools/sql/far_role.sql``: a role of the database that reads is not a matter of trust."""
    with pytest.raises(Failed, match=r"may change public\.orders") as failed:
        call(database, PLAIN, {"id": 1}, user=WRITER)()
    assert failed.value.code == "role_may_write"
    assert database.asked == 0


def test_a_superuser_asks_nothing(database: Proxy):
    with psycopg.connect(database.database.owner, autocommit=True) as db:
        db.execute("CREATE ROLE suite_super SUPERUSER LOGIN PASSWORD 'p:w @'")
    try:
        with pytest.raises(Failed) as failed:
            call(database, PLAIN, {"id": 1}, user="suite_super")()
        assert failed.value.code == "role_may_write"
        as_reader = call(database, PLAIN, {"id": 1}, user="suite_super", config={"role": READER})
        assert as_reader().output["rows"] == [[1, "Ann", "12.50"]]
    finally:
        with psycopg.connect(database.database.owner, autocommit=True) as db:
            db.execute("DROP ROLE suite_super")


@pytest.mark.parametrize(
    ("expression", "stored"),
    [
        ("12.50::numeric", "12.50"),
        ("1e-30::numeric", "0.000000000000000000000000000001"),
        ("'NaN'::numeric", "NaN"),
        ("12345678901234567890::numeric", "12345678901234567890"),
        ("9007199254740991::int8", 9007199254740991),
        ("9223372036854775807::int8", "9223372036854775807"),
        ("0.1::float8", 0.1),
        ("true", True),
        ("NULL", None),
        ("'2026-11-30'::date", "2026-11-30"),
        ("'infinity'::date", "infinity"),
        ("'0044-03-15 BC'::date", "0044-03-15 BC"),
        ("'20000-01-01'::date", "20000-01-01"),
        ("'2026-11-30 08:00:00.5+02'::timestamptz", "2026-11-30T06:00:00.5+00"),
        ("'2026-11-30 08:00'::timestamp", "2026-11-30T08:00:00"),
        ("'infinity'::timestamptz", "infinity"),
        ("'1 month 2 days 3 hours'::interval", "P1M2DT3H"),
        ("'\\x00ff'::bytea", {"bytes": "00ff", "size": 2}),
        ("ARRAY[1.10, 2]::numeric[]", ["1.10", "2"]),
        ("ARRAY[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ('\'{"a": 1.10, "b": 12345678901234567890}\'::json', {"a": 1.1, "b": "12345678901234567890"}),
        ("'null'::jsonb", None),
        ("'[1,10)'::int4range", "[1,10)"),
        ("'10.0.0.0/8'::inet", "10.0.0.0/8"),
        ("'1f0c0e2a-0000-0000-0000-000000000001'::uuid", "1f0c0e2a-0000-0000-0000-000000000001"),
        ("ROW(1, 'a')", "(1,a)"),
        ("'1.00'::float4", 1.0),
    ],
)
def test_values_come_digit_for_digit(database: Proxy, expression, stored):
    assert value(database, expression) == stored
    assert type(value(database, expression)) is type(stored)


@pytest.mark.parametrize(
    ("given", "cast", "stored"),
    [
        (7, "int4", 7),
        (0.1, "numeric", "0.1"),
        ("12.50", "numeric", "12.50"),
        (True, "bool", True),
        (None, "text", None),
        ([1, 2], "int4[]", [1, 2]),
        (["a", "b"], "text[]", ["a", "b"]),
        ([], "text[]", []),
        ({"a": [1]}, "jsonb", {"a": [1]}),
        ([{"a": 1}], "jsonb", [{"a": 1}]),
        (12345678901234567890, "numeric", "12345678901234567890"),
        ("2026-11-30", "date", "2026-11-30"),
    ],
)
def test_arguments_arrive_as_they_are(database: Proxy, given, cast, stored):
    asked = call(database, f"SELECT %(given)s::{cast}", {"given": given})
    assert asked().output["rows"] == [[stored]]


def test_only_so_many_rows_are_taken_and_it_says_so(database: Proxy):
    answer = call(database, "SELECT g FROM generate_series(1, 10000000) g", config={"max_rows": 3})()
    assert answer.output == {"columns": ["g"], "rows": [[1], [2], [3]], "more": True}


def test_as_many_rows_as_are_taken_are_all(database: Proxy):
    answer = call(database, "SELECT g FROM generate_series(1, 3) g", config={"max_rows": 3})()
    assert (len(answer.output["rows"]), answer.output["more"]) == (3, False)


def test_only_so_many_bytes_are_taken_and_it_says_so(database: Proxy):
    answer = call(database, "SELECT repeat('x', 100000) FROM generate_series(1, 100000)")()
    assert answer.output["more"] is True
    assert 1 <= len(answer.output["rows"]) <= sql.MAX_BYTES // 100_000


def test_the_server_ends_what_takes_too_long(database: Proxy):
    with pytest.raises(Failed) as failed:
        call(database, "SELECT pg_sleep(60)")(ctx=Context(seconds_left=0.5))
    assert failed.value.code == "deadline"


def test_a_question_is_taken_back_when_the_step_is_told_to_stop(database: Proxy):
    """Guards ``tools/adapters/sql_session.py`` (``look``): cancel reaches the server, not only the waiting child."""
    ctx = Context(seconds_left=60)
    asked = call(database, f"SELECT pg_sleep(50) {MARK.decode()}")

    def stop() -> None:
        _until(lambda: _busy(database))
        ctx.cancelled = True

    threading.Thread(target=stop).start()
    with pytest.raises(Failed) as failed:
        asked(ctx=ctx)
    assert failed.value.code == "stopped"
    # The word to the server goes over a connection of its own, which the proxy may count a little later.
    _until(lambda: database.cancels == 1)
    _until(lambda: not _busy(database))


def _busy(database: Proxy) -> bool:
    with psycopg.connect(database.database.owner) as db:
        row = db.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE usename = %s AND state = 'active'", (READER,)
        ).fetchone()
    return bool(row and row[0])


def _until(true: Any) -> None:
    pause = threading.Event()
    for _ in range(1500):
        if true():
            return
        pause.wait(0.02)
    raise AssertionError("it never came true")


def test_a_server_that_never_greets_is_left_in_time(database: Proxy):
    database.mode = "mute"
    with pytest.raises(Failed) as failed:
        call(database, PLAIN, {"id": 1})(ctx=Context(seconds_left=0.5))
    assert failed.value.code in ("connect_failed", "deadline")


def test_b76_the_driver_connects_to_the_checked_address_and_never_to_the_name(database: Proxy, monkeypatch):
    """Guards ``tools/adapters/sql_session.py`` (``_connect``): the name is asked for once, by egress; no other resolver
    knows it."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def resolve(name: str, port: int, *rest: Any, **kwargs: Any) -> Any:
        if not name.endswith(".invalid"):
            return real(name, port, *rest, **kwargs)
        asked.append(name)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    made = call(database, PLAIN, {"id": 1}, egress=["warehouse.invalid"])
    made.spec["secrets"]["warehouse"] = database.database.address(database.port, host="warehouse.invalid")
    assert made().output["rows"] == [[1, "Ann", "12.50"]]
    assert asked == ["warehouse.invalid"]


@pytest.mark.parametrize("hosts", [[], ["127.0.0.1:1"], ["localhost"]])
def test_b76_a_database_that_the_contract_does_not_name_is_not_reached(database: Proxy, hosts):
    with pytest.raises(Failed) as failed:
        call(database, PLAIN, {"id": 1}, egress=hosts)()
    assert failed.value.code == "egress_forbidden"


def test_the_environment_of_the_machine_has_no_say(database: Proxy, monkeypatch):
    for name, said in {
        "PGHOST": "/var/run/postgresql", "PGHOSTADDR": "192.0.2.1", "PGPORT": "1", "PGUSER": "postgres",
        "PGOPTIONS": "-c statement_timeout=1", "PGPASSWORD": "x", "PGDATABASE": "postgres", "PGSSLMODE": "verify-full",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, said)
    assert call(database, PLAIN, {"id": 1})().output["rows"] == [[1, "Ann", "12.50"]]


@pytest.mark.parametrize(
    "url",
    [
        "", "x", "mysql://a:b@db/x", "postgresql:///x", "postgresql://a:b@/x", "postgresql://a:b@%2Ftmp/x",
        "postgresql://a:b@one,two/x", "postgresql://db/x", "postgresql://a:b@db", "postgresql://a:b@db/x?host=/tmp",
        "postgresql://a:b@db/x?hostaddr=127.0.0.1", "postgresql://a:b@db/x?service=y", "postgresql://a:b@db/x?sslmode=prefer",
        "postgresql://a:b@db/x?options=-c%20role%3Dpostgres", "postgresql://a:b@db:99999/x", "postgresql://a:b@db/x?y",
    ],
)  # fmt: skip
def test_a_secret_that_is_no_address_is_not_connected_to_nor_repeated(url):
    with pytest.raises(Failed) as failed:
        sql.address(url)
    assert failed.value.code == "bad_address"
    assert not url or len(url) < 3 or url not in failed.value.text


def test_encryption_is_asked_for_unless_the_address_says_otherwise():
    assert sql.address("postgresql://a:b@db/x").sslmode == "require"
    assert sql.address("postgresql://a:b@db/x?sslmode=verify-full").certificate == "system"


def test_no_encryption_where_it_is_asked_for_is_no_question(database: Proxy):
    made = call(database, PLAIN, {"id": 1})
    made.spec["secrets"]["warehouse"] = database.database.address(database.port, mode="require")
    with pytest.raises(Failed) as failed:
        made()
    assert failed.value.code == "connect_failed"


def test_the_password_is_in_no_error(database: Proxy):
    made = call(database, PLAIN, {"id": 1})
    made.spec["secrets"]["warehouse"] = database.database.address(database.port).replace("p%3Aw", "s3cret")
    with pytest.raises(Failed) as failed:
        made()
    assert "s3cret" not in failed.value.text
    scold = call(database, "SELECT 's3cret'::int")
    scold.spec["secrets"]["warehouse"] = database.database.address(database.port)
    with pytest.raises(Failed) as failed:
        scold()
    assert failed.value.code == "sql_22P02"
    assert "p:w @" not in failed.value.text


def test_without_its_secret_nothing_is_asked(database: Proxy):
    with pytest.raises(Failed) as failed:
        call(database, PLAIN, {"id": 1}, secrets={})()
    assert failed.value.code == "secret_missing"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"id": float("inf")}, "no number"), ({"id": 1, "more": 2}, "no argument called 'more'")],
)
def test_arguments_that_the_statement_does_not_take(database: Proxy, arguments, said):
    config = {"statement": PLAIN, "auth": {"secret": "warehouse"}}
    found = sql.misfit("", config, arguments)
    assert found is not None
    assert said in found.text


def test_an_effect_is_never_sent(database: Proxy):
    with pytest.raises(Failed) as failed:
        call(database, PLAIN, {"id": 1}, effect="irreversible")(go=Go())
    assert failed.value.code == "not_read_only"


GOOD: dict[str, Any] = {
    "adapter": "sql", "isolation": "thread", "effect_class": "read_only", "egress_hosts": ["db.example:5432"],
    "config": {"statement": "SELECT %(id)s", "auth": {"secret": "warehouse"}},
    "input_schema": {"type": "object", "properties": {"id": {"type": "integer"}}},
}  # fmt: skip


def test_a_contract_that_can_be_kept_is_published():
    assert contradictions(make.unsaved(**GOOD)) == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"effect_class": "irreversible"}, "sql_effect"),
        ({"isolation": "io"}, "isolation_unfit"),
        ({"egress_hosts": []}, "host_missing"),
        ({"config": {}}, "operation"),
        ({"config": {**GOOD["config"], "statement": "SELECT 5 % 3"}}, "operation"),
        ({"config": {**GOOD["config"], "statement": "SELECT '%(id)d'"}}, "operation"),
        ({"config": {**GOOD["config"], "max_rows": 0}}, "operation"),
        ({"config": {**GOOD["config"], "password": "x"}}, "operation"),
        ({"config": {"statement": "SELECT %(id)s"}}, "operation"),
        ({"input_schema": {}}, "argument_undeclared"),
        ({"input_schema": {"properties": {"id": {}, "name": {}}}}, "argument_unused"),
    ],
)
def test_a_contract_that_cannot_be_kept_is_not_published(changed, code):
    assert code in [problem.code for problem in contradictions(make.unsaved(**{**GOOD, **changed}))]


def test_a_person_sees_the_statement_and_what_is_bound():
    config = {"statement": "SELECT %(b)s, %(a)s, %(b)s", "auth": {"secret": "warehouse"}, "role": "reader"}
    shown = sql.shown("", config, {"a": 1}, {})
    assert shown is not None
    assert shown.part["sql"] == {
        "statement": config["statement"],
        "parameters": [["b", None], ["a", 1]],
        "role": "reader",
        "max_rows": sql.DEFAULT_ROWS,
    }
    assert sql.receiver("", config, {}, "elsewhere") == "warehouse"

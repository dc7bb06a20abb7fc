"""Asks a PostgreSQL database one question, and changes nothing. No Django.

``config`` of the contract holds the statement, with ``%(name)s`` where arguments go; the server binds them, so no argument
ever becomes SQL. The address, with name and password, is a secret: ``postgresql://user:password@host:port/database``. The
transaction is read-only, and so must be the role: one that may write, or a superuser, is refused. Everything that is not an
answer is a failure: a question can be asked again. Why nothing is written: docs/decisions/0024.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tools import egress
from tools.adapters.base import Answer, Context, Failed, Go
from tools.adapters.kind import Declared, Fault, Misfit, Shown, auth_secret
from tools.adapters.kind import words as _

PORT = 5432
MAX_ROWS, DEFAULT_ROWS = 10_000, 500
#: Of the answer, written as JSON; a longer one would not be kept with the step.
MAX_BYTES = 800_000
#: How far a server is trusted without encryption or a certificate is decided by name, never by default.
SSL_MODES = ("disable", "require", "verify-ca", "verify-full")
_PARAMETER = re.compile(r"%\(([A-Za-z_][A-Za-z0-9_]*)\)s")
_CONFIG = {"statement", "auth", "role", "max_rows"}


@dataclass(frozen=True, slots=True)
class Query:
    """``config`` of a contract, checked. ``names``: the arguments of the statement, each once. ``role`` is taken on inside
    the transaction; empty: the role of the secret."""

    statement: str
    names: tuple[str, ...]
    secret: str
    role: str
    max_rows: int


@dataclass(frozen=True, slots=True)
class Address:
    """Where the database is, and who asks. ``certificate``: what vouches for it (libpq's ``sslrootcert``)."""

    host: str
    port: int
    user: str
    password: str
    database: str
    sslmode: str
    certificate: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked question."""

    query: Query
    values: Mapping[str, Any]
    at: Address
    egress: tuple[str, ...]


def query(config: Any) -> Query:
    """The checked form of a contract's ``config``. Raises :class:`Failed` with what is wrong."""
    given = config if isinstance(config, Mapping) else {}
    statement, rows = given.get("statement"), given.get("max_rows", DEFAULT_ROWS)
    wrong = ""
    if unknown := sorted(str(name) for name in set(given) - _CONFIG):
        wrong = f"{unknown[0]} is none of its parts ({', '.join(sorted(_CONFIG))})"
    elif not isinstance(statement, str) or not statement.strip():
        wrong = "there is no statement"
    elif "%" in _PARAMETER.sub("", statement).replace("%%", ""):
        wrong = "an argument is written %(name)s, and a percent sign %%"
    elif not auth_secret(given):
        wrong = "auth names no secret that holds the address of the database"
    elif isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MAX_ROWS:
        wrong = f"max_rows is a number from 1 to {MAX_ROWS}"
    elif not isinstance(given.get("role", ""), str):
        wrong = "role is the name of a role"
    if wrong:
        raise Failed("bad_operation", f"The contract describes no question: {wrong}. Nothing was sent.")
    text = str(statement).strip()
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    return Query(text, names, auth_secret(given)[0], str(given.get("role", "")), int(rows))


def address(url: str) -> Address:
    """The parts of a secret. Raises :class:`Failed`, without a word of the secret."""

    def wrong(what: str) -> Failed:
        form = "postgresql://user:password@host:port/database?sslmode=verify-full"
        return Failed("bad_address", f"The secret is no address like {form}: {what}. Nothing was sent.")

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or PORT
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise wrong("it cannot be read") from None
    mode = options.pop("sslmode", "require")
    certificate = options.pop("sslrootcert", "system" if mode == "verify-full" else "")
    database = unquote(parts.path[1:])
    if parts.scheme not in ("postgresql", "postgres"):
        raise wrong("it begins with something else")
    if not host or "," in parts.netloc or "%" in host:
        raise wrong("it names not exactly one host; a socket of this machine is none")
    if not parts.username or not database or "/" in database:
        raise wrong("it names no user or no database")
    if mode not in SSL_MODES:
        raise wrong(f"sslmode is one of {', '.join(SSL_MODES)}")
    if options:
        raise wrong("besides sslmode and sslrootcert it takes no options")
    user, password = unquote(parts.username), unquote(parts.password or "")
    return Address(host, port, user, password, database, mode, certificate)


def faults(contract: Declared) -> Iterator[Fault]:
    """What speaks against publishing."""
    if contract.effect_class != "read_only":
        text = _("A SQL tool only reads: what changes a database belongs behind its own interface.")
        yield Fault("sql_effect", text, where="effect_class")
    if contract.isolation == "io":
        text = _("A database is asked by blocking calls: its isolation is 'thread' or 'cpu'.")
        yield Fault("isolation_unfit", text, where="isolation")
    if not contract.egress_hosts:
        text = _("A SQL tool needs the host of its database among the hosts that it may reach.")
        yield Fault("host_missing", text, where="egress_hosts")
    try:
        asked = query(contract.config)
    except Failed as wrong:
        yield Fault("operation", _("%(problem)s"), {"problem": wrong.text}, "config")
        return
    schema = contract.input_schema if isinstance(contract.input_schema, Mapping) else {}
    declared = schema.get("properties")
    declared = declared if isinstance(declared, Mapping) else {}
    text = _("The statement takes an argument %(name)s that the input schema does not declare.")
    for name in asked.names:
        if name not in declared:
            yield Fault("argument_undeclared", text, {"name": name}, "input_schema")
    text = _("The input schema declares an argument %(name)s that the statement does not take.")
    for name in declared:
        if name not in asked.names:
            yield Fault("argument_unused", text, {"name": str(name)}, "input_schema")


def misfit(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any]) -> Misfit | None:
    """Why the statement does not take the arguments."""
    try:
        _values(query(config), arguments)
    except Failed as bad:
        return Misfit("$", bad.text)
    return None


def receiver(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], proposed: str) -> str:
    """The database, by the name that the contract gives it, or else by that of its secret."""
    return target or next(iter(auth_secret(config)), "")


def shown(
    target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, str]
) -> Shown | None:
    """``sql`` with statement, parameters (name and value, in the order of the statement), role and max_rows."""
    try:
        asked = query(config)
        values = _values(asked, arguments)
    except Failed:
        return None
    part = {
        "statement": asked.statement,
        "parameters": [[name, values[name]] for name in asked.names],
        "role": asked.role,
        "max_rows": asked.max_rows,
    }
    return Shown({"sql": part})


def prepare(spec: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, Any]) -> Prepared:
    """Checks the question. Raises :class:`Failed`."""
    asked = query(spec.get("config"))
    if spec.get("effect") != "read_only":
        raise Failed("not_read_only", "A SQL tool only reads. Nothing was sent.")
    secrets = spec.get("secrets") or {}
    if asked.secret not in secrets:
        raise Failed("secret_missing", f"There is no secret called {asked.secret!r}. Nothing was sent.")
    return Prepared(
        asked,
        {name: _bound(value) for name, value in _values(asked, arguments).items()},
        address(secrets[asked.secret]),
        tuple(spec.get("egress") or ()),
    )


def send(prepared: Prepared, go: Go | None, ctx: Context) -> Answer:
    """Asks once. The output: ``columns``, ``rows`` (values in their order) and ``more``, when there were more rows than are
    taken."""
    if ctx.lost or ctx.cancelled or ctx.seconds_left <= 0:
        raise Failed("too_late", "The time to ask had passed; nothing was sent.")
    until = egress.Deadline.after(ctx.seconds_left)
    at = prepared.at
    try:
        name, addresses = egress.checked(
            at.host, at.port, allow_hosts=prepared.egress, deadline=until, ports=()
        )
    except egress.EgressRefused as refused:
        raise Failed(refused.code, refused.text) from refused
    # The driver takes time and memory that only a child which asks a database should pay.
    from tools.adapters import sql_session

    session = sql_session.Session(at, name, [address[0] for _, address in addresses], until, ctx)
    return Answer(session.ask(prepared.query, prepared.values))


def _values(asked: Query, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A value for each name of the statement; what is not given is NULL. Raises :class:`Failed`."""
    if unknown := sorted(set(arguments) - set(asked.names)):
        raise Failed(
            "bad_argument", f"The statement takes no argument called {unknown[0]!r}. Nothing was sent."
        )
    for name, value in arguments.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise Failed("bad_argument", f"{name} is no number. Nothing was sent.")
    return {name: arguments.get(name) for name in asked.names}


def _bound(value: Any) -> Any:
    """What is bound: a fraction by its digits, not as the float that JSON made of it."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        return [_bound(each) for each in value]
    return value

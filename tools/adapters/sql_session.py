"""One question to a PostgreSQL database, from the connection to the rows. No Django.

The driver connects to an address that egress has checked, never to a name. It is asked in the extended protocol, in which
the server itself refuses more than one statement. Values come as the server writes them and are not made into anything that
could round or refuse them.
"""

import contextlib
import json
import math
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.adapt import Loader
from psycopg.types.json import Jsonb

from tools import egress
from tools.adapters import digits, sql
from tools.adapters.base import Context, Failed

#: Of each type of an answer but these the text is kept that the server writes.
_LOADED = (
    "bool",
    "int2",
    "int4",
    "int8",
    "oid",
    "float4",
    "float8",
    "bytea",
    "json",
    "jsonb",
    "date",
    "timestamp",
    "timestamptz",
)
_JSON = ("json", "jsonb")
_MOMENTS = ("timestamp", "timestamptz")
_FAR_ROLE = (Path(__file__).resolve().parent.parent / "sql" / "far_role.sql").read_text(encoding="utf-8")
#: How the server writes what it sends, whatever its own configuration says.
_FORMS = {
    "datestyle": "ISO",
    "intervalstyle": "iso_8601",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
}
#: For the request to stop, which is a connection of its own.
_CANCEL_SECONDS = 2.0


class _Stopped(Exception):
    """The step was told to stop, or its time has passed."""


class _Text(Loader):
    def load(self, data: Any) -> Any:
        return bytes(data).decode()


class _Moment(Loader):
    """ISO 8601 takes a T between date and time; ``infinity`` and years before Christ stay as they are."""

    def load(self, data: Any) -> Any:
        text = bytes(data).decode()
        return text if text.endswith("BC") else text.replace(" ", "T", 1)


class _Json(Loader):
    """Digit for digit; what is nested too deep for Python stays text."""

    def load(self, data: Any) -> Any:
        text = bytes(data).decode()
        value = digits.parsed(text)
        return text if value is None and text != "null" else value


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """Looks up while it waits, so that a silent server holds nobody beyond the limit."""

    session: "Session | None" = None

    def wait(self, gen: PQGen[Any], interval: float = 0.1, timeout: float | None = None) -> Any:
        return super().wait(self._watched(gen), interval=interval, timeout=timeout)

    def cancel_safe(self, *, timeout: float = _CANCEL_SECONDS) -> None:
        super().cancel_safe(timeout=min(timeout, _CANCEL_SECONDS))

    def _watched(self, gen: PQGen[Any]) -> Generator[Any, Any, Any]:
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if self.session is not None:
                    self.session.look()
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value


class Session:
    """``addresses`` are those that may be connected to; ``name`` is what the certificate must be good for."""

    def __init__(
        self, at: sql.Address, name: str, addresses: Sequence[str], until: egress.Deadline, ctx: Context
    ) -> None:
        self.at, self.name, self.addresses, self.until, self.ctx = at, name, addresses, until, ctx

    def ask(self, query: sql.Query, values: Mapping[str, Any]) -> dict[str, Any]:
        """The answer. Raises :class:`Failed`, whatever goes wrong: nothing was changed."""
        try:
            db = self._connect()
        except psycopg.Error as error:
            raise Failed("connect_failed", f"The database cannot be reached: {self._words(error)}") from None
        try:
            self._prepare(db, query)
            return self._rows(db, query, values)
        except _Stopped:
            if self.ctx.cancelled or self.ctx.lost:
                raise Failed("stopped", "It was told to stop, and the question was taken back.") from None
            raise Failed("deadline", "The database did not answer in time.") from None
        except errors.QueryCanceled:
            raise Failed("deadline", "The database gave the question up: it took too long.") from None
        except psycopg.Error as error:
            raise self._refused(error) from None
        except (UnicodeError, ValueError, TypeError) as error:
            raise Failed("bad_answer", f"The answer cannot be read: {self._words(error)}") from None
        finally:
            db.close()

    def _connect(self) -> _Connection:
        at = self.at
        # Everything that the environment or a file of the machine could say otherwise is said here.
        return _Connection.connect(
            host=",".join([self.name] * len(self.addresses)),
            hostaddr=",".join(self.addresses),
            port=str(at.port),
            user=at.user,
            password=at.password,
            passfile=os.devnull,
            dbname=at.database,
            sslmode=at.sslmode,
            sslrootcert=at.certificate,
            gssencmode="disable",
            options="",
            target_session_attrs="any",
            client_encoding="utf8",
            application_name="countersign",
            connect_timeout=max(2, math.ceil(self.until.left() / len(self.addresses))),
            prepare_threshold=None,
        )

    def _prepare(self, db: _Connection, query: sql.Query) -> None:
        """A read-only transaction under the role that asks, which may change nothing anyway."""
        db.session = self
        db.read_only = True
        names = {info.name: info.oid for info in psycopg.adapters.types}
        for name, oid in names.items():
            if name in _JSON:
                db.adapters.register_loader(oid, _Json)
            elif name in _MOMENTS:
                db.adapters.register_loader(oid, _Moment)
            elif name not in _LOADED or name == "date":
                db.adapters.register_loader(oid, _Text)
        settings = {**_FORMS, "statement_timeout": str(max(1, round(self.until.timeout() * 1000)))}
        if query.role:
            settings["role"] = query.role
        for name, value in settings.items():
            db.execute("SELECT set_config(%(name)s, %(value)s, true)", {"name": name, "value": value})
        found = db.execute(_FAR_ROLE, {}).fetchone()
        role, above, writable = found or ("", True, None)
        if above or writable:
            why = f"it may change {writable}" if writable else "it stands above all rights"
            text = f"The role {role} does more than read: {why}. Give the tool a role that only reads. Nothing was asked."
            raise Failed("role_may_write", text)

    def _rows(self, db: _Connection, query: sql.Query, values: Mapping[str, Any]) -> dict[str, Any]:
        """Row by row, so that what is too much is never fetched."""
        bound = {name: _bound(value) for name, value in values.items()}
        with db.cursor() as cursor:
            # Closing the stream early asks the server to stop.
            stream = cast("Generator[tuple[Any, ...]]", cursor.stream(query.statement, bound))
            with contextlib.closing(stream):
                rows, more = _taken(stream, query.max_rows)
            columns = [column.name for column in cursor.description or ()]
        return {"columns": columns, "rows": rows, "more": more}

    def look(self) -> None:
        """Called while the connection waits."""
        if self.ctx.cancelled or self.ctx.lost or self.until.left() <= 0:
            raise _Stopped

    def _refused(self, error: psycopg.Error) -> Failed:
        said = error.diag.message_primary or ""
        if error.sqlstate:
            return Failed(
                f"sql_{error.sqlstate}", f"The database refused: {self._clean(said)} ({error.sqlstate})."
            )
        if isinstance(error, psycopg.OperationalError):
            return Failed("connection_lost", f"The connection broke: {self._words(error)}")
        return Failed("bad_question", f"This cannot be asked, or gives no rows: {self._words(error)}")

    def _words(self, error: Exception) -> str:
        return self._clean(" ".join(str(error).split()))

    def _clean(self, text: str) -> str:
        password = self.at.password
        return (text.replace(password, "…") if password else text)[:300]


def _taken(stream: Iterable[tuple[Any, ...]], most: int) -> tuple[list[list[Any]], bool]:
    """Up to so many rows, and whether there were more, or longer ones than are kept."""
    rows: list[list[Any]] = []
    size = 0
    for row in stream:
        made = [_plain(value) for value in row]
        size += len(json.dumps(made))
        if len(rows) == most or size > sql.MAX_BYTES:
            return rows, True
        rows.append(made)
    return rows, False


def _bound(value: Any) -> Any:
    """Nested values are bound as JSON."""
    nested = isinstance(value, list) and any(isinstance(each, dict | list) for each in value)
    return Jsonb(value) if nested or isinstance(value, dict) else value


def _plain(value: Any) -> Any:
    """A value as JSON can hold it without loss; bytes are marked as such."""
    if isinstance(value, bool) or value is None or isinstance(value, str | float):
        return value
    if isinstance(value, int):
        return digits.integer(str(value))
    if isinstance(value, bytes):
        return {"bytes": value.hex(), "size": len(value)}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, dict) else str(value)

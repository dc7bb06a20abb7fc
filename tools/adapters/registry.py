"""The adapters there are, by name. To add one: a file beside these, a line here, and a builder for the conformance suite
(``tests/adapters/builders.py``). No Django."""

from tools.adapters import http, mcp, model, python, smtp, sql
from tools.adapters.base import Adapter, Failed
from tools.adapters.kind import Kind

KINDS: dict[str, Kind] = {
    "python": Kind(python, faults=python.faults),
    "http": Kind(
        http, faults=http.faults, misfit=http.misfit, receiver=http.receiver, shown=http.shown, named=http.key_header
    ),
    "smtp": Kind(
        smtp, faults=smtp.faults, misfit=smtp.misfit, receiver=smtp.receiver, shown=smtp.shown, signed=True
    ),
    "mcp": Kind(
        mcp, faults=mcp.faults, receiver=mcp.receiver, shown=mcp.shown, secrets=mcp.secrets,
        signed=True, named=http.key_header,
    ),
    "sql": Kind(sql, faults=sql.faults, misfit=sql.misfit, receiver=sql.receiver, shown=sql.shown),
    "model": Kind(
        model, faults=model.faults, misfit=model.misfit, receiver=model.receiver, shown=model.shown, counts="model"
    ),
}  # fmt: skip
NAMES = tuple(KINDS)
#: Contracts of an adapter that does not exist are shown and judged by the general rules.
_NONE = Kind(python)


def kind(name: str) -> Kind:
    """What the adapter of that name says of itself; the general rules for one that does not exist."""
    return KINDS.get(name, _NONE)


def get(name: str) -> Adapter:
    """The adapter of that name. Raises :class:`Failed` (nothing was sent) for one that does not exist."""
    try:
        return KINDS[name].adapter
    except KeyError:
        raise Failed("adapter_missing", f"There is no adapter {name!r} here. Nothing was sent.") from None

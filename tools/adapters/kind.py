"""What an adapter says of itself besides calling: what speaks against a contract, which arguments it takes, what a person is
shown. No Django; sentences are message ids, translated by whoever shows them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tools.adapters.base import Adapter


def words(text: str) -> str:
    """Marks a sentence for the translators; import it as ``_``."""
    return text


class Declared(Protocol):
    """A contract as an adapter judges it: the fields of ``tools.models.Contract`` that concern the call."""

    @property
    def target(self) -> str: ...
    @property
    def config(self) -> Any: ...
    @property
    def effect_class(self) -> str: ...
    @property
    def input_schema(self) -> Any: ...
    @property
    def isolation(self) -> str: ...
    @property
    def egress_hosts(self) -> Any: ...
    @property
    def native_idempotency(self) -> bool: ...
    @property
    def attempt_tokens(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Fault:
    """What speaks against publishing: a stable code, a message id, what fills it, and the field to change."""

    code: str
    text: str
    params: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True, slots=True)
class Misfit:
    """Arguments of which no call can be made: ``where`` (a JSON path) and why, in plain English."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person sees before an effect, as plain values laid over the general form. With a ``kind`` of its own it
    replaces that form. ``sentence`` (a message id) and ``params`` say in one line what would happen."""

    part: Mapping[str, Any]
    sentence: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)


def no_faults(contract: Declared) -> Iterable[Fault]:
    """Nothing to say against any contract."""
    return ()


def fits(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any]) -> Misfit | None:
    """Whatever the input schema takes can be called."""
    return None


def proposed(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], proposed: str) -> str:
    """What the agent says it reaches, or the contract's target."""
    return proposed or target


def plainly(
    target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, str]
) -> Shown | None:
    """The general form alone."""
    return None


def as_it_is(key: str) -> str:
    """The far side gets the key itself."""
    return key


def auth_secret(config: Mapping[str, Any]) -> list[str]:
    """The secret of ``{"auth": {"secret": name}}``."""
    auth = config.get("auth")
    name = auth.get("secret") if isinstance(auth, Mapping) else None
    return [str(name)] if name else []


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of far side. Only ``adapter`` has to be given; all of it is pure except ``adapter.send``.

    ``faults``: against publishing. ``misfit``: arguments that make no call, for the gate. ``receiver``: whom or what the
    effect reaches. ``shown``: the preview; None when the arguments make no call. ``secrets``: names of the secrets that a
    ``config`` asks for; their values come to ``prepare`` in ``spec["secrets"]``. ``signed``: goes out in the tenant's
    name, so ``prepare`` gets the tenant as it is seen outside. ``counts``: as which kind of step it counts against the
    budget of its run. ``named``: the idempotency key as the far side sees it, for a question about the effect. None of
    them raises.
    """

    adapter: Adapter
    faults: Callable[[Declared], Iterable[Fault]] = no_faults
    misfit: Callable[[str, Mapping[str, Any], Mapping[str, Any]], Misfit | None] = fits
    receiver: Callable[[str, Mapping[str, Any], Mapping[str, Any], str], str] = proposed
    shown: Callable[[str, Mapping[str, Any], Mapping[str, Any], Mapping[str, str]], Shown | None] = plainly
    secrets: Callable[[Mapping[str, Any]], list[str]] = auth_secret
    signed: bool = False
    counts: Literal["call", "model"] = "call"
    named: Callable[[str], str] = as_it_is

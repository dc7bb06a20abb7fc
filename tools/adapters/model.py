"""Asks a language model over an interface that speaks ``POST /v1/chat/completions``, once. No Django.

It only reads, and it costs: what a call used is booked on the run's budget whatever became of it, and when nobody knows,
the most that it may have been. A refusal, an answer that was cut off, nonsense and silence are failures with a code of their
own. What a model proposes becomes an effect only as another step, through the gate.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from tools import egress, web
from tools.adapters import digits
from tools.adapters.base import Answer, Context, Failed, Go
from tools.adapters.kind import Declared, Fault, Misfit, Shown, auth_secret
from tools.adapters.kind import words as _

#: Longest answer that is read, in bytes.
MAX_ANSWER = 5_000_000
#: A token is rarely shorter; so the question's part of ``attempt_tokens`` is estimated before anything is sent.
BYTES_PER_TOKEN = 3
ROLES = ("system", "developer", "user", "assistant", "tool")
#: Names by which interfaces know the limit of the answer.
LIMITS = ("max_tokens", "max_completion_tokens")
_MILLION = Decimal(1_000_000)
_CONFIG = {"model", "max_tokens", "limit_name", "auth", "system", "parameters", "price_in", "price_out"}
#: What the contract or the arguments say already, and what would change the form of the answer.
_TAKEN = {"model", "messages", "tools", "stream", "n", *LIMITS}


@dataclass(frozen=True, slots=True)
class Model:
    """``config`` of a contract, checked. Prices are for a million tokens, in currency units. ``parameters`` go into the
    request as they are (temperature and so on)."""

    name: str
    max_tokens: int
    limit_name: str = "max_tokens"
    auth: Mapping[str, str] = field(default_factory=dict)
    system: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    price_in: Decimal = Decimal(0)
    price_out: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked request; ``asked`` and ``most`` are tokens: of the question by estimate, and of the answer at most."""

    request: web.Request
    model: Model
    egress: tuple[str, ...]
    asked: int
    most: int
    hidden: str


def model(config: Any) -> Model:
    """The checked form of a contract's ``config``. Raises :class:`Failed` with what is wrong."""
    given = config if isinstance(config, Mapping) else {}
    most, parameters, auth = given.get("max_tokens"), given.get("parameters", {}), given.get("auth", {})
    limit_name = given.get("limit_name", "max_tokens")
    wrong = ""
    if unknown := sorted(str(name) for name in set(given) - _CONFIG):
        wrong = f"{unknown[0]} is none of its parts ({', '.join(sorted(_CONFIG))})"
    elif not isinstance(given.get("model"), str) or not given["model"].strip():
        wrong = "it names no model"
    elif isinstance(most, bool) or not isinstance(most, int) or most < 1:
        wrong = "max_tokens is the most that an answer may have, a number above 0"
    elif limit_name not in LIMITS:
        wrong = f"limit_name is one of {', '.join(LIMITS)}"
    elif not isinstance(given.get("system", ""), str):
        wrong = "system is a text"
    elif not isinstance(auth, Mapping) or (auth and not auth_secret(given)):
        wrong = "auth names the secret with the key"
    elif not isinstance(parameters, Mapping) or (taken := sorted(set(parameters) & _TAKEN)):
        wrong = f"parameters cannot set {taken[0] if isinstance(parameters, Mapping) else 'anything'}"
    if wrong:
        raise Failed("bad_operation", f"The contract describes no model: {wrong}. Nothing was sent.")
    return Model(
        str(given["model"]).strip(),
        int(most or 0),
        str(limit_name),
        {str(name): str(value) for name, value in auth.items()},
        str(given.get("system", "")),
        dict(parameters),
        _price(given.get("price_in", "0")),
        _price(given.get("price_out", "0")),
    )


def faults(contract: Declared) -> Iterator[Fault]:
    """What speaks against publishing."""
    if contract.effect_class != "read_only":
        text = _("A model only answers: what it proposes becomes an effect in a step of its own.")
        yield Fault("model_effect", text, where="effect_class")
    if contract.isolation == "io":
        text = _("A model is asked by blocking calls: its isolation is 'thread' or 'cpu'.")
        yield Fault("isolation_unfit", text, where="isolation")
    if not contract.attempt_tokens:
        text = _("A model tool needs the most tokens of one try: so much of the budget is set aside.")
        yield Fault("tokens_unbounded", text, where="attempt_tokens")
    try:
        web.address(_url(contract.target))
    except web.NotSent:
        text = _("A model tool needs the address of its interface, like https://models.example/v1.")
        yield Fault("target_missing", text, where="target")
    try:
        model(contract.config)
    except Failed as wrong:
        yield Fault("operation", _("%(problem)s"), {"problem": wrong.text}, "config")


def misfit(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any]) -> Misfit | None:
    """Why the arguments are no question."""
    try:
        _body(model(config), arguments, 1)
    except Failed as bad:
        return Misfit("$", bad.text)
    return None


def receiver(target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], proposed: str) -> str:
    """The address that is asked, whatever the agent says beside it."""
    return _url(target)


def shown(
    target: str, config: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, str]
) -> Shown | None:
    """``http`` with method, url, headers and body, as for any request; the name of a secret stands for its value."""
    try:
        asked = model(config)
        body = json.dumps(_body(asked, arguments, asked.max_tokens), ensure_ascii=False, indent=2)
    except Failed:
        return None
    secret = asked.auth.get("secret", "")
    headers = _headers(asked, {secret: f"({secret})"})
    part = {
        "method": "POST",
        "url": _url(target),
        "headers": [list(pair) for pair in headers],
        "body": body,
    }
    return Shown({"http": part})


def prepare(spec: Mapping[str, Any], arguments: Mapping[str, Any], tenant: Mapping[str, Any]) -> Prepared:
    """Makes the request. Raises :class:`Failed`."""
    asked = model(spec.get("config"))
    if spec.get("effect") != "read_only":
        raise Failed("not_read_only", "A model only answers. Nothing was sent.")
    secrets = spec.get("secrets") or {}
    headers = _headers(asked, secrets)
    question = len(_json(_body(asked, arguments, asked.max_tokens))) // BYTES_PER_TOKEN + 1
    allowed = spec.get("attempt_tokens")
    most = asked.max_tokens if allowed is None else min(asked.max_tokens, int(allowed) - question)
    if most < 1:
        text = f"The question alone has about {question} tokens, of {allowed} for one try. Nothing was sent."
        raise Failed("too_long", text)
    request = web.Request("POST", _url(str(spec["target"])), headers, _json(_body(asked, arguments, most)))
    try:
        web.address(request.url)
    except web.NotSent as bad:
        raise Failed(bad.code, bad.text) from bad
    hidden = str(secrets.get(asked.auth.get("secret", ""), ""))
    return Prepared(request, asked, tuple(spec.get("egress") or ()), question, most, hidden)


def send(prepared: Prepared, go: Go | None, ctx: Context) -> Answer:
    """Asks once. The output: ``text``, ``finish``, ``model``, ``tokens`` (in and out; None: it did not say) and
    ``tool_calls`` (id, name, arguments, or what it said instead of arguments)."""
    if ctx.lost or ctx.cancelled or ctx.seconds_left <= 0:
        raise Failed("too_late", "The time to ask had passed; nothing was sent.")

    def look() -> None:
        if ctx.cancelled or ctx.lost:
            _book(prepared, None, ctx)
            raise Failed("stopped", "It was told to stop, and the answer was not waited for.")

    try:
        reply = web.exchange(
            prepared.request,
            allow_hosts=prepared.egress,
            deadline=egress.Deadline.after(ctx.seconds_left),
            cap=MAX_ANSWER,
            look=look,
        )
    except web.NotSent as error:
        raise Failed(error.code, error.text) from error
    except web.NoAnswer as error:
        _book(prepared, None, ctx)
        raise Failed(error.code, f"{error.text} It is booked as if it had used all that it may.") from error
    said = digits.parsed(reply.body) if reply.whole else None
    if not 200 <= reply.status <= 299:
        raise Failed(
            f"http_{reply.status}",
            f"The model's server answered {reply.status}: {_complaint(said, prepared)}",
        )
    usage = _usage(said)
    _book(prepared, usage, ctx)
    if said is None:
        raise Failed("bad_answer", "The model's server answered something that is no JSON, or broke off.")
    return _answer(said, usage, prepared)


def _answer(said: Any, usage: tuple[int, int] | None, prepared: Prepared) -> Answer:
    choice = _at(said, "choices", 0)
    message, finish = _at(choice, "message"), _at(choice, "finish_reason")
    if not isinstance(message, Mapping):
        raise Failed("bad_answer", "The model's server answered without a message.")
    if refusal := message.get("refusal"):
        raise Failed("model_refused", f"The model refused: {_short(refusal)}")
    if finish == "content_filter":
        raise Failed("model_filtered", "The model's server held the answer back.")
    if finish == "length":
        text = f"The answer was cut off after {prepared.most} tokens; half an answer is not used."
        raise Failed("model_cut_off", text)
    calls = _calls(message.get("tool_calls"))
    text = _text(message.get("content"))
    if not text and not calls:
        raise Failed("bad_answer", "The model's server answered without a text.")
    output: dict[str, Any] = {
        "text": text,
        "finish": _short(finish or ""),
        "model": _short(_at(said, "model") or prepared.model.name),
        "tokens": None if usage is None else {"in": usage[0], "out": usage[1]},
    }
    if calls:
        output["tool_calls"] = calls
    return Answer(output, reference=_short(_at(said, "id") or ""))


def _body(asked: Model, arguments: Mapping[str, Any], most: int) -> dict[str, Any]:
    """The body of the request. Raises :class:`Failed`."""
    unknown = sorted(set(arguments) - {"prompt", "messages", "tools"})
    prompt, messages, offered = (arguments.get(name) for name in ("prompt", "messages", "tools"))
    wrong = ""
    if unknown:
        wrong = f"a model takes no argument called {unknown[0]!r}"
    elif (prompt is None) == (messages is None):
        wrong = "it takes either a prompt or messages"
    elif prompt is not None and (not isinstance(prompt, str) or not prompt.strip()):
        wrong = "the prompt is a text"
    elif messages is not None and not _are_messages(messages):
        wrong = f"messages is a list of objects with a role, one of {', '.join(ROLES)}"
    elif offered is not None and not (
        isinstance(offered, list) and all(isinstance(one, Mapping) for one in offered)
    ):
        wrong = "tools is a list of objects"
    if wrong:
        raise Failed("bad_argument", f"This is no question: {wrong}. Nothing was sent.")
    talk = messages if messages is not None else [{"role": "user", "content": prompt}]
    head = [{"role": "system", "content": asked.system}] if asked.system else []
    made = {**asked.parameters, "model": asked.name, "messages": [*head, *talk], asked.limit_name: most}
    return {**made, "tools": offered} if offered else made


def _are_messages(messages: Any) -> bool:
    return (
        isinstance(messages, list)
        and bool(messages)
        and all(isinstance(one, Mapping) and one.get("role") in ROLES for one in messages)
    )


def _headers(asked: Model, secrets: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    plain = (("Accept", "application/json"), ("Content-Type", "application/json"))
    if not asked.auth:
        return plain
    name = asked.auth["secret"]
    if name not in secrets:
        raise Failed("secret_missing", f"There is no secret called {name!r}. Nothing was sent.")
    prefix = asked.auth.get("prefix", "Bearer ")
    return (*plain, (asked.auth.get("header", "Authorization"), prefix + secrets[name]))


def _usage(said: Any) -> tuple[int, int] | None:
    """Tokens of question and answer; None when it did not say, or not in numbers."""
    found = (_at(said, "usage", "prompt_tokens"), _at(said, "usage", "completion_tokens"))
    if any(isinstance(one, bool) or not isinstance(one, int) or one < 0 for one in found):
        return None
    return int(found[0]), int(found[1])


def _book(prepared: Prepared, usage: tuple[int, int] | None, ctx: Context) -> None:
    """On the budget of the run: what it said it used, or else the most that it may have been."""
    asked, answered = usage or (prepared.asked, prepared.most)
    cost = (asked * prepared.model.price_in + answered * prepared.model.price_out) / _MILLION
    ctx.spend(tokens=asked + answered, cost=format(cost, "f"))


def _calls(given: Any) -> list[dict[str, Any]]:
    """What the model asks to be called. Arguments that are no object stay what they are: text."""
    found: list[dict[str, Any]] = []
    for one in given if isinstance(given, list) else ():
        name, text = _at(one, "function", "name"), _at(one, "function", "arguments")
        if not isinstance(name, str):
            raise Failed("bad_answer", "The model asked for a call without a name.")
        arguments = digits.parsed(text) if isinstance(text, str) else text
        call: dict[str, Any] = {"id": _short(_at(one, "id") or ""), "name": name}
        call |= {"arguments": arguments} if isinstance(arguments, Mapping) else {"said": text}
        found.append(call)
    return found


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [_at(part, "text") for part in content] if isinstance(content, list) else []
    return "".join(part for part in parts if isinstance(part, str))


def _at(value: Any, *path: str | int) -> Any:
    """What lies there; None when there is nothing."""
    for name in path:
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, Sequence) and not isinstance(value, str) and isinstance(name, int):
            value = value[name] if name < len(value) else None
        else:
            return None
    return value


def _complaint(said: Any, prepared: Prepared) -> str:
    text = (
        _at(said, "error", "message") or _at(said, "error") or _at(said, "message") or "it said nothing more."
    )
    text = _short(text)
    return text.replace(prepared.hidden, "…") if prepared.hidden else text


def _short(value: Any) -> str:
    return " ".join(str(value).split())[:300]


def _price(value: Any) -> Decimal:
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        price = Decimal(-1)
    if not price.is_finite() or price < 0 or isinstance(value, bool):
        text = f"The contract describes no model: {_short(value)!r} is no price. Nothing was sent."
        raise Failed("bad_operation", text)
    return price


def _url(target: str) -> str:
    return f"{target.rstrip('/')}/chat/completions"


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()

"""What is special about models: what they cost, what they refuse, and answers that are none."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.adapters.calls import Call, Context, Go
from tests.adapters.far_model import ModelServer, completion
from tests.tools import make
from tools.adapters import model
from tools.adapters.base import Failed
from tools.contradictions import contradictions

CONFIG: dict[str, Any] = {
    "model": "small-2026", "max_tokens": 100, "system": "Be brief.", "parameters": {"temperature": 0.2},
    "auth": {"secret": "key"}, "price_in": "0.15", "price_out": "0.60",
}  # fmt: skip


@dataclass
class Paying(Context):
    """Adds up what is booked."""

    booked: list[tuple[int, str]] = field(default_factory=list)

    def spend(self, *, tokens: int = 0, cost: Any = 0) -> None:
        self.booked.append((tokens, cost))


def call(far: ModelServer, arguments: dict[str, Any] | None = None, **values: Any) -> Call:
    spec = {
        "target": f"http://127.0.0.1:{far.port}/v1",
        "effect": "read_only",
        "config": {**CONFIG, **values.pop("config", {})},
        "secrets": {"key": "s3cret-key"},
        "egress": [f"127.0.0.1:{far.port}"],
        "attempt_tokens": 1000,
        **values,
    }
    return Call("model", far, spec, arguments or {"prompt": "How many?"}, lambda: len(far.requests))


def failure(asked: Call, ctx: Context | None = None) -> Failed:
    with pytest.raises(Failed) as failed:
        asked(ctx=ctx)
    return failed.value


def test_a_question_and_its_answer(model_server: ModelServer):
    ctx = Paying()
    answer = call(model_server)(ctx=ctx)
    assert answer.output == {
        "text": "Forty-two.",
        "finish": "stop",
        "model": "small-2026",
        "tokens": {"in": 20, "out": 7},
    }
    assert answer.reference == "chatcmpl-7"
    assert ctx.booked == [(27, "0.0000072")]
    sent = model_server.requests[0]
    assert (sent.method, sent.path, sent.headers["Authorization"]) == (
        "POST",
        "/v1/chat/completions",
        "Bearer s3cret-key",
    )
    assert model_server.body == {
        "temperature": 0.2,
        "model": "small-2026",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}],
        "max_tokens": 100,
    }


def test_a_conversation_with_tools_goes_as_it_is(model_server: ModelServer):
    messages = [
        {"role": "user", "content": "Find it"},
        {"role": "tool", "tool_call_id": "c1", "content": "7"},
    ]
    offered = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
    said = [
        {
            "id": "c2",
            "type": "function",
            "function": {"name": "find", "arguments": '{"n": 12345678901234567890}'},
        },
        {"id": "c3", "type": "function", "function": {"name": "find", "arguments": "{broken"}},
    ]
    model_server.says = completion({"content": None, "tool_calls": said}, "tool_calls")
    answer = call(model_server, {"messages": messages, "tools": offered}, config={"system": ""})()
    assert answer.output["tool_calls"] == [
        {"id": "c2", "name": "find", "arguments": {"n": "12345678901234567890"}},
        {"id": "c3", "name": "find", "said": "{broken"},
    ]
    assert model_server.body["messages"] == messages
    assert model_server.body["tools"] == offered


@pytest.mark.parametrize(
    ("says", "code"),
    [
        (completion({"content": None, "refusal": "I will not."}), "model_refused"),
        (completion(finish="length"), "model_cut_off"),
        (completion(finish="content_filter"), "model_filtered"),
        (completion({"content": ""}), "bad_answer"),
        (completion({"content": None, "tool_calls": [{"function": {}}]}), "bad_answer"),
        ({"choices": []}, "bad_answer"),
        ({"choices": [{}]}, "bad_answer"),
        ({"choices": "x"}, "bad_answer"),
        ([], "bad_answer"),
        ("x", "bad_answer"),
        (7, "bad_answer"),
    ],
)
def test_what_is_no_answer_fails_with_a_code_of_its_own_and_is_paid_for(
    model_server: ModelServer, says, code
):
    """Guards ``tools/adapters/model.py`` (``_answer``): half an answer or a refusal never passes for one."""
    model_server.says = says
    ctx = Paying()
    failed = failure(call(model_server), ctx)
    assert failed.code == code
    assert failed.text
    assert len(ctx.booked) == 1
    assert ctx.booked[0][0] >= 27


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": -5, "completion_tokens": 1}, {"prompt_tokens": "20", "completion_tokens": 7},
     {"prompt_tokens": 1.5, "completion_tokens": 7}, {"prompt_tokens": True, "completion_tokens": 7}, "none"],
)  # fmt: skip
def test_what_is_not_told_is_booked_at_the_most_it_may_have_been(model_server: ModelServer, usage):
    """Guards ``tools/adapters/model.py`` (``_book``): a server that says nothing, or nonsense, is not free."""
    model_server.says = completion(usage=usage)
    ctx = Paying()
    assert call(model_server)(ctx=ctx).output["tokens"] is None
    assert ctx.booked[0][0] > 100


@pytest.mark.parametrize("mode", ["reset", "close", "garbage", "broken"])
def test_an_answer_that_got_lost_is_booked_at_the_most_it_may_have_been(model_server: ModelServer, mode):
    model_server.mode = mode
    ctx = Paying()
    failure(call(model_server), ctx)
    assert len(model_server.requests) == 1
    assert [tokens > 100 for tokens, _ in ctx.booked] == [True]


@pytest.mark.parametrize("mode", ["busy", "refuse"])
def test_what_the_server_refused_costs_nothing(model_server: ModelServer, mode):
    model_server.mode = mode
    ctx = Paying()
    assert failure(call(model_server), ctx).code.startswith("http_")
    assert ctx.booked == []


def test_a_call_that_never_left_costs_nothing(model_server: ModelServer):
    asked = call(model_server, egress=["elsewhere.example"])
    ctx = Paying()
    assert failure(asked, ctx).code == "egress_forbidden"
    assert ctx.booked == []


def test_the_answer_is_never_longer_than_one_try_may_be(model_server: ModelServer):
    """Guards ``tools/adapters/model.py`` (``prepare``): the contract's ``attempt_tokens`` cover question and answer."""
    call(model_server, attempt_tokens=110)()
    assert 1 <= model_server.body["max_tokens"] < 100
    long = {"prompt": "word " * 1000}
    assert failure(call(model_server, long, attempt_tokens=150)).code == "too_long"
    assert len(model_server.requests) == 1


def test_the_limit_goes_by_the_name_that_the_interface_knows(model_server: ModelServer):
    call(model_server, config={"limit_name": "max_completion_tokens"})()
    assert "max_tokens" not in model_server.body
    assert model_server.body["max_completion_tokens"] == 100


def test_the_key_is_in_no_error(model_server: ModelServer, monkeypatch):
    """A server that repeats it does not get it into the step."""
    refusal = json.dumps({"error": {"message": "Incorrect API key provided: s3cret-key"}}).encode()
    monkeypatch.setattr(ModelServer, "_take", lambda far, to: far._say(to, 401, refusal))
    failed = failure(call(model_server))
    assert failed.code == "http_401"
    assert "Incorrect API key" in failed.text
    assert "s3cret" not in failed.text


def test_without_its_key_nothing_is_asked(model_server: ModelServer):
    assert failure(call(model_server, secrets={})).code == "secret_missing"
    assert model_server.requests == []


def test_a_server_without_keys_gets_none(model_server: ModelServer):
    call(model_server, config={"auth": {}})()
    assert "Authorization" not in model_server.requests[0].headers


def test_a_step_that_is_told_to_stop_waits_no_longer(model_server: ModelServer):
    """Guards ``tools/web.py`` (``_Line.receive``): cancel ends the wait for an answer that changes nothing."""
    model_server.mode = "silent"
    ctx = Paying(seconds_left=60)

    def stop() -> None:
        while not model_server.requests:
            pause.wait(0.02)
        ctx.cancelled = True

    pause = threading.Event()
    threading.Thread(target=stop).start()
    assert failure(call(model_server), ctx).code == "stopped"
    assert len(ctx.booked) == 1


def test_an_effect_is_never_sent(model_server: ModelServer):
    with pytest.raises(Failed) as failed:
        call(model_server, effect="irreversible")(go=Go())
    assert failed.value.code == "not_read_only"


@pytest.mark.parametrize(
    "arguments",
    [{}, {"prompt": ""}, {"prompt": 7}, {"messages": []}, {"messages": [{"role": "king"}]}, {"messages": "x"},
     {"prompt": "a", "messages": [{"role": "user", "content": "b"}]}, {"prompt": "a", "model": "big"},
     {"prompt": "a", "tools": "x"}],
)  # fmt: skip
def test_arguments_that_are_no_question(arguments):
    assert model.misfit("https://m.example/v1", CONFIG, arguments) is not None


GOOD: dict[str, Any] = {
    "adapter": "model", "isolation": "thread", "effect_class": "read_only", "attempt_tokens": 1000,
    "target": "https://models.example/v1", "config": CONFIG,
}  # fmt: skip


def test_a_contract_that_can_be_kept_is_published():
    assert contradictions(make.unsaved(**GOOD)) == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"effect_class": "irreversible"}, "model_effect"),
        ({"isolation": "io"}, "isolation_unfit"),
        ({"attempt_tokens": None}, "tokens_unbounded"),
        ({"target": "models.example"}, "target_missing"),
        ({"config": {}}, "operation"),
        ({"config": {**CONFIG, "model": " "}}, "operation"),
        ({"config": {**CONFIG, "max_tokens": 0}}, "operation"),
        ({"config": {**CONFIG, "price_in": "-1"}}, "operation"),
        ({"config": {**CONFIG, "price_out": "much"}}, "operation"),
        ({"config": {**CONFIG, "parameters": {"stream": True}}}, "operation"),
        ({"config": {**CONFIG, "parameters": {"max_tokens": 10**9}}}, "operation"),
        ({"config": {**CONFIG, "parameters": 7}}, "operation"),
        ({"config": {**CONFIG, "auth": {"secret": ""}}}, "operation"),
        ({"config": {**CONFIG, "key": "x"}}, "operation"),
    ],
)
def test_a_contract_that_cannot_be_kept_is_not_published(changed, code):
    assert code in [problem.code for problem in contradictions(make.unsaved(**{**GOOD, **changed}))]


def test_a_person_sees_the_request_without_the_key():
    shown = model.shown("https://models.example/v1", CONFIG, {"prompt": "How many?"}, {})
    assert shown is not None
    wire = shown.part["http"]
    assert wire["url"] == "https://models.example/v1/chat/completions"
    assert ["Authorization", "Bearer (key)"] in wire["headers"]
    assert json.loads(wire["body"])["messages"][1] == {"role": "user", "content": "How many?"}

"""The loopback model server, proven with the official SDKs of Anthropic and OpenAI."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from later import Later
from protocols import ApiError, embedding_of, tokens_of
from serving import (
    EMBEDDING_MODEL,
    KEY,
    MODEL,
    ModelServer,
    anthropic_environment,
    openai_environment,
    serving,
    simulated,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import anthropic
    import openai
    from serving import HalfClose, Malformed

else:
    # Both take a second to import; one process runs these tests.
    anthropic, openai = Later("anthropic"), Later("openai")

PROMPT = "Classify: fix the flaky test"
LONG = "The prompt asks for a fix of a test that fails now and then."
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"class": {"type": "string"}},
    "required": ["class"],
    "additionalProperties": False,
}
CLASS = '{"class": "fix"}'
ASKED: dict[str, Any] = {"model": MODEL, "max_tokens": 100, "messages": [{"role": "user", "content": PROMPT}]}


@pytest.fixture
def claude(model_server: ModelServer) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=model_server.url, api_key=KEY, max_retries=0, timeout=20) as client:
        yield client


@pytest.fixture
def gpt(model_server: ModelServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{model_server.url}/v1", api_key=KEY, max_retries=0, timeout=20) as client:
        yield client


def ask_claude(client: anthropic.Anthropic, **more: Any) -> anthropic.types.Message:
    message: anthropic.types.Message = client.messages.create(**ASKED | more)
    return message


def ask_gpt(client: openai.OpenAI, **more: Any) -> openai.types.chat.ChatCompletion:
    wanted: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": PROMPT}]}
    completion: openai.types.chat.ChatCompletion = client.chat.completions.create(**wanted | more)
    return completion


def text_of(message: anthropic.types.Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def body_of(error: anthropic.APIStatusError | openai.APIStatusError) -> dict[str, Any]:
    body: dict[str, Any] = error.response.json()
    return body


# Anthropic Messages


def test_a_message_has_the_reply_and_its_tokens(model_server: ModelServer, claude: anthropic.Anthropic) -> None:
    model_server.reply = LONG

    message = ask_claude(claude, system="Be brief.")

    assert (text_of(message), message.stop_reason, message.model) == (LONG, "end_turn", MODEL)
    assert message.usage.input_tokens == tokens_of(f"Be brief.\n{PROMPT}")
    assert message.usage.output_tokens == tokens_of(LONG)


def test_the_reply_may_depend_on_the_prompt_and_the_request(
    model_server: ModelServer, claude: anthropic.Anthropic
) -> None:
    model_server.reply = lambda text, body: f"{text}|{body['max_tokens']}"

    blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    message = ask_claude(claude, system=blocks, messages=[{"role": "user", "content": blocks}])

    assert text_of(message) == "one\ntwo\none\ntwo|100"


def test_a_streamed_message_is_the_same_message(model_server: ModelServer, claude: anthropic.Anthropic) -> None:
    model_server.reply = LONG
    whole = ask_claude(claude)

    with claude.messages.stream(model=MODEL, max_tokens=100, messages=[{"role": "user", "content": PROMPT}]) as stream:
        pieces = list(stream.text_stream)
        streamed = stream.get_final_message()

    assert len(pieces) > 1
    assert "".join(pieces) == LONG
    assert (text_of(streamed), streamed.stop_reason, streamed.usage.output_tokens) == (
        text_of(whole),
        whole.stop_reason,
        whole.usage.output_tokens,
    )


def test_the_events_of_a_stream_come_in_the_order_of_the_api(claude: anthropic.Anthropic) -> None:
    events = claude.messages.create(
        model=MODEL, max_tokens=100, messages=[{"role": "user", "content": PROMPT}], stream=True
    )

    assert [event.type for event in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_a_reply_beyond_the_limit_of_tokens_is_cut(model_server: ModelServer, claude: anthropic.Anthropic) -> None:
    model_server.reply = LONG

    message = ask_claude(claude, max_tokens=3)

    assert (text_of(message), message.stop_reason, message.usage.output_tokens) == (LONG[:12], "max_tokens", 3)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_forced_tool_gets_the_reply_as_its_input(
    model_server: ModelServer, claude: anthropic.Anthropic, is_streamed: bool
) -> None:
    model_server.reply = CLASS
    wanted = ASKED | {
        "tools": [{"name": "classify", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "classify"},
    }
    if is_streamed:
        with claude.messages.stream(**wanted) as stream:
            message: anthropic.types.Message = stream.get_final_message()
    else:
        message = claude.messages.create(**wanted)

    (block,) = message.content
    assert block.type == "tool_use"
    assert (block.name, block.input, message.stop_reason) == ("classify", {"class": "fix"}, "tool_use")


def test_a_message_in_the_form_of_a_schema(model_server: ModelServer, claude: anthropic.Anthropic) -> None:
    model_server.reply = CLASS
    wanted = {"format": {"type": "json_schema", "schema": SCHEMA}}

    message = ask_claude(claude, output_config=wanted)

    assert json.loads(text_of(message)) == {"class": "fix"}
    assert model_server.calls[0].body["output_config"] == wanted


def test_a_schema_that_allows_unknown_properties_is_refused(claude: anthropic.Anthropic) -> None:
    loose = {"type": "object", "properties": {"inner": SCHEMA | {"additionalProperties": True}}}

    with pytest.raises(anthropic.BadRequestError, match="additionalProperties"):
        ask_claude(claude, output_config={"format": {"type": "json_schema", "schema": loose}})


@pytest.mark.parametrize(
    ("status", "raised", "kind"),
    [
        pytest.param(400, "BadRequestError", "invalid_request_error", id="400"),
        pytest.param(401, "AuthenticationError", "authentication_error", id="401"),
        pytest.param(429, "RateLimitError", "rate_limit_error", id="429"),
        pytest.param(500, "InternalServerError", "api_error", id="500"),
        pytest.param(529, "OverloadedError", "overloaded_error", id="529"),
    ],
)
def test_errors_of_anthropic(
    model_server: ModelServer,
    claude: anthropic.Anthropic,
    status: int,
    raised: str,
    kind: str,
) -> None:
    model_server.status = status

    with pytest.raises(getattr(anthropic, raised)) as caught:
        ask_claude(claude)

    assert (caught.value.status_code, caught.value.type) == (status, kind)
    body = body_of(caught.value)
    assert (body["type"], body["request_id"]) == ("error", caught.value.request_id)
    assert caught.value.response.headers.get("retry-after") == ("7" if status == 429 else None)


def test_a_stream_may_end_in_an_error(model_server: ModelServer, claude: anthropic.Anthropic) -> None:
    model_server.stream_error = True
    seen = []

    with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
        for event in claude.messages.create(
            model=MODEL, max_tokens=100, messages=[{"role": "user", "content": PROMPT}], stream=True
        ):
            seen.append(event.type)

    assert seen[0] == "message_start"
    assert "message_stop" not in seen


# OpenAI-compatible


def test_a_completion_has_the_reply_and_its_tokens(model_server: ModelServer, gpt: openai.OpenAI) -> None:
    model_server.reply = LONG

    completion = ask_gpt(gpt)

    (choice,) = completion.choices
    assert (choice.message.content, choice.finish_reason, completion.model) == (LONG, "stop", MODEL)
    assert completion.usage
    assert completion.usage.prompt_tokens == tokens_of(PROMPT)
    assert completion.usage.total_tokens == tokens_of(PROMPT) + tokens_of(LONG)


def test_a_streamed_completion_is_the_same_text(model_server: ModelServer, gpt: openai.OpenAI) -> None:
    model_server.reply = LONG

    chunks = list(
        gpt.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": PROMPT}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )

    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == LONG
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"]
    assert chunks[-1].usage
    assert chunks[-1].usage.completion_tokens == tokens_of(LONG)


def test_the_last_event_of_a_streamed_completion_is_done(model_server: ModelServer) -> None:
    """The SDK does not insist on it."""
    kind, body = raw_answer(model_server, ASKED | {"stream": True}, path="/v1/chat/completions")

    assert kind == "text/event-stream"
    assert body.endswith(b"}\n\ndata: [DONE]\n\n")


def test_a_completion_beyond_the_limit_of_tokens_is_cut(model_server: ModelServer, gpt: openai.OpenAI) -> None:
    model_server.reply = LONG

    (choice,) = ask_gpt(gpt, max_completion_tokens=3).choices

    assert (choice.message.content, choice.finish_reason) == (LONG[:12], "length")


def test_a_completion_in_the_form_of_a_schema(model_server: ModelServer, gpt: openai.OpenAI) -> None:
    model_server.reply = CLASS
    wanted = {"type": "json_schema", "json_schema": {"name": "class", "strict": True, "schema": SCHEMA}}

    (choice,) = ask_gpt(gpt, response_format=wanted).choices

    assert json.loads(choice.message.content or "") == {"class": "fix"}
    assert model_server.calls[0].body["response_format"] == wanted


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        pytest.param({"type": "json_object"}, "word 'json'", id="JSON that the prompt does not ask for"),
        pytest.param({"type": "json_schema", "json_schema": {"schema": SCHEMA}}, "json_schema.name", id="no name"),
        pytest.param(
            {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": SCHEMA | {"required": []}}},
            "'required'",
            id="an optional property",
        ),
    ],
)
def test_a_response_format_is_refused(gpt: openai.OpenAI, wanted: dict[str, Any], reason: str) -> None:
    with pytest.raises(openai.BadRequestError, match=reason):
        ask_gpt(gpt, response_format=wanted)


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_embeddings_tell_texts_apart(gpt: openai.OpenAI, encoding: Any) -> None:
    """Without an encoding the SDK itself asks for base64 and decodes it."""
    texts = ["fix the flaky test", "the flaky test, fix!", "translate a poem"]
    more: dict[str, Any] = {"encoding_format": "float"} if encoding == "float" else {}

    answer = gpt.embeddings.create(model=EMBEDDING_MODEL, input=texts, **more)

    first, same, other = (one.embedding for one in answer.data)
    assert first == pytest.approx(embedding_of(texts[0]), abs=1e-6)
    assert sum(one * two for one, two in zip(first, same, strict=True)) == pytest.approx(1)
    assert sum(one * two for one, two in zip(first, other, strict=True)) < 0.5
    assert len(first) == 64
    assert answer.usage.prompt_tokens == sum(map(tokens_of, texts))


def test_an_empty_text_has_no_embedding(gpt: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match=r"\$\.input"):
        gpt.embeddings.create(model=EMBEDDING_MODEL, input=["words", ""])


def test_both_protocols_list_the_models(claude: anthropic.Anthropic, gpt: openai.OpenAI) -> None:
    assert [model.id for model in gpt.models.list()] == [MODEL, EMBEDDING_MODEL]
    assert [model.id for model in claude.models.list()] == [MODEL, EMBEDDING_MODEL]


@pytest.mark.parametrize(
    ("status", "raised", "kind", "code"),
    [
        pytest.param(400, "BadRequestError", "invalid_request_error", None, id="400"),
        pytest.param(401, "AuthenticationError", "invalid_request_error", "invalid_api_key", id="401"),
        pytest.param(429, "RateLimitError", "tokens", "rate_limit_exceeded", id="429"),
        pytest.param(500, "InternalServerError", "server_error", None, id="500"),
        pytest.param(529, "InternalServerError", "server_error", None, id="529"),
    ],
)
def test_errors_of_openai(
    model_server: ModelServer,
    gpt: openai.OpenAI,
    status: int,
    raised: str,
    kind: str,
    code: str | None,
) -> None:
    model_server.status = status

    with pytest.raises(getattr(openai, raised)) as caught:
        ask_gpt(gpt)

    assert (caught.value.status_code, caught.value.type, caught.value.code) == (status, kind, code)
    assert set(body_of(caught.value)["error"]) == {"message", "type", "param", "code"}
    assert caught.value.response.headers.get("retry-after") == ("7" if status == 429 else None)


def test_a_streamed_completion_may_end_in_an_error(model_server: ModelServer, gpt: openai.OpenAI) -> None:
    model_server.stream_error = True

    stream = gpt.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": PROMPT}], stream=True)

    with pytest.raises(openai.APIError, match="Overloaded"):
        list(stream)


# Both: keys, models, recorded calls, slow and broken answers


def test_a_wrong_key_is_refused_by_both(model_server: ModelServer) -> None:
    with (
        anthropic.Anthropic(base_url=model_server.url, api_key="wrong", max_retries=0) as claude,
        openai.OpenAI(base_url=f"{model_server.url}/v1", api_key="wrong", max_retries=0) as gpt,
    ):
        with pytest.raises(anthropic.AuthenticationError, match="x-api-key"):
            ask_claude(claude)
        with pytest.raises(openai.AuthenticationError, match="API key"):
            ask_gpt(gpt)

        model_server.key = ""
        assert text_of(ask_claude(claude)) == "OK"
        assert ask_gpt(gpt).choices[0].message.content == "OK"


def test_an_unknown_model_is_not_found(
    model_server: ModelServer, claude: anthropic.Anthropic, gpt: openai.OpenAI
) -> None:
    with pytest.raises(anthropic.NotFoundError):
        ask_claude(claude, model="elsewhere")
    with pytest.raises(openai.NotFoundError) as caught:
        ask_gpt(gpt, model="elsewhere")
    assert caught.value.code == "model_not_found"

    model_server.models = ()
    assert ask_claude(claude, model="elsewhere").model == "elsewhere"


@pytest.mark.parametrize(
    ("path", "missing"),
    [
        ("/v1/messages", "model"),
        ("/v1/messages", "messages"),
        ("/v1/messages", "max_tokens"),
        ("/v1/chat/completions", "messages"),
        ("/v1/embeddings", "input"),
    ],
)
def test_a_request_without_a_required_field_is_refused(model_server: ModelServer, path: str, missing: str) -> None:
    body = {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": PROMPT}], "input": PROMPT}

    with pytest.raises(urllib.error.HTTPError) as caught:
        raw_answer(model_server, {name: value for name, value in body.items() if name != missing}, path=path)

    with caught.value as refused:
        assert (refused.code, missing in refused.read().decode()) == (400, True)


@pytest.mark.parametrize("version", ["2023-06-01", "2026-10-21", "2020-01-01"])
def test_sampling_parameters_are_refused_as_of_the_newer_version(
    model_server: ModelServer, claude: anthropic.Anthropic, version: str
) -> None:
    headers = {"anthropic-version": version}

    if version == "2023-06-01":
        assert text_of(ask_claude(claude, extra_headers=headers, extra_body={"temperature": 0})) == "OK"
    else:
        reason = "temperature" if version == "2026-10-21" else "anthropic-version"
        with pytest.raises(anthropic.BadRequestError, match=reason):
            ask_claude(claude, extra_headers=headers, extra_body={"temperature": 0})


def test_a_begun_answer_is_refused(claude: anthropic.Anthropic) -> None:
    begun = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": "{"}]

    with pytest.raises(anthropic.BadRequestError, match="Prefilling"):
        ask_claude(claude, messages=begun)


def test_a_reply_may_refuse_one_request(model_server: ModelServer, gpt: openai.OpenAI) -> None:
    def reply(text: str, _body: dict[str, Any]) -> str:
        if text == PROMPT:
            raise ApiError(413, "Too much")
        return "fine"

    model_server.reply = reply

    with pytest.raises(openai.APIStatusError, match="Too much"):
        ask_gpt(gpt)
    assert ask_gpt(gpt, messages=[{"role": "user", "content": "less"}]).choices[0].message.content == "fine"


def test_calls_are_recorded(model_server: ModelServer, claude: anthropic.Anthropic, gpt: openai.OpenAI) -> None:
    ask_claude(claude)
    ask_gpt(gpt)

    first, second = model_server.wait_for_calls(2)
    assert (first.path, second.path) == ("/v1/messages", "/v1/chat/completions")
    assert (first.key, second.key) == (KEY, KEY)
    assert first.headers["anthropic-version"] == "2026-10-21"
    assert second.headers["authorization"] == f"Bearer {KEY}"
    assert (first.prompt_text, second.prompt_text) == (PROMPT, PROMPT)
    assert first.arrived_at <= second.arrived_at
    assert first.finished.wait(10)
    assert not first.hung_up


def test_waiting_for_calls_has_an_end(model_server: ModelServer) -> None:
    with pytest.raises(TimeoutError, match="0 of 1 calls"):
        model_server.wait_for_calls(1, timeout=0.05)


@pytest.mark.parametrize("half_close", ["", "never answers"], ids=["late", "never"])
def test_a_client_that_waits_too_long_gives_up_and_hangs_up(
    model_server: ModelServer, claude: anthropic.Anthropic, gpt: openai.OpenAI, half_close: HalfClose
) -> None:
    model_server.delay_s, model_server.half_close = 60, half_close

    with pytest.raises(anthropic.APITimeoutError):
        ask_claude(claude, timeout=0.2)
    with pytest.raises(openai.APITimeoutError):
        ask_gpt(gpt, timeout=0.2)

    claude.close()
    gpt.close()
    for call in model_server.wait_for_calls(2):
        assert call.finished.wait(10)
        assert call.hung_up


def test_a_client_may_give_up_on_a_stream_that_stalls_after_its_headers(
    model_server: ModelServer, claude: anthropic.Anthropic, gpt: openai.OpenAI
) -> None:
    """The SDK of Anthropic passes on the exception of its HTTP library."""
    model_server.pause_s = 60

    events = claude.messages.create(
        model=MODEL, max_tokens=100, messages=[{"role": "user", "content": PROMPT}], stream=True, timeout=0.2
    )
    with pytest.raises(httpx2.ReadTimeout):
        next(events)
    chunks = gpt.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": PROMPT}], stream=True, timeout=0.2
    )
    with pytest.raises(openai.APITimeoutError):
        next(chunks)

    for call in model_server.wait_for_calls(2):
        assert call.finished.wait(10)
        assert call.hung_up


@pytest.mark.parametrize("half_close", ["within the body", "before the headers"])
def test_a_connection_that_closes_early_is_a_connection_error(
    model_server: ModelServer, claude: anthropic.Anthropic, gpt: openai.OpenAI, half_close: HalfClose
) -> None:
    model_server.half_close = half_close

    with pytest.raises(anthropic.APIConnectionError):
        ask_claude(claude)
    with pytest.raises(openai.APIConnectionError):
        ask_gpt(gpt)


def test_a_stream_that_closes_early_has_no_end(
    model_server: ModelServer, claude: anthropic.Anthropic, gpt: openai.OpenAI
) -> None:
    """The SDK of Anthropic passes on the exception of its HTTP library."""
    model_server.half_close = "within the body"

    messages = claude.messages.create(
        model=MODEL, max_tokens=100, messages=[{"role": "user", "content": PROMPT}], stream=True
    )
    chunks = gpt.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": PROMPT}], stream=True)

    with pytest.raises(httpx2.RemoteProtocolError, match="incomplete chunked read"):
        list(messages)
    with pytest.raises(openai.APIConnectionError):
        list(chunks)


def raw_answer(server: ModelServer, body: dict[str, Any], path: str = "/v1/messages") -> tuple[str, bytes]:
    """Ask without an SDK; return the content type and the body."""
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    if path == "/v1/messages":
        headers = {"x-api-key": KEY, "anthropic-version": "2023-06-01", "content-type": "application/json"}
    request = urllib.request.Request(f"{server.url}{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.headers["content-type"], answer.read()


@pytest.mark.parametrize(
    ("malformed", "content_type", "start"),
    [
        pytest.param("not json", "application/json", b"not JSON", id="not json"),
        pytest.param("truncated", "application/json", b'{"id": "msg_', id="truncated"),
        pytest.param("empty", "application/json", b"", id="empty"),
        pytest.param("html", "text/html", b"<!doctype html>", id="html"),
        pytest.param("wrong shape", "application/json", b'{"odd"', id="wrong shape"),
        pytest.param("wrong content type", "text/plain", b'{"id": "msg_', id="wrong content type"),
        pytest.param(b"\x00\xff", "application/json", b"\x00\xff", id="given bytes"),
    ],
)
def test_malformed_answers(
    model_server: ModelServer, malformed: Malformed | bytes, content_type: str, start: bytes
) -> None:
    model_server.malformed = malformed

    kind, body = raw_answer(model_server, ASKED)

    assert kind == content_type
    assert body.startswith(start)
    assert is_message(body) == (malformed == "wrong content type")


@pytest.mark.parametrize("malformed", ["not json", "truncated", "empty", "html", "wrong shape"])
def test_malformed_streams_have_no_end(model_server: ModelServer, malformed: Malformed) -> None:
    assert b"message_stop" in raw_answer(model_server, ASKED | {"stream": True})[1]

    model_server.malformed = malformed

    assert b"message_stop" not in raw_answer(model_server, ASKED | {"stream": True})[1]


def is_message(body: bytes) -> bool:
    try:
        return bool(json.loads(body).get("type") == "message")
    except ValueError:
        return False


def test_the_end_of_the_server_ends_its_connections() -> None:
    with socket.socket() as client:
        with serving() as server:
            server.half_close = "never answers"
            client.connect(("127.0.0.1", server.server_port))
            client.sendall(b"GET /v1/models HTTP/1.1\r\nhost: loopback\r\n\r\n")
            (call,) = server.wait_for_calls(1)

        assert client.recv(1) == b""
        assert call.finished.is_set()
        assert not call.hung_up


def test_the_environment_names_the_endpoint_and_the_variable_of_the_key(model_server: ModelServer) -> None:
    for environment, protocol in (
        (anthropic_environment(model_server), "anthropic"),
        (openai_environment(model_server), "openai"),
    ):
        assert environment == {
            "ENRICHER_MODEL_URL": f"http://127.0.0.1:{model_server.server_port}",
            "ENRICHER_MODEL_NAME": MODEL,
            "ENRICHER_MODEL_PROTOCOL": protocol,
            "ENRICHER_MODEL_KEY_ENV": "MODEL_TEST_KEY",
            "MODEL_TEST_KEY": KEY,
        }


# The simulated model


def test_a_simulated_model_is_right_as_often_as_asked() -> None:
    answers = {f"prompt number {number} of many.": ("fix", "plan", "review")[number % 3] for number in range(600)}

    def right(accuracy: float) -> float:
        reply = simulated(answers, accuracy)
        return sum(reply(f"Classify: {prompt}", {}) == answer for prompt, answer in answers.items()) / len(answers)

    assert right(1) == 1
    assert right(0.9) == pytest.approx(0.9, abs=0.03)
    assert right(0) == 0


def test_a_simulated_model_answers_the_prompt_after_the_examples() -> None:
    reply = simulated({"test": "other", "plan a trip": "plan", "fix the test": "fix"}, accuracy=1)

    assert reply("Example: plan a trip -> plan\nNow: fix the test", {}) == "fix"
    assert reply("Nothing known", {}) == "{}"


def test_a_simulated_model_is_served_by_hand(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"prompt": PROMPT, "answer": {"class": "fix"}}) + "\n", "utf-8")
    command = [sys.executable, str(Path(__file__).with_name("serving.py")), "--port", "0", "--answers", str(answers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            url = process.stdout.readline().split()[-1]
            with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, timeout=20) as client:
                assert ask_gpt(client, model="any").choices[0].message.content == CLASS
        finally:
            process.terminate()

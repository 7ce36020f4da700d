"""The two protocols of the loopback model server: which requests they refuse, and what their answers look like.

Anthropic: ``/v1/messages`` and ``/v1/models`` with the header anthropic-version. OpenAI: ``/v1/chat/completions``,
``/v1/embeddings`` and ``/v1/models``.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
import threading
import zlib
from dataclasses import dataclass, field
from typing import Any

DIMENSIONS = 64
CHARS_PER_TOKEN = 4
CHARS_PER_DELTA = 12
REQUEST_ID = "req_01loopback"
CREATED = 1_760_000_000
"""When every answer and model was made, in Unix seconds."""
VERSIONS = ("2023-06-01", "2026-10-21")
"""Known values of the header anthropic-version, oldest first."""
SAMPLING = ("temperature", "top_p", "top_k")
JSON, EVENTS = "application/json", "text/event-stream"
ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The type of the error for each status; ``api_error`` for any other."""
OPENAI_ERRORS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("tokens", "rate_limit_exceeded"),
}
"""The type and the code of the error for each status; ``server_error`` without a code for any other."""


@dataclass
class Call:
    """One recorded request. ``finished`` is set when the server has nothing more to do for it."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Any
    """The decoded JSON; None if there is no body or it is not JSON."""
    arrived_at: float
    """Unix time, in seconds."""
    hung_up: bool = False
    """Whether the client closed the connection before it had the whole answer."""
    finished: threading.Event = field(default_factory=threading.Event)

    @property
    def is_anthropic(self) -> bool:
        return self.path == "/v1/messages" or "anthropic-version" in self.headers

    @property
    def key(self) -> str:
        """The key that the request carries, empty if it has none. Anthropic takes it from either header."""
        if self.is_anthropic and "x-api-key" in self.headers:
            return self.headers["x-api-key"]
        scheme, _, key = self.headers.get("authorization", "").partition(" ")
        return key if scheme.lower() == "bearer" else ""

    @property
    def prompt_text(self) -> str:
        """The system prompt and the text of all messages, in order, separated by line feeds."""
        messages = self.body.get("messages")
        contents = [self.body.get("system"), *(message["content"] for message in messages or [])]
        return "\n".join(_text_of(content) for content in contents if content)


@dataclass
class Answer:
    """What is sent for one request. A stream has one part for each event, any other answer has one part."""

    parts: list[bytes]
    content_type: str = JSON
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def is_stream(self) -> bool:
        return self.content_type == EVENTS


class ApiError(Exception):
    """A request that is answered with an error body of its protocol."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def tokens_of(text: str) -> int:
    """Return the number of tokens that the server counts for a text, at least one."""
    return max(1, math.ceil(len(text) / CHARS_PER_TOKEN))


def embedding_of(text: str) -> list[float]:
    """Return the words of a text, counted in buckets by their checksum, as a vector of length one."""
    counts = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()) or [""]:
        counts[zlib.crc32(word.encode()) % DIMENSIONS] += 1
    length = math.hypot(*counts)
    return [count / length for count in counts]


def check(call: Call, key: str, models: tuple[str, ...]) -> None:
    """Raise ApiError for a request that the real API would refuse: address, key, version, fields, model or schema."""
    needed = _needed_fields(call)
    if needed is None:
        raise ApiError(404, f"Unknown request: {call.method} {call.path}")
    if key and call.key != key:
        raise ApiError(401, "invalid x-api-key" if call.is_anthropic else "Incorrect API key provided.")
    if call.is_anthropic and call.headers.get("anthropic-version") not in VERSIONS:
        raise ApiError(400, f"anthropic-version: one of {', '.join(VERSIONS)} is required")
    if not needed:
        return
    if not isinstance(call.body, dict):
        raise ApiError(400, "The request body is not a JSON object.")
    for name, kind in needed.items():
        if not isinstance(call.body.get(name), kind):
            raise ApiError(400, f"{name}: Field required")
    if models and call.body["model"] not in models:
        raise ApiError(404, f"model: {call.body['model']}")
    if call.path != "/v1/embeddings":
        _check_messages(call.body["messages"])
        if call.is_anthropic:
            _check_support(call)
        _check_format(call)


def answer(call: Call, text: str, models: tuple[str, ...]) -> Answer:
    """Return the answer to a request that passed ``check``.

    ``text`` is what the model replies to messages; ``models`` are the names that the list of models holds.
    """
    if call.path == "/v1/models":
        return _models(call, models)
    if call.path == "/v1/embeddings":
        return _embeddings(call.body)
    return _messages(call, text) if call.is_anthropic else _chat(call, text)


def error(call: Call, fault: ApiError, retry_after_s: int) -> Answer:
    """Return the error answer of the call's protocol; a 429 has the header retry-after."""
    headers = {"request-id" if call.is_anthropic else "x-request-id": REQUEST_ID}
    if fault.status == 429:
        headers["retry-after"] = str(retry_after_s)
    return Answer([json.dumps(_error_body(call, fault)).encode()], status=fault.status, headers=headers)


def error_event(call: Call) -> bytes:
    """Return the event by which an API that is overloaded ends a stream that it has begun."""
    body = _error_body(call, ApiError(529, "Overloaded"))
    return _event(body, name="error" if call.is_anthropic else "")


def _needed_fields(call: Call) -> dict[str, type | tuple[type, ...]] | None:
    """Return the required fields of the body and their types, or None for an unknown request."""
    match call.method, call.path:
        case "GET", "/v1/models":
            return {}
        case "POST", "/v1/messages":
            return {"model": str, "messages": list, "max_tokens": int}
        case "POST", "/v1/chat/completions":
            return {"model": str, "messages": list}
        case "POST", "/v1/embeddings":
            return {"model": str, "input": (str, list)}
    return None


def _check_messages(messages: list[Any]) -> None:
    if not messages:
        raise ApiError(400, "messages: at least one message is required")
    for at, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str) or "content" not in message:
            raise ApiError(400, f"messages.{at}: role and content are required")


def _check_support(call: Call) -> None:
    """Raise ApiError for what Anthropic no longer accepts: a begun answer, and sampling parameters as of 2026-10-21."""
    if call.body["messages"][-1]["role"] == "assistant":
        raise ApiError(400, "Prefilling assistant messages is not supported for this model.")
    for name in SAMPLING:
        if name in call.body and call.headers["anthropic-version"] != VERSIONS[0]:
            raise ApiError(400, f"{name}: Extra inputs are not permitted")


def _check_format(call: Call) -> None:
    """Raise ApiError for a response format that is not well-formed, or a JSON schema outside the supported part."""
    if call.is_anthropic:
        wanted = (call.body.get("output_config") or {}).get("format")
        schema, is_strict = (wanted or {}).get("schema"), True
    else:
        wanted = call.body.get("response_format")
        described = (wanted or {}).get("json_schema") or {}
        schema, is_strict = described.get("schema"), bool(described.get("strict"))
    kind = (wanted or {}).get("type")
    if not wanted or kind == "text":
        return
    if kind == "json_object" and not call.is_anthropic:
        if "json" not in call.prompt_text.lower():
            raise ApiError(
                400, "'messages' must contain the word 'json' to use 'response_format' of type 'json_object'."
            )
    elif kind != "json_schema" or not isinstance(schema, dict):
        raise ApiError(400, "The response format needs the type 'json_schema' and a schema.")
    elif not call.is_anthropic and not described.get("name"):
        raise ApiError(400, "Missing required parameter: 'response_format.json_schema.name'.")
    elif is_strict:
        _check_objects(schema, needs_all=not call.is_anthropic)


def _check_objects(schema: Any, *, needs_all: bool) -> None:
    """Raise ApiError for an object schema that allows unknown properties or (``needs_all``) has optional ones."""
    if isinstance(schema, list):
        for one in schema:
            _check_objects(one, needs_all=needs_all)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            raise ApiError(400, "For 'object' type, 'additionalProperties' must be explicitly set to false")
        if needs_all and set(schema.get("required", [])) != set(schema.get("properties", {})):
            raise ApiError(400, "'required' must include every key in properties.")
    for one in schema.values():
        _check_objects(one, needs_all=needs_all)


def _text_of(content: Any) -> str:
    """Return a content that is a text, or the texts of its blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)


def _within(text: str, most_tokens: int | None) -> tuple[str, bool]:
    """Return the text, cut to the limit of tokens if there is one, and whether it was cut."""
    if not most_tokens or tokens_of(text) <= most_tokens:
        return text, False
    return text[: most_tokens * CHARS_PER_TOKEN], True


def _deltas(text: str) -> list[str]:
    return [text[start : start + CHARS_PER_DELTA] for start in range(0, len(text), CHARS_PER_DELTA)]


def _event(data: object, name: str = "") -> bytes:
    return ((f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n").encode()


def _messages(call: Call, text: str) -> Answer:
    """Return the reply as a text block, or as a call of the tool that the request forces if the reply is JSON."""
    body = call.body
    reply, is_cut = _within(text, body["max_tokens"])
    tool = _forced_tool(body)
    given = _object_in(reply) if tool else None
    block: dict[str, Any] = {"type": "text", "text": reply}
    if given is not None:
        block = {"type": "tool_use", "id": "toolu_01loopback", "name": tool, "input": given}
    stop = "end_turn" if given is None else "tool_use"
    message = {
        "id": "msg_01loopback",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": "max_tokens" if is_cut else stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": tokens_of(call.prompt_text),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": tokens_of(reply),
        },
    }
    headers = {"request-id": REQUEST_ID}
    if not body.get("stream"):
        return Answer([json.dumps(message).encode()], headers=headers)
    return Answer([_event(one, one["type"]) for one in _message_events(message, reply)], EVENTS, headers=headers)


def _message_events(message: dict[str, Any], reply: str) -> list[dict[str, Any]]:
    """Return the events of a streamed message with one block."""
    block = message["content"][0]
    if block["type"] == "tool_use":
        empty, kind, key = block | {"input": {}}, "input_json_delta", "partial_json"
    else:
        empty, kind, key = block | {"text": ""}, "text_delta", "text"
    begun = message | {"content": [], "stop_reason": None, "usage": message["usage"] | {"output_tokens": 1}}
    deltas = [{"type": kind, key: delta} for delta in _deltas(reply)]
    return [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": message["usage"]["output_tokens"]},
        },
        {"type": "message_stop"},
    ]


def _forced_tool(body: dict[str, Any]) -> str:
    """Return the name of the tool that the model must call; empty if it may answer with text."""
    choice = body.get("tool_choice") or {}
    if choice.get("type") == "any":
        return str(body["tools"][0]["name"])
    return str(choice["name"]) if choice.get("type") == "tool" else ""


def _object_in(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _chat(call: Call, text: str) -> Answer:
    body = call.body
    reply, is_cut = _within(text, body.get("max_completion_tokens") or body.get("max_tokens"))
    stop = "length" if is_cut else "stop"
    asked, given = tokens_of(call.prompt_text), tokens_of(reply)
    usage = {"prompt_tokens": asked, "completion_tokens": given, "total_tokens": asked + given}
    base = {"id": "chatcmpl-loopback", "created": CREATED, "model": body["model"], "system_fingerprint": "fp_loopback"}
    headers = {"x-request-id": REQUEST_ID}
    if not body.get("stream"):
        message = {"role": "assistant", "content": reply, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": stop}
        whole = base | {"object": "chat.completion", "choices": [choice], "usage": usage}
        return Answer([json.dumps(whole).encode()], headers=headers)
    base["object"] = "chat.completion.chunk"
    deltas = [{"role": "assistant", "content": ""}, *({"content": delta} for delta in _deltas(reply)), {}]
    chunks = [
        base | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None if delta else stop}]}
        for delta in deltas
    ]
    if (body.get("stream_options") or {}).get("include_usage"):
        chunks = [*({**chunk, "usage": None} for chunk in chunks), {**base, "choices": [], "usage": usage}]
    return Answer([*map(_event, chunks), b"data: [DONE]\n\n"], EVENTS, headers=headers)


def _embeddings(body: dict[str, Any]) -> Answer:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ApiError(400, "'$.input' is invalid: only texts that are not empty are accepted.")
    if body.get("dimensions", DIMENSIONS) != DIMENSIONS:
        raise ApiError(400, "This model does not support specifying dimensions.")
    data = []
    for at, text in enumerate(texts):
        vector: Any = embedding_of(text)
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *vector)).decode()
        data.append({"object": "embedding", "index": at, "embedding": vector})
    asked = sum(map(tokens_of, texts))
    usage = {"prompt_tokens": asked, "total_tokens": asked}
    return Answer([json.dumps({"object": "list", "data": data, "model": body["model"], "usage": usage}).encode()])


def _models(call: Call, names: tuple[str, ...]) -> Answer:
    if call.is_anthropic:
        data: list[dict[str, Any]] = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in names
        ]
        page = {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}
        return Answer([json.dumps(page).encode()])
    data = [{"id": name, "object": "model", "created": CREATED, "owned_by": "loopback"} for name in names]
    return Answer([json.dumps({"object": "list", "data": data}).encode()])


def _error_body(call: Call, fault: ApiError) -> dict[str, Any]:
    if call.is_anthropic:
        kind = ANTHROPIC_ERRORS.get(fault.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": str(fault)}, "request_id": REQUEST_ID}
    kind, code = OPENAI_ERRORS.get(fault.status, ("server_error", None))
    return {"error": {"message": str(fault), "type": kind, "param": None, "code": code}}

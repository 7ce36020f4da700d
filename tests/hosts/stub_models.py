"""A loopback server that stands in for every model API and remembers what it was asked.

It answers "OK" in the protocol of the path: Anthropic Messages (streamed, plain,
count_tokens), Gemini generateContent and streamGenerateContent, OpenAI Responses.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    ToolUse = tuple[str, dict[str, Any]]

ANSWER = "OK"
_uses = count()


class StubModels(ThreadingHTTPServer):
    """The server; ``requests`` holds (path, decoded body) in order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, Any]] = []
        self.tool: Callable[[dict[str, Any]], ToolUse | None] = lambda _body: None
        """The tool that the model uses in answer to a streamed request, None for a text."""
        self.opinion = ANSWER
        """The answer to a plain request for Anthropic Messages, such as the product sends."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


def offered(body: dict[str, Any], *names: str) -> str:
    """Return the first of these tools that the request offers to the model; empty if it offers none of them."""
    tools = json.dumps(body.get("tools", []))
    return next((name for name in names if f'"name": "{name}"' in tools), "")


def reading_once(file: str, before: Callable[[], object]) -> Callable[[dict[str, Any]], ToolUse | None]:
    """Return a model's behaviour: its first answer is to read the file, after ``before`` has returned."""

    def tool(body: dict[str, Any]) -> ToolUse | None:
        sent = json.dumps(body.get("messages", body.get("contents", [])))
        name = offered(body, "Read", "read_file")
        if not name or '"tool_result"' in sent or '"functionResponse"' in sent:
            return None
        before()
        return name, {"file_path": file}

    return tool


@contextmanager
def running_stub() -> Iterator[StubModels]:
    """Serve until the block ends."""
    server = StubModels()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: StubModels
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (signature of the base class)
        pass

    def do_GET(self) -> None:
        self._send_json({"data": [], "models": []})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw) if raw[:1] in (b"{", b"[") else {}
        path = self.path.partition("?")[0]
        self.server.requests.append((path, body))
        self._answer(path, body if isinstance(body, dict) else {})

    def _answer(self, path: str, body: dict[str, Any]) -> None:
        tool = self.server.tool(body) if path.endswith(("/messages", ":streamGenerateContent")) else None
        if path.endswith("/count_tokens"):
            self._send_json({"input_tokens": 10})
        elif path.endswith("/messages") and body.get("stream"):
            self._send_events(_anthropic_events(tool))
        elif path.endswith("/messages"):
            self._send_json(_anthropic_message(content=[{"type": "text", "text": self.server.opinion}]))
        elif path.endswith(":streamGenerateContent") and tool:
            self._send_events([("", _gemini_call(*tool))])
        elif path.endswith(":streamGenerateContent"):
            self._send_events([("", _gemini_response())])
        elif path.endswith(":countTokens"):
            self._send_json({"totalTokens": 10})
        elif path.endswith(":generateContent"):
            self._send_json(_gemini_response())
        elif path.endswith("/responses"):
            self._send_events(_openai_events())
        else:
            self._send_json({})

    def _send_json(self, value: object) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _send_events(self, events: list[tuple[str, dict[str, Any]]]) -> None:
        lines = [(f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n" for name, data in events]
        self._send("".join(lines).encode(), "text/event-stream")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _anthropic_message(**changed: object) -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "stub",
        "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    return message | changed


def _anthropic_events(tool: ToolUse | None) -> list[tuple[str, dict[str, Any]]]:
    """Return a text, or the use of a tool."""
    text: dict[str, Any] = {"type": "text", "text": ""}
    delta: dict[str, Any] = {"type": "text_delta", "text": ANSWER}
    if tool:
        text = {"type": "tool_use", "id": f"toolu_{tool[0]}_{next(_uses)}", "name": tool[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(tool[1])}
    bodies: list[dict[str, Any]] = [
        {"type": "message_start", "message": _anthropic_message(content=[], stop_reason=None)},
        {"type": "content_block_start", "index": 0, "content_block": text},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    return [(body["type"], body) for body in bodies]


def _gemini_response() -> dict[str, Any]:
    return {
        "candidates": [
            {"index": 0, "content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "STOP"},
        ],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11},
        "modelVersion": "stub",
    }


def _gemini_call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    answer = _gemini_response()
    answer["candidates"][0]["content"]["parts"] = [{"functionCall": {"name": name, "args": arguments}}]
    return answer


def _openai_events() -> list[tuple[str, dict[str, Any]]]:
    item: dict[str, Any] = {
        "type": "message",
        "id": "item_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
    }
    usage = {"input_tokens": 10, "output_tokens": 1, "total_tokens": 11}
    bodies: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}},
        {"type": "response.output_text.delta", "item_id": "item_1", "output_index": 0, "delta": ANSWER},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "output": [item], "usage": usage}},
    ]
    return [(body["type"], body) for body in bodies]

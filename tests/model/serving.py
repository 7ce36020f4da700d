"""A loopback model server for tests: the protocols of Anthropic and OpenAI, with scripted answers and faults.

A test sets attributes of ``ModelServer`` between requests and reads ``calls`` afterwards. To try the product by hand
against a simulated model of known accuracy:

    python tests/model/serving.py --port 8765 --accuracy 0.9 --answers FILE
"""

from __future__ import annotations

import argparse
import hashlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import protocols
from protocols import Answer, ApiError, Call

if TYPE_CHECKING:
    from collections.abc import Iterator

Reply = str | Callable[[str, dict[str, Any]], str]
"""The model's answer, or a function that takes the text of the prompt and the decoded request and returns the answer.

The function may raise ``ApiError`` to refuse a single request.
"""
Malformed = Literal["", "not json", "truncated", "empty", "html", "wrong shape", "wrong content type"]
HalfClose = Literal["", "within the body", "before the headers", "never answers"]

KEY, KEY_ENV = "test-key-of-the-loopback-server", "MODEL_TEST_KEY"
MODEL, EMBEDDING_MODEL = "test-model", "test-embedding"


class ModelServer(ThreadingHTTPServer):
    """The server. A test may change every attribute but ``calls`` between two requests."""

    daemon_threads = False  # close() waits for the threads, so that none of them outlives its test
    request_queue_size = 64

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.reply: Reply = "OK"
        self.delay_s = 0.0
        """Seconds before the headers of the answer."""
        self.pause_s = 0.0
        """Seconds before each event of a stream."""
        self.status = 200
        """Every other status is answered with an error body."""
        self.retry_after_s = 7
        """The retry-after header of a 429."""
        self.stream_error = False
        """Whether a stream ends in an error event after half of its events."""
        self.malformed: Malformed | bytes = ""
        """How the body is broken; bytes are sent as the whole body."""
        self.half_close: HalfClose = ""
        self.key = KEY
        """The key that requests must carry; empty if they need none."""
        self.models: tuple[str, ...] = (MODEL, EMBEDDING_MODEL)
        """Requests for another model are answered with 404; empty if every name is accepted."""
        self.calls: list[Call] = []
        self.closing = False
        self._arrival = threading.Condition()
        self._connections: set[socket.socket] = set()

    @property
    def url(self) -> str:
        """The base address without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def wait_for_calls(self, count: int, timeout: float = 10.0) -> list[Call]:
        """Return the calls as soon as there are ``count`` of them; raise TimeoutError after ``timeout`` seconds."""
        with self._arrival:
            if not self._arrival.wait_for(lambda: len(self.calls) >= count, timeout):
                raise TimeoutError(f"{len(self.calls)} of {count} calls arrived within {timeout} s")
            return list(self.calls)

    def record(self, call: Call) -> None:
        with self._arrival:
            self.calls.append(call)
            self._arrival.notify_all()

    def close(self) -> None:
        """Stop serving, close every open connection and wait for its thread."""
        self.closing = True
        self.shutdown()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print any exception but that of a client that went away."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(port: int = 0) -> Iterator[ModelServer]:
    """Serve on a free port, or on ``port``, until the block ends."""
    server = ModelServer(port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


def anthropic_environment(server: ModelServer) -> dict[str, str]:
    """Return the variables that make the product ask this server by the Anthropic protocol."""
    return _environment(server, "anthropic")


def openai_environment(server: ModelServer) -> dict[str, str]:
    """Return the variables that make the product ask this server by the OpenAI protocol."""
    return _environment(server, "openai")


def _environment(server: ModelServer, protocol: str) -> dict[str, str]:
    return {
        "ENRICHER_MODEL_URL": server.url,
        "ENRICHER_MODEL_NAME": MODEL,
        "ENRICHER_MODEL_PROTOCOL": protocol,
        "ENRICHER_MODEL_KEY_ENV": KEY_ENV,
        KEY_ENV: server.key,
    }


def simulated(answers: Mapping[str, str], accuracy: float) -> Callable[[str, dict[str, Any]], str]:
    """Return a reply that knows the answer to each prompt and gives another prompt's answer at a rate of 1 - accuracy.

    A request is about the known prompt that ends last in its text, as examples come before the question; the longest
    one if several end there. The same prompt always gets the same answer; a request with no known prompt gets ``{}``.
    """
    distinct = sorted(set(answers.values()))

    def reply(text: str, _body: dict[str, Any]) -> str:
        found = [(text.rfind(prompt) + len(prompt), len(prompt), prompt) for prompt in answers if prompt in text]
        if not found:
            return "{}"
        prompt = max(found)[2]
        digest = hashlib.sha256(prompt.encode()).digest()
        wrong = [answer for answer in distinct if answer != answers[prompt]]
        if not wrong or int.from_bytes(digest[:4]) / 2**32 < accuracy:
            return answers[prompt]
        return wrong[digest[4] % len(wrong)]

    return reply


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise the second small write of an answer waits 40 ms

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (signature of the base class)
        pass

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _serve(self, raw: bytes) -> None:
        arrived_at = time.time()
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(self.command, self.path.partition("?")[0], headers, body, arrived_at)
        self.server.record(call)
        try:
            self._answer(call)
        except ConnectionError:
            call.hung_up = not self.server.closing
            self.close_connection = True
        finally:
            call.finished.set()

    def _answer(self, call: Call) -> None:
        """Wait, then send the answer; raise ConnectionError if the client goes away first."""
        half_close = self.server.half_close
        self._wait(None if half_close == "never answers" else self.server.delay_s)
        if half_close == "before the headers":
            self.close_connection = True
            return
        answer = _answer_to(call, self.server)
        self._send(_broken(answer, self.server.malformed), is_cut=half_close == "within the body")

    def _wait(self, seconds: float | None) -> None:
        """Wait, without end if ``seconds`` is None; raise ConnectionError as soon as the client closes its side."""
        self.connection.settimeout(seconds)
        try:
            if not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionAbortedError
        except (TimeoutError, BlockingIOError):
            pass
        finally:
            self.connection.settimeout(None)

    def _send(self, answer: Answer, *, is_cut: bool) -> None:
        """Send the answer; if ``is_cut``, half of it, and then close the connection."""
        is_chunked = answer.is_stream and self.request_version == "HTTP/1.1"
        whole = sum(map(len, answer.parts))
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header(*(("transfer-encoding", "chunked") if is_chunked else ("content-length", str(whole))))
        self.end_headers()
        parts = [b"".join(answer.parts)[: whole // 2]] if is_cut else answer.parts
        for part in filter(None, parts):
            self._wait(self.server.pause_s if answer.is_stream else 0)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if is_chunked else part)
        if is_cut:
            self.close_connection = True
        elif is_chunked:
            self.wfile.write(b"0\r\n\r\n")


def _answer_to(call: Call, server: ModelServer) -> Answer:
    """Return the scripted answer, or an error for a request that the real API would refuse."""
    try:
        protocols.check(call, server.key, server.models)
        if server.status != 200:
            raise ApiError(server.status, "Overloaded" if server.status == 529 else f"Scripted error {server.status}.")
        answer = protocols.answer(call, _text(call, server), server.models or (MODEL,))
    except ApiError as fault:
        return protocols.error(call, fault, server.retry_after_s)
    if server.stream_error and answer.is_stream:
        answer.parts = [*answer.parts[: len(answer.parts) // 2], protocols.error_event(call)]
    return answer


def _text(call: Call, server: ModelServer) -> str:
    """Return what the model replies; empty for a request without messages."""
    if not call.path.endswith(("/messages", "/completions")):
        return ""
    return server.reply(call.prompt_text, call.body) if callable(server.reply) else server.reply


def _broken(answer: Answer, malformed: Malformed | bytes) -> Answer:
    """Return the answer with its body, or its content type, broken as asked."""
    if isinstance(malformed, bytes):
        return Answer([malformed], answer.content_type, answer.status, answer.headers)
    whole = b"".join(answer.parts)
    match malformed:
        case "not json":
            answer.parts = [b"event: message_start\ndata: not JSON\n\n" if answer.is_stream else b"not JSON"]
        case "wrong shape":
            answer.parts = [b'event: message_start\ndata: {"odd": [1]}\n\n' if answer.is_stream else b'{"odd": [1]}']
        case "truncated":
            answer.parts = [whole[: len(whole) // 2]]
        case "empty":
            answer.parts = []
        case "html":
            return Answer([b"<!doctype html><title>Bad gateway</title>"], "text/html", answer.status, answer.headers)
        case "wrong content type":
            return Answer([whole], "text/plain", answer.status, answer.headers)
    return answer


def _known_answers(file: Path) -> dict[str, str]:
    """Read JSON Lines with the fields ``prompt`` and ``answer``; an answer that is no text is sent as JSON."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    return {
        row["prompt"]: row["answer"] if isinstance(row["answer"], str) else json.dumps(row["answer"]) for row in rows
    }


def main() -> None:
    """Serve a simulated model until Ctrl-C. It needs no key and accepts every model name."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--answers", type=Path, required=True, help="JSON Lines with the fields prompt and answer")
    parser.add_argument("--accuracy", type=float, default=1.0, help="share of prompts that are answered rightly")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    given = parser.parse_args()
    with serving(given.port) as server:
        server.reply = simulated(_known_answers(given.answers), given.accuracy)
        server.delay_s, server.key, server.models = given.delay, "", ()
        print(f"serving on {server.url}", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()

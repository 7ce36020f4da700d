"""Send questions to a model over HTTP, through Anthropic's Messages API or OpenAI's Chat Completions API.

Vectors of texts are fetched through OpenAI's Embeddings API. The hook calls these functions only in child processes
(``enricher.model.opinion_request``). Sources: the API references of Anthropic (Messages, version 2023-06-01) and OpenAI
(Chat Completions, Embeddings). Ollama, llama.cpp and vLLM also implement the APIs of OpenAI.
"""

from __future__ import annotations

import time
from _socket import SOCK_STREAM, getaddrinfo, socket  # ``socket`` itself loads selectors, enum and io

from enricher.structured.parsing import native_schema
from storage.base.fast_stdlib import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from enricher.model.endpoint import Endpoint, Proxy
    from enricher.structured.parsing import Schema

MOST_TOKENS = 200  # usual maximum number of tokens of an answer, which is one JSON object
LARGEST_ANSWER = 16 << 20  # maximum bytes of an answer; for comparison, the vectors of 64 texts may be 2 MB of JSON
HTTP_OK = 200
ANTHROPIC_VERSION = "2023-06-01"
AGENT = "prompt-enricher"
PIECE = 64 * 1024
LARGEST_HEAD = 64 * 1024
END_OF_HEAD = b"\r\n\r\n"


class ModelError(Exception):
    """Raised if a model gave no usable answer, or was not called.

    ``reason`` is "timeout", "error" or "skipped" (no call was made). ``status`` is the HTTP status, 0 if there was no
    HTTP response. ``retry_after_s`` is the pause in seconds that the endpoint asked for, 0 if it asked for none.
    """

    def __init__(self, message: str, *, reason: str = "error", status: int = 0, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status
        self.retry_after_s = retry_after_s


class ModelAnswer:
    """The text of a model's answer, the model's name, and the number of tokens of the question and of the answer."""

    __slots__ = ("input_tokens", "model", "output_tokens", "text")

    def __init__(self, text: str, model: str, input_tokens: int, output_tokens: int) -> None:
        self.text = text
        self.model = model
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens


class HttpError(Exception):
    """Raised if the server's answer is not a complete and valid HTTP response."""


class Response:
    """An HTTP response; the names of its ``headers`` are in lower case."""

    __slots__ = ("content", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.status = status
        self.headers = headers
        self.content = content


def ask(
    endpoint: Endpoint, text: str, *, within_s: float, schema: Schema | None = None, most_tokens: int = MOST_TOKENS
) -> ModelAnswer:
    """Send a text to the model and return its answer; raises ModelError if it gives none within ``within_s`` seconds.

    If the endpoint supports structured output, it is told to answer with a JSON object that follows ``schema``.
    """
    messages = [{"role": "user", "content": text}]
    body: dict[str, Any] = {"model": endpoint.name, "messages": messages}
    native = native_schema(schema) if schema and endpoint.has_structured_output else None
    if endpoint.is_anthropic:
        body["max_tokens"] = most_tokens
        if native:
            body["output_config"] = {"format": {"type": "json_schema", "schema": native}}
        return _answer(_post(endpoint, "messages", body, within_s), is_anthropic=True)
    # Only OpenAI itself accepts the newer name; other servers with its protocol know the older one.
    body["max_completion_tokens" if endpoint.is_openai else "max_tokens"] = most_tokens
    if native:
        form = {"name": "answer", "strict": True, "schema": native}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return _answer(_post(endpoint, "chat/completions", body, within_s), is_anthropic=False)


def embed(endpoint: Endpoint, texts: list[str], *, within_s: float) -> tuple[list[list[float]], int]:
    """Fetch a vector for each text from an OpenAI-compatible endpoint; raises ModelError.

    Return the vectors, in the order of the texts, and the number of tokens used.
    """
    value = _post(endpoint, "embeddings", {"model": endpoint.name, "input": texts}, within_s)
    try:
        found = [[float(number) for number in one["embedding"]] for one in value["data"]]
    except (KeyError, TypeError, ValueError) as failure:
        raise ModelError(f"no vectors in the answer: {failure!r:.80}") from None
    if len(found) != len(texts):
        raise ModelError(f"{len(found)} vectors for {len(texts)} texts")
    used = value.get("usage")
    tokens = used.get("prompt_tokens") if isinstance(used, dict) else 0
    return found, tokens if isinstance(tokens, int) else 0


def _post(endpoint: Endpoint, path: str, body: dict[str, Any], within_s: float) -> Any:
    from enricher.model.endpoint import EndpointError, proxy_for

    until = time.monotonic() + within_s
    place = endpoint.place
    try:
        proxy = proxy_for(endpoint.host, endpoint.port, is_encrypted=endpoint.is_encrypted)
        if proxy:
            place += f" through the proxy {proxy.place}"
        response = (_sent_encrypted if endpoint.is_encrypted else _sent)(
            endpoint, proxy, endpoint.path(path), dumps(body).encode(), until
        )
    except TimeoutError:
        raise ModelError(f"no answer within {within_s:.1f} s", reason="timeout") from None
    except EndpointError as failure:
        raise ModelError(f"{place}: {failure}") from None
    except (OSError, HttpError, ValueError) as failure:
        raise ModelError(f"{place}: {type(failure).__name__}: {failure}") from None
    # With encryption, the timeout applies to each piece of the answer, so that the whole may still be late.
    if time.monotonic() > until:
        raise ModelError(f"no answer within {within_s:.1f} s", reason="timeout")
    return _checked(response, place)


def _sent(endpoint: Endpoint, proxy: Proxy | None, path: str, body: bytes, until: float) -> Response:
    # Not by ``http.client``, which takes long to import: some callers have only 150 ms.
    authority = f"[{endpoint.host}]:{endpoint.port}" if ":" in endpoint.host else f"{endpoint.host}:{endpoint.port}"
    headers = {
        "host": authority, "connection": "close", "content-length": str(len(body)), **_headers(endpoint),
        **(proxy.headers if proxy else {}),
    }  # fmt: skip
    target = f"http://{authority}{path}" if proxy else path  # RFC 9112, section 3.2.2
    lines = [f"POST {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    first: Endpoint | Proxy = proxy or endpoint
    connection = _connect(first.host, first.port, until)
    try:
        connection.settimeout(_left(until))
        connection.sendall("\r\n".join(lines).encode() + END_OF_HEAD + body)
        return _response(_Stream(connection, until))
    finally:
        connection.close()


def _sent_encrypted(endpoint: Endpoint, proxy: Proxy | None, path: str, body: bytes, until: float) -> Response:
    import http.client
    import ssl

    context = ssl.create_default_context()
    within_s = max(0.001, until - time.monotonic())
    first: Endpoint | Proxy = proxy or endpoint
    connection = http.client.HTTPSConnection(first.host, first.port, timeout=within_s, context=context)
    if proxy:
        connection.set_tunnel(endpoint.host, endpoint.port, proxy.headers)
    try:
        connection.request("POST", path, body, _headers(endpoint))
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Response(response.status, headers, response.read(LARGEST_ANSWER))
    except http.client.HTTPException as failure:
        raise HttpError(f"{type(failure).__name__}: {failure}") from None
    finally:
        connection.close()


def _headers(endpoint: Endpoint) -> dict[str, str]:
    headers = {"content-type": "application/json", "accept": "application/json", "user-agent": AGENT}
    if endpoint.is_anthropic:
        headers["anthropic-version"] = ANTHROPIC_VERSION
    if endpoint.key:
        name, lead = ("x-api-key", "") if endpoint.is_anthropic else ("authorization", "Bearer ")
        headers[name] = lead + endpoint.key
    return headers


def _checked(response: Response, place: str) -> Any:
    status, content = response.status, response.content
    if status != HTTP_OK:
        after = response.headers.get("retry-after", "")
        wait_s = float(after) if after.isdecimal() else 0.0
        raise ModelError(f"{place}: HTTP {status}: {_error_message(content)}", status=status, retry_after_s=wait_s)
    try:
        value = loads(content.decode())
    except (ValueError, RecursionError):
        raise ModelError(f"{place}: the answer is not JSON: {content[:60]!r}") from None
    if not isinstance(value, dict):
        raise ModelError(f"{place}: the answer is no JSON object")
    return value


def _error_message(content: bytes) -> str:
    try:
        value: Any = loads(content.decode())
        return str(value["error"]["message"])[:200]
    except (ValueError, RecursionError, KeyError, TypeError):
        return content[:80].decode(errors="replace")


def _answer(value: Any, *, is_anthropic: bool) -> ModelAnswer:
    try:
        if is_anthropic:
            protocol, counts = "Anthropic Messages", ("input_tokens", "output_tokens")
            text = "".join(one["text"] for one in value["content"] if one.get("type") == "text")
        else:
            protocol, counts = "chat completions", ("prompt_tokens", "completion_tokens")
            text = value["choices"][0]["message"]["content"]
        used = value.get("usage") or {}
        tokens = [count if isinstance(count := used.get(name), int) else 0 for name in counts]
    except (KeyError, IndexError, TypeError, AttributeError) as failure:
        raise ModelError(f"not an answer of {protocol}: {failure!r:.80}") from None
    if not isinstance(text, str):
        raise ModelError("the answer has no text")
    return ModelAnswer(text, str(value.get("model") or "")[:80], *tokens)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connect(host: str, port: int, until: float) -> socket:
    failure: OSError = OSError(f"no address for {host}")
    for family, kind, protocol, _name, address in getaddrinfo(host, port, 0, SOCK_STREAM):
        connection = socket(family, kind, protocol)
        try:
            connection.settimeout(_left(until))
            connection.connect(address)
        except OSError as refused:
            connection.close()
            failure = refused
        else:
            return connection
    raise failure


class _Stream:
    """The bytes of a response, received from the connection as they are needed."""

    def __init__(self, connection: socket, until: float) -> None:
        self.connection, self.until = connection, until
        self.received = b""
        self.left = LARGEST_ANSWER + LARGEST_HEAD

    def more(self) -> bool:
        """Receive more bytes; return False if the server has closed the connection instead."""
        self.connection.settimeout(_left(self.until))
        piece = self.connection.recv(PIECE)
        self.left -= len(piece)
        if self.left < 0:
            raise HttpError("the answer is too large")
        self.received += piece
        return bool(piece)

    def until_mark(self, mark: bytes) -> bytes:
        while mark not in self.received:
            if not self.more():
                raise HttpError("the connection was closed within the answer")
        found, _, self.received = self.received.partition(mark)
        return found

    def exactly(self, count: int) -> bytes:
        while len(self.received) < count:
            if not self.more():
                raise HttpError("the connection was closed within the answer")
        found, self.received = self.received[:count], self.received[count:]
        return found

    def rest(self) -> bytes:
        while self.more():
            pass
        return self.received


def _response(stream: _Stream) -> Response:
    try:
        first, *lines = stream.until_mark(END_OF_HEAD).decode("latin-1").split("\r\n")
        version, status = first.split(" ", 2)[:2]
        if not version.startswith("HTTP/1."):
            raise HttpError(f"no HTTP response: {first[:40]!r}")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        return Response(int(status), headers, _body(stream, headers))
    except ValueError as failure:
        raise HttpError(f"no HTTP response: {failure!r:.60}") from None


def _body(stream: _Stream, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        parts = []
        while size := int(stream.until_mark(b"\r\n").partition(b";")[0], 16):
            parts.append(stream.exactly(size))
            stream.exactly(2)
        return b"".join(parts)
    if "content-length" in headers:
        return stream.exactly(int(headers["content-length"]))
    return stream.rest()

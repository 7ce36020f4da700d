"""``enricher bench llm``: the hook beside a model that answers at once, and one that never does."""

from __future__ import annotations

import tempfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from enricher.interfaces.bench import HOOK, Case, Row, empty_project, home, paired
from enricher.model import allowance
from enricher.settings import DEFAULTS
from storage.base.lean import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES, INSTANT, SILENT = "hook, rules alone", "hook, a model that answers at once", "hook, a model that never answers"
PROMPT = "the thing with the basket after the merge, you know what I mean"
"""The rules are uncertain about it, so the model is asked for the task type as well."""
LIMIT_MS = float(DEFAULTS["search_intent.llm_timeout_ms"])
MOST_RATIO = 3.0
"""The hook with an instant model may take three times as long as without one."""
MOST_OVER_MS = 20.0
"""Milliseconds that the hook with a silent model may take beyond its limit and its own time."""
ANSWER = dumps(
    {
        "content": [{"type": "text", "text": '{"intent_type": "howto", "confidence": 0.9, "task_type": "debug"}'}],
        "usage": {"input_tokens": 250, "output_tokens": 25},
    }
).encode()


class _Model(BaseHTTPRequestHandler):
    """Answers every question with ANSWER once ``ready`` is set."""

    ready: threading.Event

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.ready.wait(30):
            self.send_response(200)
            self.send_header("content-length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (signature of the base class)
        """Print nothing."""


def model_rows(runs: int) -> list[Row]:
    """Measure the hook without a model, with one that answers at once and with one that never does, in paired runs.

    Earlier calls are forgotten before each run: after a few failures the silent model would not be asked any more.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        empty = empty_project(folder)
        with _serving(is_ready=True) as instant, _serving(is_ready=False) as silent:
            models = {RULES: "", INSTANT: instant, SILENT: silent}
            cases = {
                name: Case(
                    HOOK,
                    cwd=empty,
                    prompt=PROMPT,
                    state=f"{folder}/{at}",
                    environment=_settings(url),
                    forgets=f"{folder}/{at}/{allowance.FILE}",
                )
                for at, (name, url) in enumerate(models.items())
            }
            return paired(cases, runs)


def missed(rows: list[Row]) -> list[str]:
    """Return the names of the rows that miss their target."""
    by_rules, instant, silent = rows
    found = [instant.name] if instant.ratio > MOST_RATIO else []
    over_ms = silent.median_ms - by_rules.median_ms - LIMIT_MS
    return found + ([f"{silent.name} ({over_ms:.0f} ms over)"] if over_ms > MOST_OVER_MS else [])


def _settings(url: str) -> dict[str, str]:
    """Return the environment that configures the model; an empty URL configures none."""
    return {"ENRICHER_MODEL_URL": url, "ENRICHER_MODEL_NAME": "bench", "ENRICHER_MODEL_PROTOCOL": "anthropic"}


@contextmanager
def _serving(*, is_ready: bool) -> Iterator[str]:
    ready = threading.Event()
    if is_ready:
        ready.set()
    handler = type("Model", (_Model,), {"ready": ready})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        ready.set()
        server.shutdown()
        server.server_close()

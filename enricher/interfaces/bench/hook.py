"""Time the hook with and without a language model, and the classification of prompts alone."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from enricher.classify.verdict import verdict
from enricher.home import root_dir
from enricher.interfaces import bench
from enricher.interfaces.bench import FLOOR, HOOK, BenchCase, BenchRow, empty_project, home, paired, timed
from enricher.model import allowance
from enricher.rules import cache
from enricher.settings import DEFAULTS
from storage.base.fast_stdlib import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PARAGRAPH = (
    "We moved the importer to its own package and since then the nightly run stops after the third file. "
    "Please look at how the reader closes its handles, keep the public functions as they are, and add a test. "
)
CLASSIFICATIONS, WARM_UPS = 1000, 20
RULES, INSTANT, SILENT = "hook, rules alone", "hook, a model that answers at once", "hook, a model that never answers"
UNCERTAIN = "the thing with the basket after the merge, you know what I mean"
"""A prompt whose task type the rules cannot tell with certainty, so that the model is asked for that, too."""
LIMIT_MS = float(DEFAULTS["search_intent.llm_timeout_ms"])
MOST_RATIO = 3.0  # of the time with a model that answers at once to the time without a model
MOST_OVER_MS = 20.0  # that a model that never answers may cost in addition to its time limit
MOST_PLAN_MS = 10_000.0  # of the hook with a plan by a model; the specification says "typical 5-10 seconds" (seed 003)
BY_RULES, BY_MODEL = "hook, a plan by the rules", "hook, a plan by a model after {:g} s"
OPINION = '{"intent_type": "howto", "confidence": 0.9, "task_type": "debug"}'
PLAN = dumps({
    "intent": "Find out why the export test fails, and fix it",
    "steps": [
        {"action": "Run the export test, and keep the exact output"},
        {"action": "Follow the wrong value back to where it comes from"},
        {"action": "Repeat the test", "is_checkpoint": True, "evidence": "it passes"},
    ],
})  # fmt: skip


def hook_rows(runs: int) -> list[BenchRow]:
    """Measure a bare interpreter, the hook, and the hook started through ``sh``, in shuffled rounds.

    The hook records its prompts, as it does in normal use.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, home(folder):
        launcher, empty = _launcher(folder), empty_project(folder)
        through_sh = BenchCase(["sh", "-c", f"sh '{launcher}' claude 2>/dev/null || true"], cwd=empty)
        cases = {"python -I -S -c pass": FLOOR, "hook": BenchCase(HOOK, cwd=empty), "hook through sh": through_sh}
        return paired(cases, runs)


def _launcher(folder: str) -> str:
    path = os.path.join(folder, "hook")
    boot = os.path.join(root_dir(), "enricher", "boot.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[ -x "{sys.executable}" ] && exec "{sys.executable}" -I -S "{boot}" "$@"\n')
    return path


def classification_rows() -> list[BenchRow]:
    """Measure the classification alone, in this process, for several sizes of prompts; ratios are to the smallest."""
    rules, _layers = cache.load("", wait_ms=30_000)
    gc.disable()  # as in the process of the hook
    rows: list[BenchRow] = []
    base: list[float] = []
    for name, prompt in _sizes():
        judge = partial(verdict, prompt, rules)
        timed(judge, WARM_UPS)
        times = timed(judge, CLASSIFICATIONS if len(prompt) < 10_000 else CLASSIFICATIONS // 5)  # they take longer
        base = base or times
        rows.append(BenchRow.of(name, times, base))
    return rows


def _sizes() -> Iterator[tuple[str, str]]:
    for name, size in (("200 B", 200), ("2 KB", 2048), ("16 KB", 16 << 10), ("100 KB", 100 << 10), ("1 MB", 1 << 20)):
        yield name, (PARAGRAPH * (size // len(PARAGRAPH) + 1))[:size]


class _Model(BaseHTTPRequestHandler):
    """A fake model that responds to every request with ``answer`` after ``delay_s`` seconds, once ``ready`` is set."""

    ready: threading.Event
    answer: str
    delay_s: float

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.ready.wait(30):  # longer than the hook waits for any model
            time.sleep(self.delay_s)
            usage = {"input_tokens": 250, "output_tokens": 25}
            body = dumps({"content": [{"type": "text", "text": self.answer}], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (signature of the base class)
        """Print nothing."""


def model_rows(runs: int) -> list[BenchRow]:
    """Measure the hook in paired runs: without a model, with a model that answers at once, with one that never does."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        home(folder),
        _serving(is_ready=True) as instant,
        _serving(is_ready=False) as silent,
    ):
        models = {RULES: "", INSTANT: instant, SILENT: silent}
        return paired(_cases(folder, models, prompt=UNCERTAIN), runs)


def _cases(
    folder: str, models: Mapping[str, str], *, prompt: str = bench.PROMPT, mode: Mapping[str, str] | None = None
) -> dict[str, BenchCase]:
    """Return a case for each model, given by its URL; if that is empty, no model is configured."""
    empty, shared = empty_project(folder), {"ENRICHER_MODEL_NAME": "bench", "ENRICHER_MODEL_PROTOCOL": "anthropic"}
    return {
        name: BenchCase(
            HOOK,
            cwd=empty,
            prompt=prompt,
            state=f"{folder}/{at}",
            environment={**shared, "ENRICHER_MODEL_URL": url, **(mode or {})},
            forgets=f"{folder}/{at}/{allowance.FILE}",  # a model that has failed a few times is not asked for a while
        )
        for at, (name, url) in enumerate(models.items())
    }


def missed_with_a_model(rows: list[BenchRow]) -> list[str]:
    """Return the names of the rows (those of ``model_rows``) that miss their target."""
    by_rules, instant, silent = rows
    found = [instant.name] if instant.ratio > MOST_RATIO else []
    over_ms = silent.median_ms - by_rules.median_ms - LIMIT_MS
    return found + ([f"{silent.name} ({over_ms:.0f} ms over)"] if over_ms > MOST_OVER_MS else [])


def plan_rows(runs: int, seconds: float) -> list[BenchRow]:
    """Measure, in paired runs, the hook with a plan by the rules and with one by a model that takes ``seconds``."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        home(folder),
        _serving(is_ready=True, answer=PLAN, delay_s=seconds) as url,
    ):
        mode = {"ENRICHER_MODE": "hydrate", "ENRICHER_MODEL_PLAN_TIMEOUT_MS": "13000"}
        return paired(_cases(folder, {BY_RULES: "", BY_MODEL.format(seconds): url}, mode=mode), runs)


def missed_with_a_plan(rows: list[BenchRow], seconds: float) -> list[str]:
    """Return the names of the rows (those of ``plan_rows``) that are too slow, or too fast to have asked the model."""
    _by_rules, by_model = rows
    if by_model.median_ms < seconds * 1000:
        return [f"{by_model.name} (it was not asked)"]
    return [by_model.name] if by_model.median_ms > MOST_PLAN_MS else []


@contextmanager
def _serving(*, is_ready: bool, answer: str = OPINION, delay_s: float = 0.0) -> Iterator[str]:
    ready = threading.Event()
    if is_ready:
        ready.set()
    handler = type("Model", (_Model,), {"ready": ready, "answer": answer, "delay_s": delay_s})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        ready.set()  # lets the threads end that still wait to answer
        server.shutdown()
        server.server_close()

"""A history of any size, as years of prompts would leave it: ``python tests/big_history.py 1000000 FOLDER``.

The same number and seed give the same history. Prompts are put together from the words below; how often each
kind, client, status and label comes follows what real histories show, so that a filter has common and rare values.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from enricher.context import CHANNELS
from enricher.respond import RECORDED_SETTINGS
from enricher.settings import DEFAULTS
from storage import traces
from storage.db import database

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

BATCH = 5_000
LAST_SECOND = 1_790_000_000
DAYS = 400
VERSIONS = tuple(f"{number:02x}" * 16 for number in range(12))
TYPES = {
    "implementation": 24, "debug": 19, "question": 14, "chat": 13, "refactor": 7, "test": 6, "ops": 5, "docs": 4,
    "review": 4, "planning": 2, "research": 1.5, "framework": 0.5,
}  # fmt: skip
INTENTS = {"none": 60, "location": 12, "howto": 9, "troubleshoot": 9, "explanation": 6, "general": 3, "comparison": 1}
HOSTS = {"claude": 70, "codex": 15, "gemini": 8, "copilot": 5, "cursor": 1.5, "opencode": 0.5}
STATUSES = {"silent": 46, "ok": 40, "skipped": 12, "partial": 1, "shadow": 0.7, "error": 0.3}
ORIGINS = {"hook": 90, "import": 9, "test": 1}
GUARDRAILS = {
    "H3": ("Verification Before Assertion", 40), "H5": ("Error Messages Are Primary Evidence", 30),
    "H2": ("Smallest Change First", 20), "H7": ("Tests Beside The Change", 9), "H9": ("Ask Before Deleting", 1),
}  # fmt: skip
OPENINGS = {
    "implementation": ("add", "implement", "we need", "please build"), "debug": ("why does", "fix", "what broke in"),
    "question": ("where is", "what does", "how does"), "chat": ("yes,", "thanks,", "ok,"),
    "refactor": ("rename", "split up", "simplify"), "test": ("write tests for", "cover"), "ops": ("deploy", "restart"),
    "docs": ("document", "describe"), "review": ("review", "look over"), "planning": ("plan", "how should we do"),
    "research": ("compare", "find out about"), "framework": ("set up the agent for", "change the hook of"),
}  # fmt: skip
THINGS = (
    "invoice", "basket", "login form", "nightly export", "price list", "search index", "upload queue", "report page",
    "session store", "mail template", "retry logic", "user import", "image cache", "settings dialog", "audit log",
)  # fmt: skip
TAILS = (
    "", "it worked yesterday", "and keep the tests green", "as short as you can", "in the same style as the others",
    "before the release on Friday", "without a new dependency", "the customer sees a blank page",
    "see orders/service.py", "then tell me what you changed", "it only happens on the second try",
)  # fmt: skip
STAGES = ("read", "rules", "classify", "context", "guidance", "render")
SETTINGS = {key: DEFAULTS[key] for key in RECORDED_SETTINGS if key in DEFAULTS}
INPUTS = json.dumps({"settings": SETTINGS, "skills": [], "injected": [], "spent": 0, "channels": []})


def write_history(state: Path | str, prompts: int, *, seed: int = 1) -> None:
    """Write a database with so many prompts and all that lies beside them."""
    with closing(database.connect(str(state))) as db:
        db.execute("pragma synchronous = off")
        db.execute("pragma cache_size = -200000")
        for version in VERSIONS:
            db.execute(
                "insert or ignore into instructions_versions values (?, '{}', '2026-01-01T00:00:00.000Z')", (version,)
            )
        rows: dict[str, list[tuple[object, ...]]] = {}
        for number, trace in enumerate(_history(prompts, random.Random(seed)), 1):
            for table, own in trace.items():
                rows.setdefault(table, []).extend(own)
            if number % BATCH == 0 or number == prompts:
                _write(db, rows)
                rows = {}
        db.execute("analyze")


def _write(db: sqlite3.Connection, rows: dict[str, list[tuple[object, ...]]]) -> None:
    db.execute("begin immediate")
    for table, own in rows.items():
        columns = ("trace_id", "labelled_at", "verdict", "task_type") if table == "labels" else traces.TABLES[table]
        db.executemany(traces.insertion(table, columns), own)
    db.execute("commit")


def _history(prompts: int, chance: random.Random) -> Iterator[dict[str, list[tuple[object, ...]]]]:
    step = DAYS * 86_400 / max(1, prompts)
    moment = LAST_SECOND - DAYS * 86_400.0
    session, left, project, host = "", 0, "", ""
    for number in range(prompts):
        if not left:
            session, left = f"{number:08x}-{chance.getrandbits(32):08x}", min(80, 1 + int(chance.expovariate(1 / 9)))
            project = f"github.com/acme/{THINGS[min(14, int(chance.expovariate(1 / 3)))].replace(' ', '-')}"
            host = _one_of(HOSTS, chance)
        left -= 1
        moment += step * chance.uniform(0.2, 1.8)
        yield _trace(moment, session, project=project, host=host, chance=chance)


def _one_of(weights: dict[str, float], chance: random.Random) -> str:
    return chance.choices(tuple(weights), tuple(weights.values()))[0]


def _prompt(kind: str, chance: random.Random) -> str:
    text = f"{chance.choice(OPENINGS[kind])} the {chance.choice(THINGS)} {chance.choice(TAILS)}".strip()
    if chance.random() < 0.02:
        text += f" {chance.choice(('telescope', 'marmalade', 'quicksand'))}"
    if kind == "debug" and chance.random() < 0.3:
        file, line = chance.randrange(90), chance.randrange(400)
        text += f'\n\n  File "shop/{file}.py", line {line}\nKeyError: {chance.randrange(9)}'
    return text if chance.random() > 0.05 else "\n".join([text] * chance.randrange(4, 40))


def _trace(
    moment: float, session: str, *, project: str, host: str, chance: random.Random
) -> dict[str, list[tuple[object, ...]]]:
    own = f"{int(moment * 1_000_000):014x}{chance.getrandbits(40):010x}"
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03d}Z"
    kind, status, intent = _one_of(TYPES, chance), _one_of(STATUSES, chance), _one_of(INTENTS, chance)
    prompt = _prompt(kind, chance)
    is_added = status in traces.INJECTING
    ms = round(min(900.0, chance.lognormvariate(2.6, 0.45)), 3)
    added = [name for name, (_title, weight) in GUARDRAILS.items() if is_added and chance.random() < weight / 60]
    confidence = round(chance.betavariate(5, 2), 2)
    text = f"## Prompt Enrichment\n**Classification**: {kind}\n**Applicable Guardrails**: {', '.join(added)}" * is_added
    columns = {
        "id": own, "at": at, "host": host, "session_id": session, "project": project, "cwd": f"/home/dev/{project}",
        "prompt": prompt, "prompt_hmac": own[-16:], "prompt_chars": len(prompt), "status": status,
        "skip_reason": "slash_command" if status == "skipped" else "", "error": "time" if status == "error" else "",
        "task_type": "" if status == "skipped" else kind, "confidence": confidence, "uncertain": int(confidence < 0.5),
        "search_intent": intent, "intent_confidence": 0.7, "topics": "[]", "complexity": "1", "workflow": "",
        "approach": "", "rules_hash": VERSIONS[min(11, int(chance.expovariate(0.5)))],
        "inputs": INPUTS,
        "output_text": text, "output_tokens": len(text) // 4, "scanned_chars": len(prompt), "latency_ms": ms,
        "partial": 0, "memory_context": "{}", "origin": _one_of(ORIGINS, chance),
    }  # fmt: skip
    return {
        "traces": [tuple(columns[name] for name in traces.TABLES["traces"])],
        **_beside(own, kind, added=added, ms=ms, chance=chance),
        "labels": _labels(own, at, kind, chance),
    }


def _beside(
    own: str, kind: str, *, added: list[str], ms: float, chance: random.Random
) -> dict[str, list[tuple[object, ...]]]:
    second = _one_of(TYPES, chance)
    best = chance.randrange(12, 50)
    scores = {("task_type", kind): best, ("task_type", second): min(best, chance.randrange(1, 40))}
    evidence = json.dumps([["<always>", 0, 9, 3], [f"[{kind}]", 0, 3, 5], ["plain words", 0, 3, 7]])
    return {
        "trace_scores": [(own, facet, name, score, evidence) for (facet, name), score in scores.items()],
        "trace_stages": [
            (own, place, name, round(ms * chance.uniform(0.05, 0.2), 3)) for place, name in enumerate(STAGES)
        ],
        "trace_channels": [
            (own, name, "empty", round(ms * chance.uniform(0, 0.1), 3), 0, 0, 0, "", "") for name in CHANNELS
        ],
        "trace_guardrails": [(own, place, one, GUARDRAILS[one][0], 2.0) for place, one in enumerate(added)],
    }


def _labels(own: str, at: str, kind: str, chance: random.Random) -> list[tuple[object, ...]]:
    if chance.random() > 0.004:
        return []
    verdict = chance.choices(("ok", "wrong", "class"), (6, 2, 2))[0]
    return [(own, at, verdict, ("debug" if kind != "debug" else "question") if verdict == "class" else "")]


if __name__ == "__main__":
    started = time.perf_counter()
    write_history(sys.argv[2], int(sys.argv[1]))
    size = os.path.getsize(f"{sys.argv[2]}/{traces.DATABASE}") / 1e6
    print(f"{int(sys.argv[1]):,} prompts, {size:,.0f} MB, {time.perf_counter() - started:.1f} s")

"""Define the trace, which is the record of one prompt and of what the hook did, and make database rows from it.

The hook runs this code at the end of every prompt; ``storage.traces.spool`` writes the rows to a file.
"""

from __future__ import annotations

import os
import time

from storage.base import fast_stdlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Value = str | int | float | None
    Rows = list[tuple[Value, ...]]

DATABASE = "enricher.db"
SCHEMA_VERSION = 26  # the number of the last migration; every spool file records the version it was written for
ID_LIMIT = 128

STATUSES = ("ok", "silent", "skipped", "partial", "error", "shadow")
INJECTING = ("ok", "partial")  # statuses of traces whose text was added to the prompt
ORIGINS = ("hook", "import", "test")

TABLES = {
    "traces": (
        "id", "at", "host", "session_id", "project", "cwd", "prompt", "prompt_hmac", "prompt_chars", "status",
        "skip_reason", "error", "task_type", "confidence", "uncertain", "search_intent", "intent_confidence", "topics",
        "complexity", "workflow", "approach", "rules_hash", "inputs", "output_text", "output_tokens", "scanned_chars",
        "latency_ms", "partial", "memory_context", "origin",
    ),
    "trace_scores": ("trace_id", "facet", "name", "score", "evidence"),
    "trace_stages": ("trace_id", "position", "stage", "latency_ms"),
    "trace_channels": (
        "trace_id", "channel", "status", "latency_ms", "offered", "kept", "tokens", "fallback", "model",
    ),
    "trace_items": ("trace_id", "position", "channel", "ref", "text", "why", "score", "kept"),
    "trace_guardrails": ("trace_id", "position", "guardrail_id", "title", "score"),
    "complexity_estimates": (
        "trace_id", "estimated_tokens", "estimated_loc", "estimated_files", "estimated_duration_minutes",
        "overall_complexity_score", "heuristic_score", "llm_adjusted_score", "category", "should_decompose",
        "decomposition_reason", "estimation_factors", "confidence", "actual_tokens", "actual_loc", "actual_files",
        "actual_duration_minutes", "estimation_accuracy", "created_at", "updated_at",
    ),
    "parallel_attempts": (
        "trace_id", "position", "num_agents", "agent_ids", "subtask_ids", "success", "failure_reason",
        "conflict_detected", "conflict_details", "total_duration_seconds", "sequential_estimate_seconds",
        "speedup_factor", "max_concurrent_agents", "total_token_usage", "failed_agent_count",
        "parallelization_strategy", "fallback_to_sequential", "execution_metadata", "started_at", "completed_at",
        "created_at",
    ),
    "rule_violations": (
        "trace_id", "position", "rule_id", "rule_name", "rule_domain", "severity", "file", "line", "message",
        "suggestion", "guardrails", "resolved", "resolution_notes", "created_at", "resolved_at",
    ),
    "sessions": ("session_id", "trace_id", "kind", "ref", "tokens"),
    "memories": (
        "number", "id", "namespace", "content", "tags", "project", "path_prefix", "source", "origin", "key",
        "created_at", "updated_at", "reviewed", "superseded_by", "words",
    ),
}  # fmt: skip

NO_ACTUALS = (None,) * 5
"""The values of a new effort estimate for the columns that are set after the work: ``actual_…`` and the accuracy."""

LATE, LATE_COLUMNS = "late", ("model", "id")
"""Name and columns of rows in spool files that add a language model's late answer to a trace, as ``inputs.model``.

The database has no table of this name.
"""
ADD_LATE = """
    update traces set inputs = json_set(inputs, '$.model', json(?1)) where id = ?2 and json_valid(?1)
"""


class Trace:
    """The record of one prompt: everything that the hook's result depended on, the result, and its cost.

    The first attributes are the columns of the table ``traces``; ``workflow`` is empty if no workflow fits with
    certainty. The others are rows of other tables, as tuples in the order of TABLES, but without ``trace_id`` and
    ``position``:

    - ``scores``: (facet, name, score, [[signal, start, end, weight], …])
    - ``stages``: (stage, latency_ms)
    - ``channels``: (channel, status, latency_ms, offered, kept, tokens, fallback, model)
    - ``items``: (channel, ref, text, why, score, kept)
    - ``guardrails``: (guardrail_id, title, score)
    - ``estimate``: the columns of ``complexity_estimates`` from estimated_tokens to confidence
    - ``injected``: (kind, ref) of what was added to the session; kind is guardrail, approach or item (a fact)
    - ``memories``: the notes that the user asked in this prompt to remember, without ``number``
    """

    __slots__ = (
        *TABLES["traces"], "channels", "estimate", "guardrails", "injected", "items", "memories", "scores", "stages",
    )  # fmt: skip

    def __init__(self) -> None:
        self.id: str = new_trace_id()
        self.at: str = fast_stdlib.utc_now()
        self.host: str = ""
        self.session_id: str = ""
        self.project: str = ""
        self.cwd: str = ""
        self.prompt: str = ""
        self.prompt_hmac: str = ""
        self.prompt_chars: int = 0
        self.status: str = "silent"
        self.skip_reason: str = ""
        self.error: str = ""
        self.task_type: str = ""
        self.confidence: float | None = None
        self.uncertain: bool = False
        self.search_intent: str = ""
        self.intent_confidence: float | None = None
        self.topics: Iterable[str] = ()
        self.complexity: str = ""
        self.workflow: str = ""
        self.approach: str = ""
        self.rules_hash: str = ""
        self.inputs: dict[str, object] = {}
        self.output_text: str = ""
        self.output_tokens: int = 0
        self.scanned_chars: int = 0
        self.latency_ms: float = 0.0
        self.partial: bool = False
        self.memory_context: dict[str, object] = {}
        self.origin: str = "hook"
        self.scores: list[tuple[object, ...]] = []
        self.stages: list[tuple[object, ...]] = []
        self.channels: list[tuple[object, ...]] = []
        self.items: list[tuple[object, ...]] = []
        self.guardrails: list[tuple[object, ...]] = []
        self.estimate: list[tuple[object, ...]] = []
        self.injected: list[tuple[str, str]] = []
        self.memories: list[tuple[object, ...]] = []


def new_trace_id() -> str:
    """Return a new trace id: 24 hex digits that sort by time, 14 for the microsecond and 10 random ones."""
    # 14 hex digits of microseconds last until the year 4253.
    return f"{time.time_ns() // 1000 & 0xFFFFFFFFFFFFFF:014x}{os.urandom(5).hex()}"


def flatten(trace: Trace) -> dict[str, Rows]:
    """Return the database rows of a trace by table name, with values that both SQLite and JSON can represent."""
    trace.session_id = short(trace.session_id)
    own = trace.id = short(trace.id)
    return {
        "traces": [tuple(_value(getattr(trace, column)) for column in TABLES["traces"])],
        "trace_scores": [(own, *map(_value, row)) for row in trace.scores],
        "trace_stages": [(own, position, *map(_value, row)) for position, row in enumerate(trace.stages)],
        "trace_channels": [(own, *map(_value, row)) for row in trace.channels],
        "trace_items": [(own, position, *map(_value, row)) for position, row in enumerate(trace.items)],
        "trace_guardrails": [(own, position, *map(_value, row)) for position, row in enumerate(trace.guardrails)],
        "complexity_estimates": [(own, *map(_value, row), *NO_ACTUALS, trace.at, trace.at) for row in trace.estimate],
        "sessions": _session_rows(trace),
        "memories": [(None, *map(_value, row)) for row in trace.memories],  # SQLite assigns the ``number``
    }


def insertion(table: str, columns: Sequence[str]) -> str:
    """Return the SQL statement that inserts a row, or does nothing if the table has a row with the same key.

    «insert or ignore» would also silently drop a row that violates a CHECK. If ``table`` is ``LATE``, return the
    statement that adds a model's late answer to a trace instead.
    """
    if table == LATE:
        return ADD_LATE
    places = ", ".join("?" * len(columns))
    return f"insert into {table} ({', '.join(columns)}) values ({places}) on conflict do nothing"


def storable(text: str) -> str:
    """Return the text with each lone surrogate, which UTF-8 cannot encode, replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def short(identifier: str) -> str:
    """Shorten an identifier from an agent client to at most ID_LIMIT characters.

    A long one ends with a hash, so that different identifiers stay different.
    """
    identifier = storable(identifier)
    if len(identifier) <= ID_LIMIT:
        return identifier
    return f"{identifier[:64]}~{fast_stdlib.keyed_hash(b'', identifier.encode())}"


def _session_rows(trace: Trace) -> Rows:
    if not trace.session_id or trace.status not in INJECTING:
        return []
    rows: Rows = [(trace.session_id, trace.id, kind, storable(ref), 0) for kind, ref in trace.injected]
    if trace.output_tokens:
        rows.append((trace.session_id, trace.id, "text", "", int(trace.output_tokens)))
    return rows


def _value(value: object) -> Value:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return value if value - value == 0 else None  # not so for NaN and infinity, which JSON does not have
    if isinstance(value, int):
        return max(-(2**63), min(int(value), 2**63 - 1))  # an integer in SQLite has 64 bits; int() makes True 1
    if value is None:
        return None
    return fast_stdlib.dumps(list(value) if isinstance(value, tuple) else value)

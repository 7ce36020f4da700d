"""What a snapshot holds of each column, as SQL over the row of the source, for each way of telling texts.

A column that is not listed here is not published: whoever adds one decides on it here.
"""

from __future__ import annotations

from typing import NamedTuple

REDACTED, HASH, FULL = TEXTS = ("redacted", "hash", "full")
NOT_TESTS = "source.traces.origin <> 'test'"
OF_A_TRACE = "trace_id in (select id from main.traces)"


class Shown(NamedTuple):
    """The expression of a column ``{c}``, by way of telling texts."""

    redacted: str
    hash: str
    full: str


def _always(expression: str) -> Shown:
    return Shown(expression, expression, expression)


AS_IS = _always("{c}")
TEXT = Shown("told({c})", "''", "{c}")
NAME = Shown("told({c})", "told({c})", "{c}")
"""A name of a rule or a class: no text that somebody typed into a prompt."""
DOCUMENT = Shown("told_json({c})", "bare({c})", "{c}")
LIST = Shown("told_json({c})", "'[]'", "{c}")
FILE = Shown("told({c})", "told(last_part({c}))", "{c}")
PROJECT = "case when {c} like 'local-%' then pseudonym('project', {c}) else told({c}) end"
"""One without a remote is named by a hash of its folder, which whoever guesses the folder can compute."""
NEVER, NO_DOCUMENT = _always("''"), _always("'{{}}'")

COLUMNS: dict[str, dict[str, Shown]] = {
    "traces": {
        **dict.fromkeys(
            """
            id at prompt_chars status confidence uncertain intent_confidence complexity rules_hash output_tokens
            scanned_chars latency_ms partial origin
            """.split(),
            AS_IS,
        ),
        **dict.fromkeys(("host", "skip_reason", "task_type", "search_intent"), NAME),
        **dict.fromkeys(("prompt", "error", "workflow", "approach", "output_text"), TEXT),
        "session_id": Shown("pseudonym('session', {c})", "pseudonym('session', {c})", "{c}"),
        "project": Shown(PROJECT, "pseudonym('project', {c})", "{c}"),
        "cwd": Shown("''", "''", "{c}"),
        "prompt_hmac": Shown("''", "{c}", "''"),
        "topics": Shown("topics({c}, prompt)", "'[]'", "{c}"),
        "inputs": NO_DOCUMENT,
        "memory_context": NO_DOCUMENT,
    },
    "trace_scores": {
        **dict.fromkeys(("trace_id", "facet", "score"), AS_IS),
        "name": NAME,
        "evidence": Shown(
            "moved({c}, (select prompt from source.traces as own where own.id = trace_id))", "'[]'", "{c}"
        ),
    },
    "trace_stages": dict.fromkeys(("trace_id", "position", "stage", "latency_ms"), AS_IS),
    "trace_channels": {
        **dict.fromkeys(("trace_id", "status", "latency_ms", "offered", "kept", "tokens"), AS_IS),
        **dict.fromkeys(("channel", "fallback"), NAME),
        "model": FILE,
    },
    "trace_items": {
        **dict.fromkeys(("trace_id", "position", "score", "kept"), AS_IS),
        "channel": NAME,
        **dict.fromkeys(("ref", "text", "why"), TEXT),
    },
    "trace_guardrails": {
        **dict.fromkeys(("trace_id", "position", "score"), AS_IS),
        **dict.fromkeys(("guardrail_id", "title"), NAME),
    },
    "labels": {**dict.fromkeys(("id", "trace_id", "labelled_at", "verdict"), AS_IS), "task_type": NAME},
    "instructions_versions": {"hash": AS_IS, "text": NO_DOCUMENT, "first_seen_at": AS_IS},
    "instructions_sources": {
        **dict.fromkeys(("hash", "position", "layer"), AS_IS),
        "path": FILE,
        "text": TEXT,
    },
    "replays": {
        **dict.fromkeys(
            ("id", "at", "base_hash", "candidate_hash", "context", "verdict", "prompts", "changed"), AS_IS
        ),
        "base": Shown("told({c})", "substr(base_hash, 1, 12)", "{c}"),
        "candidate": Shown("told({c})", "substr(candidate_hash, 1, 12)", "{c}"),
        "selection": Shown("chosen({c})", "''", "{c}"),
        "diff": TEXT,
        "figures": DOCUMENT,
    },
    "replay_results": {
        **dict.fromkeys(("replay_id", "trace_id", "kinds"), AS_IS),
        "cause": TEXT,
        "before": DOCUMENT,
        "after": DOCUMENT,
    },
    "coverage_measured": {
        **dict.fromkeys(("rules_hash", "at", "prompts", "judged_again", "labelled", "unmatched", "overlaps"), AS_IS),
        "labels": DOCUMENT,
        "clusters": LIST,
    },
    "rule_coverage": {
        **dict.fromkeys(
            ("rules_hash", "position", "kind", "facet", "weight", "line", "fired", "tokens", "right", "wrong"), AS_IS
        ),
        **dict.fromkeys(("rule", "name"), NAME),
        "label": TEXT,
        "file": FILE,
        "examples": LIST,
    },
}  # fmt: skip

ROWS = {
    "traces": NOT_TESTS,
    **dict.fromkeys(
        ("trace_scores", "trace_stages", "trace_channels", "trace_guardrails", "labels", "replay_results"), OF_A_TRACE
    ),
    "trace_items": f"kept = 1 and {OF_A_TRACE}",
}
"""Which rows of a table are published; all of those that are not named."""

BUILT = (
    "trace_numbers", "prompts_fts", "rolled_up", "prompts_by_class", "prompts_by_day", "latencies_by_day",
    "latencies_overall",
)  # fmt: skip
"""Tables whose rows are made anew from those that are published."""


def expressions(table: str, text: str) -> dict[str, str]:
    """Return the expression of each published column of a table."""
    return {name: getattr(shown, text).format(c=f'"{name}"') for name, shown in COLUMNS[table].items()}

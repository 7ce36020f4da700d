"""Define what a snapshot contains of each column of the database, as SQL expressions over the original row.

There is one expression for each way to treat texts: "redacted" (anonymised), "hash" (no texts) and "full". No snapshot
is written while a column of a published table is missing here, so that whoever adds a column has to decide how it is
published.
"""

from __future__ import annotations

from typing import NamedTuple

REDACTED, HASH, FULL = TEXTS = ("redacted", "hash", "full")
NOT_TESTS = "source.traces.origin <> 'test'"
OF_A_TRACE = "{trace_id} in (select id from main.traces)"
"""The condition for rows that belong to a published prompt; ``{trace_id}`` is the expression for that column."""


class ColumnTreatment(NamedTuple):
    """The SQL expressions with which a column is published, one for each treatment of texts.

    ``{c}`` stands for the column.
    """

    redacted: str
    hash: str
    full: str


def _always(expression: str, full: str = "") -> ColumnTreatment:
    return ColumnTreatment(expression, expression, full or expression)


NUMBER = _always("{c}")
CODE = _always("case when {c} glob '*[^0-9a-fTZ:.+-]*' then anonymized({c}) else {c} end", full="{c}")
"""For an id, a hash or a time; a value that has characters that these cannot have is anonymised like a text."""
WORD = _always("anonymized({c})", full="{c}")
"""For a word of this product's vocabulary; it is anonymised, as a history merged from elsewhere may have any text."""
TEXT = ColumnTreatment("anonymized({c})", "''", "{c}")
NAME = ColumnTreatment("anonymized({c})", "anonymized({c})", "{c}")
"""For the name of a rule or class; it is published even without texts, because it does not come from a prompt."""
DOCUMENT = ColumnTreatment("anonymized_json({c})", "bare({c})", "{c}")
LIST = ColumnTreatment("anonymized_json({c})", "'[]'", "{c}")
WORDS = _always("anonymized_json({c})", full="{c}")
"""For a JSON list of words of this product's vocabulary, of numbers, or of ids."""
CLUSTERS = ColumnTreatment(
    """
    clusters({c}, (
        select json_group_object(own.id, own.prompt) from source.traces as own
        where own.origin <> 'test' and own.id in (
            select example.value from json_each({c}) as cluster, json_each(cluster.value, '$.examples') as example
        )
    ))
    """,
    "'[]'", "{c}",
)  # fmt: skip
FILE = ColumnTreatment("anonymized({c})", "anonymized(last_part({c}))", "{c}")
PROJECT = "case when {c} like 'local-%' then pseudonym('project', {c}) else anonymized({c}) end"
"""The name of a project without a git remote is a hash of its folder, so whoever guesses the folder can confirm it.

Therefore it is replaced by a pseudonym; other names of projects are anonymised.
"""
NO_DOCUMENT = _always("'{{}}'")

COLUMNS: dict[str, dict[str, ColumnTreatment]] = {
    "traces": {
        **dict.fromkeys(
            """
            prompt_chars confidence uncertain intent_confidence output_tokens scanned_chars latency_ms partial
            """.split(),
            NUMBER,
        ),
        **dict.fromkeys(("id", "at", "rules_hash"), CODE),
        **dict.fromkeys(("status", "complexity", "origin"), WORD),
        **dict.fromkeys(("host", "skip_reason", "task_type", "search_intent", "workflow"), NAME),
        **dict.fromkeys(("prompt", "error", "approach", "output_text"), TEXT),
        "session_id": ColumnTreatment("pseudonym('session', {c})", "pseudonym('session', {c})", "{c}"),
        "project": ColumnTreatment(PROJECT, "pseudonym('project', {c})", "{c}"),
        "cwd": ColumnTreatment("''", "''", "{c}"),
        "prompt_hmac": ColumnTreatment("''", CODE.hash, "''"),  # where texts are missing, it shows which are the same
        "topics": ColumnTreatment("topics({c}, prompt)", "'[]'", "{c}"),
        "inputs": NO_DOCUMENT,
        "memory_context": NO_DOCUMENT,
    },
    "trace_scores": {
        "trace_id": CODE,
        "facet": WORD,
        "name": NAME,
        "score": NUMBER,
        "evidence": ColumnTreatment(
            "shifted({c}, (select prompt from source.traces as own where own.id = trace_id))", "'[]'", "{c}"
        ),
    },
    "trace_stages": {"trace_id": CODE, "position": NUMBER, "stage": WORD, "latency_ms": NUMBER},
    "trace_channels": {
        "trace_id": CODE,
        "status": WORD,
        **dict.fromkeys(("latency_ms", "offered", "kept", "tokens"), NUMBER),
        **dict.fromkeys(("channel", "fallback"), NAME),
        "model": FILE,
    },
    "trace_items": {
        "trace_id": CODE,
        **dict.fromkeys(("position", "score", "kept"), NUMBER),
        "channel": NAME,
        **dict.fromkeys(("ref", "text", "why"), TEXT),
    },
    "trace_guardrails": {
        "trace_id": CODE,
        **dict.fromkeys(("position", "score"), NUMBER),
        **dict.fromkeys(("guardrail_id", "title"), NAME),
    },
    "complexity_estimates": {
        **dict.fromkeys(("trace_id", "created_at", "updated_at"), CODE),
        **dict.fromkeys(
            """
            estimated_tokens estimated_loc estimated_files estimated_duration_minutes overall_complexity_score
            heuristic_score llm_adjusted_score should_decompose confidence actual_tokens actual_loc actual_files
            actual_duration_minutes estimation_accuracy
            """.split(),
            NUMBER,
        ),
        "category": NAME,
        "decomposition_reason": TEXT,
        "estimation_factors": DOCUMENT,
    },
    "rule_violations": {
        **dict.fromkeys(("trace_id", "created_at", "resolved_at"), CODE),
        **dict.fromkeys(("position", "line", "resolved"), NUMBER),
        **dict.fromkeys(("rule_id", "rule_name", "rule_domain", "guardrails"), NAME),
        "severity": WORD,
        "file": FILE,
        **dict.fromkeys(("message", "suggestion", "resolution_notes"), TEXT),
    },
    "labels": {"id": NUMBER, **dict.fromkeys(("trace_id", "labelled_at"), CODE), "verdict": WORD, "task_type": NAME},
    "line_labels": {
        **dict.fromkeys(("id", "line"), NUMBER),
        **dict.fromkeys(("trace_id", "labelled_at"), CODE),
        "verdict": WORD,
        **dict.fromkeys(("line_kind", "rule"), NAME),
        "text_hash": _always("''", full="{c}"),
        "because": TEXT,
    },
    "instructions_versions": {"hash": CODE, "text": NO_DOCUMENT, "first_seen_at": CODE},
    "instructions_sources": {"hash": CODE, "position": NUMBER, "layer": WORD, "path": FILE, "text": TEXT},
    "replays": {
        **dict.fromkeys(("id", "at", "base_hash", "candidate_hash"), CODE),
        **dict.fromkeys(("context", "verdict"), WORD),
        **dict.fromkeys(("prompts", "changed"), NUMBER),
        "base": ColumnTreatment("anonymized({c})", "substr(base_hash, 1, 12)", "{c}"),
        "candidate": ColumnTreatment("anonymized({c})", "substr(candidate_hash, 1, 12)", "{c}"),
        "selection": ColumnTreatment("chosen({c})", "''", "{c}"),
        "diff": TEXT,
        "figures": DOCUMENT,
    },
    "replay_results": {
        **dict.fromkeys(("replay_id", "trace_id"), CODE),
        "kinds": WORDS,
        "cause": TEXT,
        "before": DOCUMENT,
        "after": DOCUMENT,
    },
    "coverage_measured": {
        **dict.fromkeys(("rules_hash", "at"), CODE),
        **dict.fromkeys(("prompts", "judged_again", "labelled", "unmatched"), NUMBER),
        "overlaps": WORDS,
        "labels": DOCUMENT,
        "clusters": CLUSTERS,
    },
    "rule_coverage": {
        "rules_hash": CODE,
        **dict.fromkeys("position weight line fired prompts tokens right wrong is_foreign".split(), NUMBER),
        **dict.fromkeys(("kind", "facet"), WORD),
        **dict.fromkeys(("rule", "name"), NAME),
        "label": TEXT,
        "file": FILE,
        "examples": LIST,
    },
}  # fmt: skip

ROWS = {"traces": NOT_TESTS, "trace_items": f"kept = 1 and {OF_A_TRACE}"}
"""The SQL conditions for the rows to publish of those tables for which ``rows`` has no general one."""

BUILT = (
    "trace_numbers", "prompts_fts", "rolled_up", "prompts_by_class", "prompts_by_day", "latencies_by_day",
    "latencies_overall",
)  # fmt: skip
"""Tables that are not copied, but computed again from the published rows."""

NOT_PUBLISHED = frozenset(
    """
    memories memories_fts memory_counts memory_vectors memory_vocabulary sessions experiments experiment_results
    _sqlite_migrations content_vectors parallel_attempts
    """.split()
)
"""Tables that are never published. A test checks that every table is listed here, in COLUMNS or in BUILT."""


def expressions(table: str, text: str) -> dict[str, str]:
    """Return the SQL expression for each column of a table; ``text`` is the treatment of texts, one of TEXTS."""
    return {name: getattr(shown, text).format(c=f'"{name}"') for name, shown in COLUMNS[table].items()}


def rows(table: str, text: str) -> str:
    """Return the SQL condition for the rows of a table to publish; ``text`` is the treatment of texts, one of TEXTS."""
    trace_id = expressions(table, text).get("trace_id")
    return ROWS.get(table, OF_A_TRACE if trace_id else "true").format(trace_id=trace_id)

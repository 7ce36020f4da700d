"""Tables of sums over the traces: a page about a million traces reads some thousand rows of them."""

from __future__ import annotations

from workbench.web.native.tables.table import Table

DAY = "The day, in UTC."
ORIGIN = "hook, import or test."
BUCKETS = "in buckets that are 5 % wide; without skipped and imported prompts."
KIND = "total, stage or channel."
NAME = "The stage or channel; total for the whole."
BUCKET = "The latency: 20 times the natural logarithm of its milliseconds, rounded down."
POSITION = "The order of the stages, from 0; -1 for the whole, 1000 for channels."
MEASURED = "How many measurements fell into the bucket."

SUMS = (
    Table(
        "prompts_by_day",
        "Prompts by day",
        "How many prompts each day had of each value of a facet.",
        {
            "origin": ORIGIN,
            "facet": "What is counted: status, skip_reason, task_type, search_intent, host, guardrail, or channel.",
            "day": DAY,
            "value": "The value of the facet; of a channel its name and its status.",
            "prompts": "How many prompts have it; one prompt may have several guardrails, and has several channels.",
            "tokens": "Length of what was added to them, in tokens, estimated.",
        },
        newest_by="day",
    ),
    Table(
        "latencies_by_day",
        "Latencies by day",
        f"How often each day measured a latency, {BUCKETS}",
        {"kind": KIND, "name": NAME, "day": DAY, "bucket": BUCKET, "position": POSITION, "measurements": MEASURED},
        newest_by="day",
    ),
    Table(
        "latencies_overall",
        "Latencies of all days",
        f"How often a latency was measured, {BUCKETS}",
        {"kind": KIND, "name": NAME, "bucket": BUCKET, "position": POSITION, "measurements": MEASURED},
    ),
    Table(
        "prompts_by_class",
        "Prompts by class",
        "How many prompts have the same origin, client, status, classes and version.",
        {
            "origin": ORIGIN,
            "host": "The agent client.",
            "status": "How they ended.",
            "task_type": "Their task type; empty where not judged.",
            "search_intent": "Their search intent, or none.",
            "rules_hash": "The version of the instructions that judged them.",
            "prompts": "How many prompts.",
        },
        newest_by="prompts",
    ),
)

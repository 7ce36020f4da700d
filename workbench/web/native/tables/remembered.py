"""Tables of project memories, of what sessions were shown, and of experiments; none of them is in a snapshot.

``published`` describes a snapshot; the live history does not have it.
"""

from __future__ import annotations

from workbench.web.native.tables.table import Table

PUBLISHED = Table(
    "published",
    "What this snapshot is",
    "When it was made, and what it keeps.",
    {
        "at": "When it was made, in UTC.",
        "text": "What it keeps of texts: redacted, hash (none) or full.",
        "prompts": "How many prompts are in it.",
        "since": "When the first of them came, in UTC.",
        "until": "When the last of them came, in UTC.",
    },
)
REMEMBERED = (
    Table(
        "memories",
        "Memories",
        "What a project remembers: decisions, patterns, learnings, blockers.",
        {
            "number": "A number that grows.",
            "id": "The memory, as commands name it.",
            "namespace": "decisions, patterns, learnings, blockers and so on.",
            "content": "What is remembered, in Markdown.",
            "tags": "Words for it, as a JSON list.",
            "project": "The project it belongs to.",
            "path_prefix": "The part of the project that it is about; empty for all.",
            "source": "A path in the project, git: and a commit, a URL, or empty.",
            "origin": "How it came in: import, add, prompt and so on.",
            "key": "What tells it from others of its origin.",
            "created_at": "When it was decided or written, in UTC.",
            "updated_at": "When it last changed, in UTC.",
            "reviewed": "1 where a person approved it, 0 where it waits for that.",
            "superseded_by": "The memory that replaces it; empty where it holds.",
            "words": "Further words by which it is found.",
        },
        newest_by="number",
        label="id",
    ),
    Table(
        "sessions",
        "What sessions were told",
        "What was added in a session, so that nothing is said twice.",
        {
            "session_id": "The client's session.",
            "trace_id": "The prompt to which it was added.",
            "kind": "text, guardrail, approach or item.",
            "ref": "Which guardrail, approach or item.",
            "tokens": "Length of the added text, in tokens, estimated.",
        },
    ),
    Table(
        "experiments",
        "Experiments",
        "Comparisons of two instructions on the same prompts.",
        {
            "id": "24 hex digits that sort by time.",
            "at": "When it was made, in UTC.",
            "question": "What was asked.",
            "arms": "The two instructions, as a JSON object.",
            "report": "What came out, as a JSON object.",
        },
        newest_by="id",
        label="question",
    ),
    Table(
        "experiment_results",
        "Results of experiments",
        "One row for each prompt and arm of an experiment.",
        {
            "experiment_id": "The experiment: the id of a row of experiments.",
            "prompt_id": "The prompt.",
            "arm": "a or b.",
            "task_type": "The class of the task.",
            "tokens": "Length of the text that the arm adds, in tokens, estimated.",
            "latency_ms": "How long the arm took, in milliseconds.",
            "succeeded": "1 where the arm answered without an error, else 0.",
            "quality": "How good the answer is, from 0 to 1; nothing where nobody knows what is right.",
            "violations": "How many rules the answer broke; nothing where not counted.",
            "text": "The text that the arm adds.",
        },
    ),
)

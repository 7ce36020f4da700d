"""The files of labelled prompts on which accuracy is measured."""

from __future__ import annotations

import os
from pathlib import Path

EVALUATION_FILES = ("prompts_tune.jsonl", "prompts_sessions.jsonl")


def evaluation_files() -> list[Path]:
    """Return the files of labelled prompts, in $ENRICHER_EVAL or else next to the work tree; empty if none exist."""
    folder = os.environ.get("ENRICHER_EVAL")
    path = Path(folder) if folder else Path(__file__).parents[3] / "shared" / "eval"
    return [file for name in EVALUATION_FILES if (file := path / name).is_file()]

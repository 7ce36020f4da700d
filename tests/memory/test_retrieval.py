"""The measuring command measures: right answers first give 1, absent ones 0."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_command_prints_both_searches_side_by_side(tmp_path):
    pool, questions = tmp_path / "pool.jsonl", tmp_path / "questions.jsonl"
    texts = ["the queue drops jobs at midnight", "invoices are sent by letter", "Anna went to Lisbon"]
    pool.write_text("".join(json.dumps({"id": str(at), "content": text}) + "\n" for at, text in enumerate(texts)))
    asked = [{"query": "when does anna fly or go to a city?", "gold": ["2"]}, {"query": "zebras", "gold": ["0"]}]
    questions.write_text("".join(json.dumps(line) + "\n" for line in asked))
    command = [sys.executable, "-m", "tests.memory.retrieval", str(pool), str(questions)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert "| plain FTS5 | 0.500 | 0.500 | 0.500 |" in said
    assert "| ours | 0.500 | 0.500 | 0.500 |" in said
    assert "of 2 questions" in said

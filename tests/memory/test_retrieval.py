"""The measuring command measures; and what it measures on invented conversations and journals is worth having."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from storage.db import database
from storage.memory import recall
from tests.memory import retrieval

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


def test_answers_in_conversations_and_journals_are_found_oftener_than_by_the_plain_query(tmp_path):
    pool, asked = retrieval.invented(*map(str, sorted((ROOT / "tests/memory/invented").glob("*.txt"))))
    with closing(database.connect(str(tmp_path / "state"))) as db:
        retrieval.fill(db, pool)
        plain, ours = retrieval.compare(db, asked).values()

    assert (len(pool), len(asked)) == (546, 225)
    assert {one for line in asked for one in line["gold"]} <= {one["id"] for one in pool}
    assert ours[1] > plain[1] + 0.07
    assert ours[2] > plain[2] + 0.06


def test_an_answer_that_repeats_no_word_of_its_question_is_found_beside_it(tmp_path):
    turns = [
        ("1", "Ann: Did you hear back from the housing office?", "2024-05-01"),
        ("2", "Ben: They put me on the list at last!", "2024-05-01"),
        ("3", "Ben: The weather is lovely.", "2024-06-01"),
    ]
    pool = [{"id": name, "content": text, "created_at": day} for name, text, day in turns]
    with closing(database.connect(str(tmp_path / "state"))) as db:
        retrieval.fill(db, pool)
        found = [hit.id for hit in recall.search(db, "what did the housing office say?", project="p")]

    assert found == ["1", "2"]  # the third is of another day

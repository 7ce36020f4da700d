"""A program that is killed while it saves leaves whole files, and nothing half-written after the next save."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from maintainer import DEBUG, QUESTION

from storage.db import database
from workbench.edits import instructions_file
from workbench.gate import cases, labelling

if TYPE_CHECKING:
    from maintainer import Repository

ROUNDS = 12
MOST_ROUNDS = 120
"""On a busy machine most programs are killed while they wait for the processor, not while they write."""
LONGEST_S = 0.15
LINES = 40_000
SAVES = """
import sys
from workbench.edits import instructions_file

path, lines = sys.argv[1], int(sys.argv[2])
print("begun", flush=True)
while True:
    for word in ("old", "new"):
        instructions_file.save_trusted(path, f"{word} line\\n" * lines, over=None, cwd=".")
"""
LABELS = """
import sys
from storage.db import database
from workbench.gate import labelling

with database.opened(sys.argv[1]) as db:
    print("begun", flush=True)
    while True:
        for verdict in ("ok", "docs", "wrong"):
            for trace_id in sys.argv[2:]:
                labelling.label(db, trace_id, verdict)
"""


def killed_while_running(program: str, *arguments: str, repository: Repository, chance: random.Random) -> None:
    """Start a program that saves without end, and kill it after a random time."""
    running = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**repository.account.env, "PYTHONPATH": str(Path(__file__).parents[2])},
        cwd=repository.root,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    time.sleep(chance.uniform(0, LONGEST_S))
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()


def unfinished(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]


def test_the_instructions_have_the_old_or_the_new_text_whenever_a_save_is_killed(repository: Repository) -> None:
    path, chance = repository.file.parent / "instructions.md", random.Random(17)
    whole = ["old line\n" * LINES, "new line\n" * LINES]
    instructions_file.save(str(path), whole[0], over=None)
    left = 0
    for number in range(MOST_ROUNDS):
        if number >= ROUNDS and left:
            break
        killed_while_running(SAVES, str(path), str(LINES), repository=repository, chance=chance)
        assert path.read_text() in whole
        left += len(unfinished(path.parent))
        instructions_file.save(str(path), whole[0], over=None)
        assert unfinished(path.parent) == []

    assert left, "no save was killed while it wrote"


def test_labels_and_cases_are_whole_whenever_labelling_is_killed(repository: Repository) -> None:
    prompts, chance = [repository.typed(prompt) for prompt in (DEBUG, QUESTION)], random.Random(17)
    state = str(repository.account.state)
    for _round in range(ROUNDS):
        killed_while_running(LABELS, state, *prompts, repository=repository, chance=chance)
        found = cases.read(str(repository.file))
        assert found.problems == ()
        assert {case.id for case in found.cases} <= set(prompts)
        with closing(sqlite3.connect(f"{state}/enricher.db")) as db:
            assert db.execute("pragma integrity_check").fetchone() == ("ok",)
            labels = set(db.execute("select trace_id, verdict, task_type from labels"))
        assert labels <= {(one, *kept) for one in prompts for kept in (("ok", ""), ("class", "docs"), ("wrong", ""))}

    with database.opened(state) as db:
        given = [labelling.label(db, trace_id, "ok") for trace_id in prompts]
    assert [one.problem for one in given] == ["", ""]
    assert unfinished(repository.file.parent) == []
    assert len(repository.lines()) == 2

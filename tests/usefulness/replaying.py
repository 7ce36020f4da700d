"""Replay recorded sessions through the installed hook, with the unpacking and the transcripts of the data's own script.

The script (``sessions/replay_sessions.py`` under ENRICHER_EVAL) makes the work tree, the history, the transcripts and
the rows; here every path of the tree is taken from the text, and each line gets the kind that its trace recorded.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.usefulness.figures import Row, kinds_of_lines, paths_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SET_APART = frozenset(
    (
        "FSM1/cipher-box", "PackmindHub/context-evaluator", "destyler/destyler", "hpm27/agente-bsc-rag",
        "kiliman/claude-transcript", "tonyandrewmeyer/beszel-k8s-operator", "Firedogs2x/Houdoku-2",
    )
)  # fmt: skip
"""Repositories for the last reading only: nothing is chosen by them."""


def chosen_sessions(folder: Path, *, repo: str, most: int | None, with_set_apart: bool) -> list[Row]:
    """Return the sessions to replay; with ``most`` as many, spread over the repositories."""
    lines = (folder / "sessions.jsonl").read_text(encoding="utf-8").splitlines()
    sessions = [one for one in map(json.loads, lines) if repo.lower() in one["repo"].lower()]
    sessions = [one for one in sessions if with_set_apart or one["repo"] not in SET_APART]
    turn: dict[str, int] = {}
    for one in sessions:
        turn[one["repo"]] = one["turn"] = turn.get(one["repo"], 0) + 1
    return sorted(sessions, key=lambda one: one["turn"])[:most]


def replay(folder: Path, sessions: Sequence[Row], *, enricher: str, jobs: int) -> list[Row]:
    """Return the rows of all sessions; what fails is told on stderr and left out."""
    script = _script(folder / "replay_sessions.py")
    script.pointed_files = lambda added, tree: paths_in(added, functools.partial(script.is_file, tree), root=tree)
    trees = json.loads((folder / "trees" / "trees.json").read_text(encoding="utf-8"))
    rows: list[Row] = []
    with (
        tempfile.TemporaryDirectory(prefix="usefulness-", ignore_cleanup_errors=True) as place,
        ThreadPoolExecutor(jobs) as pool,
    ):
        longest_first = sorted(sessions, key=lambda one: -len(one["turns"]))
        asked = {pool.submit(_one, script, one, trees, enricher, f"{place}/{one['id']}"): one for one in longest_first}
        for number, done in enumerate(as_completed(asked), 1):
            name = asked[done]["id"]
            try:
                own = done.result()
            except Exception as failure:
                print(f"{name} failed: {type(failure).__name__}: {failure}", file=sys.stderr)
                continue
            rows += own
            print(f"{number}/{len(asked)} {name}: {len(own)} prompts", file=sys.stderr, flush=True)
    return sorted(rows, key=lambda row: (row["repo"], row["session"], row["number"]))


def _script(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("replay_sessions", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _one(script: Any, session: Row, trees: Row, enricher: str, place: str) -> list[Row]:
    try:
        rows: list[Row] = script._replay(session, SimpleNamespace(enricher=enricher), trees, place)  # noqa: SLF001
        with_kinds(rows, _traces(enricher, place))
        return rows
    finally:
        for _ in range(10):  # what the hook left behind may still write
            shutil.rmtree(place, ignore_errors=True)
            if not os.path.exists(place):
                break
            time.sleep(0.3)


def _traces(enricher: str, place: str) -> list[Row]:
    env = {**os.environ, "HOME": f"{place}/home", "ENRICHER_HOME": f"{place}/state"}
    done = subprocess.run([enricher, "trace", "export"], env=env, capture_output=True, text=True, check=True)
    return sorted(map(json.loads, done.stdout.splitlines()), key=lambda one: str(one["id"]))


def with_kinds(rows: Iterable[Row], traces: Iterable[Row]) -> None:
    """Put into every row the kinds of its lines and of its paths; a row's trace is the next one with its text."""
    waiting = [one for one in traces if one["output_text"]]
    for row in rows:
        trace = next((one for one in waiting if row["added"] and one["output_text"] == row["added"]), None)
        if trace:
            waiting.remove(trace)
        kinds = kinds_of_lines(row["added"], trace)
        row["lines"] = list(kinds.values())
        for one in row["pointed"]:
            one["kind"] = kinds.get(one["reason"], "other")

"""``python -m tests.hydration.session_plans OUT [EARLIER …]``: plans for 20 prompts of sessions, in their trees.

Needs ``$ENRICHER_EVAL`` with recorded sessions. OUT gets a JSON object a line: repository, session, tree, prompt, plan.
Prompts that stand in one of the EARLIER files are left out.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

PLANS = 20
BESIDE = 2
"""Plans that are made at the same time: each waits for processes."""
LENGTHS = range(60, 1_500)
ENRICHER = Path(sys.executable).parent / "enricher"


@dataclass(frozen=True)
class SessionPlan:
    """A prompt of a session with its plan; ``folder`` is the tree while it exists."""

    repo: str
    session: str
    tree: str
    prompt: str
    plan: str
    folder: str


def session_plans(data: Path, place: Path, *, earlier: Collection[str] = ()) -> Iterator[SessionPlan]:
    """Yield plans for prompts after which several files were edited, one of a session, the repositories in turn."""
    script = _script(data / "replay_sessions.py")
    trees = json.loads((data / "trees" / "trees.json").read_text(encoding="utf-8"))

    def planned(numbered: tuple[int, tuple[dict[str, Any], dict[str, Any]]]) -> SessionPlan:
        number, (session, turn) = numbered
        folder, home = place / str(number) / "project", place / str(number) / "home"
        folder.mkdir(parents=True)
        home.mkdir()
        script.unpack(turn["tree"], str(folder), trees)
        plan = _plan(turn["prompt"].replace(session["root"], str(folder)), folder, home)
        return SessionPlan(session["repo"], session["id"], turn["tree"], turn["prompt"], plan, str(folder))

    found, left = 0, enumerate(_candidates(data, earlier))
    with ThreadPoolExecutor(BESIDE) as pool:
        while some := list(islice(left, BESIDE)):
            for one in pool.map(planned, some):
                if "CHECKPOINT" in one.plan and found < PLANS:
                    found += 1
                    yield one
            if found == PLANS:
                return


def _script(path: Path) -> Any:
    """Return the script of the data, which knows how to unpack a tree."""
    spec = importlib.util.spec_from_file_location("replay_sessions", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _candidates(data: Path, earlier: Collection[str]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    by_repository: dict[str, list[dict[str, Any]]] = {}
    for line in (data / "sessions.jsonl").read_text(encoding="utf-8").splitlines():
        session = json.loads(line)
        by_repository.setdefault(session["repo"], []).append(session)
    for session in filter(None, chain.from_iterable(zip_longest(*by_repository.values()))):
        for turn in session["turns"]:
            is_work = turn["scored"] and len({one["path"] for one in turn["touched"] if one["how"] == "edit"}) > 1
            if is_work and len(turn["prompt"]) in LENGTHS and turn["prompt"] not in earlier:
                yield session, turn
                break


def _plan(prompt: str, folder: Path, home: Path) -> str:
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home), "ENRICHER_HOME": str(home / "state")}

    def run(*words: object) -> str:
        command = list(map(str, words))
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True).stdout

    run("git", "init", "-q")
    run("git", "add", "-A")  # without a commit, whose history would take a third of the time and tell nothing
    run(ENRICHER, "code", "index")
    return run(ENRICHER, "enrich", "--format", "hydration", prompt, "--cwd", folder)


def main(arguments: Sequence[str]) -> None:
    data = Path(os.environ.get("ENRICHER_EVAL", "")) / "sessions"
    if not arguments or not (data / "sessions.jsonl").exists():
        sys.exit(
            "usage: ENRICHER_EVAL=FOLDER python -m tests.hydration.session_plans OUT [EARLIER \N{HORIZONTAL ELLIPSIS}]"
        )
    earlier = {json.loads(line)["prompt"] for file in arguments[1:] for line in Path(file).read_text().splitlines()}
    with tempfile.TemporaryDirectory() as place, Path(arguments[0]).open("w", encoding="utf-8") as out:
        for plan in session_plans(data, Path(place), earlier=earlier):
            row = {name: value for name, value in asdict(plan).items() if name != "folder"}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Plans for 20 prompts of recorded sessions, in their trees: every file exists, and every command could run there."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.hydration.session_plans import PLANS, SessionPlan, session_plans

DATA = Path(os.environ.get("ENRICHER_EVAL", "")) / "sessions"
STEP = re.compile(r'^  \{content: ("(?:[^"\\]|\\.)*")', re.MULTILINE)
FOUND = re.compile(r"^- (?:Named in the prompt|Tests of it): (.*?)(?:, run by `|$)", re.MULTILINE)
FILE = re.compile(r"(?<![\w./-])(?:[\w.-]+/)*[\w-]+\.(?:py|ts|tsx|js|jsx|mjs|md|rs|go|json|toml|ya?ml|html|css|sh)\b")
MANAGERS = {"npm", "pnpm", "yarn", "bun", "npx", "bunx"}
RUNNERS = {"uv", "poetry"}
MANIFESTS = {"cargo": "Cargo.toml", "go": "go.mod"}
OWN_WORDS = {"install", "test", "exec", "ci", "add", "publish", "run"}


def words_of(prompt: str, plan: str) -> str:
    """Return the steps of a plan without the words of the prompt, and without the one that quotes a commit's form."""
    texts = [json.loads(step) for step in STEP.findall(plan)]
    steps = " \n".join(text for text in texts if ": Commit" not in text and ": If you commit" not in text)
    for line in sorted(re.split(r"[\n.!?;,] ?", prompt), key=len, reverse=True):
        steps = steps.replace(line.strip(), "") if len(line.strip()) > len("index.html") else steps
    return steps


def scripts(folder: Path) -> set[str]:
    """Return the names of the scripts and packages in the tree's ``package.json`` files."""
    found: set[str] = set()
    for file in [*folder.glob("package.json"), *folder.glob("*/package.json"), *folder.glob("*/*/package.json")]:
        package = json.loads(file.read_text(encoding="utf-8"))
        for part in ("scripts", "dependencies", "devDependencies"):
            found |= set(package.get(part, {}))
    return found


def could_run(command: str, folder: Path) -> bool:
    """Return whether a command's files and its program are there, by ``--version`` or the project's own files."""
    words = [word for word in shlex.split(command) if "=" not in word.partition("/")[0]]
    if words[0] in RUNNERS:
        words = words[2:]
    program, rest = words[0], words[1:]
    paths = [word.partition("::")[0] for word in rest if FILE.fullmatch(word.partition("::")[0])]
    if not all((folder / path).exists() for path in paths):
        return False
    if program in MANAGERS:
        names = [word for word in rest if not word.startswith("-")]
        name = next((word for word in names if word not in OWN_WORDS), "test")
        return bool({name, "test" if "test" in names else name} & scripts(folder))
    if program == "make":
        return subprocess.run(["make", "-n", *rest], cwd=folder, capture_output=True, check=False).returncode == 0
    if program in MANIFESTS:
        return (folder / MANIFESTS[program]).exists() or any(folder.glob(f"*/{MANIFESTS[program]}"))
    if (folder / program).exists():
        return os.access(folder / program, os.X_OK) or program.endswith((".sh", ".py"))
    place = Path(__file__).parents[2] / ".venv" / "bin" / program
    found = str(place) if place.exists() else shutil.which(program)
    if not found:
        return any(program in file.read_text(encoding="utf-8") for file in folder.glob("pyproject.toml"))
    return any(
        subprocess.run([found, option], cwd=folder, capture_output=True, check=False, timeout=60).returncode == 0
        for option in ("--version", "--help", "version")
    )


def mistakes(one: SessionPlan) -> list[str]:
    """Return the files that do not exist and the commands that could not run, which a plan names on its own."""
    folder = Path(one.folder)
    steps = words_of(one.prompt, one.plan)
    commands = steps.split("`")[1::2]
    named = {path for text in (*FOUND.findall(one.plan), steps) for path in FILE.findall(text)}
    wrong = [path for path in sorted(named) if path not in one.prompt and not (folder / path).is_file()]
    return wrong + [command for command in commands if not could_run(command, folder)]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "sessions.jsonl").exists(), reason="no recorded sessions: set ENRICHER_EVAL")
def test_every_file_of_a_plan_exists_and_every_command_could_run(tmp_path: Path) -> None:
    plans = list(session_plans(DATA, tmp_path))

    assert len(plans) == PLANS
    assert {one.session: found for one in plans if (found := mistakes(one))} == {}
    assert sum("`" in words_of(one.prompt, one.plan) for one in plans) >= PLANS / 5

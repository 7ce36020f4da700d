"""The installed product: sdist and wheel, by pip and by pipx, beside packages that share our generic names."""

from __future__ import annotations

import json
import subprocess
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workshop

EVENT = {
    "session_id": "installed", "transcript_path": "", "cwd": "/", "hook_event_name": "UserPromptSubmit",
    "prompt": "should we keep the retry logic?",
}  # fmt: skip

FITTED = ("guardrails", "search-intents", "task-types", "words")

pytestmark = pytest.mark.packaging


@pytest.fixture
def person(workshop: Workshop, tmp_path: Path) -> dict[str, str]:
    """The environment of a person whose PYTHONPATH holds a ``storage`` and a ``workbench`` of their own."""
    for name in ("storage", "workbench", "instructions"):
        (tmp_path / "lib" / name).mkdir(parents=True)
        (tmp_path / "lib" / name / "__init__.py").write_text(f"raise ImportError('the wrong {name}')\n")
    return {**workshop.env, "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path / "lib")}


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=120, **options)


def test_the_wheel_holds_the_packages_and_the_instructions_in_both_forms(packages):
    names = set(zipfile.ZipFile(packages["wheel"]).namelist())

    assert {
        "enricher/boot.py", "storage/db/schema.sql", "workbench/replay/replay.py",
        "enricher/samples/prompts.jsonl", "enricher/samples/shop.md", "instructions/prompt-enricher-instructions.md",
        "instructions/HEURISTICS.md", "instructions/guardrails.md", "instructions/response_schemas.yaml",
        "instructions/hybrid_prompt_templates.yaml", "instructions/prompts/classification.md",
        "instructions/complexity_thresholds.yaml",
        "instructions/compiled.json", *(f"instructions/fitted/{name}.md" for name in FITTED),
    } <= names  # fmt: skip
    assert not [name for name in names if name.startswith(("tests/", "examples/")) or "__pycache__" in name]


def test_the_sdist_holds_the_sources_and_nothing_that_a_work_tree_collects(packages):
    with tarfile.open(packages["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {".ci/hatch_build.py", "pyproject.toml", "LICENSE", "tests/conftest.py"} <= names
    assert not [name for name in names if name.split("/")[0] in (".venv", ".cache", ".git", "dist")]


def test_the_installed_command_registers_a_hook_that_answers(programs, person, tmp_path):
    installed = run(programs / "enricher", "install", "--host", "claude", env=person, cwd="/")
    assert (installed.returncode, installed.stderr) == (0, "")
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text())
    command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]

    answered = run("sh", "-c", command, input=json.dumps(EVENT), env=person, cwd=tmp_path)
    by_hand = run(programs / "enricher", "hook", input=json.dumps({**EVENT, "session_id": "2"}), env=person, cwd="/")

    for answer in (answered, by_hand):
        assert "## Prompt Enrichment" in json.loads(answer.stdout)["hookSpecificOutput"]["additionalContext"]
    state = tmp_path / ".local" / "share" / "prompt-enricher"
    assert not (state / "rules").exists()  # the packaged rules were installed compiled
    verified = run(programs / "enricher", "replay", "--verify", env=person, cwd=tmp_path)
    assert (verified.returncode, verified.stdout.split(maxsplit=1)[0]) == (0, "2")

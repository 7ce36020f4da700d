"""The built wheel, in an empty environment, from any folder, beside packages that share our generic names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EVENT = {
    "session_id": "wheel", "transcript_path": "", "cwd": "/", "hook_event_name": "UserPromptSubmit",
    "prompt": "the import fails with a KeyError, please fix it",
}  # fmt: skip

pytestmark = pytest.mark.slow


def _run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=300, **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    if built.returncode and "No matching distribution" in built.stderr:
        pytest.skip("the build requirements cannot be fetched here")
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    venv = tmp_path_factory.mktemp("venv")
    _run(sys.executable, "-m", "venv", venv)
    installed = _run(venv / "bin" / "pip", "install", "--quiet", wheel)
    assert installed.returncode == 0, installed.stderr
    return venv / "bin" / "python"


@pytest.fixture
def hostile(tmp_path: Path) -> dict[str, str]:
    """An environment whose PYTHONPATH holds a ``storage`` and a ``workbench`` of its own."""
    for name in ("storage", "workbench", "instructions"):
        (tmp_path / "lib" / name).mkdir(parents=True)
        (tmp_path / "lib" / name / "__init__.py").write_text(f"raise ImportError('the wrong {name}')\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ENRICHER_", "CLAUDE", "AOPS"))}
    home = {
        "HOME": str(tmp_path),
        "ENRICHER_HOME": str(tmp_path / "state"),
        "ENRICHER_CONFIG_HOME": str(tmp_path / "etc"),
    }
    return {**kept, **home, "PYTHONPATH": str(tmp_path / "lib")}


def test_the_wheel_holds_the_packages_and_the_instructions_in_both_forms(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())

    assert {
        "enricher/boot.py", "storage/traces.py", "workbench/replay.py", "enricher/samples/prompts.jsonl",
        "instructions/prompt-enricher-instructions.md", "instructions/HEURISTICS.md", "instructions/guardrails.md",
        "instructions/compiled.json",
    } <= names  # fmt: skip
    assert not [name for name in names if name.startswith(("tests/", "examples/")) or "__pycache__" in name]


def test_the_installed_command_works_beside_packages_of_the_same_name(python, hostile, tmp_path):
    answered = _run(
        python.parent / "enricher", "hook", "--host", "claude", input=json.dumps(EVENT), env=hostile, cwd="/"
    )
    assert answered.returncode == 0
    assert "**Classification**: debug" in json.loads(answered.stdout)["hookSpecificOutput"]["additionalContext"]

    last = _run(python.parent / "enricher", "trace", "last", "--json", env=hostile, cwd=tmp_path)
    assert json.loads(last.stdout)["prompt"] == EVENT["prompt"]
    verified = _run(python.parent / "enricher", "replay", "--verify", env=hostile, cwd=tmp_path)
    assert (verified.returncode, verified.stdout.split(maxsplit=1)[0]) == (0, "1")


def test_the_boot_file_works_from_any_folder_with_the_compiled_rules_of_the_wheel(python, hostile, tmp_path):
    boot = next(python.parent.parent.glob("lib/python*/site-packages/enricher/boot.py"))
    answered = _run(python, "-I", "-S", boot, "claude", input=json.dumps(EVENT), env=hostile, cwd=tmp_path)

    assert "additionalContext" in answered.stdout
    assert not (tmp_path / "state" / "rules").exists()

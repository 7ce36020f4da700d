"""The example workflow: as small in its rights as it can be, and its commands do what it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from maintainer import NO_DEBUG
from simulator import ENTRY, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from maintainer import Repository

FOLDER = ROOT / "examples" / "github-workflow"


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    return yaml.safe_load((FOLDER / "enricher-gate.yml").read_text())


@pytest.fixture(scope="module")
def steps(workflow: dict[Any, Any]) -> dict[str, dict[str, Any]]:
    """Return the steps by name, or by the action that they use."""
    found = workflow["jobs"]["gate"]["steps"]
    return {step.get("name") or step["uses"].partition("@")[0]: step for step in found}


@pytest.fixture
def merge(approved: Repository) -> Repository:
    """A checkout as CI has it: the merge of a pull request that breaks an approved case."""
    approved.git("checkout", "-qb", "change")
    approved.instruct(NO_DEBUG)
    approved.commit()
    approved.git("checkout", "-q", "main")
    approved.git("merge", "-q", "--no-ff", "--no-edit", "change")
    return approved


@pytest.fixture
def programs(merge: Repository) -> Path:
    """Commands under the names that the steps call; what ``gh`` is told stands in the file ``told``."""
    python = shlex.join([sys.executable, "-I", "-c", ENTRY, str(ROOT)])
    merge.account.write("bin/enricher", f'#!/bin/sh\nexec {python} "$@"\n', mode=0o755)
    gh = '#!/bin/sh\necho "$@" >> "$HOME/told"\ncase "$*" in *--edit-last*) exit 1;; esac\n'
    return merge.account.write("bin/gh", gh, mode=0o755).parent


def run(repository: Repository, programs: Path, step: dict[str, Any]) -> int:
    """Run a step's commands as a runner does, with its summary file; return the exit code."""
    env = repository.account.env | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(repository.account.home / "summary.md"),
        "NUMBER": "7",
        "REPOSITORY": "example/shop",
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=repository.root, env=env, capture_output=True, check=False).returncode


def test_rights_are_given_one_by_one(workflow: dict[Any, Any]) -> None:
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["gate"]["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert set(workflow[True]) == {"pull_request"}  # YAML 1.1 reads the key «on» so; never pull_request_target


def test_actions_are_pinned(workflow: dict[Any, Any]) -> None:
    used = [step["uses"] for step in workflow["jobs"]["gate"]["steps"] if "uses" in step]

    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@(v\d+|[0-9a-f]{40})", one) for one in used)


def test_no_expression_stands_in_a_command(steps: dict[str, dict[str, Any]]) -> None:
    assert not [name for name, step in steps.items() if "${{" in step.get("run", "")]


def test_the_commands_close_the_gate_and_tell(
    merge: Repository, programs: Path, steps: dict[str, dict[str, Any]]
) -> None:
    codes = [run(merge, programs, steps[name]) for name in ("Gate", "Summary", "Comment")]

    assert codes == [1, 0, 0]
    assert (merge.account.home / "summary.md").read_text() == (merge.root / "gate.md").read_text()
    assert (merge.root / steps["actions/upload-artifact"]["with"]["path"]).exists()
    assert [line.split()[2:5] for line in (merge.account.home / "told").read_text().splitlines()] == [
        ["7", "--repo", "example/shop"]
    ] * 2


def test_a_shallow_checkout_is_enough(merge: Repository, programs: Path, steps: dict[str, dict[str, Any]]) -> None:
    depth = steps["actions/checkout"]["with"]["fetch-depth"]
    clone = merge.account.home / "clone"
    merge.git("clone", "-q", f"--depth={depth}", merge.root.as_uri(), str(clone))
    merge.root = clone

    assert run(merge, programs, steps["Gate"]) == 1
    assert "approved case came out differently" in (clone / "gate.md").read_text()

"""The launcher: whatever happened to Python or to us, the prompt passes and the person is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from enricher import hosts
from enricher.install import launcher

TOLD_AT = {"claude": "systemMessage", "gemini": "systemMessage", "codex": "systemMessage", "cursor": "user_message"}


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENRICHER_HOME", str(tmp_path / "state"))
    (tmp_path / "state").mkdir()
    path = tmp_path / "state" / "hook"
    path.write_text(launcher.script())
    return path


def run(script: Path, host: str) -> subprocess.CompletedProcess[str]:
    command = f"sh '{script}' {host} 2>/dev/null || true"
    return subprocess.run(
        ["sh", "-c", command], input='{"prompt":"hi"}', env={}, capture_output=True, text=True, check=False
    )


def replace(script: Path, name: str, value: str) -> None:
    lines = [f"{name}={value}" if line.startswith(f"{name}=") else line for line in script.read_text().splitlines()]
    script.write_text("\n".join(lines) + "\n")


def _failing_interpreter(folder: Path) -> str:
    path = folder / "python"
    path.write_text("#!/bin/sh\necho 'libpython3.11.so.1.0: cannot open shared object file' >&2\nexit 127\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("fault", ["no interpreter", "dangling interpreter", "broken interpreter", "no package"])
@pytest.mark.parametrize("host", hosts.NAMES)
def test_a_hook_that_cannot_start_says_so_in_the_form_of_the_client(
    script: Path, tmp_path: Path, host: str, fault: str
) -> None:
    if fault == "no interpreter":
        replace(script, "python", "/gone/python")
    elif fault == "dangling interpreter":
        (tmp_path / "link").symlink_to("/gone/python")
        replace(script, "python", str(tmp_path / "link"))
    elif fault == "broken interpreter":
        replace(script, "python", _failing_interpreter(tmp_path))
    else:
        replace(script, "boot", "/gone/boot.py")

    done = run(script, host)

    assert done.returncode == 0
    answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    assert set(answer) <= {"systemMessage", "user_message", "continue"}
    assert answer.get("continue", True) is True
    if host in TOLD_AT:
        assert "enricher install" in answer[TOLD_AT[host]]


def test_an_older_python_is_told_about_too(script: Path, tmp_path: Path) -> None:
    boot = tmp_path / "enricher" / "boot.py"
    boot.parent.mkdir()
    (boot.parent / "__init__.py").touch()
    shutil.copy(Path(launcher.target(str(script))[1]), boot)
    (boot.parent / "hook.py").write_text("this is no Python of today\n")
    replace(script, "boot", str(boot))

    done = run(script, "claude")

    assert "enricher install" in json.loads(done.stdout)["systemMessage"]


def test_the_launcher_names_what_it_starts(script: Path) -> None:
    python, boot = launcher.target(str(script))

    assert os.access(python, os.X_OK)
    assert boot.endswith("enricher/boot.py")


@pytest.mark.parametrize("host", hosts.NAMES)
@pytest.mark.parametrize("is_portable", [False, True])
def test_every_registered_command_is_recognised_again(script: Path, host: str, is_portable: bool) -> None:
    assert launcher.is_ours(launcher.command(host, is_portable=is_portable))


@pytest.mark.parametrize(
    "command",
    ["sh other.sh", "sh 'torn claude 2>/dev/null || true", "", None, 3, "sh /a/hook nonesuch 2>/dev/null || true"],
)
def test_other_commands_are_not_ours(command: object) -> None:
    assert not launcher.is_ours(command)


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_portable_command_finds_the_launcher_by_the_usual_folders(script: Path, tmp_path: Path, shell: str) -> None:
    replace(script, "python", "/gone/python")
    shared = tmp_path / "home" / ".local" / "share" / "prompt-enricher"
    shared.mkdir(parents=True)
    shutil.copy(script, shared)

    for host in ("claude", "codex"):
        command = launcher.command(host, is_portable=True)
        for env in ({"HOME": str(tmp_path / "home")}, {"ENRICHER_HOME": str(script.parent), "HOME": "/nonesuch"}):
            done = subprocess.run([shell, "-c", command], env=env, capture_output=True, text=True, check=False)
            assert "systemMessage" in done.stdout


def test_a_team_mate_without_the_enricher_notices_nothing(tmp_path: Path) -> None:
    command = launcher.command("gemini", is_portable=True)
    done = subprocess.run(
        ["sh", "-c", command], env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

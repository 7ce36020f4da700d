"""A person's home of its own for every test, and the real command line in it."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import warm

if TYPE_CHECKING:
    from pathlib import Path


class Person:
    """A home folder, a project in it, and what this person can do."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = home / "code" / "project"
        (self.project / ".git").mkdir(parents=True)
        self.state = home / ".local" / "share" / "prompt-enricher"
        self.variables: dict[str, str] = {}

    def run(self, *arguments: str, code: int | None = 0, umask: int = 0o022) -> str:
        """Run ``enricher`` and return what it printed; ``code`` is the exit code expected, None for any."""
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"]} | self.variables
        done = warm.run(arguments, env=env, cwd=self.project, umask=umask)
        if code is not None and done.returncode != code:
            pytest.fail(f"enricher {arguments} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def hook(self, command: str, payload: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        """Run a registered command as a client does."""
        return subprocess.run(
            ["sh", "-c", command],
            input=json.dumps(payload),
            cwd=self.project,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]} | self.variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def write(self, name: str, text: str) -> Path:
        """Write a file below the home folder."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def files(self) -> dict[str, bytes]:
        """Return every file of the home folder but our own state."""
        found = (path for path in self.home.rglob("*") if path.is_file() and self.state not in path.parents)
        return {str(path.relative_to(self.home)): path.read_bytes() for path in found}


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)

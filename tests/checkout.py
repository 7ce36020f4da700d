"""A copy of the checkout, in which a test follows a recipe of CONTRIBUTING literally."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from simulator import ENTRY, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def recipe(title: str) -> str:
    """Return the steps of the section with this title."""
    found = re.search(rf"^## {title}\n\n(.*?)(?=\n## |\nRelease:)", CONTRIBUTING, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[1].strip()


class Checkout:
    """A copy of the packages, the instructions and the templates, and an account that uses it."""

    def __init__(self, root: Path, account: Account) -> None:
        self.root, self.account = root, account
        for folder in ("enricher", "storage", "workbench", "instructions", "examples"):
            shutil.copytree(ROOT / folder, root / folder)

    def copy(self, steps: str, name: str) -> None:
        """Run the ``cp`` commands of a recipe for a new part with this name."""
        for command in re.findall(r"`(cp .*?)`", steps):
            subprocess.run(shlex.split(command.replace("NAME", name)), cwd=self.root, check=True)

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text that a file contains once."""
        text = (self.root / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, (file, old)
        (self.root / file).write_text(text.replace(old, new), encoding="utf-8")

    def python(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program that finds the copy's folder in ``sys.argv[1]``."""
        command = [sys.executable, "-c", program, str(self.root), *words]
        account = self.account
        return subprocess.run(
            command, env=account.env, cwd=account.project, capture_output=True, text=True, check=False
        )

    def enricher(self, *words: str) -> str:
        """Return what a command of the copy prints, on stdout and stderr."""
        ended = self.python(ENTRY, *words)
        return ended.stdout + ended.stderr

"""The product as a person has it: a wheel in a virtual environment, a home, a project."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

RUN = "import sys; from enricher.interfaces.cli import main; main()"


class InstalledCopy:
    """One installation from a wheel, with everything that can happen to it."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.wheel = wheel
        self.home, self.project = folder / "home", folder / "home" / "project"
        (self.project / ".git").mkdir(parents=True)
        self.environment = folder / "venv"
        self.state = self.home / ".local" / "share" / "prompt-enricher"
        self.create_environment()

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    def create_environment(self) -> None:
        """Make the virtual environment and unpack the wheel into it; the libraries come from ours."""
        venv.create(self.environment, symlinks=True)
        packages = self.environment / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(packages)
        (packages / "libraries.pth").write_text("\n".join(site.getsitepackages()) + "\n")

    def console_script(self) -> Path:
        """Return the command ``enricher`` as an installer writes it."""
        path = self.environment / "bin" / "enricher"
        path.write_text(f"#!{self.python}\n{RUN}\n")
        path.chmod(0o755)
        return path

    def delete_environment(self) -> None:
        shutil.rmtree(self.environment)

    def exchange_python(self, other: Path) -> None:
        """Let the environment's interpreter be another one, as a system upgrade does."""
        for name in ("python", "python3", f"python{sysconfig.get_python_version()}"):
            link = self.environment / "bin" / name
            link.unlink(missing_ok=True)
            link.symlink_to(other)

    def enricher(self, *arguments: str, code: int = 0) -> str:
        """Run the command line of this copy and return its output; another exit code fails the test."""
        done = subprocess.run(
            [self.python, "-c", RUN, *arguments],
            cwd=self.project,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"enricher {arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def traces(self) -> list[dict[str, Any]]:
        """Return what was recorded, newest first."""
        found: list[dict[str, Any]] = json.loads(self.enricher("trace", "list", "--json"))
        return found


def working_python() -> Path:
    """Return the interpreter behind this one, which needs no virtual environment."""
    return Path(os.path.realpath(sys.executable))


def broken_python(folder: Path) -> Path:
    """Return an interpreter that cannot start, as after half an upgrade."""
    path = folder / "broken-python"
    path.write_text("#!/bin/sh\necho 'error while loading shared libraries: libpython3.11.so.1.0' >&2\nexit 127\n")
    path.chmod(0o755)
    return path

"""Build hook: ship the instructions compiled, so that no prompt ever waits for a compiler."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The sources are named explicitly: with PYTHONSAFEPATH, which pipx sets, Python does not look in the working folder.
COMPILE = "import sys; sys.path.insert(0, sys.argv[1]); from enricher.rules.compiling.compiler import main; main()"


class CompileInstructions(BuildHookInterface):
    """Write ``instructions/compiled.json`` before the sdist or the wheel is put together."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (signature of the interface)
        subprocess.run([sys.executable, "-c", COMPILE, self.root], check=True)

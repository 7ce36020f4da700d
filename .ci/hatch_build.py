"""Build hook: ship the instructions compiled, so that no prompt ever waits for a compiler."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileInstructions(BuildHookInterface):
    """Write ``instructions/compiled.json`` before the wheel is put together."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (signature of the interface)
        subprocess.run([sys.executable, "-m", "enricher.rules.build"], cwd=self.root, check=True)

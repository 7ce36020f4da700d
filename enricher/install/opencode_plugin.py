"""The plugin that gives OpenCode the command hook it lacks; the source is ``opencode_plugin.js`` beside this file."""

from __future__ import annotations

import json
from importlib.resources import files

_MARK = "// prompt-enricher plugin"
_NOT_NAMED = 'const INSTALLED = ""'


def source(launcher: str) -> str:
    """Return the plugin; with an empty launcher it looks for one where it usually lives."""
    text = files("enricher.install").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    return text.replace(_NOT_NAMED, f"const INSTALLED = {json.dumps(launcher)}")


def is_ours(text: str) -> bool:
    """Say whether a plugin file was written by us."""
    return text.startswith(_MARK)

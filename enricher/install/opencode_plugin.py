"""The plugin that adds the missing command hook to OpenCode; its source is ``opencode_plugin.js`` in this folder."""

from __future__ import annotations

import json
from importlib.resources import files

_MARK = "// prompt-enricher plugin"
_NOT_NAMED = 'const INSTALLED = ""'


def source(launcher: str) -> str:
    """Return the plugin's source; with an empty ``launcher`` it looks for the launcher in the usual folder."""
    text = files("enricher.install").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    return text.replace(_NOT_NAMED, f"const INSTALLED = {json.dumps(launcher)}")


def is_ours(text: str) -> bool:
    """Return whether a plugin file was written by us."""
    return text.startswith(_MARK)

"""The plugin through which OpenCode, which has no command hooks, runs ours; its source is ``opencode_plugin.js``."""

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
    """Return whether the text of a plugin file is that of our plugin."""
    return text.startswith(_MARK)

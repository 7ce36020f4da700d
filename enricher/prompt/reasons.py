"""All reasons for skipping a prompt, with descriptions; code on the hook's path uses only their names."""

from __future__ import annotations

SKIPS = {
    "disabled": "the enricher is switched off (enricher on)",
    "subagent": "the prompt was given to a subagent, by an agent",
    "machine_prompt": "the prompt was written by a program",
    "empty": "the prompt has no words",
    "bypass_phrase": "the prompt asks to be left alone",
    "bypass_prefix": "the prompt begins with the bypass prefix",
    "slash_command": "a slash command is for the host",
    "settings_unknown": "the settings could not be read, and nobody knew whether it is wanted",
    "duplicate": "the same prompt came twice in a session within two seconds, as with a hook that is registered twice",
    "gate_closed": "the caller's format is switched off",
    "remembered": "the prompt only says what to remember",
}

"""Find out why a client does not run a registered hook: hooks are switched off, or the hook is not trusted.

Clients skip such hooks silently, so the doctor looks for the reason.
"""

from __future__ import annotations

import os
from typing import Any

from enricher.home import ancestors, project_root
from enricher.hosts import servers
from enricher.install.editing import jsontext, tomlhooks
from enricher.install.files import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.install.registration import ConfigurationFile

NAME = "prompt-enricher"


def block_reason(place: ConfigurationFile) -> tuple[str, str]:
    """Return why the client skips the hook registered in ``place``, and the remedy; both empty if it runs the hook."""
    look = {"claude": _claude, "gemini": _gemini, "codex": _codex, "copilot": _copilot}.get(place.host)
    return look(place) if look else ("", "")


def _claude(place: ConfigurationFile) -> tuple[str, str]:
    folder = servers.home_folder("claude")
    project = os.path.join(project_root(os.getcwd()), ".claude")
    names = [os.path.join(folder, "settings.json")]
    names += [os.path.join(project, name) for name in ("settings.json", "settings.local.json")]
    return _all_disabled(place.file, *names)


def _all_disabled(*files: str) -> tuple[str, str]:
    for file in dict.fromkeys(files):
        if _json(file).get("disableAllHooks") is True:
            return f"all hooks are switched off in {file}", 'remove "disableAllHooks" there'
    return "", ""


def _gemini(place: ConfigurationFile) -> tuple[str, str]:
    user_file = os.path.join(servers.home_folder("gemini"), "settings.json")
    for file in dict.fromkeys([user_file, place.file]):
        switches = _json(file).get("hooksConfig")
        switches = switches if isinstance(switches, dict) else {}
        if switches.get("enabled") is False:
            return f"all hooks are switched off in {file}", 'remove "hooksConfig.enabled" there'
        if NAME in (switches.get("disabled") or []):
            return f"the hook is switched off in {file}", f"run `gemini hooks enable {NAME}`"
    if place.scope == "project" and not _is_trusted_by_gemini(place):
        return "the folder is not trusted, so its hooks are skipped", "start gemini in it and trust the folder"
    return "", ""


def _is_trusted_by_gemini(place: ConfigurationFile) -> bool:
    trusted = _json(os.path.join(servers.home_folder("gemini"), "trustedFolders.json"))
    folder = os.path.dirname(os.path.dirname(os.path.abspath(place.file)))
    return trusted.get(folder) == "TRUST_PARENT" or any(
        trusted.get(known) in ("TRUST_FOLDER", "TRUST_PARENT") for known in ancestors(folder)
    )


def _codex(place: ConfigurationFile) -> tuple[str, str]:
    file = os.path.join(servers.home_folder("codex"), "config.toml")
    settings = _toml(file)
    features = settings.get("features")
    if isinstance(features, dict) and features.get("hooks") is False:
        return f"hooks are switched off in {file}", 'remove "hooks = false" there'
    hooks = settings.get("hooks")
    remembered = hooks.get("state") if isinstance(hooks, dict) else None
    for key, state in (remembered if isinstance(remembered, dict) else {}).items():
        if key.startswith(f"{place.file}:user_prompt_submit:") and isinstance(state, dict):
            if state.get("enabled") is False:
                return "the hook is switched off in codex", "start codex, open /hooks, and enable it"
            if state.get("trusted_hash"):
                return "", ""
    return "codex skips the hook until you trust it", "start codex, open /hooks, and trust it"


def _copilot(place: ConfigurationFile) -> tuple[str, str]:
    return _all_disabled(os.path.join(servers.home_folder("copilot"), "settings.json"), place.file)


def _json(file: str) -> dict[str, Any]:
    """Return the JSON object in a file; empty if it cannot be read, which is reported elsewhere."""
    try:
        value = jsontext.parse(read_text(file) or "{}", comments=True).value
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _toml(file: str) -> dict[str, Any]:
    try:
        return tomlhooks.read(read_text(file) or "")
    except (OSError, ValueError):
        return {}

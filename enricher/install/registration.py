"""Find each client's hook configuration, and compute the change that adds or removes our hook.

The files belong to the user: only our own entry is ever added, changed or removed. Clients silently skip a hook that is
switched off or not trusted; ``block_reason`` finds out why.
"""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, TypeVar

from enricher import hosts
from enricher.home import ancestors, project_root
from enricher.hosts import servers
from enricher.install import json_edits, launcher, toml_edits
from enricher.install.files import FileChange, read_text, was_created
from enricher.install.json_edits import NotJsonError
from enricher.install.toml_edits import NotTomlError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Events after which the agent has lost its context, so that what was added to earlier prompts may be added again.
_FORGETTING = {"claude": ("SessionStart", "compact|clear|resume")}
SCOPES = ("user", "project")

Result = TypeVar("Result")
_MARK = "// prompt-enricher plugin"  # the beginning of opencode_plugin.js
_NOT_NAMED = 'const INSTALLED = ""'  # a line in it
NAME = "prompt-enricher"


class InstallationError(Exception):
    """Raised if a file cannot be read or changed; the message names the file, the reason and the remedy.

    The file has been left unchanged.
    """


@dataclass(eq=False, slots=True)
class ConfigurationFile:
    """A file of the client ``host`` that may register the hook, our MCP server or another part of Prompt Enricher.

    ``scope`` is "user" if the file applies to all projects of the user, and "project" if it belongs to one project.
    """

    host: str
    scope: str
    file: str

    @property
    def command(self) -> str:
        """Return the command to register in this file."""
        return launcher.command(self.host, is_portable=self.scope == "project")


def facts(host: str) -> Any:
    """Return the module in ``enricher.hosts`` that defines the file names, event names and formats of the client."""
    return importlib.import_module(f"enricher.hosts.{host}")


def place(host: str, scope: str, cwd: str) -> ConfigurationFile:
    """Return the file in which to register the hook in the client ``host``.

    With the scope "project", this is a file of the project that contains ``cwd``, otherwise one for all projects.
    """
    if scope == "project":
        return ConfigurationFile(host, scope, os.path.join(project_root(cwd), facts(host).PROJECT_FILE))
    usual, *others = _user_places(host)
    for other in others:
        # A registration stays where it is; Codex warns if a second file contains hooks.
        if _has_our_hook(other) or (not os.path.lexists(usual.file) and _has_hooks(other)):
            return other
    return usual


def _has_our_hook(candidate: ConfigurationFile) -> bool:
    try:
        return bool(commands(candidate))
    except InstallationError:
        return False


def _has_hooks(codex_file: ConfigurationFile) -> bool:
    try:
        return toml_edits.holds_hooks(read_text(codex_file.file) or "")
    except (OSError, ValueError):
        return False


def _user_places(host: str) -> list[ConfigurationFile]:
    names = [facts(host).USER_FILE, *(["config.toml"] if host == "codex" else [])]
    return [ConfigurationFile(host, "user", os.path.join(servers.home_folder(host), name)) for name in names]


def all_places(host: str, cwd: str) -> list[ConfigurationFile]:
    """Return every file of the client ``host`` that may contain a registration of ours."""
    found = _user_places(host)
    in_project = place(host, "project", cwd)  # the same file if the home folder is the project
    return found if in_project.file in [known.file for known in found] else [*found, in_project]


def commands(where: ConfigurationFile) -> list[str]:
    """Return the commands in a file that start our launcher, in file order; raises InstallationError if unreadable."""
    return edit(where, lambda text: _commands(where, text) if text is not None else [])


def _commands(where: ConfigurationFile, text: str) -> list[str]:
    if where.host == "opencode":
        return [where.command] if is_opencode_plugin(text) else []
    known = facts(where.host)
    if where.file.endswith(".toml"):
        return toml_edits.commands(text, known.EVENT)
    return json_edits.commands(json_edits.Shape(known), text)


def add(where: ConfigurationFile, *, is_late: bool = False, is_checked: bool = False) -> FileChange:
    """Return the change after which the hook is registered exactly once for each event.

    With ``is_late``, these include the event at which a client fetches late results (answers of a model that came after
    the hook's); with ``is_checked``, the end of a turn, at which the agent's code is checked. Existing registrations
    for these two events are always kept and updated. Clients without such an event (``hosts.LATE_EVENTS``,
    ``hosts.TURN_ENDS``) get only the usual registration.
    """
    late, turn = hosts.LATE_EVENTS.get(where.host), hosts.TURN_ENDS.get(where.host)
    events = [event for event, is_wanted in ((late, is_late), (turn, is_checked)) if event and is_wanted]
    return edit(where, lambda text: FileChange(where.file, text, _with_entry(where, text, events)))


def commands_for(where: ConfigurationFile, events: Mapping[str, str]) -> list[str]:
    """Return the commands registered in a file for an event that only some clients have; raises InstallationError.

    ``events`` names this event for each client that has it: ``hosts.LATE_EVENTS`` or ``hosts.TURN_ENDS``.
    """
    event = events.get(where.host)
    shape = json_edits.Shape(facts(where.host), event=event) if event else None
    return edit(where, lambda text: json_edits.commands(shape, text) if shape and text is not None else [])


def _with_entry(where: ConfigurationFile, text: str | None, wanted: list[str]) -> str:
    """Return the text of a client's file with one entry of ours for each event that the hook handles.

    These are the usual events, the optional ones in ``wanted``, and the optional ones that already have an entry.
    """
    known = facts(where.host)
    if where.host == "opencode":
        if text is not None and not is_opencode_plugin(text):
            raise InstallationError(f"{where.file}: is a plugin of yours; rename it, then run this again")
        return opencode_plugin("" if where.scope == "project" else launcher.path())
    if where.file.endswith(".toml"):
        return toml_edits.with_entry(text or "", known.EVENT, where.command, timeout=known.TIMEOUT)
    text = text or ""
    optional = (hosts.LATE_EVENTS.get(where.host), hosts.TURN_ENDS.get(where.host))
    for shape in _shapes(where.host):
        if shape.event not in optional or shape.event in wanted or json_edits.commands(shape, text):
            text = json_edits.with_entry(shape, text, where.command)
    return text


def _shapes(host: str) -> list[json_edits.Shape]:
    """Return the format of each entry that we may register in a client, the one for the prompt event first."""
    known = facts(host)
    late, turn = hosts.LATE_EVENTS.get(host, ""), hosts.TURN_ENDS.get(host, "")
    more = (_FORGETTING.get(host, ("", "")), (late, ""), (turn, ""))
    extra = [json_edits.Shape(known, event=event, matcher=matcher) for event, matcher in more if event]
    return [json_edits.Shape(known), *extra]


def remove(where: ConfigurationFile, earlier: Sequence[FileChange] = ()) -> FileChange:
    """Return the change that removes our entries, or the whole file if we created it and nothing else is left.

    A change of the same file in ``earlier`` is extended and returned.
    """
    return edit_after(where, earlier, lambda text: text and _without_entry(where, text))


def _without_entry(where: ConfigurationFile, text: str) -> str | None:
    known = facts(where.host)
    if where.host == "opencode":
        return None if is_opencode_plugin(text) else text
    if where.file.endswith(".toml"):
        return toml_edits.without_entry(text, known.EVENT, timeout=known.TIMEOUT)
    shapes, left = _shapes(where.host), text
    for shape in reversed(shapes):
        left = json_edits.without_entry(shape, left)
    # A link was made by the user, whatever it points to.
    may_go = left != text and was_created(where.file) and not os.path.islink(where.file)
    return None if may_go and json_edits.is_bare(shapes[0], left) else left


def edit(where: ConfigurationFile, work: Callable[[str | None], Result]) -> Result:
    """Return the result of ``work`` on the file's text (None if the file is missing), without changing the file.

    Any error becomes an InstallationError that says how to fix it.
    """
    remedy = "correct it, then run this again"
    try:
        return work(read_text(where.file))
    except NotJsonError as error:
        message = f"{where.file}:{error.line}: not the JSON it should be: {error.reason}"
        raise InstallationError(f"{message}; {remedy}") from None
    except NotTomlError as error:
        place = f"{where.file}:{error.line}" if error.line else where.file
        raise InstallationError(f"{place}: {error}; {remedy}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InstallationError(f"{where.file}: {error}; make it readable, then run this again") from None


def edit_after(
    where: ConfigurationFile, earlier: Sequence[FileChange], work: Callable[[str | None], str | None]
) -> FileChange:
    """Return the change that replaces the text of a file with what ``work`` returns for this text.

    If ``earlier`` contains a change of the same file, ``work`` is called with the text after that change, and that
    change is extended and returned. Raises InstallationError as ``edit`` does.
    """
    same = next((one for one in earlier if os.path.realpath(one.path) == os.path.realpath(where.file)), None)
    if same is None:
        return edit(where, lambda text: FileChange(where.file, text, work(text)))
    so_far = same.after
    same.after = edit(where, lambda _on_disk: work(so_far))
    return same


def opencode_plugin(script: str) -> str:
    """Return the source of the plugin that runs our hook in OpenCode, which has no command hooks.

    ``script`` is the path of the launcher; if it is empty, the plugin looks for it in the usual folder.
    """
    text = files("enricher.install").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    return text.replace(_NOT_NAMED, f"const INSTALLED = {json.dumps(script)}")


def is_opencode_plugin(text: str) -> bool:
    """Return whether the text of a plugin file is that of our plugin for OpenCode."""
    return text.startswith(_MARK)


def block_reason(place: ConfigurationFile) -> tuple[str, str]:
    """Return why the client skips the hook registered in ``place``, and the remedy; both are empty if it does not."""
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
    for file in dict.fromkeys([user_file, place.file]):  # the user's switches count for a project's hooks, too
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
            if state.get("trusted_hash"):  # whichever: the command changes only if the state folder moves
                return "", ""
    return "codex skips the hook until you trust it", "start codex, open /hooks, and trust it"


def _copilot(place: ConfigurationFile) -> tuple[str, str]:
    return _all_disabled(os.path.join(servers.home_folder("copilot"), "settings.json"), place.file)


def _json(file: str) -> dict[str, Any]:
    """Return the JSON object in a file; empty if the file is missing or unreadable, which is reported elsewhere."""
    try:
        value = json_edits.parse(read_text(file) or "{}", comments=True).value  # some clients allow comments
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _toml(file: str) -> dict[str, Any]:
    try:
        return toml_edits.read(read_text(file) or "")
    except (OSError, ValueError):
        return {}

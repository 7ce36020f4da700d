"""Add the hook to clients or remove it: first make a plan that can be shown, then carry it out."""

from __future__ import annotations

import compileall
import contextlib
import os
import shutil

from enricher import hosts
from enricher.home import config_dir, root_dir, state_dir
from enricher.hosts import servers
from enricher.install import files, launcher, registration, toml_edits
from enricher.install.files import FileChange
from enricher.install.registration import ConfigurationFile, InstallationError
from storage.base import private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from enricher.settings import Value

COMPILE_MS = 10_000
"""Longest wait for the compiler; a command can wait longer than a prompt."""
_PROGRAMS = {"cursor": ("cursor", "cursor-agent")}
"""The commands that start a client, for clients whose command is not simply their name."""


def clients_found() -> list[str]:
    """Return the clients on this machine: those whose folder or program exists."""
    return [host for host in hosts.NAMES if os.path.isdir(servers.home_folder(host)) or _program(host)]


def _program(host: str) -> str:
    names = _PROGRAMS.get(host, (host,))
    return next((found for name in names if (found := shutil.which(name))), "")


class InstallPlan:
    """A plan to edit clients' files: each place with its change, and for each place left out the reason.

    If a client lists hooks and MCP servers in the same file, both places share one change.
    """

    def __init__(self) -> None:
        self.edits: list[tuple[ConfigurationFile, FileChange]] = []
        self.left_out: list[str] = []

    def add(
        self, places: Iterable[ConfigurationFile], edit: Callable[[ConfigurationFile, list[FileChange]], FileChange]
    ) -> list[ConfigurationFile]:
        """Plan an edit of each place; return the places that can be edited and record why the others are left out.

        ``edit`` gets the place and the changes planned so far.
        """
        planned = []
        for place in places:
            try:
                self.edits.append((place, edit(place, self._all_changes())))
                planned.append(place)
            except InstallationError as error:
                self.leave_out(place, error)
        return planned

    def leave_out(self, place: ConfigurationFile, error: InstallationError) -> None:
        """Record the reason why a client is left out; the files of other clients are still edited."""
        reason = f"{registration.facts(place.host).TITLE} was left out: {error}"
        self.left_out += [] if reason in self.left_out else [reason]

    @property
    def changes(self) -> list[FileChange]:
        """The planned changes, one per file, without those that would leave their file as it is."""
        return [change for change in self._all_changes() if change.is_needed]

    def carry_out(self) -> list[str]:
        """Make the changes and return the paths of the backups; a client whose file cannot be written is left out."""
        backups = []
        for change in self.changes:
            try:
                backups += carry_out([change])
            except InstallationError as error:
                for place, _change in [one for one in self.edits if one[1] is change]:
                    self.leave_out(place, error)
                self.edits = [one for one in self.edits if one[1] is not change]
        return backups

    def _all_changes(self) -> list[FileChange]:
        return list({id(change): change for _place, change in self.edits}.values())


def preparations(*, is_shadow: bool) -> list[FileChange]:
    """Return the changes that every client needs: launcher and switches. Raises InstallationError."""
    changes = [*launcher.changes(), *([switches({"shadow": True})] if is_shadow else [])]
    return [change for change in changes if change.is_needed]


def switches(wanted: dict[str, bool]) -> FileChange:
    """Return the change that sets switches in the user's ``config.toml``. Raises InstallationError."""
    path = os.path.join(config_dir(), "config.toml")
    try:
        before = files.read_text(path)
        after = before or ""
        for key, value in wanted.items():
            after = toml_edits.with_setting(after, key, value)
    except (toml_edits.NotTomlError, OSError, UnicodeDecodeError) as error:
        raise InstallationError(f"{path}: {error}; correct it, then run this again") from None
    return FileChange(path, before, after)


def carry_out(changes: list[FileChange]) -> list[str]:
    """Make the changes, one file at a time, and return the paths of the backups; raises InstallationError."""
    backups = []
    _make_private(state_dir())
    for change in changes:
        try:
            backups.append(files.apply(change))
            _record_creation(change)
        except OSError as error:
            reason = error.strerror or error
            raise InstallationError(f"{change.path}: {reason}; mend that, then run this again") from None
    return [backup for backup in backups if backup]


def _record_creation(change: FileChange) -> None:
    if change.after is None:
        files.forget_created(change.path)
    elif change.before is None and not change.is_ours:
        files.note_created(change.path)


def set_switches(wanted: dict[str, bool]) -> str:
    """Set switches in the user's configuration and recompile the rules; return the path of the file."""
    change = switches(wanted)
    if change.is_needed:
        carry_out([change])
        recompile()
    return change.path


def recompile() -> None:
    """Compile the rules now, so that no prompt runs with the old switches; the doctor reports any faults."""
    from enricher.rules import cache

    with contextlib.suppress(cache.NoRulesError):
        for cwd in ("", os.getcwd()):
            cache.load(cwd, wait_ms=COMPILE_MS)


def _make_private(folder: str) -> None:
    try:
        private.make_directory(folder)
        os.chmod(os.path.join(folder, "."), 0o700)  # the "." makes this fail if the path is a file
    except OSError as error:
        raise InstallationError(f"{folder}: {error}; make it yours, then run this again") from None


def byte_compile() -> bool:
    """Compile the hook's packages to bytecode, so that no prompt has to; return whether all files could be written."""
    packages = [os.path.join(root_dir(), name) for name in ("storage", "enricher")]
    umask = os.umask(0o022)  # others may read the bytecode, as they may read the package, but not write it
    try:
        return all(compileall.compile_dir(package, quiet=2) for package in packages)
    finally:
        os.umask(umask)


def advice_on_late_results(places: list[ConfigurationFile]) -> list[str]:
    """Return messages about clients that accept no late results, and about settings that late results still need."""
    without = [registration.facts(place.host).TITLE for place in places if place.host not in hosts.LATE_EVENTS]
    advice_lines = (
        [f"{', '.join(without)}: no hook point for late results; the hook waits for the model"] if without else []
    )
    settings = current_settings()
    if settings.get("model.url") and settings.get("model.late"):
        return advice_lines
    missing = "late = true" if settings.get("model.url") else "a model (docs/model.md) and late = true"
    return [
        *advice_lines,
        f"Late results come once {os.path.join(config_dir(), 'config.toml')} has under [model]: {missing}",
    ]


def advice_on_checks(places: list[ConfigurationFile]) -> list[str]:
    """Return a message that names the clients without an event for the end of a turn; none if all have one."""
    without = [registration.facts(place.host).TITLE for place in places if place.host not in hosts.TURN_ENDS]
    return [f"{', '.join(without)}: no hook point at the end of a turn; use: enricher validate"] if without else []


def current_settings() -> dict[str, Value]:
    """Return the settings outside any project, with the environment applied; empty if there are no usable rules."""
    from enricher.rules import cache
    from enricher.settings import with_environment

    try:
        rules, _layers = cache.load("", wait_ms=COMPILE_MS)
    except cache.NoRulesError:
        return {}
    return with_environment(rules.body.get("settings", {}), os.environ)[0]


def advice(place: ConfigurationFile) -> str:
    """Return what the user must still do before the client runs the hook; empty if nothing is left to do."""
    if place.host == "codex":
        return registration.block_reason(place)[0] and (
            "Codex runs a new hook only once you trust it: start codex, open /hooks, and trust the entry "
            '"UserPromptSubmit". Until then it is skipped without a word. Upgrades never ask again.'
        )
    if place.scope == "user":
        return ""
    return {
        "gemini": "Gemini CLI reads this file only in a trusted folder: start gemini here and trust the folder.",
        "copilot": "Outside trusted folders, copilot -p needs GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true.",
    }.get(place.host, "")

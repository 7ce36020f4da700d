"""Add the hook to agent clients or remove it: first make a plan that can be shown, then carry it out.

The self-test sends a real event through the registered command and checks the answer. It uses a temporary state
folder, so that it never appears in the user's statistics, sessions or database.
"""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from enricher import hosts
from enricher.home import config_dir, root_dir, state_dir
from enricher.hosts import servers
from enricher.install import files, launcher, registration, toml_edits
from enricher.install.files import FileChange
from enricher.install.registration import ConfigurationFile, InstallationError
from enricher.prompt.project import identify
from enricher.record import after_answer
from storage.base import private
from storage.state import detached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from enricher.settings import Value

COMPILE_MS = 10_000  # limit for compiling the rules; a command can wait longer than a prompt
_PROGRAMS = {"cursor": ("cursor", "cursor-agent")}  # the program of any other client has the client's name
PROMPT = (
    "the login test fails with a KeyError, fix it:\n"
    "Traceback (most recent call last):\n"
    '  File "tests/test_login.py", line 38, in test_login\n'
    "KeyError: 'user'"
)
TIMEOUT_SECONDS = 20.0
DISCARD_ATTEMPTS = 20  # within two seconds
# Beginnings of the variables that clients set: an installation started by one would be taken for a prompt of that one.
_MARKERS = ("CLAUDE", "COPILOT_", "CURSOR_", "GEMINI_", "OPENCODE")


def clients_found() -> list[str]:
    """Return the clients on this machine: those whose folder or program exists."""
    return [
        host
        for host in hosts.NAMES
        if os.path.isdir(servers.home_folder(host)) or any(map(shutil.which, _PROGRAMS.get(host, (host,))))
    ]


class InstallPlan:
    """A plan to edit clients' files: the change of each file, and the reason for each client that is left out.

    If a client lists its hooks and its MCP servers in the same file, both edits share one change.
    """

    def __init__(self) -> None:
        self.edits: list[tuple[ConfigurationFile, FileChange]] = []
        self.left_out: list[str] = []

    def add(
        self, places: Iterable[ConfigurationFile], edit: Callable[[ConfigurationFile, list[FileChange]], FileChange]
    ) -> list[ConfigurationFile]:
        """Add an edit of each file in ``places`` to the plan, and return the files that can be edited.

        For each of the other files, the reason is recorded. ``edit`` is called with a file and with all changes planned
        so far, and returns the change of the file.
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
        """Record why the client of a file is left out; the files of other clients are still edited."""
        reason = f"{registration.facts(place.host).TITLE} was left out: {error}"
        self.left_out += [] if reason in self.left_out else [reason]

    @property
    def changes(self) -> list[FileChange]:
        """Return the planned changes, one per file, except those that would leave the file as it is."""
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
        return list(dict.fromkeys(change for _place, change in self.edits))


def preparations(*, is_shadow: bool) -> list[FileChange]:
    """Return the changes needed before any client is edited: the launcher scripts and, if wanted, shadow mode.

    In shadow mode, prompts are recorded but nothing is added to them. Raises InstallationError.
    """
    changes = [*launcher.changes(), *([switches({"shadow": True})] if is_shadow else [])]
    return [change for change in changes if change.is_needed]


def switches(wanted: dict[str, bool]) -> FileChange:
    """Return the change that sets each on/off setting in ``wanted`` in the user's ``config.toml``.

    Raises InstallationError if the file cannot be read or edited.
    """
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
        except OSError as error:
            reason = error.strerror or error
            raise InstallationError(f"{change.path}: {reason}; mend that, then run this again") from None
    return [backup for backup in backups if backup]


def set_switches(wanted: dict[str, bool]) -> str:
    """Set each on/off setting in ``wanted`` in the user's ``config.toml``, and return the path of this file.

    If that changes the file, the rules are compiled again. Raises InstallationError if the file cannot be changed.
    """
    change = switches(wanted)
    if change.is_needed:
        carry_out([change])
        recompile()
    return change.path


def recompile() -> None:
    """Compile the rules now, so that no prompt is answered with old settings; ``enricher doctor`` reports faults."""
    from enricher.rules import cache

    with contextlib.suppress(cache.NoRulesError):
        for cwd in ("", os.getcwd()):  # the rules outside any project, and those of this one
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
    """Return messages about clients that cannot fetch late results, and about settings that late results still need.

    A late result is the answer of a language model that came only after the hook had answered the prompt.
    """
    without = [registration.facts(place.host).TITLE for place in places if place.host not in hosts.LATE_EVENTS]
    lines = [f"{', '.join(without)}: no hook point for late results; the hook waits for the model"] if without else []
    settings = current_settings()
    if not (settings.get("model.url") and settings.get("model.late")):
        missing = "late = true" if settings.get("model.url") else "a model (docs/model.md) and late = true"
        file = os.path.join(config_dir(), "config.toml")
        lines.append(f"Late results come once {file} has under [model]: {missing}")
    return lines


def advice_on_checks(places: list[ConfigurationFile]) -> list[str]:
    """Return a message naming the clients that do not call hooks at the end of a turn; empty if all of them do."""
    without = [registration.facts(place.host).TITLE for place in places if place.host not in hosts.TURN_ENDS]
    return [f"{', '.join(without)}: no hook point at the end of a turn; use: enricher validate"] if without else []


def current_settings() -> dict[str, Value]:
    """Return the settings from files and the environment that apply outside any project; empty without usable rules."""
    from enricher.rules import cache
    from enricher.settings import with_environment

    try:
        rules, _layers = cache.load("", wait_ms=COMPILE_MS)
    except cache.NoRulesError:
        return {}
    return with_environment(rules.body["settings"], os.environ)[0]


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


@dataclass(slots=True)
class SelfTest:
    """The result of running a registered command once; ``fault`` says what went wrong, and is empty if it worked."""

    fault: str = ""
    context: str = ""
    notice: str = ""
    milliseconds: float = 0.0

    def __str__(self) -> str:
        if self.fault:
            return self.fault
        result = f"{len(self.context)} characters of context" if self.context else "nothing to add"
        return f"answered in {self.milliseconds:.0f} ms: {result}"


def self_test(host: str, command: str) -> SelfTest:
    """Run ``command``, registered in the client ``host``, with an event in this client's format; return the outcome."""
    folder = tempfile.mkdtemp(prefix="enricher-selftest-")
    try:
        return _run_in(folder, host, command)
    finally:
        _discard(folder)


def _discard(folder: str) -> None:
    """Delete the folder, with retries because a background compilation may still be writing to it."""
    for _ in range(DISCARD_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.1)


def _run_in(folder: str, host: str, command: str) -> SelfTest:
    state = _temporary_state(folder)
    started = time.perf_counter()
    try:
        done = _call(["sh", "-c", command], event(host, folder), state)
    except subprocess.TimeoutExpired:
        return SelfTest(fault=f"no answer within {TIMEOUT_SECONDS:.0f} s")
    outcome = _evaluate(host, done)
    outcome.milliseconds = (time.perf_counter() - started) * 1000
    if not outcome.fault and not _has_trace(state):
        outcome.fault = _failure_reason(host, folder, state) or outcome.notice or "it ran, but recorded nothing"
    return outcome


def _temporary_state(folder: str) -> str:
    state = os.path.join(folder, "state")
    # Background work would outlive the temporary folder, so none may start.
    for work in (detached.MAINTENANCE, after_answer.upkeep_stamp(identify(folder))):
        private.make_directory(os.path.dirname(os.path.join(state, work)))
        private.write_file(os.path.join(state, work), b"not here")
        detached.postpone(state, TIMEOUT_SECONDS * 2, work)
    if os.path.exists(launcher.path()):
        shutil.copy(launcher.path(), state)  # the portable command looks for the launcher there
    return state


def _call(command: list[str], payload: dict[str, Any], state: str) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_MARKERS)}
    environment["ENRICHER_HOME"] = state
    environment["ENRICHER_MODEL_URL"] = ""  # a call would cost, and its answer could come after the folder is deleted
    return subprocess.run(
        command,
        input=json.dumps(payload).encode(),
        capture_output=True,
        cwd=payload["cwd"],
        env=environment,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def event(host: str, cwd: str) -> dict[str, Any]:
    """Return a prompt event as the client ``host`` sends it."""
    session = "enricher-selftest"
    if host == "copilot":
        return {"sessionId": session, "timestamp": 0, "cwd": cwd, "prompt": PROMPT}
    shared = {
        "session_id": session,
        "cwd": cwd,
        "prompt": PROMPT,
        "hook_event_name": registration.facts(host).EVENT,
    }
    if host == "cursor":
        return {**shared, "conversation_id": session, "generation_id": "1"}
    extra = {"turn_id": "1", "model": "", "permission_mode": "default"} if host == "codex" else {}
    return {**shared, "transcript_path": "", **extra}


def _evaluate(host: str, done: subprocess.CompletedProcess[bytes]) -> SelfTest:
    if done.returncode:
        return SelfTest(fault=f"exit code {done.returncode}; only 0 lets every prompt through")
    if not done.stdout.strip():
        return SelfTest()
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return SelfTest(fault=f"printed something other than one JSON object: {done.stdout[:120]!r}")
    answer = answer if isinstance(answer, dict) else {}
    notice = str(answer.get("systemMessage") or answer.get("user_message") or "")
    inside = answer if host in ("copilot", "cursor", "opencode") else answer.get("hookSpecificOutput") or {}
    context = inside.get("additional_context" if host == "cursor" else "additionalContext")
    return SelfTest(context=str(context or ""), notice=notice)


def _has_trace(state: str) -> bool:
    spool = os.path.join(state, "spool")
    return os.path.exists(os.path.join(state, "enricher.db")) or (os.path.isdir(spool) and bool(os.listdir(spool)))


def _failure_reason(host: str, folder: str, state: str) -> str:
    """Return why the hook failed.

    If the launcher or a file that it starts is missing, the returned text names it. Otherwise the hook is run again
    without the launcher, and the last line that it prints to stderr is returned; it is empty if the hook now succeeds.
    """
    python, boot = launcher.target(launcher.path())
    for file in (launcher.path(), python, boot):
        if not file or not os.path.exists(file):
            return f"{file or 'the interpreter'} is gone"
    try:
        done = _call([python, "-I", "-S", boot, host], event(host, folder), state)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    complaint = done.stderr.decode(errors="replace").strip().splitlines()
    return complaint[-1] if complaint and done.returncode else ""

"""Look at everything a prompt meets on its way, and name the remedy of what is wrong.

Reads only: the self-test works in a folder of its own, and the database is opened
as any reader opens it.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from enricher import hosts
from enricher.home import root_dir, state_dir
from enricher.installation import gates, installer, launcher, registration, selftest
from enricher.installation.registration import InstallationError, Place

OK, NOTE, BROKEN = "ok", "note", "broken"
REINSTALL = "run `enricher install`"
FAILURE_RATE = 0.01
RECENT_PROMPTS = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: ``ok``, a ``note`` worth reading, or ``broken`` with its remedy."""

    subject: str
    status: str
    detail: str
    remedy: str = ""


def examine(cwd: str) -> list[Finding]:
    """Return all findings: this installation, its instructions, its records, then each client."""
    found = [*_installation(), *_instructions(cwd), *_records()]
    last_seen = _last_seen()
    for host in hosts.NAMES:
        found += _client(host, cwd, last_seen.get(host, ""))
    return found


def _installation() -> list[Finding]:
    return [_state(), _launcher(), *_switches()]


def _state() -> Finding:
    folder = state_dir()
    if not os.path.isdir(folder):
        return Finding("state", NOTE, f"{folder} does not exist yet", REINSTALL)
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("state", BROKEN, f"{folder} is not writable", f"make it yours: chown -R $USER {folder}")
    if stat.S_IMODE(os.stat(folder).st_mode) & 0o077:
        return Finding("state", BROKEN, f"{folder} is open to others", f"chmod 700 {folder}")
    return Finding("state", OK, folder)


def _launcher() -> Finding:
    file = launcher.path()
    if not os.path.exists(file):
        return Finding("launcher", NOTE, f"{file} does not exist yet", REINSTALL)
    for part in launcher.target(file):
        if not os.path.exists(part):
            return Finding("launcher", BROKEN, f"{part or 'the interpreter it starts'} is gone", REINSTALL)
    if any(change.is_needed for change in launcher.changes()):
        return Finding("launcher", NOTE, f"{file} starts another installation than this one ({root_dir()})", REINSTALL)
    return Finding("launcher", OK, file)


def _switches() -> list[Finding]:
    from enricher.rules import cache
    from enricher.settings import with_environment

    try:
        rules, _layers = cache.load("", wait_ms=installer.COMPILE_MS)
    except cache.NoRulesError as error:
        return [Finding("instructions", BROKEN, str(error), "run `enricher check`")]
    settings, problems = with_environment(rules.body.get("settings", {}), os.environ)
    found = [Finding("settings", BROKEN, f"{name}: {message}", "correct the variable") for name, message in problems]
    if not settings.get("enabled", True):
        found.append(Finding("settings", NOTE, "enrichment is switched off", "run `enricher on`"))
    elif settings.get("shadow", False):
        found.append(Finding("settings", NOTE, "shadow mode: everything recorded, nothing added", "run `enricher on`"))
    return found


def _instructions(cwd: str) -> list[Finding]:
    from enricher.rules import cache

    try:
        rules, layers = cache.load(cwd, wait_ms=installer.COMPILE_MS)
    except cache.NoRulesError:
        return []
    names = ", ".join(f"{layer.name} {layer.path}" for layer in (*layers.instructions, *layers.configuration))
    found = [Finding("instructions", OK, f"in rising order: {names}")]
    if rules.state != cache.FRESH:
        reason = rules.problem or "the last good version is used"
        found = [Finding("instructions", BROKEN, f"{rules.state}: {reason}", "run `enricher check`")]
    if layers.missing:
        found.append(Finding("instructions", NOTE, f"$AOPS names {layers.missing}, which does not exist"))
    if layers.untrusted:
        found.append(Finding("instructions", NOTE, f"{layers.untrusted} is not trusted", "run `enricher trust`"))
    return found


def _records() -> list[Finding]:
    from storage import database, queries, spool, traces

    path = os.path.join(state_dir(), traces.DATABASE)
    if not _has_records():
        return [Finding("database", NOTE, "no prompt recorded yet")]
    try:
        db = database.connect(state_dir())
    except database.StorageError as error:
        return [Finding("database", BROKEN, str(error), "follow the message, then run this again")]
    try:
        stats = queries.stats(db, queries.Filter())
        recent = queries.matching(db, queries.Filter(), limit=RECENT_PROMPTS)
    finally:
        db.close()
    size = sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))
    found = [Finding("database", OK, f"{path}: {stats.prompts} prompts, {size / 1e6:.1f} MB")]
    failed = [row for row in recent if row["status"] == "error"]
    if len(failed) > FAILURE_RATE * len(recent):
        detail = f"{len(failed)} of the last {len(recent)} prompts failed, last with: {failed[0]['error']}"
        found.append(Finding("failures", BROKEN, detail, f"read {os.path.join(state_dir(), 'log')}"))
    lost = spool.dropped(state_dir()) + spool.refused(state_dir())
    if lost:
        found.append(Finding("spool", NOTE, f"{lost} records could not be kept", "make room on the disk"))
    return found


def _has_records() -> bool:
    from storage import spool, traces

    return os.path.exists(os.path.join(state_dir(), traces.DATABASE)) or bool(spool.waiting(state_dir()))


def _last_seen() -> dict[str, str]:
    from storage import database, queries

    if not _has_records():
        return {}
    try:
        db = database.connect(state_dir())
    except database.StorageError:
        return {}  # reported with the database
    try:
        return queries.stats(db, queries.Filter()).last_seen
    finally:
        db.close()


def _client(host: str, cwd: str, last_seen: str) -> list[Finding]:
    found: list[Finding] = []
    is_registered = False
    for place in registration.all_places(host, cwd):
        subject = f"{registration.facts(host).TITLE} ({place.scope})"
        try:
            commands = registration.commands(place)
        except InstallationError as error:
            found.append(Finding(subject, BROKEN, str(error), "correct that file"))
            continue
        if commands:
            is_registered = True
            found.append(_registered(place, subject, commands, last_seen))
    if not is_registered and host in installer.clients_found():
        title = registration.facts(host).TITLE
        found.append(Finding(title, NOTE, "found, but the hook is not registered", f"{REINSTALL[:-1]} --host {host}`"))
    return found


def _registered(place: Place, subject: str, commands: list[str], last_seen: str) -> Finding:
    again = f"{REINSTALL[:-1]} --host {place.host} --scope {place.scope}`"
    if commands != [place.command]:
        what = f"registered {len(commands)} times" if len(commands) > 1 else f"registered as {commands[0]!r}"
        return Finding(subject, BROKEN, f"{what} in {place.file}", again)
    reason, remedy = gates.closed(place)
    if reason:
        return Finding(subject, BROKEN, reason, remedy)
    outcome = selftest.run(place.host, place.command)
    if outcome.fault:
        return Finding(subject, BROKEN, outcome.fault, again)
    seen = f"last prompt {last_seen}" if last_seen else "no prompt seen yet"
    return Finding(subject, OK, f"{place.file}; {seen}; {outcome}")

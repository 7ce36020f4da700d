"""Check everything that a prompt depends on, and name the remedy for each fault (``enricher doctor``).

``examine`` changes nothing that it examines: its self-test uses a temporary folder, and the database is
opened as by any other command. ``repair`` changes files, and runs only if the user asks for it.
"""

from __future__ import annotations

import os
import shlex
import stat
from dataclasses import dataclass

from enricher import bundle, hosts
from enricher.classify import FRESH
from enricher.home import root_dir, state_dir
from enricher.install import installer, launcher, registration
from enricher.install.doctor import copies, sources
from enricher.install.doctor.sources import StoredHistory, read_history
from enricher.install.registration import ConfigurationFile, InstallationError
from enricher.prompt.project import identify
from enricher.rules import cache
from enricher.rules.compiling.compiler import read_configuration
from enricher.rules.layers import USER, find_layers
from enricher.settings import with_environment

OK, NOTE, BROKEN = "ok", "note", "broken"
REINSTALL = "run `enricher install`"
FAILURE_RATE = 0.01  # the specification allows the hook to fail for less than one prompt in a hundred (seed 000)
NAME_NO_FILE = "put the file there or correct the path; remove the rule that names it to use the packaged files alone"
REPAIR = "`enricher doctor --fix` keeps what you changed in it ({rules}), and the copy as a backup"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: ``ok``, ``note`` (works, but the user should know) or ``broken``, with the remedy."""

    subject: str
    status: str
    detail: str
    remedy: str = ""


def examine(cwd: str) -> list[Finding]:
    """Check the installation, the instructions for ``cwd``, the stored prompts and each client, in this order."""
    history = read_history()
    found = [_state(), _launcher(), *_modules(), *_switches(), *_configuration(cwd), *_instructions(cwd)]
    found += [*_records(history), *_stored_traces(history), *_sources(cwd, history)]
    for host in hosts.NAMES:
        found += _client(host, cwd, history)
    return [*found, *_late_results(cwd)]


def _state() -> Finding:
    folder = state_dir()
    if not os.path.isdir(folder):
        return Finding("state", NOTE, f"{folder} does not exist yet", REINSTALL)
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("state", BROKEN, f"{folder} is not writable", _ownership_remedy(folder))
    if stat.S_IMODE(os.stat(folder).st_mode) & 0o077:  # any right of the group or of others
        return Finding("state", BROKEN, f"{folder} is open to others", f"chmod 700 {folder}")
    return Finding("state", OK, folder)


def _ownership_remedy(folder: str) -> str:
    if os.stat(folder).st_uid == os.getuid():
        return f"chmod 700 {shlex.quote(folder)}"
    return f"make it yours: chown -R $USER {shlex.quote(folder)}"


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


def _modules() -> list[Finding]:
    """Report an unusable bundle (one file with all modules of the hook), which makes prompts slower."""
    fault, file = bundle.fault(), bundle.path()
    if not fault:
        return []
    remedy = f"remove {shlex.quote(file)}" if os.path.isdir(file) else REINSTALL
    return [Finding("modules", NOTE, f"{file}: {fault}; prompts are slower until it is written anew", remedy)]


def _switches() -> list[Finding]:
    try:
        rules, _layers = cache.load("", wait_ms=installer.COMPILE_MS)
    except cache.NoRulesError as error:
        return [Finding("instructions", BROKEN, str(error), "run `enricher check`")]
    settings, problems = with_environment(rules.body["settings"], os.environ)
    found = [Finding("settings", BROKEN, f"{name}: {message}", "correct the variable") for name, message in problems]
    if not settings.get("enabled", True):
        found.append(Finding("settings", NOTE, "enrichment is switched off", "run `enricher on`"))
    elif settings.get("shadow", False):
        found.append(Finding("settings", NOTE, "shadow mode: everything recorded, nothing added", "run `enricher on`"))
    return found


def _configuration(cwd: str) -> list[Finding]:
    """Return a finding for each faulty line of the ``config.toml`` files that apply in ``cwd``."""
    found = []
    for layer in find_layers(cwd).configuration:
        for problem in read_configuration(layer.path, is_user=layer.name == USER)[1]:
            status, remedy = NOTE, "correct or remove that line"
            if problem.severity == "error":
                status, remedy = BROKEN, "correct that file; until then it counts for nothing"
            found.append(Finding("configuration", status, f"{problem.file}:{problem.line}: {problem.message}", remedy))
    return found


def _instructions(cwd: str) -> list[Finding]:
    try:
        rules, layers = cache.load(cwd, wait_ms=installer.COMPILE_MS)
    except cache.NoRulesError:  # ``_switches`` has reported it
        return []
    names = ", ".join(f"{layer.name} {layer.path}" for layer in (*layers.instructions, *layers.configuration))
    found = [Finding("instructions", OK, f"in rising order: {names}")]
    if rules.state != FRESH:
        reason = rules.problem or "the last good version is used"
        found = [Finding("instructions", BROKEN, reason, "run `enricher check`")]
    found += _faulty_layers(cwd)
    if layers.missing:
        found.append(Finding("instructions", NOTE, f"$AOPS names {layers.missing}, which does not exist"))
    if layers.untrusted:
        found.append(Finding("instructions", NOTE, f"{layers.untrusted} is not trusted", "run `enricher trust`"))
    return found


def try_model(cwd: str) -> Finding:
    """Ask the configured language model to classify a sample prompt, and report how long it took or why it failed."""
    from enricher.model.opinion_request import ask_now

    rules, _layers = cache.load(cwd, wait_ms=installer.COMPILE_MS)
    settings, _problems = with_environment(rules.body["settings"], os.environ)
    if not settings["model.url"]:
        return Finding("model", NOTE, "none is configured", "set model.url and model.name (docs/model.md)")
    record = ask_now("where is the retry logic?", rules.body["meanings"], rules, settings, state=state_dir())
    place = f"{settings['model.name']} at {settings['model.url']}"
    if record["status"] != "ok":
        is_parse = record["status"] == "parse"
        remedy = "choose a model that can answer with JSON" if is_parse else "correct [model] in your config.toml"
        return Finding("model", BROKEN, f"{place}: {record['status']}: {record['reason']}", remedy)
    limit_ms = int(settings["search_intent.llm_timeout_ms"])
    detail = f"{place} answered in {record['latency_ms']:.0f} ms"
    if record["latency_ms"] <= limit_ms:
        return Finding("model", OK, detail)
    remedy = f"the hook waits {limit_ms} ms (search_intent.llm_timeout_ms); raise that, or choose a faster model"
    return Finding("model", NOTE, detail, remedy)


def _faulty_layers(cwd: str) -> list[Finding]:
    found = [
        Finding("instructions", BROKEN, f"{one.file}:{one.line}: {one.message}", NAME_NO_FILE)
        for one in copies.missing_files(cwd)
    ]
    for copy in copies.copies(cwd):
        detail = f"{copy.path} is a copy of the packaged instructions, which hides every later version of them"
        remedy = REPAIR.format(rules=copies.counted(copy.rules))
        if copy.reason:
            detail = f"{detail}, and cannot be made smaller yet: {copy.reason}"
            remedy = "correct that line, then run this again"
        found.append(Finding("instructions", NOTE, detail, remedy))
    return found


def repair(cwd: str) -> list[Finding]:
    """Reduce each copy of the packaged instructions to what the user changed in it; return a finding for each copy."""
    found = []
    for copy in copies.copies(cwd):
        if copy.reason:  # ``examine`` reports why it cannot be reduced
            continue
        try:
            kept = copies.replace(copy)
            changed = copies.counted(copy.rules)
            found.append(Finding("repair", OK, f"{copy.path} holds what you changed ({changed}); the copy is {kept}"))
        except OSError as failure:
            reason = f"{copy.path} cannot be written: {failure.strerror or failure}"
            found.append(Finding("repair", BROKEN, reason, "make it writable, then run this again"))
    return found


def _records(history: StoredHistory) -> list[Finding]:
    if history.fault:
        return [Finding("database", BROKEN, history.fault, "follow the message, then run this again")]
    found = [Finding("database", NOTE, "no prompt recorded yet")]
    if history.prompts:
        size_mb = history.sizes["database"] / 1e6
        found = [Finding("database", OK, f"{history.path}: {history.prompts} prompts, {size_mb:.1f} MB")]
    if history.lost:
        found.append(Finding("spool", NOTE, f"{history.lost} records could not be kept", "make room on the disk"))
    return found


def _stored_traces(history: StoredHistory) -> list[Finding]:
    """Report how many prompts are stored, how old they may get, how large the stored files are, and any problems."""
    from enricher.erasure.forgetting import account_settings, bounds_of

    if history.fault or not history.sizes:
        return []
    try:
        bounds = bounds_of(account_settings()).in_words()
    except cache.NoRulesError:
        return []
    sizes = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in history.sizes.items() if size)
    since = f" since {history.since[:10]}" if history.since else ""
    found = [Finding("history", OK, f"{history.traces:,} traces{since}; kept: {bounds}; {sizes}")]
    if history.sizes["moved-aside databases"]:
        detail = f"a damaged database was moved aside in {state_dir()}, and holds prompts"
        found.append(Finding("history", NOTE, detail, "delete it once you need nothing of it"))
    if history.is_unfinished:
        detail = "a deletion was begun and has not been ended"
        found.append(Finding("history", NOTE, detail, "run the same `enricher trace forget` or `prune` again"))
    if not history.is_screened:
        detail = "recorded when the screen knew fewer kinds of secrets, some may be stored"
        found.append(Finding("secrets", NOTE, detail, "run `enricher trace rescreen` (--dry-run counts)"))
    return found


def _sources(cwd: str, history: StoredHistory) -> list[Finding]:
    """Report the state of what prompts in ``cwd`` draw on: the code index, the memories and the context channels."""
    found = [_with_remedy("code index", *sources.index_of(cwd))]
    if not history.fault:
        found.append(_with_remedy("memories", *sources.memories_of(cwd)))
    try:
        rules, _layers = cache.load(cwd, wait_ms=installer.COMPILE_MS)
    except cache.NoRulesError:
        return found
    settings, _problems = with_environment(rules.body["settings"], os.environ)
    for name, reason in sources.switched_off(rules.body["channels"], settings):
        found.append(Finding(f"channel {name}", NOTE, f"off: {reason}"))
    remedy = f"read {os.path.join(state_dir(), 'log')}"
    for fault in sources.upkeep_faults(identify(cwd)):
        of_channel = fault.removeprefix("channel, ")
        found.append(Finding("upkeep" if of_channel == fault else "channels", NOTE, of_channel, remedy))
    return found


def _with_remedy(subject: str, detail: str, remedy: str) -> Finding:
    return Finding(subject, NOTE if remedy else OK, detail, remedy)


def _client(host: str, cwd: str, history: StoredHistory) -> list[Finding]:
    found: list[Finding] = []
    is_registered = is_unknown = False
    for place in registration.all_places(host, cwd):
        subject = f"{registration.facts(host).TITLE} ({place.scope})"
        try:
            commands = registration.commands(place)
        except InstallationError as error:
            found.append(Finding(subject, BROKEN, str(error), "correct that file"))
            is_unknown = True
            continue
        if commands:
            is_registered = True
            found.append(_registered(place, subject, commands, history))
    if not (is_registered or is_unknown) and host in installer.clients_found():
        title = registration.facts(host).TITLE
        found.append(Finding(title, NOTE, "found, but the hook is not registered", f"{REINSTALL[:-1]} --host {host}`"))
    return found


def _registered(place: ConfigurationFile, subject: str, commands: list[str], history: StoredHistory) -> Finding:
    again = f"{REINSTALL[:-1]} --host {place.host} --scope {place.scope}`"
    if commands != [place.command]:
        what = f"registered {len(commands)} times" if len(commands) > 1 else f"registered as {commands[0]!r}"
        return Finding(subject, BROKEN, f"{what} in {place.file}", again)
    reason, remedy = registration.block_reason(place)
    if reason:  # before the self-test, which the client's switches do not affect
        return Finding(subject, BROKEN, reason, remedy)
    if fault := _fault(place, registration.commands_for(place, hosts.LATE_EVENTS), "late results"):
        return Finding(subject, BROKEN, fault, f"{again[:-1]} --late-results`")
    if fault := _fault(place, registration.commands_for(place, hosts.TURN_ENDS), "checks"):
        return Finding(subject, BROKEN, fault, f"{again[:-1]} --validate`")
    outcome = installer.self_test(place.host, place.command)
    if outcome.fault:
        return Finding(subject, BROKEN, outcome.fault, again)
    failed, of, last_error = history.failures.get(place.host, (0, 1, ""))
    if failed > FAILURE_RATE * of:
        detail = f"{failed} of the last {of} prompts failed, last with: {last_error}"
        return Finding(subject, BROKEN, detail, f"read {os.path.join(state_dir(), 'log')}")
    last_seen = history.last_seen.get(place.host, "")
    seen = f"last prompt {last_seen}" if last_seen else "no prompt seen yet"
    late = " and fetches late results" if registration.commands_for(place, hosts.LATE_EVENTS) else ""
    checked = " and checks what the agent wrote" if registration.commands_for(place, hosts.TURN_ENDS) else ""
    return Finding(subject, OK, f"{place.file}{late}{checked}; {seen}; {outcome}")


def _fault(place: ConfigurationFile, commands: list[str], purpose: str) -> str:
    """Return what is wrong with ``commands``, which are registered for an optional event, or an empty string."""
    if commands in ([], [place.command]):
        return ""
    what = f"{len(commands)} times" if len(commands) > 1 else f"as {commands[0]!r}"
    return f"registered for {purpose} {what} in {place.file}"


def _late_results(cwd: str) -> list[Finding]:
    """Report if late results of a model are switched on but no client fetches them, or vice versa."""
    settings = installer.current_settings()
    places = [place for host in hosts.LATE_EVENTS for place in registration.all_places(host, cwd)]
    registered = any(map(_fetches_late_results, places))
    if settings.get("model.late") and settings.get("model.url") and not registered:
        detail = "model.late is on, but no client fetches late results, so that a model's opinions are lost"
        return [Finding("late results", NOTE, detail, f"{REINSTALL[:-1]} --late-results`")]
    if registered and not (settings.get("model.late") and settings.get("model.url")):
        detail = "registered, but no model is asked for them; each use of a tool starts the hook for nothing"
        return [Finding("late results", NOTE, detail, "set late = true under [model] in config.toml, or uninstall")]
    return []


def _fetches_late_results(place: ConfigurationFile) -> bool:
    try:
        return bool(registration.commands_for(place, hosts.LATE_EVENTS))
    except InstallationError:
        return False

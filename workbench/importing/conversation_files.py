"""Find conversation files on this machine, and recognise which client wrote a file."""

from __future__ import annotations

import glob
import os
import sys
from typing import TYPE_CHECKING

from enricher.hosts.servers import home_folder
from workbench.importing import HOSTS, ConversationFile, ReadProblem, lines
from workbench.importing.logs import jsonl_prompts, llm_calls
from workbench.importing.transcripts import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from workbench.importing import Advance, Event

STORED_AT = {
    "claude": ("projects/*/*.jsonl",),
    "codex": ("sessions/**/*.jsonl", "archived_sessions/*.jsonl"),
    "gemini": ("tmp/*/chats/*.jsonl", "tmp/*/chats/*.json"),
    "copilot": ("session-state/*/events.jsonl", "session-state/*.jsonl"),
}
SUFFIXES = (".jsonl", ".json", ".db")
SQLITE = b"SQLite format 3\0"
LOOKED_AT_LINES = 50
"""Number of lines that are read to recognise the client that wrote a file."""
NOT_RECOGNISED = f"no conversation that is known; name its kind: --host {'|'.join(HOSTS)}"


def stored_files(host: str = "") -> list[ConversationFile]:
    """Return every file that this account's clients store, oldest first; with ``host``, only that client's."""
    found: list[ConversationFile] = []
    for name, patterns in STORED_AT.items():
        folder = glob.escape(home_folder(name))
        paths = (path for pattern in patterns for path in glob.iglob(f"{folder}/{pattern}", recursive=True))
        found += [_source(name, path) for path in paths if host in ("", name)]
    logs = os.path.join(_llm_folder(), "logs.db")
    if host in ("", "llm") and os.path.isfile(logs):
        found.append(_source("llm", logs))
    return _in_order(found)


def named(paths: tuple[str, ...], host: str = "") -> tuple[list[ConversationFile], list[ReadProblem]]:
    """Return the conversation files at ``paths`` or in folders there, and a problem for each path without any."""
    found: list[ConversationFile] = []
    problems: list[ReadProblem] = []
    for path in map(os.path.abspath, paths):
        for file in _files(path) if os.path.isdir(path) else (path,):
            try:
                kind = host or recognise(file)
            except OSError as failure:
                problems.append(ReadProblem(file, 0, failure.strerror or str(failure)))
                continue
            if kind:
                found.append(_source(kind, file))
            elif file == path:
                problems.append(ReadProblem(file, 0, NOT_RECOGNISED))
    return _in_order(found), problems


def read(source: ConversationFile, advance: Advance) -> Iterator[Event]:
    """Yield the prompts of a file, the turns that are left out, and the problems."""
    if source.host == "llm":
        return llm_calls(source, advance)
    return jsonl_prompts(source, advance) if source.host == "jsonl" else Transcript(source).events(advance)


def recognise(path: str) -> str:
    """Return the client that wrote a file; empty if its beginning does not show that. Raises OSError."""
    with lines.opened(path) as file:
        if file.read(len(SQLITE)) == SQLITE:
            return "llm"
        file.seek(0)
        if path.endswith(".json"):
            document = lines.decoded(file.read(lines.LARGEST_DOCUMENT))
            return "gemini" if document and isinstance(document.get("messages"), list) else ""
        for number, line in lines.numbered(file):
            record = None if lines.is_too_long(line) else lines.decoded(line)
            if record and (host := _host_of(record)):
                return host
            if number == LOOKED_AT_LINES:
                return ""
    return ""


def _host_of(record: dict[str, Any]) -> str:
    kind = record.get("type")
    if isinstance(kind, str) and "." in kind and isinstance(record.get("data"), dict):
        return "copilot"
    if isinstance(kind, str) and isinstance(record.get("payload"), dict):
        return "codex"
    if "projectHash" in record or "$set" in record or (kind in ("user", "gemini") and "content" in record):
        return "gemini"
    if isinstance(kind, str) and ("sessionId" in record or "uuid" in record):
        return "claude"
    return "jsonl" if isinstance(record.get("prompt"), str) else ""


def _files(folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(where, name) for name in sorted(names) if name.endswith(SUFFIXES))


def _source(host: str, path: str) -> ConversationFile:
    try:
        return ConversationFile(host, path, os.stat(path).st_size)
    except OSError:
        return ConversationFile(host, path, 0)


def _in_order(found: list[ConversationFile]) -> list[ConversationFile]:
    """Return the files without duplicates, oldest first, so that the original of a copied session is read first."""
    unique = {source.path: source for source in found}
    return sorted(unique.values(), key=lambda source: (_changed(source.path), source.path))


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _llm_folder() -> str:
    """Return the folder with ``llm``'s log: ``$LLM_USER_PATH``, or the application folder that click would choose."""
    home = os.path.expanduser("~")
    default = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    if sys.platform == "darwin":
        default = os.path.join(home, "Library", "Application Support")
    return os.environ.get("LLM_USER_PATH") or os.path.join(default, "io.datasette.llm")

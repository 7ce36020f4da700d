"""Distinguish what a user typed from what a program wrote, by the text and by other fields of each client's records.

A tag counts as added by the client if the hook's own reader drops its content, so that the import and the hook agree on
which words are the user's.

There is one class per client, for the format of its records: ``open`` and ``learn`` collect session data, ``unfold``
returns the messages in a record, and the other methods classify turns in the user's role that no user typed.
"""

from __future__ import annotations

import functools
import json
import os
import re
from typing import TYPE_CHECKING, Any

from enricher.prompt.event import PromptEvent, skip_reason
from enricher.sources.transcripts.codex import METADATA
from enricher.sources.transcripts.wording import users_words
from workbench.importing.lines import opened, text_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    Record = dict[str, Any]

COMPACTION, COMMAND, OUTPUT, SHELL = "compaction summary", "slash command", "command output", "shell command"
TOOL, META, SUBAGENT, HOOK, WARM_UP = "tool result", "meta message", "subagent", "hook context", "warm-up"
INTERRUPTION, NOTICE, REMINDER, MACHINE = "interruption", "notification", "system reminder", "machine prompt"
HOSTS_CONTEXT, PROGRAM, EMPTY = "host's context", "prompt of a program", "empty"

# The first match counts, so a longer beginning comes before a shorter one that it starts with.
STARTS = (
    ("[Request interrupted", INTERRUPTION),
    ("This session is being continued from a previous", COMPACTION),
    ("Caveat: The messages below", META),
    ("<command-", COMMAND),
    ("<local-command-caveat", META),
    ("<local-command-", OUTPUT),
    ("<bash-stdout", OUTPUT),
    ("<bash-stderr", OUTPUT),
    ("<bash-input", SHELL),
    ("<user-memory-input", "memory note"),
    ("<task-notification", NOTICE),
    ("<agent-notification", NOTICE),
    ("<teammate-message", NOTICE),
    ("<hook_context", HOOK),
    ("<user-prompt-submit-hook", HOOK),
    ("Stop hook feedback:", HOOK),
    ("UserPromptSubmit hook", HOOK),
    ("<environment_context", HOSTS_CONTEXT),
    ("<user_instructions", HOSTS_CONTEXT),
    ("<session_context", HOSTS_CONTEXT),
    ("<permissions", HOSTS_CONTEXT),
    ("<INSTRUCTIONS", HOSTS_CONTEXT),
    ("<turn_aborted", INTERRUPTION),
    ("# AGENTS.md instructions", HOSTS_CONTEXT),
    ("Implement the following plan:", PROGRAM),
    ("Please analyze this codebase and create a CLAUDE.md", COMMAND),
)
WARM_UPS = ("warmup", "warm-up")
ROLE = "You are "
LONGEST_OF_A_PERSON = 500
"""Length in characters; longer prompts that begin with "You are …" are filled-in templates of a program."""
SKIPS = {"slash_command": COMMAND, "machine_prompt": NOTICE, "empty": EMPTY}
# Bounded, so that the time grows no faster than the length of a hostile text.
TAG = re.compile(r"<([A-Za-z][A-Za-z0-9_:-]{0,60})(?:\s[^<>]{0,200})?>")
LONGEST_NAME = 4096
LONGEST_SMALL_FILE = 64 * 1024


def kind_of(text: str) -> str:
    """Return the kind of a text in the user's role that is not a prompt to enrich, such as «slash command».

    Return an empty string for a prompt.
    A text with the bypass prefix counts as a prompt here, because that prefix depends on the settings.
    """
    bare = text.strip()
    # Before the blocks are removed: a text that is a single block would then be empty, whatever the block was.
    for start, kind in STARTS:
        if bare.startswith(start):
            return kind
    if bare.casefold() in WARM_UPS:
        return WARM_UP
    if bare.startswith(ROLE) and len(bare) > LONGEST_OF_A_PERSON:
        return PROGRAM
    words = typed(bare)
    if not words.strip():
        return REMINDER if bare else EMPTY
    reason = skip_reason(PromptEvent(words), bypass_prefix="")
    return SKIPS.get(reason, reason.replace("_", " "))


def typed(text: str) -> str:
    """Return the text without the blocks that clients add to a prompt; unchanged if there are none."""
    if "<" not in text:
        return text
    kept, at = [], 0
    for tag in TAG.finditer(text):
        close = text.find(f"</{tag[1]}>", tag.end()) if tag.start() >= at and _is_hosts(tag[1]) else -1
        if close >= 0:  # clients close their tags; a person may write about a tag without closing it
            kept.append(text[at : tag.start()])
            at = close + len(tag[1]) + len("</>")
    return "".join([*kept, text[at:]]).strip() if kept else text


@functools.lru_cache(maxsize=1024)
def _is_hosts(name: str) -> bool:
    return not users_words(f"<{name}>words</{name}>")


class SessionInfo:
    """The id and the folder of the session that a transcript file contains."""

    __slots__ = ("cwd", "id", "is_subagents")

    def __init__(self, path: str) -> None:
        self.id = os.path.splitext(os.path.basename(path))[0]
        self.cwd = ""
        self.is_subagents = False

    def learn(self, *, identity: str = "", cwd: str = "") -> None:
        """Store a session id and a folder found in a record; an empty argument leaves the earlier value as it is."""
        self.id = identity[:LONGEST_NAME] or self.id
        self.cwd = cwd[:LONGEST_NAME] or self.cwd


class Form:
    """Base class for the record formats of clients; the methods are overridden where a client has special records."""

    marks: tuple[bytes, ...] = ()
    """Bytes that mark lines worth decoding, in addition to those that the hook's reader looks for."""

    def open(self, path: str, session: SessionInfo) -> None:
        """Update ``session`` from files near the transcript at ``path``; called before the transcript is read."""

    def learn(self, record: Record, session: SessionInfo) -> None:
        """Update ``session`` with the session id and the folder that a record contains, if any."""

    def unfold(self, record: Record) -> Iterable[Record]:
        """Return the messages in a record, oldest first."""
        return (record,)

    def program_kind(self, record: Record) -> str:
        """Return the kind of a record whose fields show that no user typed it; empty if they do not show that."""
        del record
        return ""

    def kind_without_words(self, record: Record) -> str:
        """Return the kind of a record without any words of the user; empty if the record need not be reported."""
        del record
        return ""


class Claude(Form):
    """The record format of Claude Code, in which every record contains the id and the folder of its session."""

    marks = (b'"hook_additional_context"',)
    MACHINE_SOURCES = ("system", "loop_wakeup", "schedule_wakeup", "poll_event", "hook")

    def learn(self, record: Record, session: SessionInfo) -> None:
        session.learn(identity=text_at(record, "sessionId"), cwd=text_at(record, "cwd"))

    def program_kind(self, record: Record) -> str:
        if text_at(record, "attachment", "type") == "hook_additional_context":
            return HOOK
        if record.get("type") != "user":
            return ""
        if record.get("isSidechain"):
            return SUBAGENT
        if record.get("isCompactSummary"):
            return COMPACTION
        if record.get("isMeta"):
            return META
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks = content if isinstance(content, list) else []
        if any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks):
            return TOOL
        return MACHINE if record.get("promptSource") in self.MACHINE_SOURCES else ""


class Codex(Form):
    """The record format of Codex CLI.

    The first record describes the session; a record before each turn contains the folder of that turn.
    """

    marks = (b'"session_meta"', b'"turn_context"')
    RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")

    def learn(self, record: Record, session: SessionInfo) -> None:
        kind = record.get("type")
        if kind == "session_meta":
            session.learn(identity=text_at(record, "payload", "id"), cwd=text_at(record, "payload", "cwd"))
            payload = record.get("payload")
            source = payload.get("source") if isinstance(payload, dict) else None
            session.is_subagents = isinstance(source, dict) or str(source).startswith("subagent")
        elif kind == "turn_context":
            session.learn(cwd=text_at(record, "payload", "cwd"))

    def program_kind(self, record: Record) -> str:
        if record.get("type") == "compacted":
            return COMPACTION
        payload = record.get("payload")
        if record.get("type") != "response_item" or not isinstance(payload, dict):
            return ""
        if payload.get("type") in self.RESULTS:
            return TOOL
        metadata = payload.get(METADATA)
        kinds = metadata.get("content_item_kinds") if isinstance(metadata, dict) else None
        is_hooks = isinstance(kinds, list) and any(str(kind).startswith("hooks.") for kind in kinds)
        return HOOK if payload.get("type") == "message" and is_hooks else ""

    def kind_without_words(self, record: Record) -> str:
        is_users = text_at(record, "payload", "type") == "message" and text_at(record, "payload", "role") == "user"
        return HOSTS_CONTEXT if is_users else ""


class Gemini(Form):
    """The record format of Gemini CLI: a header, messages, and patches that contain messages.

    The session's folder is not in the records, but in a file above the transcript's folder.
    """

    marks = (b'"sessionId"', b'"$set"')

    def open(self, path: str, session: SessionInfo) -> None:
        folder = os.path.dirname(os.path.dirname(path))
        root = _small_file(os.path.join(folder, ".project_root")).strip()
        session.learn(cwd=root if os.path.isabs(root) else self._listed(folder))

    def _listed(self, folder: str) -> str:
        """Return the project's path that ``projects.json`` lists for the name of ``folder``, or an empty string.

        The file ``projects.json`` lies two levels above ``folder``, beside the folder ``tmp``.
        """
        try:
            known = json.loads(_small_file(os.path.join(os.path.dirname(os.path.dirname(folder)), "projects.json")))
            projects = known["projects"].items()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return ""
        return next((path for path, name in projects if name == os.path.basename(folder)), "")

    def learn(self, record: Record, session: SessionInfo) -> None:
        session.learn(identity=text_at(record, "sessionId"))
        if record.get("kind") == "subagent":
            session.is_subagents = True

    def unfold(self, record: Record) -> Iterable[Record]:
        patch = record.get("$set")
        holder = patch if isinstance(patch, dict) else record
        messages = holder.get("messages")
        return [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else (record,)


class Copilot(Form):
    """The record format of Copilot CLI; its start record and a file beside the transcript name the session's folder."""

    marks = (b'"session.start"',)

    def open(self, path: str, session: SessionInfo) -> None:
        folder = os.path.dirname(path)
        if os.path.basename(path) == "events.jsonl":
            session.id = os.path.basename(folder)
        lines = _small_file(os.path.join(folder, "workspace.yaml")).splitlines()
        named = (line.partition(":")[2].strip().strip("'\"") for line in lines if line.startswith("cwd:"))
        session.learn(cwd=next(named, ""))

    def learn(self, record: Record, session: SessionInfo) -> None:
        if record.get("type") in ("session.start", "session.resume"):
            cwd = text_at(record, "data", "context", "cwd")
            session.learn(identity=text_at(record, "data", "sessionId"), cwd=cwd)

    def program_kind(self, record: Record) -> str:
        kind, data = record.get("type"), record.get("data")
        if kind == "tool.execution_complete":
            return TOOL
        if kind == "session.compaction_complete":
            return COMPACTION
        if kind != "user.message" or not isinstance(data, dict):
            return ""
        if record.get("agentId"):
            return SUBAGENT
        return "" if data.get("source", "user") in ("user", "", None) else MACHINE


def _small_file(path: str) -> str:
    try:
        with opened(path) as file:
            return file.read(LONGEST_SMALL_FILE).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


FORMS: dict[str, Form] = {"claude": Claude(), "codex": Codex(), "gemini": Gemini(), "copilot": Copilot()}

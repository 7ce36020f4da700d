"""Distinguish what the user typed from what a program wrote into the user's side of a conversation.

No I/O. A tag counts as the host's if the hook's own reader drops its content, so that both agree on the user's
words.
"""

from __future__ import annotations

import functools
import re

from enricher.prompt.event import PromptEvent, skip_reason
from enricher.sources.transcripts.wording import persons_words

COMPACTION, COMMAND, OUTPUT, SHELL = "compaction summary", "slash command", "command output", "shell command"
TOOL, META, SUBAGENT, HOOK, WARM_UP = "tool result", "meta message", "subagent", "hook context", "warm-up"
INTERRUPTION, NOTICE, REMINDER, MACHINE = "interruption", "notification", "system reminder", "machine prompt"
HOSTS_CONTEXT, PROGRAM, EMPTY = "host's context", "prompt of a program", "empty"

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
"""Characters; longer prompts that begin with "You are …" are filled-in templates of a program."""
SKIPS = {"slash_command": COMMAND, "machine_prompt": NOTICE, "empty": EMPTY}
TAG = re.compile(r"<([A-Za-z][A-Za-z0-9_:-]{0,60})(?:\s[^<>]{0,200})?>")


def kind_of(text: str) -> str:
    """Return the kind of a user-side text that is not a prompt to enrich; empty if it is one.

    The bypass prefix, which a user may configure, is ignored.
    """
    bare = text.strip()
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
    """Return the text without the blocks that hosts add to a prompt; unchanged if there are none."""
    if "<" not in text:
        return text
    kept, at = [], 0
    for tag in TAG.finditer(text):
        close = text.find(f"</{tag[1]}>", tag.end()) if tag.start() >= at and _is_hosts(tag[1]) else -1
        if close >= 0:  # hosts close their tags; a person may write about a tag without closing it
            kept.append(text[at : tag.start()])
            at = close + len(tag[1]) + 3
    return "".join([*kept, text[at:]]).strip() if kept else text


@functools.lru_cache(maxsize=1024)
def _is_hosts(name: str) -> bool:
    return not persons_words(f"<{name}>words</{name}>")

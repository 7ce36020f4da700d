"""Represent and record the parts of the earlier conversation that help to understand a prompt."""

from __future__ import annotations

from enricher.prompt import MOST_RECORDED, POINTING_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NEWS = "news:"
"""Prefix of an entry in a session's file, which records that the host dropped or resumed the earlier conversation."""
RUNS, REFUSED, ALLOWED = "runs:", "refused", "allowed"
"""Prefix and endings of an entry in a session's file, which records whether the user wants anything to be run."""
LONGEST = 2400
"""Maximum characters per text of a recorded conversation; ``enricher.sources.transcripts`` keeps far fewer."""
MAKE_A_PAST = ("prompts", "files", "errors", "todos", "option", "answer_files", "answer_names")
"""Fields of a Conversation; if all of them are empty, nothing is known about what happened before the prompt."""


class Conversation:
    """The end of a session's transcript, redacted and shortened.

    ``prompts`` are the user's last prompts, oldest first. ``files`` are files that the agent's tools used, newest
    first, and ``changed`` are those changed since the last prompt. ``earlier_files`` were used longer ago; only files
    that a channel has asked about are in it (``Request.were_opened``). ``has_edits`` is true if the tools changed any
    file. ``commands`` are shell commands of the agent, newest first; ``errors`` are errors of its tools, newest first.
    ``todos`` are the (status, text) of the agent's tasks. ``resumed`` identifies the event by which the host dropped
    all this from its context; it is empty if the host dropped nothing. ``problem`` describes what could not be read;
    ``transcript`` is the file that was read. If the prompt mentions tests, ``edits`` are the (file, name) of the last
    turn in which the agent edited, newest first; the name, if an edit shows one, is that of a function or class.

    ``answer`` is the agent's last answer and is never recorded, except for the parts of it to which the prompt refers.
    If the prompt is an option of that answer, word for word, ``is_offered`` is true.
    If the prompt chooses options, they are ``option``, the text of all chosen options, and ``chosen``, the (name, text)
    of each. If the prompt means "the other one", they are ``answer_files`` and ``answer_names``, the files and
    identifiers in the answer, and ``open_point``, the answer's question about what is left to do.
    """

    __slots__ = (
        "answer", "answer_files", "answer_names", "changed", "chosen", "commands", "earlier_files", "edits", "errors",
        "files", "has_edits", "is_offered", "open_point", "option", "problem", "prompts", "resumed", "todos",
        "transcript",
    )  # fmt: skip

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.answer = ""
        self.answer_files: list[str] = []
        self.answer_names: list[str] = []
        self.open_point = ""
        self.option = ""
        self.chosen: list[tuple[str, str]] = []
        self.files: list[str] = []
        self.earlier_files: list[str] = []
        self.changed: list[str] = []
        self.has_edits = False
        self.is_offered = False
        self.edits: list[tuple[str, str]] = []
        self.commands: list[str] = []
        self.errors: list[str] = []
        self.todos: list[tuple[str, str]] = []
        self.resumed = ""
        self.problem = ""
        self.transcript = ""

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in MAKE_A_PAST)

    @property
    def has_forgotten(self) -> bool:
        """Return whether the transcript shows that the host dropped the earlier conversation."""
        return bool(self.resumed) and not self.resumed.startswith(NEWS)

    def may_be_meant_by(self, prompt: str) -> bool:
        """Return whether a prompt may refer to this conversation; a long prompt is assumed to name its subject."""
        return bool(self) and len(prompt.split(None, POINTING_WORDS)) <= POINTING_WORDS

    def to_json(self) -> dict[str, Any]:
        """Return the conversation as it is recorded, without the answer; an empty dictionary if nothing is known."""
        left_out = ("answer", "transcript")
        return {name: value for name in self.__slots__ if name not in left_out and (value := getattr(self, name))}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Conversation:
        """Return a recorded conversation; values of the wrong type are ignored."""
        conversation = Conversation()
        for name in (
            "prompts", "files", "earlier_files", "changed", "commands", "errors", "answer_files", "answer_names",
        ):  # fmt: skip
            items = value.get(name)
            texts = items[:MOST_RECORDED] if isinstance(items, list) else []
            setattr(conversation, name, [text[:LONGEST] for text in texts if isinstance(text, str)])
        for name in ("option", "open_point", "resumed", "problem"):
            text = value.get(name)
            setattr(conversation, name, text[:LONGEST] if isinstance(text, str) else "")
        conversation.has_edits = value.get("has_edits") is True
        conversation.is_offered = value.get("is_offered") is True
        for name in ("todos", "chosen", "edits"):
            items = value.get(name)
            pairs = [pair for pair in items[:MOST_RECORDED] if _is_pair(pair)] if isinstance(items, list) else []
            setattr(conversation, name, [(first, text[:LONGEST]) for first, text in pairs])
        return conversation


def seen_mark(news: str) -> str:
    """Return the entry that records in a session's file that the agent was reminded of the dropped conversation.

    ``news`` identifies the event by which the host dropped the conversation.
    """
    return f"session {news}"


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(one, str) for one in value)

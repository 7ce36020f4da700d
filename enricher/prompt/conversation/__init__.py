"""What was said and done before this prompt, as far as it helps to understand it: an input of the result."""

from __future__ import annotations

from enricher.prompt import MOST_RECORDED, POINTING_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TAKEN_UP = "taken up"
"""In traces of earlier releases: the person said "continue"; nothing was dropped."""
NEWS = "news:"
"""What a session file says (``enricher.hook.process``) once the host has dropped or taken up what was said before."""
LONGEST = 2400
"""Characters of one text of a recorded conversation; ``enricher.sources.transcripts`` keeps far fewer."""
MAKE_A_PAST = ("prompts", "files", "errors", "todos", "option", "answer_files", "answer_names")
"""Without any of these, nothing is known about what happened before the prompt."""


class Conversation:
    """The end of a session's transcript, redacted and short.

    ``prompts`` are the person's last ones, oldest first; ``files`` what the agent's tools
    touched, newest first, and ``changed`` those they changed since the last prompt; ``has_edits``
    says that they changed any at all;
    ``commands`` what they ran in a shell, newest first;
    ``errors`` what they failed with, newest first; ``todos`` (status, text); ``resumed``
    names the mark since which nothing of this is in the host's context any more, empty
    where all of it is; ``problem`` what could not be read.

    ``answer`` is the agent's last answer and never recorded. ``read_answer`` takes from it
    what the prompt refers to, which is recorded: ``option``, the one that the prompt
    chooses, and ``chosen`` (what it is, what it says); where the prompt means "the other
    one", ``answer_files`` and ``answer_names``, which the answer mentions, and
    ``open_point``, its question about what is left to do.
    """

    __slots__ = (
        "answer",
        "answer_files",
        "answer_names",
        "changed",
        "chosen",
        "commands",
        "errors",
        "files",
        "has_edits",
        "open_point",
        "option",
        "problem",
        "prompts",
        "resumed",
        "todos",
    )

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.answer = ""
        self.answer_files: list[str] = []
        self.answer_names: list[str] = []
        self.open_point = ""
        self.option = ""
        self.chosen: list[tuple[str, str]] = []
        self.files: list[str] = []
        self.changed: list[str] = []
        self.has_edits = False
        self.commands: list[str] = []
        self.errors: list[str] = []
        self.todos: list[tuple[str, str]] = []
        self.resumed = ""
        self.problem = ""

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in MAKE_A_PAST)

    @property
    def has_forgotten(self) -> bool:
        """Whether the transcript says that the host dropped what was said before."""
        return bool(self.resumed) and not self.resumed.startswith((NEWS, TAKEN_UP))

    def read_answer(self, prompt: str, said: list[tuple[int, str]] | None = None) -> None:
        """Take from the agent's answer what this prompt refers to; most prompts refer to nothing in it.

        ``said`` are its answers as they stand in the transcript, (prompts ago, text), the newest first.
        """
        if not (self.answer or said) or len(prompt.split(None, POINTING_WORDS)) > POINTING_WORDS:
            return
        from enricher.prompt.conversation.followup import read_answer

        read_answer(self, prompt, said or [(0, self.answer)])

    def basis(self, prompt: str) -> str:
        """Return the earlier words that say what a prompt asks for which does not say it; else empty.

        The verdict counts them as well: "do the same for the other one",
        "yes, option 2", and after a compaction also "continue".
        """
        if not self or len(prompt.split(None, POINTING_WORDS)) > POINTING_WORDS:
            return ""
        from enricher.prompt.conversation.followup import basis

        return basis(self, prompt)

    def subject(self, prompt: str) -> str:
        """Return the words to search with beside those of a prompt that names nothing; else empty."""
        if not self or len(prompt.split(None, POINTING_WORDS)) > POINTING_WORDS:
            return ""
        from enricher.prompt.conversation.followup import subject

        return subject(self, prompt)

    def to_json(self) -> dict[str, Any]:
        """Return the recorded form, without the answer; empty where nothing is known."""
        return {name: value for name in self.__slots__ if name != "answer" and (value := getattr(self, name))}

    @staticmethod
    def from_json(value: Mapping[str, Any], prompt: str) -> Conversation:
        """Return the conversation recorded with ``prompt``; what is not of its form is left out.

        Traces of earlier versions hold the whole answer; it is read as the hook does now.
        """
        conversation = Conversation()
        for name in ("prompts", "files", "changed", "commands", "errors", "answer_files", "answer_names"):
            items = value.get(name)
            texts = items[:MOST_RECORDED] if isinstance(items, list) else []
            setattr(conversation, name, [text[:LONGEST] for text in texts if isinstance(text, str)])
        for name in ("answer", "option", "open_point", "resumed", "problem"):
            text = value.get(name)
            setattr(conversation, name, text[:LONGEST] if isinstance(text, str) else "")
        conversation.has_edits = value.get("has_edits") is True
        for name in ("todos", "chosen"):
            items = value.get(name)
            pairs = [pair for pair in items[:MOST_RECORDED] if _is_pair(pair)] if isinstance(items, list) else []
            setattr(conversation, name, [(first, text[:LONGEST]) for first, text in pairs])
        conversation.read_answer(prompt)
        return conversation


def seen_mark(news: str) -> str:
    """Return the reference under which a session remembers that it was told of this news."""
    return f"session {news}"


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(one, str) for one in value)

"""What was said and done before this prompt, as far as it helps to understand it: an input of the result."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Conversation:
    """The end of a session's transcript, redacted and short.

    ``prompts`` are the person's last ones, oldest first; ``answer`` the end of the
    assistant's last words; ``files`` what its tools touched, newest first; ``errors``
    what they failed with; ``todos`` (status, text); ``resumed`` whether the host has
    dropped what was said before.
    """

    __slots__ = ("answer", "errors", "files", "prompts", "resumed", "todos")

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.answer = ""
        self.files: list[str] = []
        self.errors: list[str] = []
        self.todos: list[tuple[str, str]] = []
        self.resumed = False

    def __bool__(self) -> bool:
        return bool(self.prompts or self.answer or self.files or self.errors or self.todos)

    def to_json(self) -> dict[str, Any]:
        """Return the recorded form; empty where nothing is known."""
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name)}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Conversation:
        conversation = Conversation()
        for name in Conversation.__slots__:
            if name in value:
                setattr(conversation, name, value[name])
        conversation.todos = [(status, text) for status, text in conversation.todos]
        return conversation

"""What is known about one name of a prompt: the place to start from, and the reason shown. On the hook's path."""

from __future__ import annotations

from enricher.prompt.wording.names import FILE
from enricher.prompt.wording.words import quoted

DEFINITION, USERS, TESTED = "definition", "users", "tested"
ONLY, FEW, WIDELY_USED = 0.9, 0.75, 0.4


class Fact:
    """A fact about one name: ``path`` and ``line`` to start from, the ``subject`` there, and the reason shown.

    ``others`` are further files that the name may refer to; ``fault`` is a reason not to show the fact.
    """

    __slots__ = ("fault", "kind", "line", "others", "path", "reason", "score", "subject")

    def __init__(
        self, kind: str, path: str, line: int, subject: str, reason: str, score: float, *, fault: str = ""
    ) -> None:
        self.fault = fault
        self.others: list[str] = []
        self.kind = kind
        self.path = path
        self.line = line
        self.subject = subject
        self.reason = reason
        self.score = score

    def is_only_file(self) -> bool:
        """Return whether this fact is only a path, without a line or alternatives."""
        return self.kind == FILE and not self.line and not self.others


def format_place(path: str, line: int) -> str:
    """Return a place as text: the quoted path and the line."""
    return f"{quoted(path)}:{line}"


def only_file(path: str, *, line: int = 0, score: float = FEW) -> Fact | None:
    """Return the only file with that name as a fact; None for a file in the top folder, which is easy to find."""
    return Fact(FILE, path, line, "", "the only file of that name", score) if "/" in path else None

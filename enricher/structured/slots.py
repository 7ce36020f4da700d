"""Texts with slots: prompts to a model that are rendered at compile time, except for what depends on the user's prompt.

The hook fills the slots without a template engine, whose import takes longer than the hook.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

OPEN, CLOSE = "\ue000", "\ue001"
"""The characters around a slot's name; they are for private use, so no text of ours contains them."""
FENCE = "fence:"
"""The prefix in the name of a slot that stands for the line around the value of another slot."""


class Slot(str):
    """The mark of a slot in a text, as a type of its own: a user's text that looks like a mark is not one."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, name: str) -> Self:
        """Return the mark for a name."""
        made = super().__new__(cls, f"{OPEN}{name}{CLOSE}")
        made.name = name
        return made


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return the text with the values in their slots; a value may contain anything, even the marks of slots.

    A slot without a value stays empty. The line around a value is one that the value does not contain.
    """
    first, *parts = text.split(OPEN)
    whole = [first]
    for part in parts:
        name, _, rest = part.partition(CLOSE)
        of = name.removeprefix(FENCE)
        whole += [values.get(name, "") if of == name else fence(values.get(of, "")), rest]
    return "".join(whole)


def fence(text: str) -> str:
    """Return a line that the text cannot contain: a text does not contain its own hash."""
    from storage.base.fast_stdlib import keyed_hash

    return f"---{keyed_hash(b'fence', text.encode(errors='replace'))[:8]}---"

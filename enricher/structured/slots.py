"""Fill in the slots (placeholders) of prompts to a language model.

The prompts are rendered from their templates when the rules are compiled. Only what depends on the user's prompt is
left open, as slots. The hook fills these without a template engine, because importing one would take longer than
everything else that the hook does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

OPEN, CLOSE = "\ue000", "\ue001"
"""The characters around the name of a slot in a text. They are private-use characters, which no template contains."""
FENCE = "fence:"
"""Prefix of the name of a slot for a delimiter line, which is put before and after the value of another slot."""


class Slot(str):
    """The mark of a slot in a text.

    It has a type of its own, so that it can be distinguished from a user's text that only looks like a mark.
    """

    __slots__ = ("name",)
    name: str

    def __new__(cls, name: str) -> Self:
        """Return the mark of the slot with this name."""
        made = super().__new__(cls, f"{OPEN}{name}{CLOSE}")
        made.name = name
        return made


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return the text with its slots filled from ``values``; a value may contain anything, even the marks of slots.

    A slot without a value becomes empty. A slot for the delimiter of a value becomes a line that the value does not
    contain.
    """
    first, *parts = text.split(OPEN)
    whole = [first]
    for part in parts:
        name, _, rest = part.partition(CLOSE)
        of = name.removeprefix(FENCE)
        whole += [values.get(name, "") if of == name else fence(values.get(of, "")), rest]
    return "".join(whole)


def fence(text: str) -> str:
    """Return a delimiter line that the text cannot contain, because it is made from the hash of the text."""
    from storage.base.fast_stdlib import keyed_hash

    return f"---{keyed_hash(b'fence', text.encode(errors='replace'))[:8]}---"

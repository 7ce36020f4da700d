"""Determine whether a line in the body of a type declares a field. Runs in the hook, for names such as ``Cart.total``.

The fields of most languages are declared by the words before them and the sign behind them:
``total: number;``, ``private int total;``, ``val total: Int,``, ``Total int``, ``pub total: u32``.
"""

from __future__ import annotations

from enricher.sources.code.lines import defines

_MACROS = frozenset(
    "field belongs_to has_many has_one many_to_many embeds_one embeds_many"  # Ecto, in part also Rails
    " attr_accessor attr_reader attr_writer attribute".split()
)
"""Functions of Elixir and Ruby that declare the fields named after them, as in ``field :total, :decimal``."""
_OF_EXPRESSIONS = "(=\"'/#"
"""A name behind one of these signs is a parameter, part of an expression, a text, or in a comment."""
_BEHIND = (":", "?:", "!:", "=", ";", "{")
_PROPERTIES = ("val", "var")


def declares_in_macro(line: str, name: str) -> bool:
    """Return whether a function declares ``name``, wherever in a class it stands: ``field :total, :decimal``."""
    words = line.replace("(", " ").replace(",", " ").split()
    return bool(words) and words[0] in _MACROS and f":{name}" in words[1:]


def declares_field(path: str, line: str, name: str, *, is_of_enum: bool) -> bool:
    """Return whether ``line``, which has ``name`` as a whole word, declares a field of that name (a value, in an enum).

    The line is known to stand in the body of a type and not in one of its methods.
    """
    bare = line.strip()
    head, _, behind = bare.partition(name)
    behind = behind.lstrip()
    if path.endswith(".py"):
        return not head and defines(line, name)
    if declares_in_macro(line, name):
        return True
    if is_of_enum and head in ("", "case "):
        return not behind or behind[0] in ",;=({"
    if not head and path.endswith(".go"):
        return behind[:1].isalpha() or behind.startswith(("*", "["))
    words = head.replace("<", " ").replace(">", " ").split()
    if any(sign in head for sign in _OF_EXPRESSIONS):
        return False
    # A comma or a bracket may follow a property that begins with "val" or "var": "val total: Int,".
    ends = (*_BEHIND, ",", ")") if words and words[-1] in _PROPERTIES else _BEHIND
    is_declared = behind.startswith(ends) and not behind.startswith(("==", "=>", "::"))
    return is_declared or (bool(words) and not behind)


def is_property_in_head(line: str, name: str) -> bool:
    """Return whether the first line of a class declares ``name`` among its parameters: ``class Cart(val total: Int)``.

    This is how Kotlin and Scala declare properties.
    """
    given = line.partition("(")[2].replace(":", " : ").split(",")
    return any(word in _PROPERTIES and words[at + 1 : at + 2] == [name]
        for words in map(str.split, given) for at, word in enumerate(words))  # fmt: skip

"""Find the functions and classes that are defined in the code of an agent's edit; runs in the hook."""

from __future__ import annotations

MOST_NAMES = 3
"""Maximum names of one edit: code with more is a whole file."""
_DEFINING = frozenset("def function func fn fun class struct interface trait sub".split())
_CONTROL = frozenset("if for while switch catch return else match until unless elif with synchronized".split())


def names_in(code: str) -> list[str]:
    """Return the functions and classes defined in a piece of code; empty if there are more than MOST_NAMES."""
    names = dict.fromkeys(_defined(line.strip()) for line in code.split("\n"))
    found = [name for name in names if name.isidentifier()]
    return found if len(found) <= MOST_NAMES else []


def _defined(line: str) -> str:
    """Return the function, method or class that a line defines; if it defines none, the result is not an identifier."""
    if line.startswith("func ("):  # a method in Go: "func (c *Cart) Total() int {"
        line = f"func {line.partition(') ')[2]}"
    words = line.partition("(")[0].replace("{", " ").replace(":", " ").replace("<", " ").split()
    if named := [name for at, name in enumerate(words) if at and words[at - 1] in _DEFINING]:
        return named[0].rpartition(".")[2]
    # In Java or TypeScript: "public int total(Cart cart) {", "const total = (cart) => {".
    if "=" in words:
        return words[words.index("=") - 1] if "=>" in line else ""
    is_method = line.endswith("{") and "(" in line and "=>" not in line and _CONTROL.isdisjoint(words)
    return words[-1] if is_method and words else ""

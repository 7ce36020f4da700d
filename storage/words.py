"""How text becomes the words that memories are found by: splits that SQLite's tokenizer does not make.

On the hook's path, and at indexing time alike.
"""

from __future__ import annotations

LONGEST_EXTRA = 4_000


def split_identifier(name: str) -> list[str]:
    """Return the parts of ``camelCase`` and ``HTTPServer2``; nothing where there is only one."""
    parts: list[str] = []
    start = 0
    for at in range(1, len(name)):
        before, char = name[at - 1], name[at]
        after = name[at + 1 : at + 2]
        if (char.isupper() and (not before.isupper() or after.islower())) or char.isdigit() != before.isdigit():
            parts.append(name[start:at])
            start = at
    return [*parts, name[start:]] if parts else []


def extra_words(text: str) -> str:
    """Return what else a text should be found by: the parts of the identifiers in it, each once."""
    found: dict[str, None] = {}
    for word in "".join(char if char.isalnum() else " " for char in text).split():
        if word.isalpha() and (word.islower() or word[1:].islower() or word.isupper()):
            continue
        for part in split_identifier(word):
            if len(part) > 1:
                found[part.lower()] = None
    return " ".join(found)[:LONGEST_EXTRA]

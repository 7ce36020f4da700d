"""Find the type around a definition, and the body of a class, judged by the indentation of the lines.

Runs in the hook.
"""

from __future__ import annotations

from enricher.sources.code.fields import declares_field, declares_in_macro, is_property_in_head
from enricher.sources.code.lines import indentation
from enricher.sources.code.lookup import MOST_ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup, SourceLine


def enclosing(lookup: Lookup, place: SourceLine) -> str:
    """Return the first line of the type that contains a definition, judged by indentation; empty if there is none.

    ``place`` has been verified.
    """
    lines = lookup.text(place.path).split("\n")
    rows = lookup.db.execute(
        "select line from symbols join files on files.id = symbols.file where files.path = ? and line < ?"
        " order by line desc limit ?",
        (place.path, place.line, MOST_ROWS),
    )
    depth = indentation(place.text)
    return next((lines[at - 1] for (at,) in rows if at <= len(lines) and indentation(lines[at - 1]) < depth), "")


def end_of_class(lookup: Lookup, owner: SourceLine) -> int:
    """Return the last line of a class in Python, judged by indentation; 0 for any other definition."""
    lines = lookup.text(owner.path).split("\n")
    first = lines[owner.line - 1] if owner.line <= len(lines) else ""
    if not owner.path.endswith(".py") or not first.lstrip().startswith("class "):
        return 0
    end, is_head = owner.line, first.count("(") > first.count(")")
    while end < len(lines) and (is_head or not lines[end].strip() or indentation(lines[end]) > indentation(first)):
        is_head = is_head and not lines[end].startswith(")", indentation(first))
        end += 1
    return end


def attribute_lines(lookup: Lookup, owner: SourceLine, name: str) -> list[int]:
    """Return the lines that assign or declare ``name`` in the body of the type ``owner``, judged by indentation.

    ``owner`` has been verified. Lines in the type's methods do not count.
    """
    lines = lookup.text(owner.path).split("\n")
    name = f"${name}" if owner.path.endswith(".php") else name
    end = end_of_class(lookup, owner) or _end_of_body(lines, owner.line)
    body = next((indentation(line) for line in lines[owner.line : end] if line.strip(" \t{")), 0)
    found = [
        number
        for number, text in lookup.occurrences(owner.path, name)
        if owner.line < number <= end
        and (declares_in_macro(text, name) or indentation(text) == body)
        and declares_field(owner.path, text, name, is_of_enum="enum" in owner.text.split())
    ]
    return found or [owner.line] * is_property_in_head(owner.text, name)


def _end_of_body(lines: list[str], first: int) -> int:
    """Return the number of the last line of the body that begins after line ``first``, judged by indentation.

    An unindented line that begins with "{" or ")" belongs to the head of the body.
    """
    depth, end = indentation(lines[first - 1]), first
    while end < len(lines) and (
        not lines[end].strip() or indentation(lines[end]) > depth or lines[end].lstrip().startswith(("{", ")"))
    ):
        end += 1
    return end

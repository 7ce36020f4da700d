"""Find out for each name in a prompt where it is defined or used, or that it does not exist. Runs in the hook."""

from __future__ import annotations

from enricher.prompt.wording import (
    ATTACHED,
    BUILD,
    CODE,
    COMMAND,
    ERROR,
    FAILED,
    FILE,
    FLAG,
    FRAME,
    IDENTIFIER,
    INSTALLED,
    MEMBER,
    PRINTED,
    ROUTE,
    RULE,
    SPOKEN,
    TEXT,
    Name,
)
from enricher.prompt.wording.words import quoted
from enricher.sources.code.facts import USERS, Fact, format_place
from enricher.sources.code.lookup import Lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from sqlite3 import Connection


LONGEST_PASTED = 8
"""Number of lines above and below a line of pasted code that are probably pasted as well."""
MOST_LOOKED_UP = 12
"""Maximum number of names of one prompt that are looked up."""
MOST_PRINTED = 2
"""Maximum messages of pasted output whose places are told."""
LAST = {RULE: -1, MEMBER: 1, PRINTED: 2, SPOKEN: 3}
"""Kinds of names that are looked up after all others; the rule of a linter is looked up before them."""


def facts(db: Connection, root: str, names: list[Name], opened: Collection[str] = ()) -> list[Fact]:
    """Return the facts about ``names`` from the index and the files, at most one per name.

    ``opened`` are the files that the conversation has opened.
    """
    lookup = _lookup_for(db, root, names, opened)
    found: list[Fact] = []
    # Members come late, because most of them are the end of one sentence and the start of the next.
    for name in sorted(names, key=lambda name: LAST.get(name.kind, 0))[:MOST_LOOKED_UP]:
        if name.kind == SPOKEN and found:
            continue
        if name.kind == PRINTED and sum(one.kind in (ERROR, TEXT, FRAME, CODE) for one in found) >= MOST_PRINTED:
            continue
        if name.kind in (CODE, INSTALLED) and any(fact.kind in (CODE, FRAME) for fact in found):
            continue  # the place is known already
        fact = _fact(lookup, name)
        if not fact and lookup.named_paths:
            from enricher.sources.code.places.named_files import place_in_named_file

            fact = place_in_named_file(lookup, name)
        if fact and not any(_is_same_place(fact, known) for known in found):
            fact.is_asked = name.is_asked
            found.append(fact)
    with_lines = {fact.path for fact in found if fact.line}
    # A fact that only names a file adds nothing to one that names a line of it.
    kept = [one for one in found if one.line or one.kind not in (FILE, USERS) or one.path not in with_lines]
    return [fact for fact in kept if not any(_names_all_places(other, fact) for other in kept if other is not fact)]


def _lookup_for(db: Connection, root: str, names: list[Name], opened: Collection[str]) -> Lookup:
    lookup = Lookup(db, root)
    lookup.opened = opened
    lookup.named_paths = [name.text for name in names if name.kind in (FILE, ATTACHED)]
    placed = [name for name in names if name.kind == FAILED or (name.kind in (FILE, ATTACHED, FRAME) and name.line)]
    lookup.placed_paths = [name.text for name in placed]
    identifiers = [name.text for name in names if name.kind == IDENTIFIER]
    lookup.identifiers = identifiers
    lookup.named_types = [name for name in identifiers if name[:1].isupper() and not name.isupper()]
    lookup.said = [name.text for name in names if name.kind == SPOKEN]
    lookup.attached = sum(1 for name in names if name.kind == ATTACHED)
    return lookup


def _fact(lookup: Lookup, name: Name) -> Fact | None:
    """Look up one name; what looks up names of its kind is imported only now."""
    if name.kind == FAILED:
        return None  # its report says where to look
    if name.kind == IDENTIFIER:
        from enricher.sources.code.places.definitions import place_of_identifier as look_up
    elif name.kind == MEMBER:
        from enricher.sources.code.places.members import place_of_member as look_up
    elif name.kind in (FILE, ATTACHED):
        from enricher.sources.code.places.named_files import place_of_file as look_up
    elif name.kind == ROUTE:
        from enricher.sources.code.places.texts import route as look_up
    elif name.kind == FLAG:
        from enricher.sources.code.places.texts import flag as look_up
    elif name.kind == TEXT:
        from enricher.sources.code.places.texts import quotation as look_up
    elif name.kind == ERROR:
        from enricher.sources.code.places.texts import error as look_up
    elif name.kind == CODE:
        from enricher.sources.code.places.texts import code as look_up
    elif name.kind == COMMAND:
        from enricher.sources.code.special.subcommands import place_of_command as look_up
    elif name.kind == FRAME:
        from enricher.sources.code.special.pasted.frames import place_of_frame as look_up
    elif name.kind == PRINTED:
        from enricher.sources.code.special.pasted.printed import place_of_printed as look_up
    elif name.kind == RULE:
        from enricher.sources.code.special.pasted.lint_rules import place_of_rule as look_up
    elif name.kind == BUILD:
        from enricher.sources.code.special.pasted.build_files import place_in_build_files as look_up
    elif name.kind == INSTALLED:
        from enricher.sources.code.special.pasted.frames import place_of_installed_frame as look_up
    else:
        from enricher.sources.code.special.spoken import place_of_spoken as look_up
    return look_up(lookup, name)


def _is_same_place(fact: Fact, known: Fact) -> bool:
    """Return whether two facts point to the same line or, for pasted code, to lines at most LONGEST_PASTED apart."""
    length = LONGEST_PASTED if CODE in (fact.kind, known.kind) else 0
    return fact.path == known.path and abs(fact.line - known.line) <= length


def _names_all_places(other: Fact, fact: Fact) -> bool:
    """Return whether ``other`` lists all places of ``fact``, if these are several, so that it need not be shown."""
    places = (format_place(fact.path, fact.line), *(f"{quoted(path)}:" for path in fact.others))
    return bool(fact.others) and all(place in other.reason for place in places)

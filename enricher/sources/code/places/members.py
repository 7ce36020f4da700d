"""Look up a name with an owner, such as ``Cart.total``: the class or module called so, and what belongs to it.

Runs in the hook, but is imported only for a prompt that contains a name with an owner.
"""

from __future__ import annotations

from enricher.prompt.wording import TEXT
from enricher.prompt.wording.words import is_code_form
from enricher.sources.code import TEST, bare_name
from enricher.sources.code.facts import DEFINITION, FEW, NAMED_IN_PROMPT, Fact, defined_at
from enricher.sources.code.lines import TYPE_WORDS
from enricher.sources.code.lookup import MOST_CANDIDATES, MOST_DEFINING
from enricher.sources.code.nesting import attribute_lines, enclosing, end_of_class
from enricher.sources.code.places.texts import text_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup, SourceLine


def place_of_member(lookup: Lookup, name: Name) -> Fact | None:
    """Locate a name such as "app.param": where it is assigned as written, or where a file called ``app`` defines it.

    Without such a definition, locate it as a key in quotes, as in ``settings["model.examples"]``.
    """
    places = [place for place in lookup.definitions(name.text) if place.kind != TEST]
    if len(places) > MOST_CANDIDATES:
        return None
    own = [place for place in places if lookup.is_member(place, name.owner, name.text)] or [
        place  # "event.orders": the method of an Event::Base in the folder event
        for place in places if place.path.split("/")[-2:-1] == [name.owner] and lookup.verified(place, name.text)
    ] or [place for place in places if _is_directly_in(lookup, place, name)]  # fmt: skip
    if len(own) != 1:
        return None if own else class_attribute(lookup, name) or _key(lookup, f"{name.owner}.{name.text}")
    fault = NAMED_IN_PROMPT if lookup.gives_place(own[0].path) else ""
    return defined_at(own[0], f"{name.owner}.{name.text}", fault=fault)


def _is_directly_in(lookup: Lookup, place: SourceLine, name: Name) -> bool:
    """Return whether the innermost type or namespace around a definition is called like the owner: "Utils::Version"."""
    if not name.owner[0].isupper() or not lookup.verified(place, name.text):
        return False
    head, found, behind = enclosing(lookup, place).partition(name.owner)
    is_whole = bool(found) and not (behind[:1].isalnum() or behind.startswith(("_", "::", ".")))
    return is_whole and not (TYPE_WORDS | {"namespace"}).isdisjoint(head.split())


def _key(lookup: Lookup, dotted: str) -> Fact | None:
    from enricher.sources.code.special.settings import place_of_key

    return place_of_key(lookup, dotted) or text_place(lookup, dotted, TEXT, is_delimited=True)


def of_owner(lookup: Lookup, places: list[SourceLine], name: Name) -> list[SourceLine]:
    """Return those of ``places`` (the definitions of ``name``) that belong to its owner (``owner`` in ``owner.name``).

    These are in the body of a class called ``owner``, in a file that defines something else called ``owner``, or in a
    file of that name.
    """
    owners = {place.path: place for place in lookup.definitions(name.owner)}
    own = []
    for place in places:
        owner = owners.get(place.path)
        if owner is None:
            is_own = _stem(place.path) == name.owner.lower() or lookup.verified(place, f"{name.scope}.{name.text}")
            own += [place] if is_own else []
            continue
        lines = lookup.lines_in(place.path, name.text)
        end = end_of_class(lookup, owner)
        # A file may define several classes with a method of that name. If the extent of their bodies is unknown, the
        # first such method below the owner's definition is taken.
        inside = [line for line in lines if owner.line <= line and (line <= end or not end)]
        if inside or not end:
            place.line = inside[0] if inside else place.line
            own.append(place)
    # Of several modules of that name, take the one whose whole path the prompt states.
    named = [place for place in own if place.path in owners and lookup.verified(owners[place.path], name.scope)]
    return [place for place in own if _is_module(place.path, name.scope)] or named or own


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def _is_module(path: str, dotted: str) -> bool:
    """Return whether the file at ``path`` is the module ``dotted``, whose first components may be missing."""
    module = path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")
    return f".{module}".endswith(f".{dotted}")


def class_attribute(lookup: Lookup, name: Name) -> Fact | None:
    """Locate a field of a class, such as "Order.total": the line of the class's body that assigns or declares it.

    The index contains the methods of classes, but not their fields.
    """
    if not name.owner[:1].isupper():
        return None
    found = [
        (own.path, line)
        for own in lookup.definitions(name.owner)[:MOST_DEFINING]
        if own.kind != TEST and lookup.verified(own, name.owner)
        for line in attribute_lines(lookup, own, name.text)[:1]
    ]
    if len(found) != 1:
        return None
    is_evident = bare_name(found[0][0]) == name.owner and not name.is_asked  # nobody looks for Cart outside of Cart.kt
    fault = NAMED_IN_PROMPT if is_evident or lookup.gives_place(found[0][0]) else ""
    return Fact(DEFINITION, *found[0], f"{name.owner}.{name.text}", "defined here", FEW, fault=fault)


def undefined_attribute(lookup: Lookup, name: Name) -> Fact | None:
    """Locate an attribute without a definition, as the prompt writes it; definitions in the project take precedence."""
    from enricher.sources.code.special.settings import place_of_key, place_of_setting

    dotted = f"{name.owner}.{name.text}"
    fact = place_of_key(lookup, f"{name.scope or name.owner}.{name.text}") or text_place(lookup, dotted, TEXT)
    if not fact and is_code_form(name.text):
        fact = place_of_setting(lookup, name.text)
    if fact:
        fact.score = FEW
    return fact

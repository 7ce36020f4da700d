"""Choose among several definitions of a name by the words of the prompt, and describe those in one file.

Runs in the hook, but is imported only where a name has several definitions, or only tests define it.
"""

from __future__ import annotations

from enricher.prompt.wording.pasted.lines import AROUND
from enricher.prompt.wording.words import STOP_WORDS, generic_stems, is_identifier, pieces, stem
from enricher.sources.code import SOURCE, TEMPLATE, bare_name, stem_of
from enricher.sources.code.facts import FEW, Fact
from enricher.sources.code.lines import TYPE_WORDS, indentation, is_comment, is_import, only_mentions
from enricher.sources.code.lookup import MOST_CANDIDATES, MOST_DEFINING, SourceLine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup

SHORTEST_WORD = 3
"""Minimum letters of a word of the prompt that may name a folder."""
MOST_IN_FILE = 6
"""Maximum number of definitions in a file that are all told; with more, the name does not identify a place."""
NAMED = 100
"""What a type counts whose whole name is in the prompt; each of its words that are there counts 1."""
TYPES = (TYPE_WORDS | {"impl", "module", "mixin", "union"}) - {"type"}
"""Words before the name of a type, or of a module with methods."""
_HAVE_CLAUSES = (".ex", ".exs", ".hs", ".erl", ".jl", ".clj", ".cljs")
"""Extensions of files in which several definitions on different lines make up one function."""
_SIGNATURES = ("@overload", "@typing.overload", "@t.overload")
_ACCESSORS = (".setter", ".deleter", ".getter")


def is_of_program(lookup: Lookup, name: str, tests: list[SourceLine]) -> bool:
    """Return whether the program uses a ``name`` that only ``tests`` define, without importing it from them.

    Then the tests only pass a value under that name, or have something of their own that is called so. A test that the
    prompt names is meant in any case.
    """
    if any(lookup.is_named_in_prompt(place.path) for place in tests):
        return False
    stems = {bare_name(place.path) for place in tests}
    files = [path for path, kind in lookup.holding(name) if kind in (SOURCE, TEMPLATE)]
    is_used = False
    for path in files[:MOST_CANDIDATES]:
        for number, line in lookup.occurrences(path, name):
            if is_import(line) and any(stem_ in line for stem_ in stems):
                return False
            is_used = is_used or not only_mentions(path, lookup.text(path), number, line, name)
    return is_used


def other_file_called(index: Connection, path: str, prompt: str) -> Fact | None:
    """Return a fact about the only other source file with the name of the one at ``path``; None if there is none.

    Of several, it is the one in whose folders a word of ``prompt`` is, or with which a folder's name begins or ends.
    """
    name = path.rpartition("/")[2]
    rows = index.execute("select path, kind from files where stem = ? limit 100", (stem_of(path),))
    others = [other for other, kind in rows if other != path and kind == SOURCE and other.rpartition("/")[2] == name]
    words = {word.strip(AROUND + ".") for word in prompt.lower().split()} - STOP_WORDS
    said = [
        other for other in others
        if any(
            len(word) >= SHORTEST_WORD and (folder.startswith(word) or folder.endswith(word))
            for folder in other.lower().split("/")[:-1] if folder not in path.lower().split("/")
            for word in words
        )
    ]  # fmt: skip
    meant = said if len(others) > 1 else others
    return Fact("namesake", meant[0], 0, "", f"the other {name}, not {path}", FEW) if len(meant) == 1 else None


def meant_first(lookup: Lookup, places: list[SourceLine], name: str) -> list[SourceLine]:
    """Return ``places`` (the definitions of ``name``) beginning with the one whose type or file the prompt names.

    Too many are not read: of these, only that in the file of a type that the prompt names is returned, if there is one.
    """
    said = _said(lookup, name)
    are_few = len(places) <= MOST_DEFINING
    called = [
        {bare_name(one.path), type_around(lookup, one, name) if are_few and lookup.verified(one, name) else ""}
        for one in places
    ]  # fmt: skip
    best = _best([max(_agreement(said, one, name) for one in both) for both in called], least=1 if are_few else NAMED)
    if best < 0:
        return places
    others = [one for one in places if one is not places[best]]
    return [places[best]] + (others if are_few else [])


def others_in_file(lookup: Lookup, name: Name, place: SourceLine) -> str | None:
    """Return a text that tells the other definitions of ``name`` in the file of ``place``; empty if there are none.

    If the prompt names the type of one of them, ``place`` becomes that one. Returns None if there are too many.
    """
    found = _in_file(lookup, name.text, place)
    if len(found) < 2:
        return ""
    types = [type_around(lookup, one, name.text) for one in found]
    if name.owner and name.owner in types:
        found = [one for one, own in zip(found, types, strict=True) if own == name.owner]
        types = [name.owner] * len(found)
    said = _said(lookup, name.text)
    chosen = _best([_agreement(said, own, name.text) for own in types], least=1)
    if len(found) > MOST_IN_FILE and chosen < 0:
        return None
    best = max(0, chosen)
    place.line, place.text = found[best].line, found[best].text
    if len(found) > MOST_IN_FILE:
        return f" ({types[best]}) and at {len(found) - 1} other lines"
    is_told = len({*types}) > 1
    told = [f"{one.line}{f' ({own})' * bool(is_told and own)}" for one, own in zip(found, types, strict=True)]
    own, lines = told.pop(best).partition(" ")[2], f"line{'s' * (len(told) > 1)}"
    return f"{own and f' {own}'} and at {lines} {', '.join(told)}" if told else ""


def type_around(lookup: Lookup, place: SourceLine, name: str) -> str:
    """Return the name of the type to which the definition of ``name`` at ``place`` belongs; empty if there is none.

    It precedes the name ("Cart::total", "func (c *Cart) Total"), or begins above with less indentation.
    """
    before = place.text.partition(name)[0].strip()
    if before.startswith("func ("):
        return before[6:].partition(")")[0].rpartition(" ")[2].strip("*").partition("[")[0]
    if before.endswith((".", "::")):
        owner = before.rstrip(".:").removesuffix(".prototype").replace("::", ".").split()[-1].rpartition(".")[2]
        return owner if is_identifier(owner) and owner not in ("self", "this", "exports") else ""
    depth = indentation(place.text)
    for line in reversed(lookup.text(place.path).split("\n", place.line)[: place.line - 1]):
        if not depth:
            break
        bare = line.strip()
        if not bare or indentation(line) >= depth or is_comment(line) or bare[0] in ")}]{@":
            continue
        if found := _type_in(bare):
            return found
        depth = indentation(line)
    return ""


def _type_in(head: str) -> str:
    """Return the name of the type that a line begins: "Cart" in ``class Cart<T> {`` or ``impl Sized for Cart {``."""
    if head.startswith(("impl ", "impl<", "unsafe impl")):
        own = head.partition(" for ")[2] or head.partition("impl")[2].rpartition("> ")[2]
        return own.strip(" {").partition("<")[0].partition(" ")[0].rpartition("::")[2]
    words = "".join(letter if letter.isalnum() or letter in "_$" else f" {letter} " for letter in head).split()
    for at, own in enumerate(words[1:]):
        if words[at] in TYPES and is_identifier(own.strip("$")) and own not in TYPES and own != "extends":
            return own
    return ""


def _in_file(lookup: Lookup, name: str, place: SourceLine) -> list[SourceLine]:
    """Return the definitions of ``name`` in the file of ``place``, without signatures, accessors and new values."""
    numbers = lookup.lines_in(place.path, name)
    if len(numbers) < 2 or place.line not in numbers or place.path.endswith(_HAVE_CLAUSES):
        return [place]
    lines = lookup.text(place.path).split("\n")
    found = [
        SourceLine(place.path, number, place.kind, lines[number - 1])
        for number in numbers if number <= len(lines) and name in lines[number - 1]
        if not _only_belongs_to_another(lines, number, name)
    ]  # fmt: skip
    is_type = found and not TYPES.isdisjoint(found[0].text.split())  # whose constructors have the same name
    return [one for one in found if not is_type or not TYPES.isdisjoint(one.text.split())] or [place]


def _only_belongs_to_another(lines: list[str], number: int, name: str) -> bool:
    """Return whether a definition is the signature, the setter or a new value of one on another line."""
    line = lines[number - 1]
    head, _, behind = (part.strip() for part in line.partition(name))
    if line.rstrip().endswith(";") and head.endswith("function"):
        return True
    is_value = behind.startswith("=") or (behind.startswith(":") and "=" in behind)
    if is_value and not indentation(line) and "function" not in behind and "=>" not in behind:
        return True
    above = number - 2
    while above >= 0 and (bare := lines[above].strip()).startswith("@"):
        if bare.startswith(_SIGNATURES) or bare.partition("(")[0].endswith(_ACCESSORS):
            return True
        above -= 1
    return head.split()[-1:] == ["set"]


def _said(lookup: Lookup, name: str) -> set[str]:
    """Return the words of the prompt, as written and as stems in lower case, without those in ``name`` itself."""
    words = {word.strip(AROUND + ".").removesuffix("'s") for line in lookup.said for word in line.split()}
    words = (words | {*lookup.named_types}) - {name}
    stems = {stem(word.lower()) for word in words if word.lower() not in STOP_WORDS}
    return {word for word in words if word[:1].isupper()} | (stems - generic_stems() - {*map(stem, pieces(name))})


def _agreement(said: set[str], called: str, name: str) -> int:
    if called[:1].isupper() and called in said and called != name:
        return NAMED
    return len({stem(piece) for piece in pieces(called)} & said)


def _best(scores: list[int], *, least: int) -> int:
    """Return the index of the highest of ``scores``; -1 if it is below ``least``, or if several are as high."""
    best = max(scores)
    return scores.index(best) if best >= least and scores.count(best) == 1 else -1

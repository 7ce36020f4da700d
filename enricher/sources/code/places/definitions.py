"""Look up an identifier: where it is defined, which of several definitions the prompt means, and what uses it.

Runs in the hook, but is imported only for a prompt with an identifier.
"""

from __future__ import annotations

from enricher.prompt.wording.words import is_code_form
from enricher.sources.code import EXAMPLE, SOURCE, TEMPLATE, TEST, USING, bare_name
from enricher.sources.code.facts import (
    DEFINITION,
    FEW,
    MOST_ASKED,
    NAMED_IN_PROMPT,
    ONLY,
    WIDELY_USED,
    Fact,
    as_list,
    counted,
    defined_at,
    format_place,
    in_order,
    only_file,
    used,
    variants,
)
from enricher.sources.code.lines import TYPE_WORDS, declares_local, declares_variable, is_comment, is_in_comments
from enricher.sources.code.lookup import MOST_CANDIDATES, MOST_DEFINING, PLATFORMS, SourceLine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup

MOST_USING = 12
"""Maximum files that use a name; with more, its definition is a poor starting point and gets a low score."""
DEFINING_STARTS = (
    "def ", "async ", "class ", "func", "fn ", "pub ", "export ", "interface ", "struct ", "type ", "enum ",
)  # fmt: skip
INTERFACES = ("interface", "protocol", "Protocol", "trait", "abstract", "ABC")
"""Keywords of types whose methods other types implement; interfaces take precedence over abstract classes."""
_TYPES = {"Protocol": "protocol", "abstract": "abstract class", "ABC": "abstract class"}
MOST_READ = 12
"""Maximum files that are searched for a field with the name of a method."""
MOST_OPENED = 6
"""Maximum files of the conversation that are searched for a variable with the name of a definition elsewhere."""
MOST_BESIDE = 5
"""Maximum files that define a name, for the definition in a folder of the conversation to be shown.

A name that more files define is a common word.
"""
MOST_WRITTEN = 40
"""Maximum files that are searched for a name as written with its class: "Cart.Most"."""
GONE = "it is gone from the file"


def place_of_identifier(lookup: Lookup, name: Name) -> Fact | None:
    """Return a fact about the definition of an identifier and its uses, or where else it occurs; None if unknown."""
    if name.unknown_in and (local := _local_variables(lookup, name)):
        return local[0] if len(local) == 1 else None
    places = lookup.definitions(name.text)
    if places and places[0].kind == EXAMPLE:  # an example may only set the variable
        from enricher.sources.code.special.settings import place_of_setting

        if fact := place_of_setting(lookup, name.text):
            return fact
        if not name.is_asked and not any(place.path in lookup.opened for place in places):
            return None  # the program may have it from elsewhere
    if places and places[0].kind != TEST:  # the program's own definition is meant, not a test double
        places = [place for place in places if place.kind != TEST]
    elif places and not name.owner and (own := lookup.source_called(name.text)) and bare_name(own)[:4] != "test":
        from enricher.sources.code.places.named_files import only_file_with_users

        return only_file_with_users(lookup, own)  # only tests define the name, for themselves
    if places and not (places := _in_said_folder(lookup, places)):
        return None
    if places and places[0].kind == TEST:
        from enricher.sources.code.places.namesakes import is_of_program

        if is_of_program(lookup, name.text, places):
            return _undefined(lookup, name) if name.is_certain else None
    if name.owner:
        from enricher.sources.code.places.members import class_attribute

        attribute = class_attribute(lookup, name)
        if attribute and not any((place.path, place.line) == (attribute.path, attribute.line) for place in places):
            return attribute
    elif _is_namespace(lookup, name, places[:MOST_DEFINING]):
        return None
    return _of_definitions(lookup, name, places)


def _of_definitions(lookup: Lookup, name: Name, namesakes: list[SourceLine]) -> Fact | None:
    """Return a fact about those definitions of a name that the prompt means; ``namesakes`` are all of them."""
    places, is_owned = _meant(lookup, name, namesakes)
    if not places:
        return _undefined(lookup, name)
    if not (name.is_asked or name.owner) and _is_a_variable_there(lookup, name.text, places):
        return None
    if len(places) > (MOST_DEFINING if name.is_certain or name.is_asked or name.is_class else 1):
        return (_of_this_folder(lookup, name, places) or _declared(lookup, name, places)) if name.is_certain else None
    present = [place for place in places if lookup.verified(place, name.text)]
    loading = {place.path for place in present if _passes_on(lookup, place)}
    present = [place for place in present if place.path not in loading] or present
    endings = {path.rpartition(".")[2] for path in lookup.named_paths}  # the language that the prompt is about
    present.sort(key=lambda place: place.path.rpartition(".")[2] not in endings)
    if not present:
        return defined_at(places[0], name.text, fault=GONE)
    return _definition(lookup, name, present, {place.path for place in namesakes} - loading, is_owned=is_owned)


def _is_a_variable_there(lookup: Lookup, name: str, places: list[SourceLine]) -> bool:
    """Return whether a file that the conversation has opened has a variable of that name, and none of ``places``."""
    if not lookup.opened:
        return False
    opened = [path for path, _kind in lookup.holding(name) if path in lookup.opened][:MOST_OPENED]
    if any(place.path in opened for place in places):
        return False
    return any(declares_variable(line, name) for path in opened for _number, line in lookup.occurrences(path, name))


def _passes_on(lookup: Lookup, place: SourceLine) -> bool:
    """Return whether a getter only loads what another module defines: ``get Cart() { return require("./cart")``."""
    below = "".join(lookup.text(place.path).split("\n", place.line + 1)[place.line : place.line + 1])
    return place.text.lstrip().startswith("get ") and "require(" in f"{place.text}{below}"


def _undefined(lookup: Lookup, name: Name) -> Fact | None:
    from enricher.sources.code.places.undefined import place_of_option, place_of_undefined

    if "-" in name.text and not name.is_certain:
        return only_file(lookup.source_called(name.text)) or place_of_option(lookup, name)
    return place_of_undefined(lookup, name)


def _meant(lookup: Lookup, name: Name, places: list[SourceLine]) -> tuple[list[SourceLine], bool]:
    """Return those of ``places`` that the prompt means, and whether they belong to the owner that it names."""
    # If the prompt names some of the files, the other definitions are ignored.
    places = [place for place in places if lookup.is_named_in_prompt(place.path)] or places
    if name.owner and places:
        from enricher.sources.code.places.members import of_owner

        owned = of_owner(lookup, places, name)
        # "runner.reset" may call what a class of the conversation overrides.
        if name.owner.islower() and (opened := [one for one in places if one.path in lookup.opened]):
            return opened, False
        return owned or (places if is_code_form(name.text) else []), bool(owned)
    if len(places) < 2:
        return places, False
    opened = [place for place in places if place.path in lookup.opened]
    if opened and _means_another(lookup, name.text):
        return [place for place in places if place not in opened], False
    if chosen := opened or _of_named_type(lookup, places, name):
        return chosen, False
    from enricher.sources.code.places.namesakes import meant_first

    return meant_first(lookup, places, name.text), False


def _means_another(lookup: Lookup, name: str) -> bool:
    """Return whether a prompt means another ``name`` than the opened one: "not that Cart, the one for shops"."""
    said = " ".join(lookup.said).lower()
    return any(f"{word} {name.lower()}" in said for word in ("not that", "not this", "other", "nicht diese", "not the"))


def _local_variables(lookup: Lookup, name: Name) -> list[Fact]:
    """Return the local variables called ``name`` in the file whose compilation failed, else in the opened files."""
    holding = [path for path, _kind in lookup.holding(name.text)]
    failed = max((path for path in holding if f"/{name.unknown_in}".endswith(f"/{path}")), key=len, default="")
    return [
        Fact(DEFINITION, path, number, name.text, "defined here as a local variable", FEW)
        for path in ([failed] if failed else [path for path in holding if path in lookup.opened])
        for number, line in lookup.occurrences(path, name.text) if declares_local(line, name.text)
    ]  # fmt: skip


def _in_said_folder(lookup: Lookup, places: list[SourceLine]) -> list[SourceLine]:
    if len(places) == 1 and PLATFORMS.isdisjoint(places[0].path.lower().split("/")):
        return places
    from enricher.sources.code.special.folders import in_said_folder

    return in_said_folder(lookup, places)


def _is_namespace(lookup: Lookup, name: Name, places: list[SourceLine]) -> bool:
    """Return whether C# has a namespace called so, and no type: it is the name of the product, or of a part of it."""
    if not any(place.path.endswith(".cs") for place in places):
        return False
    present = [place.text.split() for place in places if lookup.verified(place, name.text)]
    return ["namespace"] in [words[:1] for words in present] and all(map(TYPE_WORDS.isdisjoint, present))


def _of_named_type(lookup: Lookup, places: list[SourceLine], name: Name) -> list[SourceLine]:
    """Return those of ``places`` (definitions of ``name``) in the file of a type that the prompt also names."""
    others = [other for other in lookup.named_types if other != name.text]
    paths = {own.path for other in others for own in lookup.definitions(other)[:MOST_DEFINING] if own.kind != TEST}
    return [place for place in places if place.path in paths]


def _of_this_folder(lookup: Lookup, name: Name, places: list[SourceLine]) -> Fact | None:
    """Return a fact about the only definition of ``name`` among ``places`` that is in the folder of an opened file."""
    folders = {path.rpartition("/")[0] for path in lookup.opened}
    own = [place for place in places if place.path.rpartition("/")[0] in folders]
    if len(own) != 1 or len(places) > MOST_BESIDE or not lookup.verified(own[0], name.text):
        return None
    reason = f"defined here, beside the files of this conversation, and in {counted(len(places) - 1)}"
    return defined_at(own[0], name.text, reason)


def _declared(lookup: Lookup, name: Name, places: list[SourceLine]) -> Fact | None:
    """Return a fact about the definition of ``name`` in an interface that the other definitions implement.

    ``places`` are all its definitions. Returns None if there are too many to read, or no interface declares the name.
    """
    if len(places) > MOST_CANDIDATES:
        return None
    from enricher.sources.code.nesting import enclosing

    types = [(place, enclosing(lookup, place)) for place in places if lookup.verified(place, name.text)]
    for kind in INTERFACES:
        own = [place for place, first_line in types if kind in first_line.replace("(", " ").replace(")", " ").split()]
        if len(own) == 1:
            reason = f"declared in this {_TYPES.get(kind, kind)}, defined in {counted(len(places) - 1)}"
            return defined_at(own[0], name.text, reason)
    return None


def _definition(
    lookup: Lookup, name: Name, places: list[SourceLine], namesakes: set[str], *, is_owned: bool
) -> Fact | None:
    """Return a fact that says where ``name`` is defined and used; None if an ordinary word has too many uses to list.

    ``places`` are its definitions, and ``namesakes`` are all files that define the name. ``is_owned`` means that the
    places belong to the owner that the prompt names (``owner`` in ``owner.name``).
    """
    first = places[0]
    is_type = not TYPE_WORDS.isdisjoint(first.text.split())  # "public static class Row"
    if not is_type and not first.text.strip().startswith(DEFINING_STARTS):  # an instance, whose class may have a file
        own = lookup.source_called(name.text)
        if own not in ("", first.path):
            return only_file(own)
    subject = f"{name.owner}.{name.text}" if is_owned and name.owner[:1].isupper() else name.text
    told: str | None = ""
    if len(lookup.lines_in(first.path, name.text)) > 1:
        from enricher.sources.code.places.namesakes import others_in_file

        told = others_in_file(lookup, name, first)
    if told is None:
        return None
    if len(places) > 1:
        if not (name.is_asked or name.owner) and _is_attribute_elsewhere(lookup, name.text, places):
            return None
        others = ", ".join(format_place(place.path, place.line) for place in places[1:])
        fact = defined_at(first, subject, f"defined here{told}{',' * bool(told)} and in {others}")
        fact.others = [place.path for place in places[1:]]
        is_call = name.is_asked and TYPE_WORDS.isdisjoint(first.text.split())
        return _with_written(lookup, fact, f"{name.text}(", places) if is_call else fact
    fact = defined_at(first, subject, f"defined here{told}")
    found = _only_definition(lookup, name, first, namesakes, fact)
    is_plain = found is fact and fact.reason == "defined here" and not (fact.fault or name.is_asked)
    if is_plain and is_owned and name.owner[:1].isupper() and _names_file(lookup, name.owner, first.path):
        fact.fault = NAMED_IN_PROMPT
    return found


def _is_attribute_elsewhere(lookup: Lookup, name: str, places: list[SourceLine]) -> bool:
    """Return whether methods at ``places`` may not be meant, because a further class has a field of that name."""
    known = {place.path for place in places}
    holding = [path for path, kind in lookup.holding(name) if kind == SOURCE and path not in known]
    return all(place.text[:1].isspace() for place in places) and any(
        line.startswith((" ", "\t")) and line.lstrip().startswith((f"{name} = ", f"{name}: "))
        for path in holding[:MOST_READ] for _number, line in lookup.occurrences(path, name)
    )  # fmt: skip


def _names_file(lookup: Lookup, type_: str, path: str) -> bool:
    """Return whether the file at ``path`` is the only one called like a type, so that nobody looks elsewhere for it."""
    return [own for own, kind in lookup.of_stem(type_) if kind in (SOURCE, TEMPLATE)] == [path]


def _only_definition(lookup: Lookup, name: Name, first: SourceLine, namesakes: set[str], fact: Fact) -> Fact | None:
    """Complete the ``fact`` about the place ``first`` that alone defines ``name`` by the uses of the name."""
    # For "Cart.total", other lines with the word "total" may mean something else.
    if (name.owner and not name.is_certain) or _has_namesake(lookup, name, first):
        others = [one for one in lookup.definitions(name.text) if one.path != first.path]
        return _with_written(lookup, fact, fact.subject, [first, *others]) if name.is_asked else fact
    uses = lookup.uses(name.text, first.path, namesakes)
    if uses.files and not name.is_certain:
        # An ordinary word that many files contain means the function only if the prompt says so. Its callers
        # are not counted, because it is unknown which of these files call it.
        is_function = (name.is_asked or name.is_class) and first.kind != TEST and not first.text[:1].isspace()
        return fact if is_function else None
    is_word = name.text.islower() and name.text[0] != "_" and not is_code_form(name.text)
    if is_word:  # a variable or a field may have the same name, so only calls are certain
        uses.places = [place for place in uses.places if f"{name.text}(" in place.text]
    is_told = lookup.gives_place(first.path) and all(place.path == first.path for place in uses.places)
    of_its_class = bare_name(first.path) in (name.text, name.owner) and bare_name(first.path)[:1].isupper()
    is_told |= first.kind == TEST and of_its_class and not name.is_asked  # the class's name is that of its file
    is_everywhere = uses.files or len({place.path for place in uses.places if place.kind != TEST}) > MOST_USING
    is_unknown = lookup.is_exhausted or ((is_word or uses.is_partial) and not uses.places)
    fact.reason += "" if is_unknown else used(lookup, uses, first, name.text, is_asked=name.is_asked)
    fact.reason += variants(lookup, first.path, name.text)
    if uses.files and name.is_explained:
        fact.reason += _used_in_named_files(lookup, name.text, first.path)
    fact.score = WIDELY_USED if is_everywhere and not (name.is_asked or name.is_explained) else ONLY
    fact.fault = NAMED_IN_PROMPT if is_told else ""
    fact.users = [place.path for place in uses.places]
    if _is_function(first.text, name.text):
        fact.callers = [place.path for place in uses.places if place.kind != TEST]
    return fact


def _is_function(line: str, name: str) -> bool:
    is_type = not TYPE_WORDS.isdisjoint(line.partition("(")[0].split())
    return not is_type and (line.lstrip().startswith("def ") or line.partition(name)[2].startswith(("(", "<")))


def _used_in_named_files(lookup: Lookup, name: str, home: str) -> str:
    """Return a text that lists the lines with a widely used ``name`` in the files that the prompt or its words name."""
    paths = [
        path
        for path in sorted({*lookup.opened, *lookup.named_paths})
        if path != home and (lookup.is_named_in_prompt(path) or bare_name(path) in lookup.identifiers)
    ]
    lines = [(path, number) for path in paths for number, _line in lookup.occurrences(path, name)]
    return f"; used in {as_list([format_place(*one) for one in lines])}" if lines else ""


def _with_written(lookup: Lookup, fact: Fact, written: str, definitions: list[SourceLine]) -> Fact:
    """Add to a fact the places that have ``written``: a call ("total(") of any of the definitions, or "Cart.Total"."""
    first, name = definitions[0], written.rstrip("(")
    own = {(one.path, line) for one in definitions for line in lookup.lines_in(one.path, name.rpartition(".")[2])}
    files = lookup.holding(name)
    places = [
        SourceLine(path, number, kind, line)
        for path, kind in (files if len(files) <= MOST_WRITTEN else ())
        for number, line in lookup.occurrences(path, name)
        if kind in USING and written in line and (path, number) not in own
        if not (is_comment(line) or is_in_comments(path, lookup.text(path), number, line, name))
    ]
    if places:
        fact.users = [place.path for place in places]
        others = {*fact.users} - {first.path}
        verb = "called in" if written != name else f"used in {counted(len(others))}:" if others else "used in"
        fact.reason += f"; {verb} {as_list(in_order(places, first), most=MOST_ASKED)}"
    return fact


def _has_namesake(lookup: Lookup, name: Name, place: SourceLine) -> bool:
    """Return whether anything other than ``place`` is called ``name``, so that a line with the name may mean either.

    Only called for a name whose owner or file the prompt states; any other name has only one place.
    """
    return any(other.path != place.path and other.kind != TEST for other in lookup.definitions(name.text))

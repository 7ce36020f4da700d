"""Find out for each name in a prompt where it is defined or used, or that it does not exist. Runs in the hook."""

from __future__ import annotations

from enricher.prompt.wording.names import (
    ATTACHED,
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
    ROUTE,
    SPOKEN,
    TEXT,
    Name,
)
from enricher.prompt.wording.pasted_lines import is_error
from enricher.prompt.wording.words import is_code_form, quoted
from enricher.sources.code import EXAMPLE, SOURCE, TEMPLATE, TEST, USING, bare_name
from enricher.sources.code.facts import (
    DEFINITION,
    FEW,
    MOST_ASKED,
    NAMED_IN_PROMPT,
    ONLY,
    TESTED,
    USERS,
    WIDELY_USED,
    Fact,
    as_list,
    counted,
    format_place,
    in_order,
    only_file,
    used,
    variants,
)
from enricher.sources.code.lines import declares_local, is_comment
from enricher.sources.code.lookup import MOST_CANDIDATES, PLATFORMS, Lookup, SourceLine, is_near
from enricher.sources.code.text_places import code, environment, error, flag, quotation, route, text_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from sqlite3 import Connection

MOST_DEFINING = 4
"""Maximum number of files that define a name; with more, the name does not identify a place."""

MOST_USING = 12
"""Maximum files that use a name; with more, its definition is a poor starting point and gets a low score."""
DEFINING_STARTS = (
    "def ", "async ", "class ", "func", "fn ", "pub ", "export ", "interface ", "struct ", "type ", "enum ",
)  # fmt: skip
INTERFACES = ("interface", "protocol", "Protocol", "trait", "abstract", "ABC")
"""Keywords of types whose methods other types implement; interfaces take precedence over abstract classes."""
_TYPES = {"Protocol": "protocol", "abstract": "abstract class", "ABC": "abstract class"}
_TYPE_WORDS = frozenset("class struct interface enum protocol trait actor extension record object type".split())
MOST_WRITTEN = 40
"""Maximum files that are searched for a name as written with its class: "Cart.Most"."""
LONGEST_PASTED = 8
"""Number of lines above and below a line of pasted code that are probably pasted as well."""
MOST_LOOKED_UP = 12
"""Maximum number of names of one prompt that are looked up."""
GONE = "it is gone from the file"
SHORTEST_MISSPELLED = 6
"""Minimum letters of a name that may be misspelled; too many other names are similar to a shorter one."""

OF_THE_PLATFORM = frozenset(
    "document window console navigator location history localStorage sessionStorage Math JSON Object Array Promise Date"
    " String Number process module os sys re json np pd plt torch self super System Arrays Collections fmt".split()
)
"""Objects of languages, browsers and widespread libraries; no prompt asks in which file their methods are called."""


def facts(db: Connection, root: str, names: list[Name], opened: Collection[str] = ()) -> list[Fact]:
    """Return the facts about ``names`` from the index and the files, at most one per name.

    ``opened`` are the files that the conversation has opened.
    """
    lookup = _lookup_for(db, root, names, opened)
    found: list[Fact] = []
    # Members come late, because most of them are the end of one sentence and the start of the next.
    wanted = sorted((name for name in names if name.kind in _LOOKERS), key=lambda name: _LAST.get(name.kind, 0))
    for name in wanted[:MOST_LOOKED_UP]:
        if name.kind == SPOKEN and found:
            continue
        if name.kind in (CODE, INSTALLED) and any(fact.kind in (CODE, FRAME) for fact in found):
            continue  # the place is known already
        fact = _LOOKERS[name.kind](lookup, name)
        if not fact and lookup.named_paths:
            from enricher.sources.code.named_files import place_in_named_file

            fact = place_in_named_file(lookup, name)
        if fact and not any(_is_same_place(fact, known) for known in found):
            fact.is_asked = name.is_asked
            found.append(fact)
    with_lines = {fact.path for fact in found if fact.line}
    # A fact that only names a file adds nothing to one that names a line of it.
    kept = [one for one in found if one.line or one.kind not in (FILE, USERS, TESTED) or one.path not in with_lines]
    return [fact for fact in kept if not any(_names_all_places(other, fact) for other in kept if other is not fact)]


def _lookup_for(db: Connection, root: str, names: list[Name], opened: Collection[str]) -> Lookup:
    lookup = Lookup(db, root)
    lookup.opened = opened
    lookup.named_paths = [name.text for name in names if name.kind in (FILE, ATTACHED)]
    placed = [name for name in names if name.kind == FAILED or (name.kind in (FILE, ATTACHED, FRAME) and name.line)]
    lookup.placed_paths = [name.text for name in placed]
    identifiers = [name.text for name in names if name.kind == IDENTIFIER]
    lookup.named_types = [name for name in identifiers if name[:1].isupper() and not name.isupper()]
    lookup.said = [name.text for name in names if name.kind == SPOKEN]
    lookup.attached = sum(1 for name in names if name.kind == ATTACHED)
    return lookup


def _is_same_place(fact: Fact, known: Fact) -> bool:
    """Return whether two facts point to the same line or, for pasted code, to lines at most LONGEST_PASTED apart."""
    length = LONGEST_PASTED if CODE in (fact.kind, known.kind) else 0
    return fact.path == known.path and abs(fact.line - known.line) <= length


def _names_all_places(other: Fact, fact: Fact) -> bool:
    """Return whether ``other`` lists all places of ``fact``, if these are several, so that it need not be shown."""
    places = (format_place(fact.path, fact.line), *(f"{quoted(path)}:" for path in fact.others))
    return bool(fact.others) and all(place in other.reason for place in places)


def _identifier(lookup: Lookup, name: Name) -> Fact | None:
    if name.unknown_in and (local := _local_variables(lookup, name)):
        return local[0] if len(local) == 1 else None
    places = lookup.definitions(name.text)
    is_owned = False
    if places and places[0].kind == EXAMPLE:  # an example may only set the variable
        from enricher.sources.code.special.settings import place_of_setting

        if fact := place_of_setting(lookup, name.text):
            return fact
    if places and places[0].kind != TEST:  # the program's own definition is meant, not a test double
        places = [place for place in places if place.kind != TEST]
    elif places and not name.owner and (own := _file_called(lookup, name.text)) and bare_name(own)[:4] != "test":
        return _named_file(lookup, own)  # only tests define the name, for themselves
    if places and not (places := _in_said_folder(lookup, places)):
        return None
    if not name.owner and _is_namespace(lookup, name, places[:MOST_DEFINING]):
        return None
    namesakes = {place.path for place in places}
    # If the prompt names some of the files, the other definitions are ignored.
    places = [place for place in places if lookup.is_named_in_prompt(place.path)] or places
    if name.owner and (attribute := _class_attribute(lookup, name)):
        return attribute
    if name.owner and places:
        owned = _of_owner(lookup, places, name)
        is_owned = bool(owned)
        places = owned or (places if is_code_form(name.text) else [])
    elif len(places) > 1:
        opened = [place for place in places if place.path in lookup.opened]
        places = opened or _of_named_type(lookup, places, name) or places
    if not places and "-" in name.text and not name.is_certain:
        return only_file(_file_called(lookup, name.text)) or _setting(lookup, name)
    if not places:
        return _undefined(lookup, name)
    if len(places) > (MOST_DEFINING if name.is_certain or name.is_asked or name.is_class else 1):
        return (_of_this_folder(lookup, name, places) or _declared(lookup, name, places)) if name.is_certain else None
    present = [place for place in places if lookup.verified(place, name.text)]
    endings = {path.rpartition(".")[2] for path in lookup.named_paths}  # the language that the prompt is about
    present.sort(key=lambda place: place.path.rpartition(".")[2] not in endings)
    if not present:
        return Fact(DEFINITION, places[0].path, places[0].line, name.text, "defined here", FEW, fault=GONE)
    return _definition(lookup, name, present, namesakes, is_owned=is_owned)


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


def _undefined(lookup: Lookup, name: Name) -> Fact | None:
    """Return a fact about a name without a definition: where else it occurs, or that it does not exist."""
    if name.is_certain:
        if name.owner in OF_THE_PLATFORM:
            return None
        return _attribute(lookup, name) if name.owner else _elsewhere(lookup, name)
    if name.text.isupper():
        return environment(lookup, name.text)
    # "The class Baskt": only the word "class" and the capital letter show that this is a name.
    is_named = name.text[:1].isupper() and not (name.owner or name.may_be_new)
    return _missing_name(lookup, name.text) if is_named else None


def _is_namespace(lookup: Lookup, name: Name, places: list[SourceLine]) -> bool:
    """Return whether C# has a namespace called so, and no type: it is the name of the product, or of a part of it."""
    if not any(place.path.endswith(".cs") for place in places):
        return False
    present = [place.text.split() for place in places if lookup.verified(place, name.text)]
    return ["namespace"] in [words[:1] for words in present] and all(map(_TYPE_WORDS.isdisjoint, present))


def _setting(lookup: Lookup, name: Name) -> Fact | None:
    """Locate an option such as "escape-time", which may be an ordinary word, too, as "read-only" is."""
    from enricher.sources.code.special.settings import place_of_setting

    is_named = name.is_asked or name.is_setting or name.is_certain
    fact = place_of_setting(lookup, name.text, is_certain=is_named)
    if not fact and is_named:
        fact = text_place(lookup, name.text, TEXT, is_delimited=True) if name.is_asked else None
        fact = _function_of(lookup, name.text) or fact
    return fact


def _function_of(lookup: Lookup, command: str) -> Fact | None:
    """Return the place of the only function that is called like a command: ``tab_give`` for "tab-give"."""
    name = command.replace("-", "_")
    places = [place for place in lookup.definitions(name) if place.kind != TEST and lookup.verified(place, name)]
    return Fact(DEFINITION, places[0].path, places[0].line, name, "defined here", FEW) if len(places) == 1 else None


def _of_named_type(lookup: Lookup, places: list[SourceLine], name: Name) -> list[SourceLine]:
    """Return those of ``places`` (definitions of ``name``) in the file of a type that the prompt also names."""
    others = [other for other in lookup.named_types if other != name.text]
    paths = {own.path for other in others for own in lookup.definitions(other)[:MOST_DEFINING] if own.kind != TEST}
    return [place for place in places if place.path in paths]


def _of_this_folder(lookup: Lookup, name: Name, places: list[SourceLine]) -> Fact | None:
    """Return a fact about the only definition of ``name`` among ``places`` that is in the folder of an opened file."""
    folders = {path.rpartition("/")[0] for path in lookup.opened}
    own = [place for place in places if place.path.rpartition("/")[0] in folders]
    if len(own) != 1 or not lookup.verified(own[0], name.text):
        return None
    reason = f"defined here, beside the files of this conversation, and in {counted(len(places) - 1)}"
    return Fact(DEFINITION, own[0].path, own[0].line, name.text, reason, FEW)


def _declared(lookup: Lookup, name: Name, places: list[SourceLine]) -> Fact | None:
    """Return a fact about the definition of ``name`` in an interface that the other definitions implement.

    ``places`` are all its definitions. Returns None if there are too many to read, or no interface declares the name.
    """
    if len(places) > MOST_CANDIDATES:
        return None
    types = [(place, lookup.enclosing(place)) for place in places if lookup.verified(place, name.text)]
    for kind in INTERFACES:
        own = [place for place, first_line in types if kind in first_line.replace("(", " ").replace(")", " ").split()]
        if len(own) == 1:
            reason = f"declared in this {_TYPES.get(kind, kind)}, defined in {counted(len(places) - 1)}"
            return Fact(DEFINITION, own[0].path, own[0].line, name.text, reason, FEW)
    return None


def _definition(
    lookup: Lookup, name: Name, places: list[SourceLine], namesakes: set[str], *, is_owned: bool
) -> Fact | None:
    """Return a fact that says where ``name`` is defined and used; None if an ordinary word has too many uses to list.

    ``places`` are its definitions, and ``namesakes`` are all files that define the name. ``is_owned`` means that the
    places belong to the owner that the prompt names (``owner`` in ``owner.name``).
    """
    first = places[0]
    is_type = not _TYPE_WORDS.isdisjoint(first.text.split())  # "public static class Row"
    if not is_type and not first.text.strip().startswith(DEFINING_STARTS):  # an instance, whose class may have a file
        own = _file_called(lookup, name.text)
        if own not in ("", first.path):
            return only_file(own)
    subject = f"{name.owner}.{name.text}" if is_owned and name.owner[:1].isupper() else name.text
    if len(places) > 1:
        others = ", ".join(format_place(place.path, place.line) for place in places[1:])
        fact = Fact(DEFINITION, first.path, first.line, subject, f"defined here and in {others}", FEW)
        fact.others = [place.path for place in places[1:]]
        is_call = name.is_asked and _TYPE_WORDS.isdisjoint(first.text.split())
        return _with_written(lookup, fact, f"{name.text}(", places) if is_call else fact
    return _only_definition(lookup, name, first, namesakes, subject)


def _only_definition(lookup: Lookup, name: Name, first: SourceLine, namesakes: set[str], subject: str) -> Fact | None:
    """Return a fact about the only definition of ``name``, ``first``, and its uses; ``subject`` is the name to show."""
    # For "Cart.total", other lines with the word "total" may mean something else.
    if (name.owner and not name.is_certain) or _has_namesake(lookup, name, first):
        fact = Fact(DEFINITION, first.path, first.line, subject, "defined here", FEW)
        return _with_written(lookup, fact, subject, [first]) if name.is_asked and "." in subject else fact
    uses = lookup.uses(name.text, first.path, namesakes)
    if uses.files and not name.is_certain:
        # An ordinary word that many files contain means the function only if the prompt says so. Which of these files
        # call it is unknown, so that no number of callers is given.
        is_function = (name.is_asked or name.is_class) and first.kind != TEST and not first.text[:1].isspace()
        return Fact(DEFINITION, first.path, first.line, subject, "defined here", FEW) if is_function else None
    is_variable = not first.text.strip().startswith(DEFINING_STARTS)
    if first.kind == TEST and is_variable and any(place.kind != TEST for place in uses.places):
        # A use in the program does not refer to a variable of a test.
        return _elsewhere(lookup, name) if name.is_certain else None
    is_word = name.text.islower() and not is_code_form(name.text)
    if is_word:  # a variable or a field may have the same name, so only calls are certain
        uses.places = [place for place in uses.places if f"{name.text}(" in place.text]
    is_told = lookup.gives_place(first.path) and all(place.path == first.path for place in uses.places)
    of_its_class = bare_name(first.path) in (name.text, name.owner) and bare_name(first.path)[:1].isupper()
    is_told |= first.kind == TEST and of_its_class and not name.is_asked  # the class's name is that of its file
    is_everywhere = uses.files or len({place.path for place in uses.places if place.kind != TEST}) > MOST_USING
    is_unknown = lookup.is_exhausted or ((is_word or uses.is_partial) and not uses.places)
    reason = "defined here" + ("" if is_unknown else used(lookup, uses, first, name.text, is_asked=name.is_asked))
    reason += variants(lookup, first.path, name.text)
    score = WIDELY_USED if is_everywhere and not name.is_asked else ONLY
    fact = Fact(DEFINITION, first.path, first.line, subject, reason, score, fault=NAMED_IN_PROMPT if is_told else "")
    fact.users = [place.path for place in uses.places]
    return fact


def _with_written(lookup: Lookup, fact: Fact, written: str, definitions: list[SourceLine]) -> Fact:
    """Add to a fact the places that have ``written``: a call ("total(") of any of the definitions, or "Cart.Total"."""
    first, name = definitions[0], written.rstrip("(")
    own = {(one.path, line) for one in definitions for line in lookup.lines_in(one.path, name.rpartition(".")[2])}
    files = lookup.holding(name)
    places = [
        SourceLine(path, number, kind, line)
        for path, kind in (files if len(files) <= MOST_WRITTEN else ())
        for number, line in lookup.occurrences(path, name)
        if kind in USING and written in line and (path, number) not in own and not is_comment(line)
    ]
    if places:
        fact.users = [place.path for place in places]
        others = {*fact.users} - {first.path}
        verb = "called in" if written != name else f"used in {counted(len(others))}:" if others else "used in"
        fact.reason += f"; {verb} {as_list(in_order(places, first), most=MOST_ASKED)}"
    return fact


def _of_owner(lookup: Lookup, places: list[SourceLine], name: Name) -> list[SourceLine]:
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
        end = lookup.end_of_class(owner)
        # A file may define several classes with a method of that name. If the extent of their bodies is unknown, the
        # first such method below the owner's definition is taken.
        inside = [line for line in lines if owner.line <= line and (line <= end or not end)]
        if inside or not end:
            place.line = inside[0] if inside else place.line
            own.append(place)
    # Of several modules of that name, take the one whose whole path the prompt states.
    return [place for place in own if _is_module(place.path, name.scope)] or own


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def _has_namesake(lookup: Lookup, name: Name, place: SourceLine) -> bool:
    """Return whether anything other than ``place`` is called ``name``, so that a line with the name may mean either.

    Only called for a name whose owner or file the prompt states; any other name has only one place.
    """
    return any(other.path != place.path and other.kind != TEST for other in lookup.definitions(name.text))


def _is_module(path: str, dotted: str) -> bool:
    """Return whether the file at ``path`` is the module ``dotted``, whose first components may be missing."""
    module = path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")
    return f".{module}".endswith(f".{dotted}")


def _class_attribute(lookup: Lookup, name: Name) -> Fact | None:
    """Locate an attribute of a class, such as "Order.total": the line of the class's body that assigns or declares it.

    The index contains the methods of classes, but not their attributes.
    """
    if not name.owner[:1].isupper():
        return None
    found = [
        (own.path, line)
        for own in lookup.definitions(name.owner)[:MOST_DEFINING]
        if own.kind != TEST and lookup.verified(own, name.owner)
        for line in lookup.attribute_lines(own, name.text)[:1]
    ]
    if len(found) != 1:
        return None
    fault = NAMED_IN_PROMPT if lookup.gives_place(found[0][0]) else ""
    return Fact(DEFINITION, *found[0], f"{name.owner}.{name.text}", "defined here", FEW, fault=fault)


def _member(lookup: Lookup, name: Name) -> Fact | None:
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
        return None if own else _key(lookup, f"{name.owner}.{name.text}")
    fault = NAMED_IN_PROMPT if lookup.gives_place(own[0].path) else ""
    return Fact(DEFINITION, own[0].path, own[0].line, f"{name.owner}.{name.text}", "defined here", FEW, fault=fault)


def _is_directly_in(lookup: Lookup, place: SourceLine, name: Name) -> bool:
    """Return whether the innermost type or namespace around a definition is called like the owner: "Utils::Version"."""
    if not name.owner[0].isupper() or not lookup.verified(place, name.text):
        return False
    head, found, behind = lookup.enclosing(place).partition(name.owner)
    is_whole = bool(found) and not (behind[:1].isalnum() or behind.startswith(("_", "::", ".")))
    return is_whole and not (_TYPE_WORDS | {"namespace"}).isdisjoint(head.split())


def _key(lookup: Lookup, dotted: str) -> Fact | None:
    from enricher.sources.code.special.settings import place_of_key

    return place_of_key(lookup, dotted) or text_place(lookup, dotted, TEXT, is_delimited=True)


def _attribute(lookup: Lookup, name: Name) -> Fact | None:
    """Locate an attribute without a definition, as the prompt writes it; definitions in the project take precedence."""
    from enricher.sources.code.special.settings import place_of_key, place_of_setting

    dotted = f"{name.owner}.{name.text}"
    fact = place_of_key(lookup, f"{name.scope or name.owner}.{name.text}") or text_place(lookup, dotted, TEXT)
    if not fact and is_code_form(name.text):
        fact = place_of_setting(lookup, name.text)
    if fact:
        fact.score = FEW
    return fact


def _elsewhere(lookup: Lookup, name: Name) -> Fact | None:
    """Locate a name for which the index has no definition: as a file name, key, attribute or local variable.

    If it is found nowhere, return the only similar name, as a correction; None if there is no such name either.
    """
    if own := _file_called(lookup, name.text):
        return _named_file(lookup, own)
    is_local = not name.text[:1].isupper() or name.text.isupper()
    found = _field_of_settings(lookup, name) if name.text.islower() else None
    found = found or (text_place(lookup, name.text, "name", most=1) if is_local else None)
    if not found and not is_error(name.text):  # an error name that the project lacks usually belongs to a library
        found = _setting(lookup, name)
    if not found and name.text.isupper() and "_" in name.text:  # a field for the variable
        found = text_place(lookup, name.text.lower(), "name", most=1)
    return found or (None if name.may_be_new else _missing_name(lookup, name.text))


def _field_of_settings(lookup: Lookup, name: Name) -> Fact | None:
    from enricher.sources.code.special.settings_classes import place_of_settings_field

    return place_of_settings_field(lookup, name.text, is_asked=name.is_asked)


def _named_file(lookup: Lookup, path: str) -> Fact | None:
    from enricher.sources.code.named_files import with_users

    return with_users(lookup, path) or only_file(path)


def _file_called(lookup: Lookup, name: str) -> str:
    """Return the path of the only source file with that name and any extension; empty if there is not just one."""
    if not is_code_form(name) and "-" not in name:  # an ordinary word
        return ""
    kinds = (SOURCE, TEMPLATE, TEST) if name.lower().startswith("test") else (SOURCE, TEMPLATE)
    files = [path for path, kind in lookup.of_stem(name) if kind in kinds]
    return files[0] if len(files) == 1 else ""


def _file(lookup: Lookup, name: Name) -> Fact | None:
    from enricher.sources.code.named_files import place_of_file

    return place_of_file(lookup, name)


def _failed(lookup: Lookup, name: Name) -> Fact | None:
    from enricher.sources.code.named_files import tested_by

    return tested_by(lookup, name)


def _command(lookup: Lookup, name: Name) -> Fact | None:
    from enricher.sources.code.special.subcommands import place_of_command

    return place_of_command(lookup, name)


def _frame(lookup: Lookup, name: Name) -> Fact | None:
    from enricher.sources.code.special.frames import place_of_frame

    return place_of_frame(lookup, name)


def _installed_frame(lookup: Lookup, name: Name) -> Fact | None:
    from enricher.sources.code.special.frames import place_of_installed_frame

    return place_of_installed_frame(lookup, name)


def _missing_name(lookup: Lookup, name: str) -> Fact | None:
    """Return a fact about the only existing name similar to the misspelled ``name``; None unless there is just one."""
    if len(name) < SHORTEST_MISSPELLED or lookup.occurs(name) or lookup.was_known(name):
        return None
    plain = name.replace("_", "").lower()
    like = lookup.names_like(name)
    same = [other for other in like if other.replace("_", "").lower() == plain]
    near = same or [other for other in like if is_near(other, name)]
    longer = [] if near else [one for one in like if one.startswith(name) and not one[len(name)].islower()]
    if len(near or longer) != 1:
        return None
    near = near or longer
    places = [place for place in lookup.definitions(near[0]) if lookup.verified(place, near[0])]
    places = [place for place in places if place.kind != TEST] or places
    if not 0 < len(places) <= MOST_DEFINING:
        return None
    others = ", ".join(format_place(place.path, place.line) for place in places[1:])
    reason = f"the nearest to {name}, which does not exist{others and f'; also in {others}'}"
    return Fact("missing", places[0].path, places[0].line, near[0], reason, FEW)


def _spoken(lookup: Lookup, name: Name) -> Fact | None:
    """Locate the setting, function or type that a line of the prompt names with ordinary words."""
    from enricher.sources.code.special.spoken import names_said, setting_said

    if name.is_setting and (fact := setting_said(lookup, name.text)):
        return fact
    for said in names_said(lookup, name.text, is_asked=name.is_asked):
        one = Name(IDENTIFIER, said)
        one.is_asked = name.is_asked
        if fact := _identifier(lookup, one):
            return fact
    return None


_LAST = {MEMBER: 1, SPOKEN: 2}
"""Kinds of names that are looked up after all others."""
_LOOKERS = {
    IDENTIFIER: _identifier,
    MEMBER: _member,
    FILE: _file,
    ROUTE: route,
    FLAG: flag,
    TEXT: quotation,
    ERROR: error,
    ATTACHED: _file,
    COMMAND: _command,
    CODE: code,
    FRAME: _frame,
    INSTALLED: _installed_frame,
    FAILED: _failed,
    SPOKEN: _spoken,
}

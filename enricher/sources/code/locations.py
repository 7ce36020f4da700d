"""Find out for each name in a prompt where it is defined or used, or that it does not exist. Runs in the hook."""

from __future__ import annotations

import os

from enricher.prompt.text import shortened
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
    TEXT,
    is_code_form,
)
from enricher.prompt.wording.words import quoted
from enricher.sources.code import CONFIG, SOURCE, STUB, TEMPLATE, TEST, TRANSLATION
from enricher.sources.code.facts import (
    DEFINITION,
    FEW,
    MOST_SHOWN,
    NAMED_IN_PROMPT,
    ONLY,
    TESTED,
    USERS,
    WIDELY_USED,
    Fact,
    counted,
    format_place,
    only_file,
    used,
    variants,
)
from enricher.sources.code.lines import declares, defines, phrases, reads_environment
from enricher.sources.code.lookup import MOST_CANDIDATES, MOST_WITH_ALL_WORDS, Lookup, is_near

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from sqlite3 import Connection

    from enricher.prompt.wording.names import Name
    from enricher.sources.code.lookup import SourceLine

    Holder = tuple[str, int, list[tuple[int, str]]]
    """A file that contains a text: its path, its kind, and (number, content) of each line with the text."""

MOST_DEFINING = 4
"""Maximum number of files that define a name; with more, the name does not identify a place."""
MOST_DECLARED = 5
"""Maximum files with a name that the index does not define, for one of them to be shown as declaring it."""
MOST_NAMED = 2
"""Maximum further files with a name that are listed; if there are more, only their number is shown."""

MOST_USING = 12
"""Maximum files that use a name; with more, its definition is a poor starting point and gets a low score."""
DEFINING_STARTS = (
    "def ", "async ", "class ", "func", "fn ", "pub ", "export ", "interface ", "struct ", "type ", "enum ",
)  # fmt: skip
INTERFACES = ("interface", "protocol", "Protocol", "trait", "abstract", "ABC")
"""Words in the first line of a type whose methods others implement; an interface before an abstract class."""
_TYPES = {"Protocol": "protocol", "abstract": "abstract class", "ABC": "abstract class"}
LONGEST_PASTED = 8
"""How many lines above and below a line of pasted code are most likely pasted as well."""
MOST_LOOKED_UP = 12
"""Maximum number of names of one prompt that are looked up."""
GONE = "it is gone from the file"
SHORTEST_MISSPELLED = 6
"""Minimum letters of a name that may be misspelled; too many other names are similar to a shorter one."""
LONG_PHRASE = 4
"""Minimum blanks in the words of an error that may be in several files; fewer words occur together by chance."""
MOST_FOLDERS = 8
"""Maximum trailing components of a path from another machine that are compared with this project's paths."""

OF_THE_PLATFORM = frozenset(
    "document window console navigator location history localStorage sessionStorage Math JSON Object Array Promise Date"
    " String Number process module os sys re json np pd plt torch self super System Arrays Collections fmt".split()
)
"""Objects of languages, browsers and widespread libraries; no prompt asks in which file their methods are called."""


def facts(db: Connection, root: str, names: list[Name], opened: Collection[str] = ()) -> list[Fact]:
    """Return the facts about ``names`` from the index and the files, at most one per name.

    ``opened`` are the files that the conversation has opened.
    """
    lookup = Lookup(db, root)
    lookup.opened = opened
    lookup.named_paths = [name.text for name in names if name.kind in (FILE, ATTACHED)]
    lookup.placed_paths = [name.text for name in names if name.kind in (FILE, ATTACHED, FRAME) and name.line]
    lookup.named_types = [name.text for name in names if name.kind == IDENTIFIER and name.text[:1].isupper()]
    lookup.attached = sum(1 for name in names if name.kind == ATTACHED)
    found: list[Fact] = []
    # Members last, because most of them are the end of a sentence and the start of the next.
    wanted = sorted((name for name in names if name.kind in _LOOKERS), key=lambda name: name.kind == MEMBER)
    for name in wanted[:MOST_LOOKED_UP]:
        if name.kind in (CODE, INSTALLED) and any(fact.kind in (CODE, FRAME) for fact in found):
            continue  # the place is known already
        fact = _LOOKERS[name.kind](lookup, name)
        if not fact and lookup.named_paths:
            from enricher.sources.code.named_files import place_in_named_file

            fact = place_in_named_file(lookup, name)
        if fact and not any(_is_same_place(fact, known) for known in found):
            found.append(fact)
    placed = {fact.path for fact in found if fact.line}
    # A fact that only names a file adds nothing to one that names a line of it.
    kept = [fact for fact in found if fact.line or fact.kind not in (FILE, USERS, TESTED) or fact.path not in placed]
    return [fact for fact in kept if not any(_names_all_places(other, fact) for other in kept if other is not fact)]


def _is_same_place(fact: Fact, known: Fact) -> bool:
    """Return whether two facts point to the same line or, for pasted code, to lines at most LONGEST_PASTED apart."""
    length = LONGEST_PASTED if CODE in (fact.kind, known.kind) else 0
    return fact.path == known.path and abs(fact.line - known.line) <= length


def _names_all_places(other: Fact, fact: Fact) -> bool:
    """Return whether ``other`` lists all places of ``fact``, if these are several, so that it need not be shown."""
    places = (format_place(fact.path, fact.line), *(f"{quoted(path)}:" for path in fact.others))
    return bool(fact.others) and all(place in other.reason for place in places)


def _identifier(lookup: Lookup, name: Name) -> Fact | None:
    places = lookup.definitions(name.text)
    is_owned = False
    if places and places[0].kind != TEST:  # the program's own definition is meant, not a test's double of it
        places = [place for place in places if place.kind != TEST]
    namesakes = {place.path for place in places}
    if name.owner and (attribute := _class_attribute(lookup, name)):
        return attribute
    if name.owner and places:
        owned = _of_owner(lookup, places, name)
        is_owned = bool(owned)
        places = owned or (places if is_code_form(name.text) else [])
    elif len(places) > 1:
        places = _of_named_type(lookup, places, name) or places
    if not places and "-" in name.text and not name.is_certain:
        own = _file_called(lookup, name.text)
        return only_file(own)
    if not places:
        if name.is_certain:
            if name.owner in OF_THE_PLATFORM:
                return None
            return _attribute(lookup, name) if name.owner else _elsewhere(lookup, name)
        # "The class Baskt": only the word "class" and the capital letter show that this is a name.
        is_named = name.text[:1].isupper() and not (name.owner or name.may_be_new)
        return _missing_name(lookup, name.text) if is_named else None
    if len(places) > (MOST_DEFINING if name.is_certain or name.is_asked else 1):
        return (_of_this_folder(lookup, name, places) or _declared(lookup, name, places)) if name.is_certain else None
    present = [place for place in places if lookup.verified(place, name.text)]
    if not present:
        return Fact(DEFINITION, places[0].path, places[0].line, name.text, "defined here", FEW, fault=GONE)
    return _definition(lookup, name, present, namesakes, is_owned=is_owned)


def _of_named_type(lookup: Lookup, places: list[SourceLine], name: Name) -> list[SourceLine]:
    """Return those of ``places``, the definitions of ``name``, in the file of a type that the prompt names as well."""
    paths = {
        own[0].path
        for other in lookup.named_types
        if other != name.text and len(own := [one for one in lookup.definitions(other) if one.kind != TEST]) == 1
    }
    return [place for place in places if place.path in paths]


def _of_this_folder(lookup: Lookup, name: Name, places: list[SourceLine]) -> Fact | None:
    """Return a fact about the only one of ``places``, the definitions of ``name``, beside files that were opened."""
    folders = {path.rpartition("/")[0] for path in lookup.opened}
    own = [place for place in places if place.path.rpartition("/")[0] in folders]
    if len(own) != 1 or not lookup.verified(own[0], name.text):
        return None
    reason = f"defined here, beside the files of this conversation, and in {counted(len(places) - 1)}"
    return Fact(DEFINITION, own[0].path, own[0].line, name.text, reason, FEW)


def _declared(lookup: Lookup, name: Name, places: list[SourceLine]) -> Fact | None:
    """Return a fact about the one definition of ``name`` in an interface, which the others implement.

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

    ``places`` are its definitions. If the prompt names some of their files, the other definitions are ignored.
    ``namesakes`` are all files that define the name, and ``is_owned`` means that the places belong to the owner that
    the prompt names (``owner`` in ``owner.name``).
    """
    places = [place for place in places if lookup.is_named_in_prompt(place.path)] or places
    first = places[0]
    if not first.text.strip().startswith(DEFINING_STARTS):  # an instance, whose class may have its own file
        own = _file_called(lookup, name.text)
        if own not in ("", first.path):
            return only_file(own)
    subject = f"{name.owner}.{name.text}" if is_owned and name.owner[:1].isupper() else name.text
    if len(places) > 1:
        others = ", ".join(format_place(place.path, place.line) for place in places[1:])
        fact = Fact(DEFINITION, first.path, first.line, subject, f"defined here and in {others}", FEW)
        fact.others = [place.path for place in places[1:]]
        return fact
    # "Cart.total": other lines with the word "total" may mean anything.
    if (name.owner and not name.is_certain) or _has_namesake(lookup, name, first):
        return Fact(DEFINITION, first.path, first.line, subject, "defined here", FEW)
    uses = lookup.uses(name.text, first.path, namesakes)
    if uses.files and not name.is_certain:
        # Of an ordinary word that is used everywhere, the function is meant only if the prompt says so; it may be used
        # in as many files as a word, so how many is not told.
        is_function = name.is_asked and first.kind != TEST and not first.text[:1].isspace()
        return Fact(DEFINITION, first.path, first.line, subject, "defined here", FEW) if is_function else None
    is_variable = not first.text.strip().startswith(DEFINING_STARTS)
    if first.kind == TEST and is_variable and any(place.kind != TEST for place in uses.places):
        # The program does not mean the variable of a test.
        return _elsewhere(lookup, name) if name.is_certain else None
    is_word = name.text.islower() and not is_code_form(name.text)
    if is_word:  # a variable or a field may have the same name, so only calls are certain
        uses.places = [place for place in uses.places if f"{name.text}(" in place.text]
    is_told = lookup.gives_place(first.path) and all(place.path == first.path for place in uses.places)
    is_everywhere = uses.files or len({place.path for place in uses.places if place.kind != TEST}) > MOST_USING
    is_unknown = lookup.is_exhausted or ((is_word or uses.is_partial) and not uses.places)
    reason = "defined here" + ("" if is_unknown else used(lookup, uses, first, name.text))
    reason += variants(lookup, first.path, name.text)
    score = WIDELY_USED if is_everywhere else ONLY
    fact = Fact(DEFINITION, first.path, first.line, subject, reason, score, fault=NAMED_IN_PROMPT if is_told else "")
    fact.users = [place.path for place in uses.places]
    return fact


def _of_owner(lookup: Lookup, places: list[SourceLine], name: Name) -> list[SourceLine]:
    """Return those of ``places``, the definitions of ``name``, that belong to its owner (``owner`` in ``owner.name``).

    They are in the body of a class called ``owner``, in a file that defines something else of that name, or in a file
    so called.
    """
    owners = {place.path: place for place in lookup.definitions(name.owner)}
    own = []
    for place in places:
        owner = owners.get(place.path)
        if owner is None:
            own += [place] if _stem(place.path) == name.owner.lower() else []
            continue
        lines = lookup.lines_in(place.path, name.text)
        end = lookup.end_of_class(owner)
        # A file may define several classes with a method of that name. Where their bodies are not known, the owner's is
        # the first one below it.
        inside = [line for line in lines if owner.line <= line and (line <= end or not end)]
        if inside or not end:
            place.line = inside[0] if inside else place.line
            own.append(place)
    # Of the modules so called, the one whose whole path the prompt gives.
    return [place for place in own if _is_module(place.path, name.scope)] or own


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def _has_namesake(lookup: Lookup, name: Name, place: SourceLine) -> bool:
    """Return whether something else than ``place`` is called ``name``, so that a line that uses it may mean either.

    It is asked of a name whose owner or file the prompt gives; any other has one place only.
    """
    return any(other.path != place.path and other.kind != TEST for other in lookup.definitions(name.text))


def _is_module(path: str, dotted: str) -> bool:
    """Return whether the file at ``path`` is the module ``dotted``, whose first folders may be left out."""
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
    own = [place for place in places if lookup.is_member(place, name.owner, name.text)]
    if len(own) != 1:
        return None if own else _text_place(lookup, f"{name.owner}.{name.text}", TEXT, is_delimited=True)
    fault = NAMED_IN_PROMPT if lookup.gives_place(own[0].path) else ""
    return Fact(DEFINITION, own[0].path, own[0].line, f"{name.owner}.{name.text}", "defined here", FEW, fault=fault)


def _attribute(lookup: Lookup, name: Name) -> Fact | None:
    """Locate an attribute that nothing defines, as written; what the project defines comes before it."""
    fact = _text_place(lookup, f"{name.owner}.{name.text}", TEXT)
    if fact:
        fact.score = FEW
    return fact


def _elsewhere(lookup: Lookup, name: Name) -> Fact | None:
    """Locate a name for which the index has no definition: as a file name, key, attribute or local variable.

    If it is found nowhere, return the only similar name, as a correction; None if there is no such name either.
    """
    if own := _file_called(lookup, name.text):
        return only_file(own)
    is_local = not name.text[:1].isupper() or name.text.isupper()
    found = _text_place(lookup, name.text, "name", most=1) if is_local else None
    return found or (None if name.may_be_new else _missing_name(lookup, name.text))


def _file_called(lookup: Lookup, name: str) -> str:
    """Return the path of the only source file with that name and any extension; empty if there is not just one."""
    if not is_code_form(name) and "-" not in name:  # an ordinary word
        return ""
    kinds = (SOURCE, TEMPLATE, TEST) if name.lower().startswith("test") else (SOURCE, TEMPLATE)
    files = [path for path, kind in lookup.of_stem(name) if kind in kinds]
    return files[0] if len(files) == 1 else ""


def _text_place(
    lookup: Lookup, text: str, kind: str, *, most: int = MOST_SHOWN, is_delimited: bool = False
) -> Fact | None:
    """Return a fact that says where ``text`` occurs; None if it occurs nowhere or in more than ``most`` source files.

    ``kind`` is the kind of the fact, such as a name or an error. With ``is_delimited``, an occurrence counts only if it
    is a complete string or label, not part of a longer one.
    """
    files = lookup.holding(text)
    most_read = MOST_WITH_ALL_WORDS if text.count(" ") > 1 else MOST_CANDIDATES
    if len(files) > most_read and kind == TEXT:  # the words of a label are common, but few files translate labels
        files = [one for one in files if one[1] == TRANSLATION]
    if not files or len(files) > most_read:
        return None
    holders: list[Holder] = []
    for path, file_kind in files:
        lines = lookup.occurrences(path, text)
        if is_delimited:
            lines = [(number, at) for number, at in lines if _is_delimited(at, text)]
        if lines:
            holders.append((path, file_kind, lines))
    own = [one for one in holders if one[1] in (SOURCE, TEMPLATE, CONFIG, STUB)]
    if not own and kind in (TEXT, ERROR):  # the code may have only the key of a translated text
        return _translation(lookup, holders, text, kind) or _of_a_test(holders, text, kind)
    if kind == "name" and len(holders) > 1 and (fact := _environment(own, text)):
        return fact
    mentioning = own if text.isupper() else holders  # documents list the settings as well
    if kind == "name" and len(holders) > 1 and len(mentioning) <= MOST_DECLARED and (place := _declaration(own, text)):
        users = [format_place(path, lines[0][0]) for path, _kind, lines in holders if path != place[0]]
        also = ", ".join(users) if len(users) <= MOST_NAMED else counted(len(users))
        fact = Fact(DEFINITION, place[0], place[1], text, f"defined here; also in {also}", FEW)
        fact.users = [path for path, _kind, _lines in holders]
        return fact
    others_count = len(holders) - len(own)
    if not 0 < len(own) <= most or lookup.is_exhausted or (kind == "name" and others_count):
        return None  # a name without a definition that also occurs in tests or documents has no single place
    if kind == FLAG:  # what declares a flag has it as a whole string, and comes before what mentions it in a message
        own.sort(key=lambda one: not any(_is_delimited(at, text) for _number, at in one[2]))
    path, _kind, lines = own[0]
    line = next((number for number, at in lines if defines(at, text) or reads_environment(at, text)), lines[0][0])
    score = ONLY if len(own) == 1 else FEW
    others = ", ".join(format_place(other, found[0][0]) for other, _kind, found in own[1:])
    if others:
        reason = f"found here and in {others}"
        if is_delimited and (mentions := _mentioning(lookup, text, files, holders)):
            reason = f"found as a value here and in {others}; {counted(mentions)} mention{'s' * (mentions == 1)} it"
    elif mentions := _mentioning(lookup, text, files, holders):
        reason = f"the only file that has it as a value; {counted(mentions)} mention{'s' * (mentions == 1)} it"
    elif others_count:
        reason = f"the only source that has it, beside {others_count} test or other file{'s' * (others_count > 1)}"
    elif len(lines) == 1:
        reason = "the only place that has it"
    else:
        reason = f"the only file that has it, {len(lines)} times"
    reason += variants(lookup, path, text) if kind == "name" else ""
    fact = Fact(kind, path, line, text, reason, score, fault=NAMED_IN_PROMPT if lookup.gives_place(path) else "")
    fact.users = [other for other, _kind, _lines in own]
    return fact


def _mentioning(lookup: Lookup, text: str, files: list[tuple[str, int]], holders: list[Holder]) -> int:
    """Return how many of ``files`` contain ``text`` only without its quotation marks; ``holders`` have it with them."""
    bare = text.strip("\"'")
    whole = {path for path, _kind, _lines in holders}
    return sum(path not in whole and bool(lookup.occurrences(path, bare)) for path, _kind in files)


def _translation(lookup: Lookup, holders: list[Holder], text: str, kind: str) -> Fact | None:
    """Return a fact that says where the English translations have ``text``; None if they have it in many places.

    Only these translations are indexed (``enricher.sources.code.indexing.listing.is_english``).
    """
    places = [(path, line) for path, file_kind, lines in holders if file_kind == TRANSLATION for line in lines]
    whole = [(path, number) for path, (number, at) in places if _is_delimited(at, text)]
    found = whole or [(path, number) for path, (number, _at) in places]
    if not 0 < len(found) <= MOST_SHOWN:
        return None
    from enricher.sources.code.special.message_keys import LONGEST_SUBJECT, described

    reason = f"the English text is here{described(lookup, text, found)}"
    fact = Fact(kind, *found[0], shortened(text, LONGEST_SUBJECT), reason, FEW)
    fact.users = [path for path, _number in found]
    return fact


def _of_a_test(holders: list[Holder], text: str, kind: str) -> Fact | None:
    """Return a fact about the only test that is called ``text``; None if other files have it, or more than one line."""
    if kind != TEXT or len(holders) != 1 or text.count(" ") < 2:
        return None
    path, file_kind, lines = holders[0]
    if file_kind != TEST or len(lines) != 1:
        return None
    return Fact(kind, path, lines[0][0], text, "the only place that has it", FEW)


def _environment(holders: list[Holder], name: str) -> Fact | None:
    """Return a fact that lists the places that read the environment variable ``name``; None if none or many do.

    Tests, documents and samples of an environment contain it as well, and do not tell what it does.
    """
    reads = [
        (path, number)
        for path, _kind, lines in holders
        if (number := next((number for number, at in lines if reads_environment(at, name)), 0))
    ]
    if not 0 < len(reads) <= MOST_SHOWN:
        return None
    others = "".join(f"{', ' if at else ' and in '}{format_place(*one)}" for at, one in enumerate(reads[1:]))
    fact = Fact(DEFINITION, *reads[0], name, f"read from the environment here{others}", FEW)
    fact.others = [path for path, _number in reads[1:]]
    return fact


def _declaration(holders: list[Holder], name: str) -> tuple[str, int] | None:
    """Return the path and line of the declaration of ``name`` among ``holders``, the files that contain this name.

    Finds declarations that are missing from the index, such as those in a script within a web page. Returns None unless
    exactly one file has such a declaration.
    """
    found = [(path, number) for path, _kind, lines in holders for number, at in lines if declares(at, name)]
    return found[0] if len({path for path, _ in found}) == 1 else None


def _quotation(lookup: Lookup, name: Name) -> Fact | None:
    if name.is_made:
        return None
    spaces = name.text.count(" ")
    if spaces > 1:
        # The code may have a placeholder where the quoted message has a value, so that only a part of it is found.
        return _text_place(lookup, name.text, TEXT) or (_error(lookup, name) if spaces > 2 else None)
    if spaces:
        return _text_place(lookup, name.text, TEXT, is_delimited=True)
    if len(lookup.holding(name.text)) > MOST_SHOWN:
        return None  # a common word
    return _text_place(lookup, name.text, TEXT, most=1, is_delimited=True)


def _is_delimited(line: str, text: str) -> bool:
    """Return whether a line contains the text as a whole string or label, apart from a punctuation mark at its end.

    In a configuration, the reference ``${model.size}`` counts, too.
    """
    if "." in text and f"${{{text}}}" in line:
        return True
    marks = ("", ".", ":", "!", "?", "\u2026")
    return any(f"{start}{text}{mark}{end}" in line for start, end in ('""', "''", "><", "``") for mark in marks)


def _error(lookup: Lookup, name: Name) -> Fact | None:
    for phrase in phrases([name.text]):
        fact = _text_place(lookup, phrase, ERROR, most=MOST_SHOWN if phrase.count(" ") >= LONG_PHRASE else 1)
        if fact:
            return fact
    return None


def _code(lookup: Lookup, name: Name) -> Fact | None:
    """Locate pasted code by a line of it that occurs in only one file; None if there is no such line."""
    fact = _text_place(lookup, name.text, CODE, most=1)
    if fact:
        fact.subject, fact.reason = "", "the pasted code is here"
    return fact


def _route(lookup: Lookup, name: Name) -> Fact | None:
    fixed = []
    for part in name.text.split("/")[1:]:
        if part[:1] in ":{<[" or part.isdigit():  # a parameter, as in /users/:id, or its value
            break
        fixed.append(part)
    is_path = os.path.exists(f"{lookup.root}/{'/'.join(fixed)}")  # "/src/app" may be meant from the project's root
    if not fixed or is_path:
        return None
    whole = _text_place(lookup, name.text, ROUTE) if name.text.count("/") > len(fixed) else None
    return whole or _text_place(lookup, "/" + "/".join(fixed), ROUTE)


def _flag(lookup: Lookup, name: Name) -> Fact | None:
    from enricher.sources.code.special.subcommands import place_of_option

    if fact := place_of_option(lookup, name.text):
        return fact
    # Comments, messages and scripts may mention a flag; what declares it has it as a whole string. Some libraries, such
    # as Go's, declare it without its dashes.
    return (
        _text_place(lookup, name.text, FLAG)
        or _text_place(lookup, name.text, FLAG, is_delimited=True)
        or _text_place(lookup, f'"{name.text[2:]}"', FLAG)
    )


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
    """Locate the file of a stack frame whose path is from another machine, by comparing the end of that path."""
    path = name.text.removeprefix(f"{lookup.root}/")
    if os.path.exists(f"{lookup.root}/{path}"):
        return None
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    for start in range(max(0, len(parts) - MOST_FOLDERS), len(parts)):
        found = lookup.named("/".join(parts[start:]))
        if found and (len(found) > 1 or (start and start == len(parts) - 1)):  # only the file name agrees
            return None
        if found:
            own = found[0][0]
            return Fact(FRAME, own, name.line, lookup.symbol_at(own, name.line), "the trace's innermost frame", ONLY)
    return None


def _installed_frame(lookup: Lookup, name: Name) -> Fact | None:
    """Locate a stack frame of a package that is this project, installed elsewhere, perhaps in another version."""
    own = [path for path, kind in lookup.named(name.text) if kind == SOURCE]
    if len(own) != 1 or "/" not in name.text:  # a single file, such as "six.py", may be any package's
        return None
    path = own[0]
    line = name.line if lookup.symbol_at(path, name.line) == name.owner else 0
    line = line or next(iter(lookup.lines_in(path, name.owner)), 0)
    return Fact(FRAME, path, line, name.owner if line else "", "the trace's innermost frame in this project", ONLY)


def _missing_name(lookup: Lookup, name: str) -> Fact | None:
    """Return a fact about the only existing name similar to the misspelled ``name``; None unless there is just one."""
    if len(name) < SHORTEST_MISSPELLED or lookup.occurs(name) or lookup.was_known(name):
        return None
    plain = name.replace("_", "").lower()
    like = lookup.names_like(name)
    same = [other for other in like if other.replace("_", "").lower() == plain]
    near = same or [other for other in like if is_near(other, name)]
    if len(near) != 1:
        return None
    places = [place for place in lookup.definitions(near[0]) if lookup.verified(place, near[0])]
    if len(places) != 1:
        return None
    return Fact("missing", places[0].path, places[0].line, near[0], f"the nearest to {name}, which does not exist", FEW)


_LOOKERS = {
    IDENTIFIER: _identifier,
    MEMBER: _member,
    FILE: _file,
    ROUTE: _route,
    FLAG: _flag,
    TEXT: _quotation,
    ERROR: _error,
    ATTACHED: _file,
    COMMAND: _command,
    CODE: _code,
    FRAME: _frame,
    INSTALLED: _installed_frame,
    FAILED: _failed,
}

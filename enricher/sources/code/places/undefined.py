"""Look up a name that the index does not define: as a file, setting, key or local variable, or as a misspelling.

Runs in the hook, but is imported only if the prompt contains such a name.
"""

from __future__ import annotations

from enricher.prompt.wording import TEXT
from enricher.prompt.wording.pasted.lines import is_error
from enricher.prompt.wording.words import is_code_form
from enricher.sources.code import SOURCE, TEST
from enricher.sources.code.facts import FEW, Fact, defined_at, format_place, used
from enricher.sources.code.lines import HEADER_ENDS, TYPE_WORDS, declares_variable, is_comment
from enricher.sources.code.lookup import MOST_CANDIDATES, MOST_DEFINING, SHORTEST_MISSPELLED, SourceLine, is_near
from enricher.sources.code.places.texts import environment, key_place, text_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup

KEYS = ("ctrl-", "alt-", "shift-", "cmd-", "meta-", "super-")
"""Beginnings of the names of keys, which programs list but do not define."""
WITH_FIELDS = (".go", ".java", ".kt", ".cs", ".rs", ".swift")
"""Extensions of files in languages that declare each field of a type on its own line; headers of C come in addition."""
ENDS_OF_TEST_FILES = ("_spec", "_test", "_tests")
SHORTEST_KEY = 8
"""Minimum letters of an undefined name whose places are shown; a shorter one may be another variable in each file."""
CREATING_TABLES = (
    "create table",
    "create_table",
    "__tablename__",
    "schema::create",
    "sqlitetable(",
    "pgtable(",
    "mysqltable(",
)
"""Beginnings of lines, in lower case, that create a table: SQL, Rails, SQLAlchemy, Laravel, Drizzle."""


def place_of_undefined(lookup: Lookup, name: Name) -> Fact | None:
    """Return a fact about a name without a definition: where else it occurs, or that it does not exist."""
    if name.is_certain:
        if not name.owner:
            return place_elsewhere(lookup, name)
        from enricher.sources.code.places.members import undefined_attribute

        return undefined_attribute(lookup, name)
    if name.text.isupper():
        return environment(lookup, name.text)
    # "The class Baskt": only the word "class" and the capital letter show that this is a name.
    is_named = name.text[:1].isupper() and name.text.isalpha() and not (name.owner or name.may_be_new)
    return _missing_name(lookup, name.text) if is_named else None


def place_of_option(lookup: Lookup, name: Name) -> Fact | None:
    """Locate an option such as "escape-time", which may be an ordinary word, too, as "read-only" is."""
    from enricher.sources.code.special.settings import place_of_setting

    is_named = name.is_asked or name.is_setting or name.is_certain or name.text.count("-") > 1
    fact = place_of_setting(lookup, name.text, is_certain=is_named)
    if not fact and is_named:
        fact = text_place(lookup, name.text, TEXT, is_delimited=True) if name.is_asked else None
        fact = _function_of(lookup, name.text) or fact
    if not fact and not is_named and "-" in name.text and _is_name_everywhere(lookup, name.text):
        fact = text_place(lookup, name.text, TEXT, most=1, is_delimited=True)
    return fact


def _is_name_everywhere(lookup: Lookup, word: str) -> bool:
    """Return whether nearly all lines with a word with a hyphen have it in quotation marks, and none of the code's not.

    An ordinary word such as "read-only" stands in sentences as well.
    """
    files = lookup.holding(word)
    lines = [
        (kind, line)
        for path, kind in files[:MOST_CANDIDATES] if kind != TEST
        for _number, line in lookup.occurrences(path, word)
    ]  # fmt: skip
    if word.startswith(KEYS):
        return False
    bare = [kind for kind, line in lines if not any(f"{mark}{word}{mark}" in line for mark in "\"'`")]
    in_code = [line for kind, line in lines if kind == SOURCE and not is_comment(line)]
    is_quoted = all(any(f"{mark}{word}{mark}" in line for mark in "\"'`") for line in in_code)
    return 0 < len(files) <= MOST_CANDIDATES and bool(in_code) and is_quoted and len(bare) * 3 <= len(lines)


def _function_of(lookup: Lookup, command: str) -> Fact | None:
    """Return the place of the only function that is called like a command: ``tab_give`` for "tab-give"."""
    name = command.replace("-", "_")
    places = [place for place in lookup.definitions(name) if place.kind != TEST and lookup.verified(place, name)]
    return defined_at(places[0], name) if len(places) == 1 else None


def place_elsewhere(lookup: Lookup, name: Name) -> Fact | None:
    """Locate a name for which the index has no definition: as a file name, key, attribute or local variable.

    If it is found nowhere, return the only similar name, as a correction; None if there is no such name either.
    """
    if name.is_table:
        return _table(lookup, name.text)
    if name.text.endswith(ENDS_OF_TEST_FILES) and lookup.of_stem(name.text):
        return None  # it means a test file, which is found by that name
    if own := lookup.source_called(name.text):
        from enricher.sources.code.places.named_files import only_file_with_users

        return only_file_with_users(lookup, own)
    if is_code_form(name.text) and lookup.of_stem(name.text):
        return None  # it means one of these files, and not a line that names it
    found = None
    if name.text.islower():
        from enricher.sources.code.special.settings_classes import place_of_settings_field

        found = place_of_settings_field(lookup, name.text, is_asked=name.is_asked)
    if not found and (not name.text[:1].isupper() or name.text.isupper()):  # a local variable
        found = text_place(lookup, name.text, "name", most=1)
        found = None if found and not name.is_asked and _is_only_called(lookup, found) else found
    if not found and not is_error(name.text):  # an error name that the project lacks usually belongs to a library
        found = place_of_option(lookup, name)
    found = found or _member(lookup, name)
    if not found and len(name.text) >= SHORTEST_KEY and is_code_form(name.text):
        found = key_place(lookup, name.text)
    if not found and name.text.isupper() and "_" in name.text and not lookup.occurs(name.text):
        found = text_place(lookup, name.text.lower(), "name", most=1) or _flag_of(lookup, name.text)
    return found or (None if name.may_be_new else _missing_name(lookup, name.text))


def _is_only_called(lookup: Lookup, fact: Fact) -> bool:
    """Return whether the project only calls something of this name once, as a method of what it does not define."""
    lines = lookup.occurrences(fact.path, fact.subject)
    return len(lines) == 1 and f".{fact.subject}(" in lines[0][1]


def _member(lookup: Lookup, name: Name) -> Fact | None:
    """Return the place of a field of a type that only one line declares, in C and C++ of a header, and its uses."""
    files = lookup.holding(name.text)
    if len(files) > MOST_CANDIDATES:
        return None
    declared = [
        SourceLine(path, number, kind, line)
        for path, kind in files if kind == SOURCE and path.endswith((*HEADER_ENDS, *WITH_FIELDS))
        for number, line in lookup.occurrences(path, name.text) if not is_comment(line)
        if _declares_member(lookup, SourceLine(path, number, kind, line), name.text)
    ]  # fmt: skip
    if len(declared) != 1:
        return None
    place = declared[0]
    uses = lookup.uses(name.text, place.path, set())
    uses.places = [one for one in uses.places if (one.path, one.line) != (place.path, place.line)]
    told = used(lookup, uses, place, name.text, is_asked=name.is_asked)
    fact = defined_at(place, name.text, f"declared here{told}")
    fact.users = fact.callers = [place.path for place in uses.places]
    return fact


def _declares_member(lookup: Lookup, place: SourceLine, name: str) -> bool:
    if place.path.endswith(HEADER_ENDS):
        return declares_variable(place.text, name)
    from enricher.sources.code.fields import declares_field
    from enricher.sources.code.nesting import enclosing

    is_field = place.text[:1].isspace() and declares_field(place.path, place.text, name, is_of_enum=False)
    return is_field and not TYPE_WORDS.isdisjoint(enclosing(lookup, place).split())


def _flag_of(lookup: Lookup, variable: str) -> Fact | None:
    """Return the place of the flag that sets the same as an environment variable: ``--retry-limit``, SHOP_RETRY_LIMIT.

    The variable is composed in the code, of the program's name and that of the flag.
    """
    from enricher.sources.code.special.settings import place_of_setting

    words = variable.lower().split("_")[1:]
    fact = place_of_setting(lookup, f"--{'-'.join(words)}") if len(words) > 1 else None
    fact = fact or (text_place(lookup, "-".join(words), TEXT, most=1, is_delimited=True) if len(words) > 1 else None)
    if fact:
        fact.reason = f"{fact.reason}; {variable} stands nowhere"
    return fact


def _table(lookup: Lookup, name: str) -> Fact | None:
    """Return where the database table ``name`` is created; None unless exactly one line creates it."""
    found = [
        (path, number)
        for path, kind in lookup.holding(name) if kind != TEST
        for number, line in lookup.occurrences(path, name, with_docstrings=True)  # SQL is often in such a string
        if any(word in line.lower() for word in CREATING_TABLES)
    ]  # fmt: skip
    if len(found) != 1 or lookup.is_exhausted:
        return None
    path, number = found[0]
    return Fact("table", path, number, name, "the table is created here", FEW)


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

"""Find where a text occurs in a project: a quotation, an error, a route, a flag, or a name without a definition.

Runs in the hook, but is imported only if the prompt contains such a text.
"""

from __future__ import annotations

import os

from enricher.prompt.text import shortened
from enricher.prompt.wording import CODE, ERROR, FLAG, ROUTE, TEXT
from enricher.prompt.wording.words import is_code_form
from enricher.sources.code import CONFIG, SOURCE, STUB, TEMPLATE, TEST, TRANSLATION
from enricher.sources.code.facts import (
    DEFINITION,
    FEW,
    MOST_LINES,
    MOST_SHOWN,
    NAMED_IN_PROMPT,
    ONLY,
    Fact,
    also_lines,
    counted,
    defined_at,
    format_place,
    variants,
)
from enricher.sources.code.lines import EDITOR_ENDS, compares, declares, defines, is_import, phrases, reads_environment
from enricher.sources.code.lookup import MOST_CANDIDATES, MOST_WITH_ALL_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup

    Holder = tuple[str, int, list[tuple[int, str]]]
    """A file that contains a text: its path, its kind, and (number, content) of each line with the text."""

MOST_DECLARED = 5
"""If more files than this contain a name that is missing from the index, none of them is shown as declaring it."""
WITH_DOLLARS = (".php", ".gradle", ".kts", ".groovy", ".kt", ".sh", ".bash", ".pl", ".pm", ".scala", ".dart")
"""Extensions of files in which a name behind a dollar sign is the same one, as a variable or within a text."""
SHORTEST_TYPE = 8
"""Minimum letters of a quoted word that may be the name of a type; a shorter one is mostly a label or a value."""
MOST_PINNED = 6
"""Maximum files that use a version of an action, all of which are listed."""
MOST_NAMED = 2
"""Maximum further files with a name that are listed; if there are more, only their number is shown."""
TABLE_FOLDERS = frozenset(("i18n", "l10n", "locale", "locales", "translations"))
"""Folders whose source files are tables with the texts of the interface: ``SaveDraft: "Save as draft",``."""
COMMENTS = ("//", "/*", "* ", "# ", "<!--")
"""Beginnings of comments, which only mention a quoted text; "#menu" and "--red" may be what a style sheet defines."""
SHORTEST_IDENTITY = 20
"""Least characters of a part of a route with a digit that counts as an identity, such as a UUID."""
LONG_PHRASE = 4
"""Minimum spaces in a part of an error message that may occur in several files; shorter parts may occur by chance."""


def text_place(
    lookup: Lookup, text: str, kind: str, *, most: int = MOST_SHOWN, is_delimited: bool = False, whole: str = ""
) -> Fact | None:
    """Return a fact that says where ``text`` occurs; None if it occurs nowhere or in more than ``most`` source files.

    ``kind`` is the kind of the fact, such as a name or an error. With ``is_delimited``, an occurrence counts only if it
    is a complete string or label, not part of a longer one. If ``text`` is the beginning of a route, lines with the
    route ``whole`` precede lines with longer or shorter routes.
    """
    files = _files_with_the_words(lookup, text, kind)
    holders = _holders(lookup, files, text, kind, is_delimited=is_delimited)
    if kind == ROUTE:
        files = [one[:2] for one in holders]
    # The configuration of a workflow uses options of programs, and declares none.
    kinds = (SOURCE, TEMPLATE, STUB) if kind == FLAG and is_delimited else (SOURCE, TEMPLATE, CONFIG, STUB)
    own = [one for one in holders if one[1] in kinds]
    if kind == FLAG:  # the plugin for an editor only passes it on
        own = [one for one in own if not one[0].endswith(EDITOR_ENDS)] or own
    if kind in ("name", FLAG, ROUTE):  # ".github/workflows/ci.yml" and ".rubocop.yml" name what is elsewhere
        own = [one for one in own if not (one[1] == CONFIG and one[0].startswith("."))]
    if kind == TEXT and (real := [one for one in own if not _is_mention(one)]):
        holders = [one for one in holders if one in real or one not in own]
        own = real
    if kind in (TEXT, ERROR) and all(_is_of_texts(*one[:2]) for one in own):  # the code may contain only the key
        return _translation(lookup, holders, text, kind) or _of_a_test(holders, text, kind)
    if kind == "name" and (len(holders) > 1 or text.isupper()):
        fact = _environment(own, text) or _declared(lookup, holders, own, text)
        if fact:
            return fact
    has_others = kind == "name" and most == 1 and len(holders) > len(own)
    if not 0 < len(own) <= most or lookup.is_exhausted or has_others:
        return None  # an undefined name that also occurs in tests or documents has no single place
    if kind == FLAG:  # a declaration contains the flag as a whole string, and precedes messages that mention it
        own.sort(key=lambda one: not any(_is_delimited(at, text) for _number, at in one[2]))
    elif kind == ROUTE:
        own.sort(key=lambda one: not any(_has_route(at, whole) for _number, at in one[2]))
    path, _kind, lines = own[0]
    lines.sort(key=lambda one: not (_has_route(one[1], whole) if whole else _is_declaring(one[1], text, kind)))
    line = lines[0][0]
    reason = _reason(lookup, text, files, holders, own, is_delimited=is_delimited)
    reason += variants(lookup, path, text) if kind == "name" else ""
    fault = NAMED_IN_PROMPT if lookup.gives_place(path) else ""
    fact = Fact(kind, path, line, text, reason, ONLY if len(own) == 1 else FEW, fault=fault)
    fact.users = [other for other, _kind, _lines in own]
    return fact


def _holders(lookup: Lookup, files: list[tuple[str, int]], text: str, kind: str, *, is_delimited: bool) -> list[Holder]:
    holders: list[Holder] = []
    for path, file_kind in files:
        lines = lookup.occurrences(path, text)
        if path.endswith(WITH_DOLLARS) and text.isidentifier():  # "$total", and its property has no dollar sign
            lines = sorted({*lines, *lookup.occurrences(path, f"${text}")})
        if is_delimited:
            lines = [(number, at) for number, at in lines if _is_delimited(at, text)]
        if kind == "name":
            lines = [one for one in lines if not one[1].strip().startswith(COMMENTS)] or lines
        if kind == ERROR:  # a comment prints nothing
            lines = [one for one in lines if not (one[1].strip().startswith(COMMENTS) or compares(one[1]))]
        if kind == ROUTE:  # "../api/orders" is the path of a module, and a collection of requests only calls a route
            lines = [] if path.endswith(".json") else [(number, at) for number, at in lines if not is_import(at)]
        if lines:
            holders.append((path, file_kind, lines))
    return holders


def _is_mention(holder: Holder) -> bool:
    return all(at.strip().startswith(COMMENTS) for _number, at in holder[2])


def _is_declaring(line: str, text: str, kind: str) -> bool:
    return defines(line, text) or reads_environment(line, text) or (kind == FLAG and _is_delimited(line, text))


def _files_with_the_words(lookup: Lookup, text: str, kind: str) -> list[tuple[str, int]]:
    """Return the path and kind of each file with all words of ``text``; empty if there are too many to read."""
    files = lookup.holding(text)
    most_read = MOST_WITH_ALL_WORDS if text.count(" ") > 1 else MOST_CANDIDATES
    if len(files) > most_read and kind == TEXT:  # the words of a label are common, but few files translate labels
        files = [one for one in files if _is_of_texts(*one)]
    return files if len(files) <= most_read else []


def _is_of_texts(path: str, kind: int) -> bool:
    """Return whether a file contains the interface's English texts: a translation, or a source file in their folder."""
    return kind == TRANSLATION or (kind == SOURCE and not TABLE_FOLDERS.isdisjoint(path.split("/")[:-1]))


def _declared(lookup: Lookup, holders: list[Holder], own: list[Holder], name: str) -> Fact | None:
    """Return a fact about the only file that declares ``name``.

    Return None if no file or several files declare it, or if too many files contain it.

    ``own`` are those of ``holders`` other than tests, documents and examples.
    """
    mentioning = own if name.isupper() else holders  # documents list the settings as well
    place = _declaration(own, name) if len(mentioning) <= MOST_DECLARED else None
    if place is None:
        return None
    users = [format_place(path, lines[0][0]) for path, _kind, lines in holders if path != place[0]]
    also = ", ".join(users) if len(users) <= MOST_NAMED else counted(len(users))
    fact = Fact(DEFINITION, place[0], place[1], name, f"defined here{'; also in ' * bool(users)}{also}", ONLY)
    fact.users = [path for path, _kind, _lines in holders]
    from enricher.sources.code.special.settings import with_readers

    return with_readers(lookup, fact)


def _reason(
    lookup: Lookup,
    text: str,
    files: list[tuple[str, int]],
    holders: list[Holder],
    own: list[Holder],
    *,
    is_delimited: bool,
) -> str:
    """Describe the places of ``text``: say that there is only one of its kind, or list the others."""
    others = ", ".join(format_place(other, found[0][0]) for other, _kind, found in own[1:])
    beside = [one for one in holders if one not in own]
    if others:
        if is_delimited and (mentions := _mentioning(lookup, text, files, holders)):
            return f"found as a value here and in {others}; {counted(mentions)} mention{'s' * (mentions == 1)} it"
        return f"found here and in {others}"
    if mentions := _mentioning(lookup, text, files, holders):
        return f"the only file that has it as a value; {counted(mentions)} mention{'s' * (mentions == 1)} it"
    outside = "" if is_delimited else _outside_of_docstrings(lookup, text, files, own)
    if beside:
        places = ", ".join(format_place(other, found[0][0]) for other, _kind, found in beside)
        others = f"beside {places if len(beside) <= MOST_NAMED else f'{len(beside)} test or other files'}"
        return f"the only source that has it{outside}, {others}"
    lines = [number for number, _at in own[0][2]]
    if len(lines) > MOST_LINES:
        return f"the only file that has it{outside}, {len(lines)} times"
    return f"the only {'file' if len(lines) > 1 else 'place'} that has it{outside}{also_lines(lines)}"


def _outside_of_docstrings(lookup: Lookup, text: str, files: list[tuple[str, int]], own: list[Holder]) -> str:
    """Return a text that names the first docstring that also contains ``text``; empty if there is none."""
    known = {(path, number) for path, _kind, lines in own for number, _at in lines}
    found = [
        format_place(path, number)
        for path, kind in files if kind == SOURCE and path.endswith(".py")
        for number, _at in lookup.occurrences(path, text, with_docstrings=True) if (path, number) not in known
    ]  # fmt: skip
    return f" outside of docstrings ({found[0]})" if found else ""


def _mentioning(lookup: Lookup, text: str, files: list[tuple[str, int]], holders: list[Holder]) -> int:
    """Return how many of ``files`` contain ``text`` without quotation marks around it.

    ``holders`` are the files that contain it with quotation marks; they do not count.
    """
    bare = text.strip("\"'")
    whole = {path for path, _kind, _lines in holders}
    return sum(path not in whole and bool(lookup.occurrences(path, bare)) for path, _kind in files)


def _translation(lookup: Lookup, holders: list[Holder], text: str, kind: str) -> Fact | None:
    """Return a fact that says where the English translations have ``text``; None if they have it in many places.

    Only these translations are indexed (``enricher.sources.code.indexing.listing.is_english``).
    """
    places = [(path, line) for path, file_kind, lines in holders if _is_of_texts(path, file_kind) for line in lines]
    whole = [(path, number) for path, (number, at) in places if _is_delimited(at, text)]
    found = whole or [(path, number) for path, (number, _at) in places]
    if not 0 < len(found) <= MOST_SHOWN:
        return None
    from enricher.sources.code.special.messages.keys import LONGEST_SUBJECT, described

    reason = f"the English text is here{described(lookup, text, found)}"
    fact = Fact(kind, *found[0], shortened(text, LONGEST_SUBJECT), reason, FEW)
    fact.users = [path for path, _number in found]
    return fact


def _of_a_test(holders: list[Holder], text: str, kind: str) -> Fact | None:
    """Return a fact about the only test called ``text``; None if other files contain the text, or several lines do."""
    if kind != TEXT or len(holders) != 1 or text.count(" ") < 2:
        return None
    path, file_kind, lines = holders[0]
    if file_kind != TEST or len(lines) != 1:
        return None
    return Fact(kind, path, lines[0][0], text, "the only place that has it", FEW)


def _environment(holders: list[Holder], name: str) -> Fact | None:
    """Return a fact that lists the places that read the environment variable ``name``; None if none or many do.

    Tests, documents and sample environment files also contain it, but do not show what it does.
    """
    reads = [
        (path, *read)
        for path, _kind, lines in holders
        if (read := next(((number, at) for number, at in lines if reads_environment(at, name)), None))
    ]
    if not 0 < len(reads) <= MOST_SHOWN:
        return None
    path, number, line = reads[0]
    told = "".join(f"{', ' if at else ' and in '}{format_place(*one[:2])}" for at, one in enumerate(reads[1:]))
    if not told:
        from enricher.sources.code.special.settings import default_behind

        told = default_behind(line, name)
    fact = Fact(DEFINITION, path, number, name, f"read from the environment here{told}", FEW)
    fact.others = [path for path, _number, _line in reads[1:]]
    return fact


def environment(lookup: Lookup, name: str) -> Fact | None:
    """Locate an environment variable whose name is a single word in capitals, by the places that read it."""
    files = [one for one in lookup.holding(name) if one[1] in (SOURCE, TEMPLATE, CONFIG)]
    holders = [(path, kind, lookup.occurrences(path, name)) for path, kind in files[:MOST_CANDIDATES]]
    return _environment(holders, name)


def _declaration(holders: list[Holder], name: str) -> tuple[str, int] | None:
    """Return the path and line of the declaration of ``name`` among ``holders``, the files that contain this name.

    Finds declarations that are missing from the index, such as those in a script within a web page. Returns None unless
    exactly one file has such a declaration, or one file has the default of a setting and another has its type.
    """
    found = [(path, number, at) for path, _kind, lines in holders for number, at in lines if declares(at, name)]
    defaults = [one for one in found if not defines(one[2], name)]
    one = next((some[0] for some in (found, defaults) if len({path for path, _, _ in some}) == 1), None)
    return one and one[:2]


def quotation(lookup: Lookup, name: Name) -> Fact | None:
    """Locate a quoted text (a short one only as a whole string or label); None for one that the agent should write."""
    if name.is_made:
        return None
    spaces = name.text.count(" ")
    if spaces > 1:
        # The code may have a placeholder where the quoted message has a value, so that only a part of it is found.
        bare = name.text.rstrip(".\u2026")  # the label may have "..." for the ellipsis of the prompt
        fact = text_place(lookup, name.text, TEXT) or (text_place(lookup, bare, TEXT) if bare != name.text else None)
        return fact or error(lookup, name)
    if spaces:
        return text_place(lookup, name.text, TEXT, is_delimited=True) or _beginning(lookup, name.text)
    if "@" in name.text:
        return text_place(lookup, name.text, TEXT, most=MOST_PINNED)
    if name.text[0] == "." and name.is_certain:
        return _extension(lookup, name.text)
    if "." in name.text.strip(".\u2026"):
        from enricher.sources.code.special.settings import place_of_key

        if fact := place_of_key(lookup, name.text):
            return fact
    is_key = is_code_form(name.text.partition("/")[0]) and "/" in name.text
    if not is_key and len(lookup.holding(name.text)) > MOST_SHOWN and not name.text.endswith(("...", "\u2026")):
        return None  # a common word, not a label such as "Select..."
    found = text_place(lookup, name.text, TEXT, most=MOST_SHOWN if is_key else 1, is_delimited=True)
    return found or _quoted_type(lookup, name.text)


def _quoted_type(lookup: Lookup, name: str) -> Fact | None:
    """Return the only definition of a type that a message quotes: "Stopped thread 'Reloader'"."""
    if not (name[:1].isupper() and name[1:].islower() and name.isalpha() and len(name) >= SHORTEST_TYPE):
        return None
    places = [place for place in lookup.definitions(name) if place.kind == SOURCE and lookup.verified(place, name)]
    return defined_at(places[0], name) if len(places) == 1 else None


def _extension(lookup: Lookup, text: str) -> Fact | None:
    """Locate the ending or the name of a file (".zig") by the only source with it as a string, or without the dot."""
    for form in (text, text[1:]):
        if len(lookup.holding(form)) <= MOST_CANDIDATES and (
            fact := text_place(lookup, form, TEXT, most=1, is_delimited=True)
        ):
            return fact
    return None


def _beginning(lookup: Lookup, text: str) -> Fact | None:
    """Locate a text of two words by the only file in which a string begins with it: ``"no row '%s'"`` for "no row"."""
    for start in (f"{quote}{text}{end}" for end in (" ", ":") for quote in ('"', "'", 'f"', "f'")):
        if fact := text_place(lookup, start, TEXT, most=1):
            fact.subject = text
            return fact
    return None


def key_place(lookup: Lookup, name: str) -> Fact | None:
    """Locate a name that up to three files contain, one of them as a string or tag, such as the key of a setting."""
    fact = text_place(lookup, name, "name", most=MOST_SHOWN)
    is_key = fact and any(
        not is_import(line)
        and (_is_delimited(line, name) or f"</{name}>" in line or _is_key_of_yaml(path, line, name))
        for path in fact.users for _number, line in lookup.occurrences(path, name)
    )  # fmt: skip
    return fact if is_key or name.isupper() else None


def _is_key_of_yaml(path: str, line: str, name: str) -> bool:
    return path.endswith((".yml", ".yaml")) and line.lstrip("- ").startswith(f"{name}: ")


def _is_delimited(line: str, text: str) -> bool:
    """Return whether a line contains the text as a whole string or label, apart from a punctuation mark at its end.

    In a configuration, the reference ``${model.size}`` counts, too, and in Autoconf an option in brackets.
    """
    if "." in text and f"${{{text}}}" in line:
        return True
    if text.startswith("--") and f"([{text}]" in line:
        return True
    marks = ("", ".", ":", "!", "?", "\u2026")
    return any(f"{start}{text}{mark}{end}" in line for start, end in ('""', "''", "><", "``") for mark in marks)


def error(lookup: Lookup, name: Name) -> Fact | None:
    """Locate the message of an error by its longest run of words that the project contains."""
    if " module " in name.text or " package " in name.text or " load " in name.text:
        from enricher.sources.code.special.dependencies import missing_module, place_of_dependency

        if module := missing_module(name.text):
            return place_of_dependency(lookup, module)
    for phrase in phrases([name.text]):
        fact = text_place(lookup, phrase, ERROR, most=MOST_SHOWN if phrase.count(" ") >= LONG_PHRASE else 1)
        if fact:
            return fact
    from enricher.sources.code.special.messages import place_of_message
    from enricher.sources.code.special.messages.formats import place_of_format

    return place_of_message(lookup, name.text, ERROR) or place_of_format(lookup, name.text, ERROR)


def code(lookup: Lookup, name: Name) -> Fact | None:
    """Locate pasted code by a line of it that occurs in only one file; None if there is no such line."""
    fact = text_place(lookup, name.text, CODE, most=1)
    # Only a line that begins with the text is the pasted code; elsewhere the text may be a message in a string.
    if fact and any(line.strip().startswith(name.text) for _number, line in lookup.occurrences(fact.path, name.text)):
        fact.subject, fact.reason = "", "the pasted code is here"
        return fact
    return None


def route(lookup: Lookup, name: Name) -> Fact | None:
    """Locate a route such as ``/users/:id/posts``: as written, else up to its first parameter."""
    fixed = []
    for part in name.text.split("/")[1:]:
        if _is_parameter(part):
            break
        fixed.append(part)
    is_path = os.path.exists(f"{lookup.root}/{'/'.join(fixed)}")  # "/src/app" may be meant from the project's root
    if not fixed or is_path:
        return None
    has_parameter = name.text.count("/") > len(fixed)
    if whole := text_place(lookup, name.text, ROUTE, whole="" if has_parameter else name.text):
        return whole
    from enricher.sources.code.special.routes import place_of_composed

    composed = place_of_composed(lookup, ROUTE, name.text, _without_parameters(name.text))
    return composed or (text_place(lookup, "/" + "/".join(fixed), ROUTE, whole=name.text) if has_parameter else None)


def _has_route(line: str, route: str) -> bool:
    """Return whether a string on the line is ``route``; its parameters may have other names there."""
    strings = [string for quote in ('"', "'", "`") for string in line.split(quote)[1::2]]
    return any(_without_parameters(string) == _without_parameters(route) for string in strings)


def _without_parameters(route: str) -> list[str]:
    return ["" if _is_parameter(part) else part for part in route.split("/")[1:]]


def _is_parameter(part: str) -> bool:
    """Return whether a part of a route is a value or a placeholder for one, as in /users/:id."""
    is_identity = len(part) >= SHORTEST_IDENTITY and any(map(str.isdigit, part)) and part.replace("-", "").isalnum()
    return part[:1] in (":", "{", "<", "[", "$") or part.isdigit() or is_identity


def flag(lookup: Lookup, name: Name) -> Fact | None:
    """Locate an option such as ``--dry-run``: where it is declared and read, else where it occurs."""
    from enricher.sources.code.special.settings import place_of_setting, with_readers
    from enricher.sources.code.special.subcommands import place_of_field

    fact = place_of_setting(lookup, name.text)
    if not name.is_certain:  # "with limit=3": an ordinary word, unless just one place declares it
        if fact:
            fact.subject = name.text.lstrip("-")
        return fact if fact and not fact.others else None
    if fact:
        return fact
    # Comments, messages and scripts may mention a flag; a declaration contains it as a whole string.
    fact = (
        place_of_field(lookup, name.text)
        or text_place(lookup, name.text, FLAG)
        or text_place(lookup, name.text, FLAG, is_delimited=True)
    )
    return fact and with_readers(lookup, fact)

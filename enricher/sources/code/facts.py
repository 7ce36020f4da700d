"""Describe what the code index knows about a name in a prompt: where to start reading, and what uses it.

This module runs in the hook.
"""

from __future__ import annotations

from enricher.prompt.text import places as positions
from enricher.prompt.wording import FILE
from enricher.prompt.wording.words import quoted
from enricher.sources.code import TEST
from enricher.sources.code.lines import BARE_CALLS, declares_variable, defines, is_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.sources.code.lookup import Lookup, SourceLine, Uses

MOST_SHOWN = 3
MOST_ASKED = 6
"""Maximum places listed where the prompt asks for them: "who calls restock?"."""
MOST_LINES = 8
"""Maximum occurrences of a name or text in one file whose lines are listed; with more, only their number is shown."""
LONGEST_LISTED = 130
"""Maximum characters of the places listed after a definition; the whole line of output is cut at 240."""
DEFINITION, USERS = "definition", "users"
NO_OTHER_USE = "no other use found"
NAMED_IN_PROMPT = "the prompt gives the place"
SEEN_IN_TRACE = "the pasted trace shows the place"
"""Reasons not to show a fact."""
ONLY, FEW, WIDELY_USED = 0.9, 0.75, 0.4
"""Scores of a fact: about the only place of its kind, about one of a few, about a name that is used everywhere.

The last is below the channel's ``min_score`` in the packaged instructions, so such a fact is not shown.
"""


class Fact:
    """A fact about one name in a prompt: the place in the code to start from, and the reason why it is relevant.

    ``path`` and ``line`` are the place, and ``subject`` is the name or text that is found there. ``others`` are further
    files that the name may refer to, and ``users`` are files that use or contain it as well; of these, ``callers`` are
    the program's files that call a function or read a setting. ``fault`` is a reason not to show the fact, or empty.
    ``is_asked`` means that the prompt asks for the place or the users.
    """

    __slots__ = (
        "callers", "fault", "is_asked", "kind", "line", "others", "path", "reason", "score", "subject", "users",
    )  # fmt: skip

    def __init__(
        self, kind: str, path: str, line: int, subject: str, reason: str, score: float, *, fault: str = ""
    ) -> None:
        self.kind, self.path, self.line, self.subject = kind, path, line, subject
        self.reason, self.score, self.fault = reason, score, fault
        self.is_asked = False
        self.others: list[str] = []
        self.users: list[str] = []
        self.callers: list[str] = []

    def is_only_file(self) -> bool:
        """Return whether this fact is only a path, without a line or alternatives."""
        return self.kind == FILE and not self.line and not self.others


def format_place(path: str, line: int) -> str:
    """Return a place as text: the quoted path and the line."""
    return f"{quoted(path)}:{line}"


def defined_at(place: SourceLine, subject: str, reason: str = "defined here", *, fault: str = "") -> Fact:
    """Return a fact about a definition of ``subject``, which may be one of a few."""
    return Fact(DEFINITION, place.path, place.line, subject, reason, FEW, fault=fault)


def only_file(path: str, *, line: int = 0, score: float = FEW) -> Fact | None:
    """Return a fact that says that ``path`` is the only file of that name.

    Return None if the file is in the top folder, where it is easy to find.
    """
    return Fact(FILE, path, line, "", "the only file of that name", score) if "/" in path else None


def used(lookup: Lookup, uses: Uses, definition: SourceLine, name: str, *, is_asked: bool = False) -> str:
    """Describe where ``name``, which has the given definition, is used: in up to three places, or in how many files.

    If more than three files use the name, only their number is given, because three of many do not help: in the
    replayed sessions, the agent touched none of 20 files shown in this way. If the prompt asks for the users
    (``is_asked``), the first places are listed as well.
    """
    if uses.files:
        return ""  # not all of them have been read, and many may have only the words of the name
    is_test = definition.kind == TEST and "test" in definition.text.lower()
    if is_test or lookup.is_decorated(definition):
        return ""  # a framework calls it, so the uses found would mislead
    in_tests = [place for place in uses.places if place.kind == TEST]
    places = [place for place in uses.places if place.kind != TEST] or in_tests
    if not places and uses.renaming:
        users = [format_place(place.path, place.line) for place in uses.renaming]
        return f"; imported under another name: {as_list(users)}"
    exports = [format_place(place.path, place.line) for place in uses.exports]
    exported = f"; exported by {as_list(exports)}" if exports else ""
    if not places:
        return f"{exported}, {NO_OTHER_USE}" if exported else f"; {NO_OTHER_USE}"
    calls = [place for place in places if f"{name}(" in place.text]
    is_called = _is_called(name, calls, places) and not declares_variable(definition.text, name)
    is_passed_on = is_called and len(calls) < len(places)
    places = calls if is_called else places
    word = "caller" if is_called else "use"
    tests = _with_own_test(lookup, {place.path for place in in_tests}, definition, name)
    also = f"; and {quoted(*tests) if len(tests) == 1 else f'{len(tests)} test files'}" if tests else ""
    if not is_asked and len(places) > MOST_SHOWN and all(place.path == definition.path for place in places):
        return f"; {len(places)} {word}s, all in this file{'' if places[0].kind == TEST else also}"
    listed = as_list(in_order(places, definition), most=MOST_ASKED if is_asked else MOST_SHOWN)
    files = len({place.path for place in places} - {definition.path})
    if places[0].kind == TEST:
        return f"{exported}; used by tests only: {f'{files} files' if files > MOST_SHOWN else listed}"
    if files > MOST_SHOWN:
        outside = sum(place.path != definition.path for place in places)
        return f"; {outside} {word}s in {counted(files)}{f': {listed}' if is_asked else ''}{also}"
    if len(places) == 1:
        return f"; {'one' if tests or uses.is_partial or is_passed_on else 'the only'} {word}: {listed}{also}"
    return f"; {len(places)} {word}s: {listed}{also}"


def _with_own_test(lookup: Lookup, tests: set[str], definition: SourceLine, name: str) -> set[str]:
    """Return the test file of the defining file instead of a single other one, if it has the name in any form.

    It may use the name in a subclass of its own, which is no use that has been counted.
    """
    if len(tests) != 1:
        return tests
    from enricher.sources.code.testfiles import named_like

    own = [path for path in named_like(lookup.db, definition.path) if name in lookup.text(path)]
    return {*own} or tests


def _is_called(name: str, calls: list[SourceLine], places: list[SourceLine]) -> bool:
    """Return whether the ``calls`` among the ``places`` are all of them: annotations use a class as well."""
    are_all = not any(place.path.endswith(BARE_CALLS) for place in places if place not in calls)
    return bool(calls) and are_all and not name[:1].isupper()


def as_list(places: list[str], *, most: int = MOST_SHOWN) -> str:
    """Return the first places as one text; there are at most ``most``, or fewer if their paths are long.

    If they are too long, places in the same folder as the first one are shortened to ``…/Cart.java:12``.
    """
    shown = places[:1]
    is_long = len(", ".join(places[:most])) > LONGEST_LISTED
    for place in places[1:most]:
        folder, slash, name = place.rpartition("/")
        is_beside = bool(slash) and folder == places[0].rpartition("/")[0]
        told = f"…/{name}" if is_long and is_beside else place
        if len(", ".join((*shown, told))) > LONGEST_LISTED:
            break
        shown.append(told)
    return ", ".join(shown) + (", …" if len(places) > len(shown) else "")


def in_order(places: list[SourceLine], definition: SourceLine) -> list[str]:
    """Return the places as texts, beginning with one place from each file other than that of ``definition``.

    The other places in these files follow, and the places in the definition's own file come last.
    """
    others = [place for place in places if place.path != definition.path]
    first = {place.path: place for place in reversed(others)}
    heads = [place for place in others if first[place.path] is place]
    rest = [place for place in others if first[place.path] is not place]
    here = " here" if others else ""  # after places in other files, "line 4" alone would seem to belong to one of them
    own = [f"line {place.line}{here}" for place in places if place.path == definition.path]
    return [format_place(place.path, place.line) for place in heads + rest] + own


def also_lines(lines: list[int]) -> str:
    """Return a text that lists all line numbers except the first; empty if there is only one."""
    return f"; also line{'s' * (len(lines) > 2)} {', '.join(map(str, lines[1:]))}" if len(lines) > 1 else ""


def variants(lookup: Lookup, path: str, name: str) -> str:
    """Return a text that lists similar names in the same file, which the prompt may mean: ``draw2`` for ``draw``."""
    found = list(_versions(lookup.text(path), name).items())[:MOST_SHOWN]
    return f"; beside {', '.join(f'{version}: line {line}' for version, line in found)}" if found else ""


def _versions(text: str, name: str) -> dict[str, int]:
    """Return other versions of ``name`` that a file defines, such as ``draw2`` or ``draw_old``, each with its line."""
    found: dict[str, int] = {}
    for at in positions(text, name):
        end = at + len(name)
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        # The modulo turns -1, for a last line without a line break, into the length of the text.
        own, line = text[at:end], text[text.rfind("\n", 0, at) + 1 : text.find("\n", at) % (len(text) + 1)]
        if _is_version(own[len(name) :]) and is_whole(text, at, end) and defines(line, own):
            found.setdefault(own, text.count("\n", 0, at) + 1)
    return found


def _is_version(ending: str) -> bool:
    """Return whether a name's ``ending`` marks it as a version of another: "2", "_v3", "Old" or "_new", for example."""
    bare = ending.strip("_").lower()
    return bare in ("old", "new", "legacy", "orig", "original") or bare.removeprefix("v").isdigit()


def counted(files: int) -> str:
    return "1 other file" if files == 1 else f"{files} other files"

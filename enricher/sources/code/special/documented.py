"""Find the document that contains most of a few given names.

Runs in the hook, but is imported only for a prompt about documents (``enricher.prompt.wording.document_questions``).
"""

from __future__ import annotations

from enricher.prompt.wording.words import is_code_form
from enricher.sources.code import DOC, bare_name
from enricher.sources.code.facts import FEW, ONLY, Fact, format_place
from enricher.sources.code.lookup import Lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from sqlite3 import Connection

DOCUMENT = "document"
MOST_NAMES = 12
"""Maximum names that are looked up."""
MOST_DOCUMENTS = 3
"""Maximum documents with a name; in more, it is a general word, or the product's."""
MOST_READ = 12
"""Maximum documents that are read for one name, as many may contain its words."""
NOTES = ("changelog", "changes", "news", "history", "release", "authors", "upgrad", "todo")
"""Beginnings of the names of files that tell what has changed, and do not document what is."""
VERSIONED = "version"
"""Beginning of the names of folders with the documents of old versions, which are copies of the current ones."""
LONGEST_NAME = 60
_MARKUP = "`*#=-:.+| \t\"'<>[]()\\"


def document_of(
    db: Connection, root: str, names: list[str], *, is_meant: Callable[[str], bool], opened: set[str]
) -> Fact | None:
    """Return a fact about the document that contains most of ``names``; None if there is none, or no clear one.

    ``is_meant`` returns whether the prompt may mean the document at a path, and ``opened`` are the files that the
    conversation has opened.
    """
    lookup = Lookup(db, root)
    places: dict[str, dict[str, int]] = {}
    is_headed = False
    for name in names[:MOST_NAMES]:
        for form in (name, *_shorter(name), *_siblings(lookup, name)):
            found, are_few = _documents_with(lookup, form, is_meant)
            is_headed |= are_few
            if found:
                for path, line in found.items() if len(found) <= MOST_DOCUMENTS else ():
                    places.setdefault(path, {})[form] = line
                break
    most = max(map(len, places.values()), default=0)
    best = [path for path, found in places.items() if len(found) == most]
    called = [path for name in names for path in places if bare_name(path) == name]
    best = called[:1] or best
    if not best or len(best) > MOST_DOCUMENTS or opened & {*best}:
        return None
    if len(best) > 1 and all(name.startswith("--") for path in best for name in places[path]):
        return None  # each of these documents may be about another command with that flag
    return _fact(best, places, names, is_headed=is_headed)


def _shorter(name: str) -> list[str]:
    """Return a name without its last words, which is that of a sibling: "--tmux" for a new flag ``--tmux-title``."""
    marks = name[: len(name) - len(name.lstrip("-"))]
    words = name.lstrip("-").split("-")
    least = 1 if marks else 2
    return [marks + "-".join(words[:end]) for end in range(len(words) - 1, least - 1, -1)]


def _siblings(lookup: Lookup, name: str) -> Iterator[str]:
    """Yield names in documents that begin like the new environment variable ``name``, the most similar first."""
    words = name.split("_")
    for end in range(len(words) - 1, 0, -1) if name.isupper() else ():
        prefix = "_".join(words[:end]) + "_"
        paths = [path for path, kind in lookup.holding(prefix) if kind == DOC and not is_of_notes(path)]
        for text in map(lookup.text, paths[:MOST_READ]):
            if (at := text.find(prefix)) >= 0:
                known = text[at : at + LONGEST_NAME]
                yield known[: next((end for end, one in enumerate(known) if not (one.isalnum() or one == "_")), None)]


def _fact(best: list[str], places: dict[str, dict[str, int]], names: list[str], *, is_headed: bool) -> Fact:
    path, *others = sorted(best, key=lambda one: (one.count("/"), one))
    (name, line), *further = sorted(places[path].items(), key=lambda item: (item[0] not in names, item[1]))
    is_only = len(places) == 1 and name in names and not is_headed
    reason = "the only document that has it" if is_only else "documented here"
    reason += "".join(f" and in {format_place(other, min(places[other].values()))}" for other in others)
    told = [(other, number) for other, number in further if other in names and number != line]
    reason += "".join(f"; {other}: line {number}" for other, number in told[:2])
    fact = Fact(DOCUMENT, path, line, name, reason, FEW if others else ONLY)
    fact.others = others
    return fact


def _documents_with(lookup: Lookup, name: str, is_meant: Callable[[str], bool]) -> tuple[dict[str, int], bool]:
    """Return the line with ``name`` in each document with a heading or item of that name, else in each that has it.

    The second element says whether further documents, without such a heading or not meant, have the name.
    """
    holding = _newest([path for path, kind in lookup.holding(name) if kind == DOC and not is_of_notes(path)])
    paths = [path for path in holding if is_meant(path)]
    found: dict[str, int] = {}
    heads: dict[str, int] = {}
    for path in paths if len(paths) <= MOST_READ else ():
        is_name = is_code_form(name) or name.startswith("--")
        lines = [one for one in lookup.occurrences(path, name) if is_name or _is_marked(one[1], name)]
        found.update((path, number) for number, _line in lines[:1])
        heads.update((path, number) for number, line in lines[::-1] if line.lstrip(_MARKUP).startswith(name))
    return heads or found, 0 < len(heads) < len(found) or len(paths) < len(holding)


def _newest(paths: list[str]) -> list[str]:
    """Return the paths without those that differ from another one by an older version only: ``docs/1.9/a.md``."""
    newest: dict[str, tuple[list[int], str]] = {}
    for path in paths:
        parts = path.split("/")
        version = [int(number) for part in parts if _is_version(part) for number in part.lstrip("v").split(".")]
        same = "/".join("" if _is_version(part) else part for part in parts)
        newest[same] = max((version, path), newest.get(same, ([], "")))
    return [path for _version, path in newest.values()]


def _is_version(folder: str) -> bool:
    return all(map(str.isdecimal, folder.lstrip("v").split(".")))


def is_of_notes(path: str) -> bool:
    """Return whether a document only tells what has changed, or describes an old version."""
    *folders, name = path.lower().split("/")
    return name.startswith(NOTES) or any(folder.startswith((*NOTES, VERSIONED)) for folder in folders)


def _is_marked(line: str, name: str) -> bool:
    """Return whether a line has a word as the name of something: ``--word``, "`word`", in a heading or with a colon."""
    before, _, behind = line.partition(name)
    return before.endswith(("`", "--", "*", '"', "'", "=", "<", ".It Fl ")) or (
        before.strip() in ("", "#", "##", "###", "####") and behind.strip()[:1] in ("", ":", "(", "=")
    )

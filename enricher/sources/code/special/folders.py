"""Read which folder of the project a prompt says in a word: "in Android", "on iOS", "in the frontend".

Runs in the hook, but is imported only for a prompt that names a file, or what several files or a platform define.
"""

from __future__ import annotations

from itertools import pairwise

from enricher.prompt.wording.pasted.lines import AROUND
from enricher.prompt.wording.place_questions import ARTICLES
from enricher.sources.code.lookup import PLATFORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.sources.code.lookup import Lookup, SourceLine

_BEFORE = frozenset(
    "in on for from inside under im auf für unter aus bei sur dans sous pour en de del para no na do da em nel nella su"
    " per di в на для из под".split()
)
"""Words before a place; an article may come between."""


def said_folders(lines: Iterable[str]) -> set[str]:
    """Return the words of ``lines``, in lower case, that may name a folder because a preposition precedes them."""
    found: set[str] = set()
    for line in lines:
        words = [word.strip(AROUND + ".").partition("-")[0].lower() for word in line.split()]
        words = [word for word in words if word not in ARTICLES or word in _BEFORE]
        found |= {word for before, word in pairwise(words) if before in _BEFORE and len(word) > 1}
    return found


def in_said_folder(lookup: Lookup, places: list[SourceLine]) -> list[SourceLine]:
    """Return the only one of ``places`` in a folder that the prompt says, and otherwise all of them.

    The list is empty if the prompt says a platform of the project, and all places are in another one.
    """
    said = said_folders(lookup.said)
    folders = [set(place.path.lower().split("/")[:-1]) for place in places]
    if not said.isdisjoint(set().union(*folders)):
        own = [place for place, parts in zip(places, folders, strict=True) if not said.isdisjoint(parts)]
        return own if len(own) == 1 else places
    if not all(PLATFORMS & parts for parts in folders):
        return places
    for word in said & PLATFORMS:
        inside = (f"{word}/%", f"%/{word}/%")
        if lookup.db.execute("select 1 from files where path like ? or path like ? limit 1", inside).fetchone():
            return []
    return places

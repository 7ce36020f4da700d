"""Find identifiers that a prompt writes as ordinary words: "the chunked reader" means ``ChunkedReader``.

Runs in the hook, but is imported only for a prompt in which nothing else has been found.
"""

from __future__ import annotations

from enricher.prompt.wording import IDENTIFIER, Name
from enricher.prompt.wording.place_questions import ARTICLES, SETTINGS
from enricher.prompt.wording.words import STOP_WORDS, generic_stems, is_code_form, pieces, stem
from enricher.sources.code import SOURCE, TEMPLATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.sources.code.facts import Fact
    from enricher.sources.code.lookup import Lookup

MOST_WORDS, MOST_RUNS = 5, 120
DEFINITE = ARTICLES - {"a", "an"} | {"die", "dem", "du", "del", "da", "do"}
"""Definite articles; an indefinite one precedes a kind of thing, as in "a sync worker"."""


def place_of_spoken(lookup: Lookup, name: Name) -> Fact | None:
    """Locate the setting, function or type that a line of the prompt names with ordinary words."""
    if name.is_setting and (fact := setting_said(lookup, name.text)):
        return fact
    if name.is_asked:
        from enricher.sources.code.special.dependencies import users_of_dependency

        if fact := users_of_dependency(lookup, name.text):
            return fact
    for said in names_said(lookup, name.text, is_asked=name.is_asked):
        from enricher.sources.code.places.definitions import place_of_identifier

        one = Name(IDENTIFIER, said)
        one.is_asked = name.is_asked
        if fact := place_of_identifier(lookup, one):
            return fact
    return None


def names_said(lookup: Lookup, text: str, *, is_asked: bool) -> list[str]:
    """Return the project's functions and types whose names are adjacent words of ``text``, the longest first.

    Two words count as a name only after an article ("the cart drawer"), or in a question for a place (``is_asked``).
    """
    found = [name for name in names_like(lookup.db, text, is_asked=is_asked) if _is_defined(lookup, name, text)]
    return sorted(found, key=lambda name: -len(pieces(name)))


def names_like(db: Connection, text: str, *, is_asked: bool) -> list[str]:
    """Return the indexed names, of any kind, that adjacent words of ``text`` may mean."""
    runs = {"".join(run): run for run, is_sure in _runs(text) if is_sure or is_asked}
    keys = [key for joined, run in runs.items() for key in (joined, "_".join(run))]
    asked = f"select distinct name from symbols where key in ({', '.join('?' * len(keys))})"
    found = [name for (name,) in db.execute(asked, keys) if is_code_form(name)]
    return [name for name in found if "".join(pieces(name)) in runs]


def setting_said(lookup: Lookup, text: str) -> Fact | None:
    """Return a fact about the setting whose name consists of the most adjacent words of ``text``: "the retry limit"."""
    from enricher.sources.code.special.setting_reads import spellings
    from enricher.sources.code.special.settings import place_of_setting

    runs = {"".join(run): run for run, _is_sure in _runs(text)}
    asked = f"select distinct term from postings where term in ({', '.join('?' * len(runs))})"
    known = sorted((runs[term] for (term,) in lookup.db.execute(asked, list(runs))), key=len, reverse=True)
    forms = (form for run in known for form in spellings("-".join(run)))
    return next(filter(None, (place_of_setting(lookup, form) for form in forms)), None)


def _runs(text: str) -> list[tuple[list[str], bool]]:
    """Return each run of two to MOST_WORDS words between punctuation marks, and whether it is a name by itself."""
    found: list[tuple[list[str], bool]] = []
    plain = text.lower().replace("'s ", " ")
    clauses = "".join(letter if letter.isalnum() or letter == " " else "\n" for letter in plain).split("\n")
    for words in map(str.split, clauses):
        for at, word in enumerate(words):
            for run in (words[at:end] for end in range(at + 2, min(at + MOST_WORDS, len(words)) + 1)):
                general = sum(map(_is_general, run))  # both words are generic, as in "config file"
                if general < len(run) and not {word, run[-1]} & (STOP_WORDS | ARTICLES):
                    is_thing = at > 0 and words[at - 1] in DEFINITE and not general
                    found.append((run, len(run) > 2 or is_thing))
    return found[:MOST_RUNS]


def _is_general(word: str) -> bool:
    # "reader" is more specific than "read"
    return word in SETTINGS or (stem(word) in generic_stems() and not word.endswith("er"))


def _is_defined(lookup: Lookup, name: str, text: str) -> bool:
    """Return whether exactly one file, which ``text`` does not name, defines ``name`` as anything but a variable."""
    places = [place for place in lookup.definitions(name) if place.kind in (SOURCE, TEMPLATE)]
    if len(places) != 1 or places[0].path.rpartition("/")[2] in text or not lookup.verified(places[0], name):
        return False
    head, _, behind = (part.strip() for part in places[0].text.partition(name))
    is_variable = head.startswith(("let ", "var ")) or head in ("let", "var")
    is_variable = is_variable or behind.startswith("=" if head else ("=", ":"))
    return not is_variable or "=>" in behind or "function" in behind

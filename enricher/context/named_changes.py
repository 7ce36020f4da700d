"""Find the commit that a prompt calls by a few words of its subject: "the overflow change", "the symlink fix".

The hook imports this module only for a prompt that calls a commit by such words.
"""

from __future__ import annotations

from enricher.context.commits import candidate
from enricher.prompt.wording.words import STOP_WORDS, generic_stems, stem, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.context import Candidate

MOST_WORDS, SHORTEST_ALONE = 4, 6
"""Maximum words between the article and the change, and minimum letters of a single one."""
_SAY_NOTHING = frozenset(
    "last latest previous first second third same next following above other small quick real actual proposed whole"
    " right proper new only full big original single minimal one-line simple correct obvious current breaking bug code"
    " hot upstream local own".split()
)


def find(db: Connection, prose: str, nouns: frozenset[str]) -> list[Candidate]:
    """Return the only commit whose subject has all words by which a prompt calls a change, as a list; else nothing.

    ``nouns`` are the words for a change that may end such a name.
    """
    words = [word.strip("._-/").lower() for word in words_of(prose)]
    for at, word in enumerate(words):
        if word not in nouns or "the" not in (before := words[max(0, at - MOST_WORDS - 1) : at]):
            continue
        called = before[len(before) - before[::-1].index("the") :]
        if not called or not (STOP_WORDS | _SAY_NOTHING).isdisjoint(called):
            continue
        stems = {stem(piece) for one in called for piece in one.split("-") if piece}
        if generic_stems() >= stems or (len(stems) == 1 and len(called[0]) < SHORTEST_ALONE):
            continue
        having = " and ".join("subject like ?" for _one in stems)
        query = f"select sha, at, subject from commits where is_reverted = 0 and files <> '' and {having} limit 50"
        rows = db.execute(query, [f"%{one.removesuffix('i')}%" for one in stems]).fetchall()
        found = [row for row in rows if stems <= {stem(one.strip("._-/:").lower()) for one in words_of(row[2])}]
        if len(found) == 1:
            sha, moment, subject = found[0]
            return [candidate(subject, sha, moment, kind="past")]
    return []

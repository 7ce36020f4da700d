"""Find the memories (notes about a project) that concern a text, for the hook, the command line and MCP.

SQLite's full-text index is fast and yields a limited number of candidates. They are then scored again: by BM25
(Robertson, Walker 1994) with constants for short texts, by synonyms, by the name of the speaker in a conversation, and
by the memories stored just before and after, because an answer seldom repeats its question. Scores are from 0 to 1 and
comparable between questions. Work is limited by counts, never by time, so that the same question gets the same answer.
"""

from __future__ import annotations

import time

from storage.base.fast_stdlib import loads
from storage.memory.memory_markers import SHARED
from storage.memory.question import CANDIDATES, PREFIX, MemoryQuestion
from storage.memory.words import BASE_FORMS, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from sqlite3 import Connection

LARGEST_WEIGHT = 1.5  # of a namespace; scores are divided by it, so that the weighted ones are at most 1

K1 = 1.0  # BM25: the smaller, the less a further occurrence of a term adds
B = 0.2  # BM25: how much the score of a text longer than the average is lowered
RANK_WEIGHT, RANK_FADES = 0.15, 3  # the bonus of the first in the index, and the rank at which half of it is left
EARLY_WEIGHT = 0.1  # the bonus of a term among the first EARLY_WORDS words, as a fraction of its weight
EARLY_WORDS = 12
SPEAKER_WEIGHT = 0.5  # the bonus of a term in the speaker's name, as a fraction of its weight
LONGEST_NAME = 60  # characters at the beginning of a memory in which a speaker's name is looked for
QUESTION_KEEPS = 0.9  # a memory that is a question itself is less likely to be the answer
NEIGHBOUR_WEIGHTS = ((-2, 0.5), (-1, 0.8), (1, 0.3), (2, 0.15))
SHORT_WORDS = 15
WITH_NEIGHBOURS = 8  # memories, of those with the best words
IN_ORDER = "import:"
"""All these constants were tuned on the questions in ``tests/memory/invented`` together with those of public manuals.

``python -m tests.memory.retrieval`` measures their effect. A memory's neighbours are those stored just before and after
it; NEIGHBOUR_WEIGHTS are pairs of a distance and the weight with which a neighbour's score is added: a memory just
after a match is likelier to be the answer than one before. They count fully for a memory without words, and half for
one of ``SHORT_WORDS`` words, because a short text alone is little evidence. A memory that shares no word with the
question is found through its neighbours only where the order of memories has a meaning: in imports and in
conversations.
"""

ENOUGH = 15.0
"""Weight of the shared words (in nats) from which a match becomes convincing; a single shared word may be chance."""
E = 2.718281828459045  # importing ``math`` would take a new process as long as a query
HALF = 0.47
"""The score of a memory's words that is converted to a relevance of 0.5; relevances are between 0 and 1."""
DAY_S = 86_400
FRESH_DAYS = 180  # the age at which half of AGE_COSTS is deducted
AGE_COSTS = 0.06  # the fraction of the score that a very old memory loses
UNREVIEWED, SUPERSEDED, ABOVE = 0.85, 0.75, 0.8
"""Factors on the score of a memory that nobody approved, of a superseded one, and of one about a subfolder only."""

HOW_MANY = "select project, memories from memory_counts"
_COLUMNS = """number, id, namespace, content, tags, project, path_prefix, source, origin, created_at, reviewed,
    superseded_by, words"""
(NUMBER, ID, NAMESPACE, CONTENT, TAGS, PROJECT, PATH_PREFIX, SOURCE, ORIGIN, CREATED_AT, REVIEWED, SUPERSEDED_BY,
 WORDS) = range(13)  # fmt: skip
WHICH_IS_IT = f"select {_COLUMNS} from memories where number = ?"
MEMORIES_BY_NUMBER = f"select {_COLUMNS} from memories where number in ({{}})"
_RANKED = "select rowid from memories_fts where memories_fts match ? order by rank"
BEST = f"""
    select {_COLUMNS} from ({_RANKED} limit ?) as best cross join memories on number = best.rowid
    where project in (?, 'shared')
"""
BEST_OF_PROJECT = f"""
    select {_COLUMNS} from (
        select memories_fts.rowid as found
        from memories_fts cross join memories as own on own.number = memories_fts.rowid
        where memories_fts match ? and own.project in (?, 'shared')
        order by rank limit ?
    ) cross join memories on number = found
"""
NEWEST = f"""
    select {_COLUMNS} from (
        select memories_fts.rowid as found
        from memories_fts cross join memories as own on own.number = memories_fts.rowid
        where memories_fts match ? and own.project in (?, 'shared') order by memories_fts.rowid desc limit ?
    ) cross join memories on number = found
"""


class Hit:
    """A memory that a search found, with its scores.

    ``score`` is ``raw`` multiplied by the weight of the memory's namespace. ``own`` is the score that the memory would
    have if those stored just before and after it were ignored. ``by_meaning`` is True if only a search by vectors
    (``storage.memory.vectors``) found it, and no search by words.
    """

    __slots__ = (
        "by_meaning", "content", "created_at", "id", "namespace", "origin", "own", "path_prefix", "project",
        "raw", "reviewed", "score", "source", "superseded", "tags",
    )  # fmt: skip

    def __init__(self, row: tuple[object, ...], *, score: float, raw: float, own: float) -> None:
        texts = [str(value) for value in row]
        _number, self.id, self.namespace, self.content, tags, self.project, self.path_prefix = texts[:7]
        self.source, self.origin, self.created_at = texts[7:10]
        self.reviewed = bool(row[REVIEWED])
        self.superseded = texts[11]
        listed = loads(tags)
        self.tags: list[str] = [str(tag) for tag in listed] if isinstance(listed, list) else []
        self.score, self.raw, self.own = score, raw, own
        self.by_meaning = False


def search(
    connection: Connection,
    text: str,
    *,
    project: str,
    cwd_prefix: str = "",
    limit: int = 10,
    weights: Mapping[str, float] | None = None,
    now: float = 0.0,
    floor: float = 0.0,
    candidates: int = CANDIDATES,
) -> list[Hit]:
    """Return the memories of ``project`` and the shared ones that concern ``text``, best first.

    ``cwd_prefix`` is the folder within the project in which the question is asked: memories about unrelated folders are
    left out. ``weights`` are factors on scores, by namespace. ``now`` is in seconds since 1970 (0 means the current
    time). ``floor`` is the least score that the caller uses: if all are lower, no time is spent on their order.
    ``candidates`` is the number of memories to take from the index. Raises the errors of SQLite.
    """
    if not text.isascii():
        text = text.encode(errors="replace").decode()  # SQLite accepts no lone surrogates
    counts = dict(connection.execute(HOW_MANY).fetchall())
    own = counts.get(project, 0) + (counts.get(SHARED, 0) if project != SHARED else 0)
    if own <= 0:
        return []
    total = sum(counts.values())
    question = MemoryQuestion(connection, text, total)
    rows = _candidates(connection, question, project, share=own / total, wanted=max(candidates, 2 * limit))
    rows = [row for row in rows if _applies(str(row[PATH_PREFIX]), cwd_prefix)]
    least = floor * LARGEST_WEIGHT / max([1.0, *(weights or {}).values()])
    weighed = _score_rows(connection, question, rows, least=least)
    ages: dict[str, float] = {}
    now = now or time.time()
    found: list[tuple[float, float, str, float, tuple[object, ...]]] = []
    for one in weighed:
        row = one.row
        if not _applies(str(row[PATH_PREFIX]), cwd_prefix):  # a neighbour, which is not among the checked candidates
            continue
        written = str(row[CREATED_AT])[:10]
        if written not in ages:
            ages[written] = _freshness(written, now)
        left = ages[written] * _status_factor(row, cwd_prefix) / LARGEST_WEIGHT
        raw, alone = round(one.relevance * left, 6), round(one.deserved * left, 6)
        found.append((-raw * (weights or {}).get(str(row[NAMESPACE]), 1.0), -raw, str(row[ID]), alone, row))
    found.sort(key=lambda one: one[:3])  # by score, raw score and id, so that equal ones always have the same order
    return [Hit(row, score=-score, raw=-raw, own=alone) for score, raw, _id, alone, row in found[:limit] if raw]


def hit_of(row: tuple[object, ...], relevance: float, *, cwd_prefix: str, now: float) -> Hit | None:
    """Return a hit for a memory that was not found by a word search; its ``relevance`` is from 0 to 1.

    Return None if the memory is about a folder that has nothing to do with ``cwd_prefix``. ``row`` has the columns that
    the query ``WHICH_IS_IT`` selects.
    """
    if not _applies(str(row[PATH_PREFIX]), cwd_prefix):
        return None
    standing = _freshness(str(row[CREATED_AT])[:10], now or time.time()) * _status_factor(row, cwd_prefix)
    raw = round(relevance * standing / LARGEST_WEIGHT, 6)
    found = Hit(row, score=raw, raw=raw, own=0.0)
    found.by_meaning = True
    return found


def _candidates(
    connection: Connection, question: MemoryQuestion, project: str, *, share: float, wanted: int
) -> list[tuple[object, ...]]:
    """Return the rows of about ``wanted`` memories that the full-text index finds for the question.

    ``share`` is the fraction of all memories that belong to ``project`` or are shared. If it is more than half, a
    limited number of memories of all projects is read from the index first, and those of other projects are then left
    out.
    """
    asked = question.match()
    if not asked:
        asked = question.rarest()
        return connection.execute(NEWEST, (asked, project, wanted)).fetchall() if asked else []
    if share > 0.5:  # otherwise, the project of every match is looked up before the matches are ranked
        return connection.execute(BEST, (asked, int(wanted / share), project)).fetchall()
    return connection.execute(BEST_OF_PROJECT, (asked, project, wanted)).fetchall()


class _Text:
    """A memory that is being scored; its neighbours are the memories stored just before and after it.

    ``own`` is the score of its words, and ``linked`` is the part of that score that also counts for its neighbours.
    ``relevance`` is the final score from 0 to 1, to which its neighbours contribute; ``deserved`` is what that score
    would be without them.
    """

    __slots__ = ("deserved", "linked", "own", "relevance", "row", "session", "shared", "words")

    def __init__(self, row: tuple[object, ...]) -> None:
        self.row = row
        self.session = _session(row)
        self.words = words(f"{row[TAGS]} {row[CONTENT]}"[:4000])  # limited, because a text may be long
        self.own = self.linked = self.shared = self.relevance = self.deserved = 0.0


def _score_rows(
    connection: Connection, question: MemoryQuestion, rows: list[tuple[object, ...]], *, least: float
) -> list[_Text]:
    """Return the memories of ``rows`` and the neighbours of the best ones, with their relevance from 0 to 1.

    Neighbours are the memories stored just before and after. They affect the order but not the level of the scores: the
    memory ranked first gets the highest score that any memory has without neighbours. If that score is below ``least``,
    the neighbours are not read.
    """
    texts = {int(str(row[NUMBER])): _Text(row) for row in rows}
    if not texts:
        return []
    average = sum(len(text.words) for text in texts.values()) / len(texts) or 1.0  # 0 for texts without any word
    for at, text in enumerate(texts.values()):  # the best in the index first
        _compare(question, text, average)
        text.own *= 1.0 + RANK_WEIGHT / (1 + at / RANK_FADES)  # a bonus for rank in the index
    best = max(texts.values(), key=lambda text: text.own)
    sure = (1.0 - E ** -(best.shared / ENOUGH)) / (question.whole or 1.0)
    level = best.own * sure / (best.own * sure + HALF)
    beside = _neighbours(connection, texts) if level >= least else {}
    for number, text in beside.items():
        _compare(question, text, average)
        if text.own or str(text.row[ORIGIN]).startswith(IN_ORDER) or _speaker(str(text.row[CONTENT])):
            texts[number] = text
    for number, text in texts.items():
        share = SHORT_WORDS / (SHORT_WORDS + len(text.words))
        text.relevance = text.own
        for distance, weight in NEIGHBOUR_WEIGHTS:
            other = texts.get(number + distance)
            if other is not None and other.session == text.session:
                text.relevance += share * weight * other.linked
    for text in texts.values():
        text.deserved = text.own * sure / (text.own * sure + HALF)
    sure *= best.own / (max(text.relevance for text in texts.values()) or 1.0)
    for text in texts.values():
        text.relevance *= sure / (text.relevance * sure + HALF)
    return list(texts.values())


def _neighbours(connection: Connection, texts: Mapping[int, _Text]) -> dict[int, _Text]:
    """Return the memories stored just before and after the best of ``texts``, by their number in the database.

    They must be of the same conversation, journal or document, and not in ``texts`` already.
    """
    wanted: dict[int, _Text] = {}
    for number in sorted(texts, key=lambda one: -texts[one].own)[:WITH_NEIGHBOURS]:
        for distance, _ in NEIGHBOUR_WEIGHTS:
            if number + distance not in texts:
                wanted.setdefault(number + distance, texts[number])
    rows = connection.execute(MEMORIES_BY_NUMBER.format(", ".join(map(str, wanted)))).fetchall()
    found = {int(str(row[NUMBER])): row for row in rows}
    return {number: _Text(row) for number, row in found.items() if _session(row) == wanted[number].session}


def _session(row: tuple[object, ...]) -> tuple[object, ...]:
    """Return the key that memories of one conversation, journal or document share: project, origin, source and day."""
    return row[PROJECT], row[ORIGIN], str(row[SOURCE]).partition("#")[0], str(row[CREATED_AT])[:10]


def _compare(question: MemoryQuestion, text: _Text, average: float) -> None:
    """Score the words of the memory ``text`` against the question; set its fields ``own``, ``linked`` and ``shared``.

    ``shared`` is the weight of all terms that both have. ``average`` is the mean number of words of a memory. The extra
    words in a memory's index entry count only for terms that its text does not have. A match on the speaker's name
    counts for ``own`` but not for ``linked``, so that it does not raise the scores of the memories stored just before
    and after.
    """
    terms, text_words, extra = question.terms, text.words, str(text.row[WORDS]).split()
    distinct = set(text_words)
    new = distinct.union(extra) - question.placed
    question.placed |= new
    beginnings, prefixes = question.beginnings, question.prefixes
    for word in new:
        if word[:3] in beginnings or word[:PREFIX] in prefixes or word in BASE_FORMS:
            question.place(word)
    counts: dict[int, float] = {}
    early: set[int] = set()
    start = set(text_words[:EARLY_WORDS])
    for word in distinct.intersection(question.matching):
        term, weight = question.matching[word]
        # Synonyms count once, however often they occur.
        counts[term] = (
            counts.get(term, 0.0) + text_words.count(word) if weight == 1.0 else max(counts.get(term, 0.0), weight)
        )
        if word in start:
            early.add(term)
    for word in extra:
        if word in question.matching and (term := question.matching[word][0]) not in counts:
            counts[term] = question.matching[word][1]
    content = str(text.row[CONTENT])
    speaker = {question.matching[word][0] for word in _speaker(content) if word in question.matching}
    keeps = QUESTION_KEEPS if content.endswith("?") else 1.0
    room = K1 * (1 - B + B * len(text_words) / average)
    for term in sorted(counts):  # in a fixed order, because the sum of floats depends on it
        weight = terms[term].weight
        worth = keeps * weight * (counts[term] * (K1 + 1) / (counts[term] + room) + EARLY_WEIGHT * (term in early))
        text.shared += weight
        if term in speaker:
            text.own += worth + keeps * SPEAKER_WEIGHT * weight
        else:
            text.own += worth
            text.linked += worth


def _speaker(content: str) -> list[str]:
    """Return the words of the speaker's name in a turn such as "Anna Berg: I did" or "[May 3] **Anna**: I did"."""
    head, colon, _ = content[:LONGEST_NAME].replace("*", "").partition(": ")
    name = head.rpartition("] ")[2].partition(" (")[0].strip("[]")
    return words(name) if colon and name.istitle() and name.replace(" ", "").isalpha() else []


def _applies(path_prefix: str, cwd_prefix: str) -> bool:
    if not path_prefix or not cwd_prefix:
        return True
    return f"{cwd_prefix}/".startswith(f"{path_prefix}/") or path_prefix.startswith(f"{cwd_prefix}/")


def _status_factor(row: tuple[object, ...], cwd_prefix: str) -> float:
    factor = 1.0 if row[REVIEWED] else UNREVIEWED
    factor *= SUPERSEDED if row[SUPERSEDED_BY] else 1.0
    if row[PATH_PREFIX] and not f"{cwd_prefix}/".startswith(f"{row[PATH_PREFIX]}/"):
        factor *= ABOVE
    return factor


def _freshness(written: str, now: float) -> float:
    """Return the factor, at most 1, that lowers the score of an older memory.

    ``written`` is the memory's ISO date; without a valid date, the memory counts as old.
    """
    day = written.split("-")
    if len(day) != 3 or not all(part.isascii() and part.isdigit() for part in day):  # int() would refuse «²», a digit
        return 1.0 - AGE_COSTS
    year, month, date = map(int, day)
    # Days since 1970 in the Gregorian calendar, because importing ``datetime`` would take as long as a query. The year
    # begins in March, so that the leap day is its last; (153 * month + 2) // 5 are the days of the months before.
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + date - 719_469
    age = max(0.0, now / DAY_S - days)
    return 1.0 - AGE_COSTS * age / (age + FRESH_DAYS)

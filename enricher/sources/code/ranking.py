"""Rank a project's files by their relevance to a prompt or another query, in milliseconds.

First, every file gets the sum of its weights for the query's most specific terms, within a budget. Then the best
hundred files are scored again by other signals: whether a file defines a name, is itself named, appears in a stack
trace, or contains a quoted message. The limits count work, not time, so the same index gives the same answer.
"""

from __future__ import annotations

from math import log

from enricher.sources import code
from enricher.sources.code.lines import phrases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.prompt.wording.query import Query

MOST_LOOKED_UP, MOST_TERMS = 170, 32
"""Maximum terms of a query that are looked up, and the maximum of these, the most specific, whose weights count."""
MOST_POSTINGS = 60_000
"""Maximum (term, file) pairs that are summed for one prompt, to bound the time even in a very large project."""
MOST_WEIGHED = 100
LEAST_WEIGHT = 0.12
"""Minimum sum of a file's weights, as a share of the best file's, to be scored again; others cannot become the best."""
MOST_SYMBOL_ROWS = 1_500
MOST_READ = 24

# ``python -m tests.code.accuracy`` measures the effect of a change of the weights and factors below.
CONTENT, PATH, DEFINED = 1.0, 0.7, 0.4
"""Weights of a term in a file's text, in its path, and among the names that it defines."""
EXACT, DOTTED, FRAME, NAMED, MESSAGE, RECENT = 0.4, 0.8, 0.75, 2.5, 0.6, 0.12
"""Weights of evidence for a file: a definition, a module, a stack frame, a path, a quoted message, recent changes."""
KIND_FACTORS = {
    code.SOURCE: 1.0, code.TEMPLATE: 0.7, code.STUB: 0.5, code.CONFIG: 0.45, code.EXAMPLE: 0.3, code.VENDORED: 0.3,
    code.GENERATED: 0.3, code.TEST: 0.25, code.DOC: 0.22, code.TRANSLATION: 0.12,
}  # fmt: skip
DEFINES, HOLDS = "defines", "holds"
NAMED_REASON, TRACE_REASON = "named in the prompt", "in the pasted trace"
MENTION_REASON = "mentioned in the prompt"
PATH_WEIGHTS = [1.0, 1.0, 1.0, 0.6, 1.0, 0.6, 0.3, 0.3, 0.3, 0.1, 0.05]
"""Weights of a path by its position in the prompt, ordered as in ``enricher.prompt.wording.query``."""
COMMON_NAME = 0.1
"""Factor for the weight of a name in COMMON_FILES, unless it is in the prompt's title."""
COMMON_FILES = frozenset(
    "manage.py setup.py setup.cfg pyproject.toml package.json index.js index.ts index.html main.py main.js app.py"
    " app.js test.py test.js conftest.py models.py views.py urls.py settings.py readme.md __init__.py tsconfig.json"
    " config.py dockerfile requirements.txt tox.ini conf.py node.js".split()
)
"""File names that in a bug report often mean the reporter's own files."""
BODY_SHARE = 1.4
"""Maximum total weight of a query's words below its title, relative to the total weight of the title's words."""
LEAST_SHOWN_SCORE = 0.05
MOST_FRAMES, FRAME_DECAY = 8, 0.5
"""Maximum stack frames that count, and the decay of their weight: the factor of frame n, from 0, is 1 / (1 + n / 2)."""


class FileHit:
    """A file that a code search has found, with the reasons for its place among the results.

    ``score`` only serves to order the files of one query; ``certainty`` (0 to 1) can be compared between queries.
    """

    __slots__ = ("certainty", "id", "kind", "line", "path", "reasons", "recency", "score", "words")

    def __init__(self, identity: int, path: str, kind: int, recency: float) -> None:
        self.id, self.path, self.kind, self.recency = identity, path, kind, recency
        self.score = self.certainty = 0.0
        self.line = 0
        self.words: list[str] = []
        self.reasons: list[tuple[float, str]] = []

    def add(self, score: float, reason: str) -> None:
        self.score += score
        self.reasons.append((score, reason))

    def why(self) -> str:
        """Return in words the strongest reasons for the file's rank."""
        ordered = sorted(self.reasons, key=lambda reason: -reason[0])
        reasons = list(dict.fromkeys(reason for score, reason in ordered if score > LEAST_SHOWN_SCORE))[:2]
        if not reasons and self.words:
            reasons = [f"about {', '.join(self.words[:3])}"]
        return "; ".join(reasons) or "shares words with the prompt"


class Ranking:
    """The ranked files, and the term statistics that the ranking used.

    ``strengths`` are the weights of the terms that counted, and ``unknown`` is the sum of those of terms that no file
    contains. ``columns`` are the rows of the index that were read: term, number of files with the term in their text,
    number of all files in the row, and the row's data.
    """

    __slots__ = ("columns", "hits", "strengths", "unknown", "words_by_term")

    def __init__(self) -> None:
        self.hits: list[FileHit] = []
        self.strengths: dict[str, float] = {}
        self.columns: list[tuple[str, int, int, bytes]] = []
        self.words_by_term: dict[str, str] = {}
        self.unknown = 0.0


def rank(db: Connection, query: Query, *, limit: int, root: str = "") -> Ranking:
    """Return the best ``limit`` files for ``query``.

    If the project's ``root`` is given, the best few files are read to find the messages that the query quotes.
    """
    ranking = Ranking()
    ranking.words_by_term = query.words_by_term
    scores = _sum_weights(db, query, ranking, files=int(code.meta(db, "files")), after=int(code.meta(db, "next")))
    special = _Special(db, query)
    least = max(scores, default=0.0) * LEAST_WEIGHT
    best = [identity for identity, score in enumerate(scores) if score > least]
    best = sorted(best, key=scores.__getitem__, reverse=True)[:MOST_WEIGHED]
    hits = _load(db, best + special.files())
    top = max((scores[hit.id] * KIND_FACTORS[hit.kind] for hit in hits), default=0.0) or 1.0  # a divisor
    for hit in hits:
        hit.score = scores[hit.id] / top
        special.weigh(hit)
        hit.score *= _kind_factor(hit) * (1.0 + RECENT * log(1.0 + hit.recency))
    hits.sort(key=lambda hit: (-hit.score, hit.path))
    if root and query.messages:
        _look_inside(hits[:MOST_READ], query, root)
        hits.sort(key=lambda hit: (-hit.score, hit.path))
    ranking.hits = hits[:limit]
    return ranking


def _sum_weights(db: Connection, query: Query, ranking: Ranking, *, files: int, after: int) -> list[float]:
    """Return a list that holds, for each file id, the sum of the file's weights for the terms of the query.

    Only the most specific terms count. ``files`` is the number of files in the index, and ``after`` is the first unused
    id. The statistics of the terms are added to ``ranking``.
    """
    weights = sorted(query.weights.items(), key=lambda item: -item[1])[:MOST_LOOKED_UP]
    counts: dict[str, list[int]] = {}
    rows: dict[str, list[int]] = {}
    for part in range(0, len(weights), 60):
        terms = [term for term, _weight in weights[part : part + 60]]
        asked = f"select term, content, path, defined, rowid from postings where term in ({code.marks(terms)})"
        for term, content, path, defined, row in db.execute(asked, terms):
            known = counts.get(term, (0, 0, 0))
            counts[term] = [known[0] + content, known[1] + path, known[2] + defined]
            rows.setdefault(term, []).append(row)
    weighted = []
    rarities: dict[str, float] = {}
    for term, weight in weights:
        if term in counts:
            most = max(*counts[term][:2], 1)
            # The inverse document frequency of BM25. Until segments are merged, deleted files are counted, too.
            rarity = log(1.0 + (files - most + 0.5) / (most + 0.5)) if most <= files else 0.1
            weighted.append((weight * rarity, term))
            rarities[term] = rarity
        elif term not in query.pairs:  # adjacent words rarely form a name, so a pair that no file contains says nothing
            ranking.unknown += weight * log(1.0 + files)
    scores = [0.0] * after
    postings = 0
    for strength, term in _balance(weighted, query):
        if postings + sum(counts[term]) > MOST_POSTINGS:
            continue  # a later term may occur in fewer files and still fit into the budget
        postings += sum(counts[term])
        ranking.strengths[term] = strength
        for row in rows[term]:
            ranking.columns.append((term, *_add_term(db, row, strength, rarities[term], scores, files)))
    return scores


def _balance(weighted: list[tuple[float, str]], query: Query) -> list[tuple[float, str]]:
    """Return the most specific of the ``weighted`` terms, with the terms in the query's title emphasized.

    The weights of all other terms are reduced so that the many words of a long report do not outweigh its title.
    """
    chosen = sorted(weighted, reverse=True)[:MOST_TERMS]
    titled = sum(strength for strength, term in chosen if term in query.titled)
    rest = sum(strength for strength, term in chosen if term not in query.titled)
    if titled and rest > BODY_SHARE * titled:
        share = BODY_SHARE * titled / rest
        chosen = [(strength if term in query.titled else strength * share, term) for strength, term in chosen]
        chosen.sort(reverse=True)
    return chosen


def _add_term(
    db: Connection, row: int, strength: float, rarity: float, scores: list[float], files: int
) -> tuple[int, int, bytes]:
    """Add the weights of a term to the ``scores`` of its files; return how many there are, and the row's data."""
    content, path, defined, data = db.execute(
        "select content, path, defined, data from postings where rowid = ?", (row,)
    ).fetchone()
    total = content + path + defined
    identities = code.file_ids(data, total)
    impacts = data[4 * total :]  # one byte for each file, in the order of the ids
    at = 0
    for count, factor in ((content, CONTENT), (path, PATH), (defined, DEFINED)):
        if count:
            own = log(1.0 + (files - count + 0.5) / (count + 0.5)) if count < files else 0.1
            weight = factor * strength / 255.0 * (own / rarity if rarity else 1.0)
            for identity, impact in zip(identities[at : at + count], impacts[at : at + count], strict=True):
                scores[identity] += weight * impact
            at += count
    return content, total, data


def _load(db: Connection, identities: list[int]) -> list[FileHit]:
    wanted = list(dict.fromkeys(identities))
    hits = []
    for part in range(0, len(wanted), 100):
        some = wanted[part : part + 100]
        rows = db.execute(f"select id, path, kind, recency from files where id in ({code.marks(some)})", some)
        hits += [FileHit(*row) for row in rows]
    return hits


def _kind_factor(hit: FileHit) -> float:
    factor = KIND_FACTORS[hit.kind]
    # The prompt refers to a file that it names, whatever the kind of the file.
    if factor < 1.0 and any(
        reason == TRACE_REASON or (reason == NAMED_REASON and score > 0.6 * NAMED) for score, reason in hit.reasons
    ):
        return 1.0
    return factor


class _Special:
    """The files to which a query refers directly: by a name that they define, a path, a module or a stack frame."""

    def __init__(self, db: Connection, query: Query) -> None:
        self.found: dict[int, list[tuple[float, str]]] = {}
        self.lines: dict[int, int] = {}
        self._definitions(db, query)
        self._places(db, query)

    def files(self) -> list[int]:
        ordered = sorted(self.found, key=lambda identity: -sum(score for score, _ in self.found[identity]))
        return ordered[:MOST_WEIGHED]

    def weigh(self, hit: FileHit) -> None:
        for score, reason in self.found.get(hit.id, ()):
            hit.add(score, reason)
        hit.line = self.lines.get(hit.id, 0)

    def _note(self, identity: int, score: float, reason: str) -> None:
        self.found.setdefault(identity, []).append((score, reason))

    def _definitions(self, db: Connection, query: Query) -> None:
        names: dict[str, tuple[float, str]] = {}
        for name, weight in query.names.items():
            lowered = name.lower()
            if weight > names.get(lowered, (0.0, ""))[0]:
                names[lowered] = (weight, name)
        if not names:
            return
        where: dict[str, dict[int, str]] = {}
        for key, identity, name in db.execute(
            f"select key, file, name from symbols where key in ({code.marks(names)}) limit {MOST_SYMBOL_ROWS}",
            list(names),
        ):
            known = where.setdefault(key, {})
            if identity not in known or name == names[key][1]:  # the spelling of the prompt, if the file has several
                known[identity] = name
        for key, places in where.items():
            weight, asked = names[key]
            rarity = 1.0 / (1.0 + 0.5 * (len(places) - 1))  # a name that many files define points to none of them
            for identity, name in places.items():
                value = EXACT * weight * rarity * (1.0 if name == asked else 0.5)
                if value > 0.02:
                    self._note(identity, value, f"{DEFINES} {name}")

    def _places(self, db: Connection, query: Query) -> None:
        asked: list[tuple[str, float, str, int]] = []
        for path, line, where in query.paths:
            weight = PATH_WEIGHTS[where] * (COMMON_NAME if path.lower() in COMMON_FILES and where else 1.0)
            asked.append((path, NAMED * weight, NAMED_REASON if weight == 1.0 else MENTION_REASON, line))
        # Python prints the innermost frame last, other languages print it first.
        frames = query.frames[::-1] if any(path.endswith(".py") for path, _line in query.frames) else query.frames
        for number, (path, line) in enumerate(frames[:MOST_FRAMES]):
            if "/" in path:
                asked.append((path, FRAME / (1.0 + FRAME_DECAY * number), TRACE_REASON, line))
        for dotted, weight in query.dotted.items():
            parts = dotted.split(".")
            # The last two parts may be a class and its method instead of modules.
            for end in range(len(parts), max(0, len(parts) - 3), -1):
                asked.append(("/".join(parts[:end]), DOTTED * min(1.0, weight), f"is {'.'.join(parts[:end])}", 0))
        stems: dict[str, list[tuple[list[str], float, str, int]]] = {}
        for path, weight, reason, line in asked[:120]:
            parts = [part for part in path.split("/") if part not in ("", ".", "..")]
            if parts:
                stems.setdefault(code.stem_of("/".join(parts)), []).append((parts, weight, reason, line))
        if not stems:
            return
        rows = db.execute(
            f"select id, path, stem from files where stem in ({code.marks(stems)}) limit 4000", list(stems)
        ).fetchall()
        for stem, wanted in stems.items():
            same = [(identity, path.split("/")) for identity, path, its in rows if its == stem]
            for parts, weight, reason, line in wanted:
                self._match(parts, same, weight, reason, line)

    def _match(
        self, parts: list[str], same: list[tuple[int, list[str]]], weight: float, reason: str, line: int
    ) -> None:
        """Record ``weight`` and ``reason`` as evidence for the files whose paths agree best with the path ``parts``.

        Paths are compared from their ends. ``same`` are the files with the same name, each as its id and the parts of
        its path; ``line`` is the line that the query names, if any. A match of the file name alone counts little or
        nothing.
        """
        best = 0
        matched: list[int] = []
        for identity, own in same:
            agree = _agreement(parts, own)
            if agree > best:
                best, matched = agree, [identity]
            elif agree == best and agree:
                matched.append(identity)
        is_file = "." in parts[-1] and reason != TRACE_REASON
        if not matched or (best == 1 and not is_file) or len(matched) > 8:
            return
        is_whole = best >= min(len(parts), 3) or any(best == len(own) for identity, own in same if identity in matched)
        share = weight / len(matched) ** 0.7 * (1.0 if is_whole else 0.6)
        for identity in matched:
            if all(known_reason != reason for _score, known_reason in self.found.get(identity, ())):
                self._note(identity, share, reason)
                if line:
                    self.lines.setdefault(identity, line)


def _agreement(asked: list[str], own: list[str]) -> int:
    """Return how many components at the end two paths share; if ``asked`` has no extension, it matches any."""
    last = own[-1]
    if "." not in asked[-1]:
        last = last.partition(".")[0]
        if last in ("__init__", "index", "mod"):
            own = own[:-1]
            last = own[-1] if own else ""
    if not own or asked[-1] != last:
        return 0
    count = 1
    while count < len(asked) and count < len(own) and asked[-1 - count] == own[-1 - count]:
        count += 1
    return count


def _look_inside(hits: list[FileHit], query: Query, root: str) -> None:
    """Raise the score of those files that contain a message quoted in the prompt."""
    wanted = phrases(query.messages)
    if not wanted:
        return
    counted: list[tuple[FileHit, str, int]] = []
    holders: dict[str, int] = {}
    for hit in hits:
        text = code.read_file(root, hit.path)
        for phrase in wanted:
            at = text.find(phrase)
            if at >= 0 and hit.kind in code.OF_THE_PROGRAM:  # files of other kinds only quote the message
                holders[phrase] = holders.get(phrase, 0) + 1
                counted.append((hit, phrase, text.count("\n", 0, at) + 1))
    for hit, phrase, line in counted:
        if holders[phrase] <= 4:
            hit.add(MESSAGE / holders[phrase] ** 0.5, f'{HOLDS} "{phrase[:40]}"')
            hit.line = hit.line or line

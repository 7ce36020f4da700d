"""Find the commit and the release note for a question such as "when did we drop CVS", with a thing in plain words.

All words of the thing must be close together in the line, next to a verb that answers the question: "when did we drop
CVS" is answered by "Drop support for CVS repositories", not by "Fix a crash after dropping a file on the CVS page".
This module runs in the hook, but is loaded only if a prompt asks such a question.
"""

from __future__ import annotations

from enricher.context import Candidate
from enricher.context.commits import SURE, candidate
from enricher.context.topic_match import FUNCTION_WORDS
from enricher.prompt.text import is_version
from enricher.prompt.wording.past_questions import ADDED, CHANGED, ENGLISH, FIXED, LATIN, NEWS, OTHER, REMOVED
from enricher.prompt.wording.words import STOP_WORDS, generic_stems, stem, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection
    from typing import Any

    from enricher.prompt.wording.past_questions import Thing

    Line = tuple[Any, ...]  # a row of the index: a commit, or a line of the release notes

MOST_WORDS = 7  # maximum words of a thing; no line contains every word of a longer description
MOST_TOLD = 2
MOST_LINES = 400  # maximum lines with the same word that are compared
FEW, SHARE, MOST_SHARE = 5, 0.005, 0.15
"""How common the only word of a thing may be: maximum number of lines of the project, or maximum share of them.

MOST_SHARE is the limit in a small project, where FEW lines would be most of them.
"""
GAP = 1  # maximum other words between the first and the last word of the thing, fillers aside
COVERED = 0.3  # minimum share that the words of the thing have in their part of the sentence
ALIKE = 0.4  # the same for weaker evidence: a single word, or a verb elsewhere in the sentence
SAME_START = 5  # letters that a foreign word shares with the English one: Formatierer, formatter
NOTE = "release note"

_VERBS = {
    REMOVED: "remove delete drop kill retire scrap discard purge eliminate replace move rename merge gone longer"
    " discontinue abandon cut withdraw strip switch instead removal entfernt supprime elimina quita rimosso",
    ADDED: "add introduce implement support allow new create enable provide feature feat possible initial ability"
    " available require",
    CHANGED: "change rework rewrite refactor update improve extend split simplify revamp overhaul move rename replace"
    " switch automate make",
    FIXED: "fix correct prevent avoid resolve repair stop solve hotfix bugfix longer address",
}
_VERB_STEMS = {kind: frozenset(stem(word) for word in words.split()) for kind, words in _VERBS.items()}
_PARTICIPLES = ("ed", "gone", "longer", "available")
_AUXILIARY = frozenset(
    "is are was were be been has have had now finally no support plugin also flag feature option setting".split()
)
"""Words between a thing and a participle for what happened to it."""
_KINDS = frozenset(
    "option setting flag page pages screen view class function method module file folder directory ordner command"
    " plugin".split()
)
_GENERAL = _KINDS | frozenset(
    """
    support supports supported deprecated legacy obsolete unused eol entire whole own optional feature features
    functionality part again last time originally ever already once thing stuff commit commits history release version
    original default basic simple first really anymore entirely completely available breaking soft change changes work
    days day week weeks month months year years ago yesterday today recently longer exactly used point right hm hmm
    mir zusammen fass summarize versión versão versione em
    seit depuis desde da
    unterstützung funktion seite eigentlich nochmal mal schon soporte función opción página prise charge fonction
    suporte função opção supporto funzione opzione stato stata sido a-t-elle a-t-il été
    """.split()
)
"""Words that the answer need not contain, and that may come between a verb and its object."""
_PARTS = frozenset(
    "test import typo docs doc comment log warning todo command option key icon colour flag button message".split()
)
"""Words after a thing which show that the line is about something else: "Remove wishlist tests"."""
_FAULTS = frozenset(stem(word) for word in "fix bug bugfix crash error regression when if while after before".split())
"""Words before a thing in a line about a bug in it, or in one that only mentions a time: "after adding a cart"."""
_MINE = frozenset("my your mein meine ma mon mes mi mis meu minha mio mia".split())
_SINCE = frozenset("since after from seit ab depuis desde da dalla".split())
_BEFORE_VERSION = _SINCE | frozenset(
    "in with before the version release of for to and von der als la le el il a na no de di dans en nella".split()
)
_LEFT_OUT = STOP_WORDS | FUNCTION_WORDS | _GENERAL
_FILLERS = (STOP_WORDS - {"test", "tests"}) | _GENERAL
_BETWEEN = _FILLERS - frozenset(
    "on in at to by with into when that if after before while where because during about over under".split()
)
"""Words that may come between a verb and its object, unlike those before another object ("add tooltips on charts")."""
_OF_NOTES = ("said, path, line, version, section", "release_notes", "group by said order by rowid")
"""The columns and the table of the release notes, and how each is read once: the same may lie in a second file."""
OPPOSITE = {ADDED: REMOVED, REMOVED: ADDED}
SHORT_PART = 4  # maximum words of the beginning of a list whose verb the next part shares
SHORT = 5  # maximum words of a commit's subject that only names what it adds


def find(db: Connection, questions: list[list[Thing]]) -> list[Candidate]:
    """Return at most MOST_TOLD lines of the release notes and of the commits that answer the question."""
    for thing in (thing for things in questions for thing in things):
        wanted = _Wanted(thing)
        is_general = wanted.version and not (wanted.words or wanted.is_since)
        if wanted.kind == NEWS or (wanted.kind == CHANGED and is_general):
            found = _section(db, wanted.version) if is_general else []
        else:
            # "Man pages": without its general word, too little may remain of the thing.
            found = _lines(db, wanted) or _lines(db, _Wanted(thing, is_whole=True))
        if found := found or _by_known_words(db, thing):
            return found[:MOST_TOLD]
    return []


def _by_known_words(db: Connection, thing: Thing) -> list[Candidate]:
    """Return the lines that answer by the long and rare words of a foreign thing that the release notes have, too."""
    kind, words, form = thing
    if form != LATIN or kind not in OPPOSITE:
        return []
    long = [word for word in words if len(word) > SAME_START]
    known = [word for word in long if _rows(db, _Wanted((kind, [word], ENGLISH)), *_OF_NOTES)]
    return _lines(db, _Wanted((kind, known, ENGLISH))) if known else []


def lengths_of_names(questions: list[list[Thing]]) -> tuple[int, ...]:
    """Return how many words may form a name; in a longer thing, two words ("rate limiter") may be only a part of it."""
    longest = max(len(_Wanted(things[0]).words) for things in questions)
    return (3, 2) if longest < 3 else (3,) if longest == 3 else ()


def folders(questions: list[list[Thing]]) -> list[str]:
    """Return single words that name the whole thing, and so may be the name of a removed folder."""
    wanted = [_Wanted(thing) for things in questions for thing in things]
    return [one.only for one in wanted if one.kind == REMOVED and one.only]


def _lines(db: Connection, wanted: _Wanted) -> list[Candidate]:
    found = _notes(db, wanted)
    return found + _commits(db, wanted)[: 1 if found else MOST_TOLD]


class _Wanted:
    """A thing to search for, as the stems of its words; a matching line must contain all of them.

    ``version`` is the version in the question, and ``is_since`` means that the question is about later changes.
    """

    __slots__ = ("flags", "is_foreign", "is_partial", "is_since", "kind", "named", "only", "version", "words")

    def __init__(self, thing: Thing, *, is_whole: bool = False) -> None:
        self.kind, words, form = thing
        self.is_foreign, self.is_partial = form != ENGLISH, form == OTHER
        self.version, self.is_since = "", False
        left_out = _LEFT_OUT - _KINDS if is_whole else _LEFT_OUT
        pieces: list[str] = []
        for before, word in zip(["in", *words], words, strict=False):
            if is_version(word) and (before in _BEFORE_VERSION or self.is_partial or self.kind == NEWS):
                self.version, self.is_since = word.lstrip("v"), before in _SINCE
            elif word not in left_out:
                pieces += [piece for piece in _pieces(word) if piece not in left_out]
        self.named = frozenset(stem(word) for word in words)
        self.flags = [word for word in words if word.startswith("--")]  # "--minimized" is not "minimize the window"
        stems = {stem(piece): piece for piece in pieces}
        self.words = [word for word in stems if word not in _VERB_STEMS.get(self.kind, ())]
        self.only = stems[self.words[0]] if len(self.words) == 1 else ""
        is_of_somebody = not _MINE.isdisjoint(words)  # "my session" is data, not a part of the program
        telling = sum(len(word) > 2 for word in self.words)  # "that n+1" is too unspecific
        is_vague = generic_stems().issuperset(self.words) or (self.kind == FIXED and telling < 2)
        if len(self.words) > MOST_WORDS or is_vague or is_of_somebody:
            self.words = []

    def patterns(self) -> list[str]:
        """Return what a line must contain, for ``like`` in SQL: beginnings of the words."""
        # The stem of "entry" and "entries" ends in "i".
        return [f"%{word[:SAME_START] if self.is_foreign else word.removesuffix('i')}%" for word in self.words]

    def share(self, part: list[str], heading: frozenset[str], scope: frozenset[str]) -> float:
        """Return the share of the words of ``part`` that belong to the thing if the part answers the question; else 0.

        ``part`` has the words of a part of a sentence. If it has no verb, ``heading`` has the stems of the words that
        replace it ("Removed"); ``scope`` has the stems that the part need not repeat.
        """
        stems = [stem(word) for word in part]
        places = self._places(stems, [word for word in self.words if word not in scope] or self.words)
        if not places:
            return 0.0
        first, last = min(places), max(places)
        after = stems[last + 1 : last + 3]
        is_of_part = not (self.is_partial or _PARTS.difference(self.named).isdisjoint(after[:1]))
        if is_of_part or after == ["support", "for"]:  # "Add dark mode support for charts"
            return 0.0
        verbs = _VERB_STEMS[self.kind]
        others = [at for at, word in enumerate(part) if not (at in places or word in _FILLERS or stems[at] in verbs)]
        if sum(first < at < last for at in others) > GAP:
            return 0.0
        of_thing = len(places) / (len(places) + len(others))
        if not verbs.isdisjoint(heading) and _BETWEEN.issuperset(part[:first]):
            return of_thing
        if self.kind == FIXED and (len(places) > 2 or of_thing >= ALIKE) and verbs & {*stems, *heading}:
            return of_thing
        # "Add simple support for reading delta metrics files": the words of the thing alone may be about something
        # else.
        if self.kind == ADDED and last - first == len(places) - 1 > 1 and verbs & {*stems[:1], *heading}:
            return of_thing
        is_said = any(self._is_verb_of(part, at, first, last) for at, word in enumerate(stems) if word in verbs)
        # "Orders can be exported".
        is_said = is_said or (self.kind == ADDED and "can" in part[first:last])
        is_other = self.kind != FIXED and not _FAULTS.isdisjoint(stems[:first])
        least = ALIKE if self.kind == ADDED and len(places) < 2 else COVERED
        return of_thing if is_said and not is_other and of_thing >= least else 0.0

    def is_in(self, text: str) -> bool:
        stems = [stem(word) for word in _pieces(text)]
        return all(flag in text.lower() for flag in self.flags) and all(
            any(self._is_form(word, other) for other in stems) for word in self.words
        )

    def _places(self, stems: list[str], words: list[str]) -> list[int]:
        """Return the positions at which the words are closest together; empty if one is missing."""
        found = [[at for at, other in enumerate(stems) if self._is_form(word, other)] for word in words]
        near = [[min(places, key=lambda at: abs(at - end)) for places in found if places] for end in found[-1]]
        best = min(near, key=lambda places: max(places) - min(places), default=[])
        return best if len(best) == len(words) else []

    def _is_form(self, word: str, other: str) -> bool:
        if word == other:
            return True
        return self.is_foreign and min(len(word), len(other)) > SAME_START and word[:SAME_START] == other[:SAME_START]

    def _is_verb_of(self, part: list[str], at: int, first: int, last: int) -> bool:
        """Return whether the thing is what the verb ``part[at]`` is about: "drop support for it", "it was dropped"."""
        if part[at - 1 : at] == ["to"]:  # "a key to move the status line"
            return False
        if at < first:
            return _BETWEEN.issuperset(part[at + 1 : first])
        return at > last and part[at].endswith(_PARTICIPLES) and _AUXILIARY.issuperset(part[last + 1 : at])


def _pieces(text: str) -> list[str]:
    """Return the words of a text; a word with non-ASCII letters is cut before the first of these."""
    if not text.isascii() and text.isalpha():
        head = text[: next(at for at, letter in enumerate(text) if not letter.isascii())]
        return [head] if len(head) > SAME_START else [text]
    found: list[str] = []
    for word in words_of(text.lower().replace("/", " ")):
        bare = word.strip("._-")
        # Some write "dark-mode" and some "dark mode", but "popup-border-lines" is the name of something.
        parts = bare.split("-") if bare.count("-") == 1 else [bare]
        found += [one for part in parts for one in ([part] if part[:1].isdigit() else part.split(".")) if one]
    return found


def _parts(text: str) -> list[list[str]]:
    for end in (", ", "; ", ". ", " (", ") ", " - ", " and "):
        text = text.replace(end, "\n")
    return [_pieces(part) for part in text.split("\n")]


def _share(text: str, wanted: _Wanted, heading: str = "", scope: str = "") -> float:
    # The description of a bug has more than one part.
    parts = [_pieces(text)] if wanted.kind == FIXED else _parts(text)
    verbs, scopes = (frozenset(stem(word) for word in _pieces(words)) for words in (heading, scope))
    most = 0.0
    for part in parts:
        most = max(most, wanted.share(part, verbs, scopes))
        # "Remove support for AIX and HP-UX".
        verbs = frozenset(stem(word) for word in part[:1]) if len(part) <= SHORT_PART else frozenset()
    return most


def _share_of_note(note: str, wanted: _Wanted, heading: str) -> float:
    # An entry may name only what it adds, under a heading such as "Changes": "CLI: HTML export".
    is_plain = len(_pieces(note)) <= SHORT and wanted.kind == ADDED and not _tells_otherwise(f"{heading} {note}")
    return _share(note, wanted, heading) or (_share(f"add {note}", wanted) if is_plain else 0.0)


def _tells_otherwise(text: str) -> bool:
    return not (_FAULTS | _VERB_STEMS[REMOVED]).isdisjoint(stem(word) for word in _pieces(text))


def _share_of_subject(subject: str, wanted: _Wanted) -> float:
    kind, colon, text = subject.partition(":")
    kind, _, scope = kind.rstrip(")!").partition("(")
    if not (colon and kind.isalpha() and kind.islower()):  # "feat(ui): dark mode"
        kind, scope, text = "", "", subject
    own = _share(text, wanted, kind, scope)
    # A subject may name only what it adds: "dark mode toggle".
    is_plain = len(_pieces(f"{kind} {text}")) <= SHORT and not _tells_otherwise(f"{kind} {text}")
    return own or (_share(f"add {text}", wanted) if wanted.kind == ADDED and is_plain else 0.0)


def _best(rows: list[Line], shares: list[float], wanted: _Wanted) -> list[Line]:
    """Return the line with the largest share of words of the thing, or two equal ones; empty if more are equal.

    The rows are in order, the newest first, and their fourth value is the version or commit. A thing can only have been
    added by the oldest version or commit that mentions it.
    """
    matches = [(share, row) for share, row in zip(shares, rows, strict=True) if share]
    if wanted.kind == ADDED:
        matches = [(share, row) for share, row in matches if row[3] == rows[-1][3]]
        return [max(matches, key=lambda one: one[0])[1]] if matches else []
    most = max((share for share, _row in matches), default=0.0)
    best = [row for share, row in matches if share == most]
    if wanted.is_partial and len(matches) > 1:  # a part of the thing is unknown, so any of these may be meant
        return []
    return best if len(best) <= MOST_TOLD else []


def _rows(db: Connection, wanted: _Wanted, columns: str, table: str, rest: str) -> list[Line]:
    """Return the rows whose text (first column) contains all words of the thing; empty if these words are too common.

    A single word is too common if many lines of the project have it; two adjacent words never are.
    """
    if not wanted.words:
        return []
    column = columns.partition(",")[0]
    having = " and ".join(f"{column} like ?" for _word in wanted.words)
    query = f"select {columns} from {table} where {having} {rest} limit {MOST_LINES}"
    rows = [row for row in db.execute(query, wanted.patterns()) if wanted.is_in(row[0])]
    (total,) = db.execute(f"select count(*) from {table}").fetchone()
    few = min(max(FEW, SHARE * total), max(MOST_TOLD, MOST_SHARE * total))
    return rows if len(rows) <= few or (len(wanted.words) > 1 and not wanted.is_partial) else []


def _commits(db: Connection, wanted: _Wanted) -> list[Candidate]:
    since = _moment(db, wanted.version) if wanted.is_since else 0
    if since is None:
        return []
    # A merge commit has no files; the merged commits describe the change.
    only = f"and is_reverted = 0 and files <> '' and at > {since} order by at desc, id desc"
    rows = _rows(db, wanted, "subject, sha, at, sha", "commits", only)
    found = _best(rows, [_share_of_subject(row[0], wanted) for row in rows], wanted)
    if found and wanted.kind in OPPOSITE:
        wanted.kind = OPPOSITE[kind := wanted.kind]
        later = [row for row in rows if row[2] > found[0][2] and _share_of_subject(row[0], wanted)]
        # A thing that was restored is not lost; the answer to when a thing was added includes its later removal.
        found = [*found[:1], *later[:1]] if kind == ADDED else [] if later else found
    return [candidate(*row[:3], kind="past") for row in found]


def _moment(db: Connection, version: str) -> int | None:
    """Return the time of a version's tag, with any prefix before the number; None if there is no such tag."""
    tags = db.execute("select name, at from tags where name like ?", (f"%{version}",)).fetchall()
    return next((at for name, at in tags if not name.removesuffix(version)[-1:].isdigit()), None)


def _notes(db: Connection, wanted: _Wanted) -> list[Candidate]:
    rows = _rows(db, wanted, *_OF_NOTES)
    if wanted.is_since:
        until = {path: line for path, line, _heading in _headings(db, wanted.version)}
        rows = [row for row in rows if row[2] < until.get(row[1], 0)]  # the newest version is at the top
    found = _best(rows, [_share_of_note(row[0], wanted, row[4]) for row in rows], wanted)
    return [_note(*row) for row in found[:1]] + [_note(*row) for row in found[1:] if row[3] != found[0][3]]


def _note(said: str, path: str, line: int, version: str, section: str) -> Candidate:
    label = f"{path}:{line}, {version}" + (f", {section}" if section else "")
    return Candidate(said, f"{path}:{line}", SURE + 0.01, label=label, kind=NOTE)


def _headings(db: Connection, version: str) -> list[tuple[str, int, str]]:
    query = "select path, line, version from release_notes where said = '' and version like ?"
    rows = db.execute(query, (f"%{version}%",)).fetchall()
    return [row for row in rows if {version, f"{version}.0"} & {word.lstrip("v") for word in words_of(row[2].lower())}]


def _section(db: Connection, version: str) -> list[Candidate]:
    """Return where the release notes of a version begin and end."""
    headings = _headings(db, version)
    if len(headings) != 1:
        return []
    ((path, line, heading),) = headings
    query = "select count(*), max(line) from release_notes where path = ? and version = ? and said <> ''"
    count, last = db.execute(query, (path, heading)).fetchone()
    if not count:
        return []
    label = f"{path}:{line} — the notes of {heading}, {count} entr{'y' if count == 1 else 'ies'} up to line {last}"
    return [Candidate("", f"{path}:{line}", SURE, label=label, kind=NOTE)]

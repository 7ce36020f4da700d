"""Find commits for the channel ``history``: those that changed what a prompt names, or are from a time it mentions.

This module runs in the hook, but is loaded only if the channel ``history`` has a name or a time to look up.
"""

from __future__ import annotations

import os
import time

from enricher.context import Candidate
from enricher.prompt.wording.words import STOP_WORDS, stem, words_of
from enricher.sources.code import SOURCE, marks, name_history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.context import Request
    from enricher.context.prompt_names import PromptNames
    from enricher.prompt.wording.times import Span
    from enricher.sources.code.name_history import Event

MOST_SHOWN = 3
MOST_REMOVALS = 2  # maximum removals shown for one name that several files defined
MOST_PAIRS = 12  # maximum pairs of adjacent words of a question that are looked up as one name
MOST_READ = 400  # maximum commits of a time span that are read; with more, the label says "or more"
DAY = 86_400
SURE = 0.9
DIGITS = 7  # as many as ``git log --oneline`` shows
SAYS_NOTHING = frozenset(
    """
    wip work tree in progress update updates updated change changes changed commit commits initial first checkpoint
    save saved saving backup snapshot sync misc stuff various minor small fix fixes fixed edit edits tmp temp temporary
    test more some a the and of my auto merge done squash version new progress latest current state final
    """.split()
)
"""A subject with only such words does not describe the commit: "WIP", "initial commit", "more fixes"."""
_NO_NAMES = frozenset(
    """
    why when who which since removed deleted dropped gone missing disappeared vanished moved renamed added introduced
    created wrote written changed modified touched reverted broke broken bring back restore resurrect reintroduce revert
    history regression
    """.split()
)

RENAMED_TO = "renamed to"


def of_names(
    db: Connection,
    request: Request,
    named: PromptNames,
    questions: list[tuple[str, str]],
    *,
    guesses: tuple[int, ...],  # how many words may be a name
) -> list[Candidate]:
    """Return the commits that removed, renamed, added or changed a name, also one of several words."""
    verbatim = [*named.identifiers, *(one for one in named.plain_words if questions)]
    guessed = [form for count in guesses for _kind, sentence in questions for form in _forms_of_words(sentence, count)]
    wanted = list(dict.fromkeys([*verbatim, *guessed]))
    found = name_history.events(db, wanted) if wanted else {}
    candidates: list[Candidate] = []
    for name in wanted:
        history = found.get(name, [])
        if name in guessed and not any(one.what for one in history):
            continue
        kind = _kind_of_question(name, named, questions)
        is_asked = any(name in sentence for _kind, sentence in questions)
        candidates += _of_name(db, request.project.root, name, history, kind, is_asked=is_asked)
    for owner, member in named.members:
        candidates += _of_member(db, owner, member)
    for path in named.files:
        candidates += _of_file(db, request, path, _kind_of_question(path, named, questions))
    for word in named.plain_words if questions else ():
        # Only a name with hyphens shows that it may mean a file: "rate-table" is "rate-table.tsx".
        if "-" in word and (path := name_history.file_called(db, word)):
            candidates += _of_file(db, request, path, _kind_of_question(word, named, questions))
    for module in named.dotted:
        kind = _kind_of_question(module, named, questions)
        if kind != "changed":
            candidates += _of_module(db, request, module, kind)
    return _with_each_subject_once(list({one.ref: one for one in candidates}.values())[:MOST_SHOWN])


def _with_each_subject_once(candidates: list[Candidate]) -> list[Candidate]:
    """Keep each commit's subject only for the first of its names, because equal texts count as one fact."""
    told: set[str] = set()
    for one in sorted(candidates, key=lambda one: one.ref):  # the order in which they are shown
        one.text = "" if one.text in told else one.text
        told.add(one.text)
    return candidates


def _kind_of_question(name: str, named: PromptNames, questions: list[tuple[str, str]]) -> str:
    # The question that contains the name is used or, if there is none, the first question without any name.
    for kind, sentence in questions:
        if name in sentence:
            return kind
    others = (*named.identifiers, *named.files, *named.plain_words)
    return next((kind for kind, sentence in questions if not any(one in sentence for one in others)), "")


def _forms_of_words(sentence: str, count: int) -> list[str]:
    """Return the identifiers that adjacent words may mean: "rate limiter" is ``RateLimiter`` or ``rate_limiter``."""
    plain = [word.lower() for word in words_of(sentence) if word.isalpha() and len(word) > 2]
    found: list[str] = []
    for at in range(min(len(plain) - count + 1, MOST_PAIRS)):
        first, *others = words = plain[at : at + count]
        if (STOP_WORDS | _NO_NAMES).isdisjoint((first, words[-1])):
            rest, snake = "".join(map(str.capitalize, others)), "_".join(words)
            found += [snake, first.capitalize() + rest, first + rest, f"--{'-'.join(words)}", snake.upper()]
    return found


def _of_name(db: Connection, root: str, name: str, found: list[Event], kind: str, *, is_asked: bool) -> list[Candidate]:
    # Without a question, only the commit that removed the name.
    first = name_history.introduction(db, found)
    was_defined = any(one.what & (name_history.DEFINED | name_history.UNDEFINED) for one in found)
    removed = name_history.removals(found)[:MOST_REMOVALS]
    # A word such as "OpenStreetMap" in another sentence than the question may be no name of the project.
    is_meant = kind == "added" and (is_asked or (was_defined and not removed))
    candidates = [_candidate(name, "added", first)] if first and is_meant else []
    is_left_to_others = bool(removed and removed[0].what & name_history.UNDEFINED) and kind == "removed"
    if removed and (kind or was_defined) and _is_gone(db, root, name, may_be_used=is_left_to_others):
        told = [] if was_defined else of_folder(db, name.lower())
        return candidates + (told or [_candidate(name, _describe_event(db, name, one), one) for one in removed])
    if kind == "removed":
        # A name that still exists was not renamed, although it may have been replaced in some places.
        moved = next((one for one in found if one.what & name_history.MOVED), None)
        return [_candidate(name, _describe_event(db, name, moved), moved)] if moved else []
    if kind == "changed":
        changed = [
            one for one in found
            if one.what and one.state < name_history.SWEEP and not _says_nothing(one.subject)
        ][:2]  # fmt: skip
        return [_candidate(name, "added" if one is first else "changed", one) for one in changed]
    return candidates


def _of_member(db: Connection, owner: str, member: str) -> list[Candidate]:
    """Return the commit that removed a member from a class, though other classes may have one of that name."""
    query = (
        "select files.id, files.path from symbols join files on files.id = symbols.file"
        " where symbols.key = ? and symbols.name = ? and files.kind = ? limit 2"
    )
    rows = db.execute(query, (owner.lower(), owner, SOURCE)).fetchall()
    if len(rows) != 1:
        return []
    file, path = rows[0]
    if db.execute("select 1 from symbols where file = ? and name = ? limit 1", (file, member)).fetchone():
        return []
    history = name_history.events(db, [member]).get(member, [])
    removed = [one for one in history if one.what & name_history.UNDEFINED and one.detail == path]
    return [_candidate(f"{owner}::{member}", f"removed from {path}", one) for one in removed[:1]]


def _is_gone(db: Connection, root: str, name: str, *, may_be_used: bool) -> bool:
    """Return whether nothing defines ``name`` and only comments and documents contain it, unless it ``may_be_used``."""
    if name_history.is_gone(db, name):
        return True
    # The index ignores case, so "deleteFiles" may exist after "DeleteFiles" is gone.
    if (name,) in db.execute("select name from symbols where key = ? limit 50", (name.lower(),)).fetchall():
        return False
    from enricher.sources.code.lookup import Lookup

    return may_be_used or not Lookup(db, root).is_in_code(name)


def _describe_event(db: Connection, name: str, event: Event) -> str:
    if event.what & name_history.RENAMED:
        new, *later = name_history.successors(db, name, event)
        return f"{RENAMED_TO} `{new}`" + (f" (now `{later[-1]}`)" if later else "")
    if event.what & name_history.MOVED:
        before, _, after = event.detail.partition("\t")
        return f"moved from {before} to {after}"
    return f"removed from {event.detail}" if event.detail else "removed"


def _of_file(db: Connection, request: Request, path: str, kind: str) -> list[Candidate]:
    root = request.project.root
    asked = path.removeprefix(f"{root}/").lstrip("/")
    if not kind and any(os.path.exists(os.path.join(base, asked)) for base in (root, request.cwd or root)):
        return []
    events = name_history.file_events(db, asked.rpartition("/")[2])
    for before, after, event in events:
        if before and f"/{before}".endswith(f"/{asked}") and not os.path.exists(f"{root}/{before}"):
            now, last, steps = _followed(db, root, after, event)
            if now is None:
                return []
            # A file that is named without a folder still exists if it was moved to another folder.
            if (not kind or "/" not in asked) and _has_namesake(db, asked, now if kind or "/" in asked else ""):
                return []
            added = [path for old, path, one in events if not (after or old) and one.sha == event.sha]
            if not kind and {now, *added} & request.opened_files():
                return []
            how = f"removed (and {added[0]} added)" if len(added) == 1 else "removed"
            return [_candidate(before, _renamed(now, steps) if after else how, last)]
        if not before and kind == "added" and f"/{after}".endswith(f"/{asked}"):
            return [_candidate(after, "added", event)] if event.state < name_history.SWEEP else []
    return _of_old_path(db, root, asked, events) if kind == "removed" else []


def _of_old_path(db: Connection, root: str, asked: str, events: list[tuple[str, str, Event]]) -> list[Candidate]:
    """Return the commit that renamed a file which is asked for by its old path below the folder where it is now.

    ``src/cart.py`` is now ``shop/src/basket.py``, and ``shop/src/cart.py``, which never existed, is asked for.
    """
    was = {before: (after, one) for before, after, one in events[::-1] if f"/{asked}".endswith(f"/{before}")}
    old = next(iter(was), "")
    if len(was) != 1 or "/" not in old or any(os.path.exists(f"{root}/{one}") for one in (asked, old)):
        return []
    now, last, steps = _followed(db, root, *was[old])
    is_there = now and now.startswith(asked.removesuffix(old))
    return [_candidate(old, _renamed(now, steps), last)] if now and is_there else []


def _followed(db: Connection, root: str, path: str, event: Event) -> tuple[str | None, Event, int]:
    """Return where the file that ``event`` renamed to ``path`` is now, the last commit and the number of its renames.

    The path is empty if the file was removed, and None if it is not known what happened to it.
    """
    steps = int(bool(path))
    while path and not os.path.exists(f"{root}/{path}"):
        events = name_history.file_events(db, path.rpartition("/")[2])
        later = [one for one in events if one[0] == path and one[2].at >= event.at and one[2].sha != event.sha]
        if not later or steps == name_history.MOST_NAMES_IN_A_ROW:
            return None, event, steps
        _before, path, event = later[-1]
        steps += int(bool(path))
    return path, event, steps


def _renamed(now: str, steps: int) -> str:
    return f"renamed to {now}{_in_steps(steps)}" if now else "removed (after a rename)"


def _in_steps(steps: int) -> str:
    return f" in {steps} steps, the last" if steps > 1 else ""


def of_folder(db: Connection, name: str) -> list[Candidate]:
    """Return the commit that removed or moved the folder ``name``; None if another such folder remains."""
    inside = (f"{name}/%", f"%/{name}/%")
    rows = db.execute("select before from file_changes where before like ? or before like ?", inside).fetchall()
    paths = {path for (path,) in rows if f"/{name}/" in f"/{path}".lower()}  # "_" is any letter for SQLite
    folders = {path[: f"/{path}".lower().index(f"/{name}/") + len(name) + 1] for path in paths}
    left = db.execute("select path from files where path like ? or path like ?", inside).fetchall()
    if "/" in name and f"{name}/" in folders:  # a whole path, whatever ends the same
        folders, left = {f"{name}/"}, [(path,) for (path,) in left if path.startswith(f"{name}/")]
    if len(folders) != 1 or any(-1 < f"/{path}".lower().find(f"/{name}/") <= len(min(folders)) for (path,) in left):
        return []
    folder = home = folders.pop()
    for step in range(1, name_history.MOST_NAMES_IN_A_ROW + 1):
        found = name_history.new_folder(db, home)
        if not found:
            return []
        home, number = found
        if not home or name_history.has_files(db, home):
            query = "select at, 0, 0, '', sha, subject, state from commits where id = ?"
            event = db.execute(query, (number,)).fetchone()
            how = f"moved to {home}{_in_steps(step)}" if home else "removed"
            return [_candidate(folder, how, name_history.Event(*event))] if event else []
    return []


def _of_module(db: Connection, request: Request, module: str, kind: str) -> list[Candidate]:
    """Return the commit that removed or renamed the Python file of a module, unless it has become a package."""
    path = f"{module.replace('.', '/')}.py"
    for before, _after, _event in name_history.file_events(db, path.rpartition("/")[2]):
        is_package = os.path.isdir(f"{request.project.root}/{before.removesuffix('.py')}")
        if f"/{before}".endswith(f"/{path}") and is_package:
            return []
    return _of_file(db, request, path, kind)


def of_a_time(db: Connection, request: Request, named: PromptNames, prose: str) -> list[Candidate]:
    """Return commits from the time span that the prompt mentions, about its subject if there are such commits.

    Otherwise the newest are returned, unless the prompt has a particular subject and there are too many to show all.
    """
    from enricher.prompt.wording.times import mentions, span

    tags = {name.lower(): at for name, at in db.execute("select name, at from tags").fetchall()}
    found = span(prose, request.now, tags)
    if found is None:
        return []
    rows = db.execute(
        "select id, sha, at, subject, files from commits where at between ? and ? and is_reverted = 0 and files <> ''"
        " order by at desc, id desc limit ?",
        (found.start, min(found.end, request.now + DAY), MOST_READ),
    ).fetchall()
    count = f"{len(rows)}{' or more' if len(rows) == MOST_READ else ''}"
    rows = [row for row in rows if not _says_nothing(row[3])]
    about = _about(db, rows, named, found)
    is_general = found.why != mentions.TROUBLE and not (named or found.is_specific)
    if not about and not is_general and (found.why == mentions.WORK or len(rows) > MOST_SHOWN):
        return []
    candidates = [candidate(subject, sha, at, kind="then") for _id, sha, at, subject, _ in (about or rows)[:MOST_SHOWN]]
    for number, one in enumerate(candidates):
        one.score = one.raw = SURE - 0.001 * number  # keeps the order of time; equal ones would be ordered by hash
    if len(rows) > MOST_SHOWN and not about:
        candidates[0].label += f", the newest of {count}"
    return candidates


def candidate(subject: str, sha: str, at: int, *, kind: str) -> Candidate:
    """Return a candidate line that shows a commit: its abbreviated hash, its date and its subject."""
    day = _day(at)
    return Candidate(subject, sha, SURE, label=f"{sha[:DIGITS]} {day}", date=day, kind=kind)


def _day(at: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


Row = tuple[int, str, int, str, str]


def _about(db: Connection, rows: list[Row], named: PromptNames, found: Span) -> list[Row]:
    # Select by name or file, else by the most words shared with the sentence about the time, unless too many commits
    # share one word.
    keys = [name_history.key(name) for name in named.identifiers]
    query = f"select distinct id from name_changes where key in ({marks(keys)}) and at between ? and ?"
    touching = {number for (number,) in db.execute(query, (*keys, found.start, found.end))} if keys else set()
    names = {path.rpartition("/")[2] for path in named.files}
    by_name = [
        row for row in rows
        if row[0] in touching or (names and names & {path.rpartition("/")[2] for path in row[4].split("\n")})
    ]  # fmt: skip
    if by_name or not found.words:
        return by_name
    shared = [(len(found.words & {stem(piece) for piece in words_of(row[3].lower())}), row) for row in rows]
    most = max((count for count, _row in shared), default=0)
    best = [row for count, row in shared if count == most > 0]
    return best if most > 1 or len(best) <= MOST_SHOWN else []


def _has_namesake(db: Connection, asked: str, after: str) -> bool:
    """Return whether there is a file with the path ``asked`` other than ``after``, to which the commit moved the file.

    The path may lack its first folders.
    """
    ending = f"/{asked}"
    query = "select 1 from files where substr('/' || path, ?) = ? and path <> ? limit 1"
    return db.execute(query, (-len(ending), ending, after)).fetchone() is not None


def _says_nothing(subject: str) -> bool:
    return all(word.lower() in SAYS_NOTHING or word.isdigit() for word in words_of(subject))


def _candidate(name: str, how: str, event: Event) -> Candidate:
    day = _day(event.at)
    label = f"`{name}` — {how} in {event.sha[:DIGITS]}, {day}"
    kind = how.partition(" ")[0]
    subject = "" if _says_nothing(event.subject) else event.subject
    return Candidate(subject, f"{event.sha[:12]} {name}", SURE, label=label, date=day, kind=kind)

"""Read task lists and find the tasks that a prompt is about.

The lists are Claude Code's task files, the session's todo list, ``.beads/issues.jsonl`` and a ``TODO.md`` with
checkboxes. A task is offered if the prompt contains its id or, unless the task is finished, some of its specific words.
"""

from __future__ import annotations

import os

from enricher.hosts.claude import task_folder
from enricher.prompt.wording.words import stem
from storage.base.fast_stdlib import loads
from storage.base.private import read_file
from storage.memory.words import split_identifier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LARGEST_FILE = 1 << 20
LARGEST_TASK = 16 * 1024
MOST_TASK_FILES = 200
MOST_DECODED = 60
"""Maximum lines of a list that are decoded; those that contain most of the wanted words come first."""
MOST_HITS = 300
"""Maximum lines of a task list that contain a word; with more, the word is too common to find a task."""
READ_OF_PROMPT = 4000
MOST_WORDS = 60
LONGEST_ID = 64
DONE = frozenset("closed done completed complete cancelled tombstone deleted resolved".split())
"""Statuses of a task that needs no more work, in all these lists; beads marks a deleted task as a tombstone."""

BY_ID_SCORE, ONE_WORD_SCORE, NO_SCORE = 0.95, 0.6, 0.2
TWO_WORDS_BASE, MORE_WORDS_BASE, OF_THE_TITLE, OF_THE_PROMPT = 0.25, 0.4, 0.4, 0.3
"""Parts of a task's score, chosen so that few prompts get an unrelated task (``python -m tests.session``)."""
FEW_STEMS, LONG_STEM = 4, 5
"""One shared word finds a task only if it has LONG_STEM letters, and the prompt at most FEW_STEMS specific words."""
SHORTEST_WORD = 3
_STOP = frozenset(
    """
    the and for with from into onto that this these those there here then than when where what which who why how are was
    were been being have has had having does did doing can could should would will shall may might must not nor but you
    your yours our ours its it's their them they his her she him all any some each every both few more most other such
    only own same too very just also again once now still yet about above after before below between during over under
    out off down per via let lets please thanks need needs want wants like get gets got give make makes made making take
    use uses used using see look looks show tell find say says try keep way thing things something anything nothing one
    two three first last next new old good bad better best right wrong sure maybe really actually currently instead
    because since until while without within against another many much well back even ever never always sometimes i'm
    i've don't doesn't isn't can't won't let's that's there's
    fix fixes fixed bug bugs error errors issue issues problem problems test tests testing file files code update
    updates updated change changes changed add adds added adding implement implementation create creates created
    remove removes removed delete move rename write writing read run runs running work works working check handle
    handling support improve set setup start stop build function functions method class line lines user users page data
    value values type types name names list item items task tasks todo done open closed follow app project version
    feature features part whole case cases option options default correct properly fail fails failing failed broken
    missing behavior behaviour current existing possible allow call calls go goes going come put ask question answer
    git github hub commit commits committed push pushed pull branch branches merge merged repo repository com http https
    www message messages log logs debug include including document documents already exist exists generate generated
    """.split()
)
"""Words that do not count, because any prompt may share them with any task."""


class Task:
    """A task in a task list.

    ``where`` names the list, and ``id`` is the task's id in it. With ``is_line``, ``id`` is the number of a line
    instead.
    """

    __slots__ = ("date", "id", "is_line", "status", "title", "where")

    def __init__(
        self, identity: str, title: str, *, status: str, where: str, date: str = "", is_line: bool = False
    ) -> None:
        self.id = identity
        self.title = title
        self.status = status
        self.where = where
        self.date = date
        self.is_line = is_line


class TaskQuery:
    """The search terms of a prompt: the stems of its specific words, and the words that may be task ids."""

    __slots__ = ("ids", "stems")

    def __init__(self, prompt: str, subject: str = "") -> None:
        text = f"{prompt[:READ_OF_PROMPT]} {subject}"
        self.stems = set(list(dict.fromkeys(stems(text)))[:MOST_WORDS])
        self.ids = _ids(prompt[:READ_OF_PROMPT])


def ranked(tasks: Iterable[Task], wanted: TaskQuery) -> list[tuple[Task, float]]:
    """Return those of the tasks that the prompt is about, each with its relevance from 0 to 1, best first."""
    scored = []
    for task in tasks:
        relevance = score(task, wanted)
        if relevance > NO_SCORE:
            scored.append((-relevance, task.where, task.id, task))
    scored.sort(key=lambda one: one[:3])  # without the task itself, because tasks cannot be compared
    return [(task, -least) for least, _, _, task in scored]


def score(task: Task, wanted: TaskQuery) -> float:
    """Return a task's relevance from 0 to 1, which depends on its id or, failing that, on its title.

    It is high and fixed if the prompt contains the id. Otherwise, it depends on the specific words that the title and
    the prompt share. If they share just one, it counts only if it is the title's only one and the prompt has few
    others.
    """
    if task.id.lower() in wanted.ids or f"task {task.id}" in wanted.ids:
        return BY_ID_SCORE
    own = set(stems(task.title))
    shared = own & wanted.stems
    if not shared or task.status.lower() in DONE:  # a finished task is offered by its id only
        return 0.0
    if len(shared) == 1:
        is_all = len(own) == 1 and len(wanted.stems) <= FEW_STEMS and len(min(shared)) >= LONG_STEM
        return ONE_WORD_SCORE if is_all else NO_SCORE
    base = TWO_WORDS_BASE if len(shared) == 2 else MORE_WORDS_BASE
    # At most 0.9, because words are less certain than an id.
    return min(0.9, base + OF_THE_TITLE * len(shared) / len(own) + OF_THE_PROMPT * len(shared) / len(wanted.stems))


def stems(text: str) -> list[str]:
    """Return the stems of the specific words of a text, including the parts of identifiers."""
    found = []
    for word in "".join(char if char.isalnum() or char == "'" else " " for char in text).split():
        parts = [word] if word.islower() else [word, *split_identifier(word)]
        for part in parts:
            low = part.strip("'").lower()
            if len(low) >= SHORTEST_WORD and not low.isdigit() and low not in _STOP:
                found.append(stem(low))
    return found


def _ids(prompt: str) -> set[str]:
    """Return the words of a prompt that may be task ids: ``bd-42``, ``#17``, ``task 3``."""
    words = [word.strip(" .,;:!?()[]{}\"'`*").lower() for word in prompt.split()]
    found = {word for word in words if len(word) <= LONGEST_ID and any(char.isdigit() for char in word) and "-" in word}
    found |= {word[1:] for word in words if word[:1] == "#" and word[1:].isdigit()}
    for at, word in enumerate(words[:-1]):
        behind = words[at + 1]
        if word in ("task", "todo", "bead") and behind.lstrip("#").isalnum() and any(map(str.isdigit, behind)):
            found.add(f"task {behind.lstrip('#')}")
    return found


def claude_tasks(session_id: str) -> list[Task]:
    """Return the tasks that Claude Code stores for a session, ordered by number."""
    folder = task_folder(session_id)
    try:
        names = [name[:-5] for name in os.listdir(folder) if name.endswith(".json") and name[:-5].isdigit()]
    except OSError:
        return []
    # Numbers as texts: "2" before "10".
    tasks = [_claude_task(folder, name) for name in sorted(names, key=lambda one: (len(one), one))[:MOST_TASK_FILES]]
    return [task for task in tasks if task is not None]


def _claude_task(folder: str, name: str) -> Task | None:
    try:
        value = loads(read_file(f"{folder}/{name}.json", LARGEST_TASK).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("subject"), str):
        return None
    status = value.get("status")
    return Task(name, value["subject"], status=status if isinstance(status, str) else "pending", where="Claude Code")


def _project_file(root: str, name: str) -> bytes:
    """Return the content of a project's file; empty if it does not exist or a link leads out of the project."""
    path = os.path.join(root, name)
    try:
        content = read_file(path, LARGEST_FILE)
    except (OSError, ValueError):
        return b""
    folder = os.path.dirname(path)
    # read_file follows no link at the end of a path, but a folder on the way may be one.
    return content if folder == root or os.path.realpath(folder) == folder else b""


def beads(root: str, name: str, wanted: TaskQuery) -> Iterator[Task]:
    """Yield the promising tasks in the file ``name`` of a project, as the tracker beads writes it."""
    for line, _ in _promising(_project_file(root, name), wanted):
        try:
            value = loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict) or not isinstance(value.get("title"), str):
            continue
        identity, status, date = (str(value.get(key) or "") for key in ("id", "status", "updated_at"))
        if 0 < len(identity) <= LONGEST_ID and len(identity.split()) == 1:
            yield Task(identity, value["title"], status=status[:20] or "open", where=name, date=date[:10])


def checklist(root: str, names: Sequence[str], wanted: TaskQuery) -> Iterator[Task]:
    """Yield the promising tasks in the first of these files of a project that is not empty."""
    for name in names:
        if content := _project_file(root, name):
            for line, number in _promising(content, wanted):
                if task := _checkbox(line, number, where=name):
                    yield task
            return


def _checkbox(line: str, number: int, *, where: str) -> Task | None:
    bare = line.strip()
    box = bare[1:].lstrip() if bare[:1] in ("-", "*", "+") else ""
    if box[:1] != "[" or box[2:3] != "]" or not box[3:].strip():
        return None
    status = "done" if box[1] in "xX" else "open"
    return Task(str(number), box[3:].strip(), status=status, where=where, is_line=True)


def _promising(content: bytes, wanted: TaskQuery) -> list[tuple[str, int]]:
    """Return the lines with the most wanted words, each with its line number."""
    low = content.lower()  # bytes.lower() changes ASCII only, so offsets stay valid
    counts: dict[int, int] = {}
    for needle, weight in _needles(wanted):
        starts: set[int] = set()
        at = low.find(needle)
        while at >= 0 and len(starts) <= MOST_HITS:
            starts.add(low.rfind(b"\n", 0, at) + 1)
            end = low.find(b"\n", at)
            at = low.find(needle, end) if end >= 0 else -1
        for start in starts if len(starts) <= MOST_HITS else ():
            counts[start] = counts.get(start, 0) + weight
    best = sorted(counts, key=lambda start: (-counts[start], start))[:MOST_DECODED]
    return [(_line(content, start), content.count(b"\n", 0, start) + 1) for start in best]


def _needles(wanted: TaskQuery) -> Iterator[tuple[bytes, int]]:
    """Yield the byte strings that are to be searched for in a task list, each with its weight."""
    for word in sorted(wanted.stems):
        yield word.removesuffix("i").encode(errors="replace"), 1  # a stem's final "i" stands for "y" or "ies"
    for word in sorted(wanted.ids):
        yield word.removeprefix("task ").encode(errors="replace"), MOST_WORDS  # weighs as much as all stems together


def _line(content: bytes, start: int) -> str:
    end = content.find(b"\n", start)
    return content[start : end if end >= 0 else len(content)][:LARGEST_TASK].decode("utf-8", "replace")

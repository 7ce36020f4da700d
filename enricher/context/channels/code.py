"""The channel ``code``: where the names in a prompt are defined and used, and which of them do not exist.

The channel reads the index that ``enricher.sources.code.indexing.index`` maintains. As long as a project has no index,
only files are found, and only in the profile ``as-specified``. Facts that the prompt or the conversation already
contains are not shown. The channel runs in the hook, and starts no process.
"""

from __future__ import annotations

import os

from enricher.context import Candidate, Channel
from enricher.prompt.text import LONGEST_LABEL
from enricher.prompt.wording import COMMAND, FILE, FRAME, IDENTIFIER, SPOKEN, Name
from enricher.prompt.wording.names import read_names
from enricher.prompt.wording.place_questions import (
    asks_for_further_users,
    asks_for_meaning,
    asks_for_users,
    asks_who_uses_it,
)
from enricher.prompt.wording.words import quoted
from enricher.settings import is_as_specified
from enricher.sources.code import SOURCE, database_file, is_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from enricher.context import ChannelRule, Request
    from enricher.sources.code.facts import Fact

MOST_FIRST, MOST_LATER = 3, 1  # lines for the first prompt of a session, and for a later one, when most files are known
MOST_MERGED = 3  # maximum further names from the same file in one line of the output
MORE = ", …"  # follows the last place that fits into a line
MOST_PATHS = 6  # maximum number of files that one line of the output lists
ALREADY_OPEN = "the conversation has it open"
ACCOMPANIES = "it only accompanies a better one"
FOLDER_NAMED = "the prompt names its folder"
NOTE = "; above it: "
CUES_OF_DOCUMENTS = ("doc", "dok", "док", "man", "readme", "handbuch", "文", "ドキュ", "マニュ", "手册")
QUESTION_MARKS = ("?", "\uff1f")
FLAG_SUFFICES = "the place of a flag's declaration is rarely the subject of a prompt that names it"
"""In readings of outputs, nine flags were located in mid-conversation: two of these lines helped, four harmed.

Of five lines on a flag that no code was found to read, one helped.
"""
NEAR_IN_TRACE = 40
"""Maximum lines between a function's definition and its line in a pasted trace."""
NAME_SUFFICES = "the prompt has the name, by which the agent finds the file at once"


def offer(request: Request, _rule: ChannelRule) -> list[Candidate]:
    """Return a line for each name in the prompt whose location the agent does not know yet, best first."""
    project = request.project
    if not project.root or not is_project(project.root, project.git_dir):
        return []
    names = read_names(request.prompt, in_words=True)
    if request.conversation.answer and (
        asks_who_uses_it(request.prompt)
        or ({name.kind for name in names} <= {SPOKEN} and asks_for_further_users(request.prompt))
    ):
        names = _meant(request) or names
    if namesake := _namesake(request, names):
        return [_candidate(namesake, request.opened_files())]
    is_other = bool(request.conversation.answer_names) and {name.kind for name in names} <= {SPOKEN}
    is_on_documents = _asks_for_documents(request.prompt)
    if not (names or is_on_documents):
        return []
    index = request.index()
    if index and is_other:
        names = _others(request, index) or names
    found = _chosen(_indexed(request, names, index) if index else _unindexed(request, names), request)
    if index and is_on_documents:
        from enricher.context.documents import document_worked_on

        found += document_worked_on(request, names, index)
    return found


def _asks_for_documents(prompt: str) -> bool:
    low = prompt.lower()
    if not any(cue in low for cue in CUES_OF_DOCUMENTS):  # spares most prompts the import
        return False
    from enricher.prompt.wording.document_questions import asks_for_documents

    return asks_for_documents(prompt)


def _meant(request: Request) -> list[Name]:
    """Return what a prompt calls "that": the only identifier in the agent's last answer and the previous request."""
    meant = [Name(IDENTIFIER, one.rpartition(".")[2]) for one in _talked_of(request)]
    for name in meant:
        name.is_asked = True
    return meant if len(meant) == 1 else []


def _talked_of(request: Request) -> list[str]:
    """Return the identifiers that the last answer and the request before it contain; if none, all of the answer."""
    from enricher.prompt.conversation.followup import mentions

    said = mentions(request.conversation.answer, is_file=False)
    asked = mentions(" ".join(request.conversation.prompts[-1:]), is_file=False)
    return [one for one in said if one in asked] or said


def _others(request: Request, index: Connection) -> list[Name]:
    """Return what a prompt calls "the other one": a name of the last exchange of which the agent has seen all but one.

    Return nothing unless there is only one such name, of which two or more files have a definition.
    """
    known, found = request.opened_files(), []
    query = (
        "select distinct files.path from symbols join files on files.id = symbols.file"
        " where symbols.key = ? and symbols.name = ? and files.kind = ? limit 5"
    )
    for one in _talked_of(request):
        name = one.rpartition(".")[2]
        paths = [path for (path,) in index.execute(query, (name.lower(), name, SOURCE))]
        if len(paths) > 1 and len([path for path in paths if path not in known]) == 1:
            found.append(name)
    return [Name(IDENTIFIER, found[0]), Name(SPOKEN, f"the other {found[0]}")] if len(found) == 1 else []


def _namesake(request: Request, names: list[Name]) -> Fact | None:
    """Return a fact about what a prompt calls "the other one" after an edit: the only other file of that name.

    Of several, it is the one whose folder has a word of the prompt.
    """
    changed = request.conversation.changed[:1]
    if not changed or any(name.kind != SPOKEN for name in names):
        return None
    from enricher.prompt.conversation.followup import means_the_other

    index = request.index() if means_the_other(request.prompt) else None
    if not index:
        return None
    from enricher.sources.code.places.namesakes import other_file_called

    edited = next((path for path in request.opened_files() if f"/{changed[0]}".endswith(f"/{path}")), "")
    return other_file_called(index, edited, request.prompt) if edited else None


def _indexed(request: Request, names: list[Name], index: Connection) -> list[Candidate]:
    from storage.base import reader

    known = request.opened_files()
    try:
        if not _may_be_found(index, names):
            return []
        from enricher.sources.code.places import facts

        found = facts(index, request.project.root, names, known)
    except reader.failures() as failure:
        if reader.is_damage(failure):  # the index can be rebuilt from the project
            os.unlink(database_file(request.state, request.project.id))
        raise
    for fact in found:
        fact.fault = _needless(fact, request)
        is_open = not fact.fault and request.were_opened({fact.path, *fact.others, *fact.users})
        if is_open and not (fact.is_asked and asks_for_users(request.prompt)):
            fact.fault = ALREADY_OPEN
    found = _merge_by_file(found)
    _add_notes(found, request)
    files = [fact for fact in found if fact.is_only_file() and not fact.fault and fact.path not in known]
    if len(files) < 2:
        return [_candidate(fact, known) for fact in found]
    return [
        _of_files(files[:MOST_PATHS]) if fact is files[0] else _candidate(fact, known)
        for fact in found if fact not in files[1:]
    ]  # fmt: skip


def _add_notes(found: list[Fact], request: Request) -> None:
    """Append to each definition what a comment above it says must be changed with it, unless the prompt only asks."""
    if request.prompt.rstrip().endswith(QUESTION_MARKS):
        return
    from enricher.sources.code.facts import DEFINITION
    from enricher.sources.code.special.change_notes import note_above

    for fact in found:
        if fact.kind == DEFINITION and fact.line and not (fact.fault or fact.is_asked):
            room = LONGEST_LABEL - len(_label(fact)) - len(NOTE) - 2
            if note := note_above(request.project.root, fact.path, fact.line, room=room):
                fact.reason += f'{NOTE}"{note}"'


def _may_be_found(index: Connection, names: list[Name]) -> bool:
    """Return whether it is worth loading the modules for a lookup: the prompt names something, or its words may."""
    if any(name.kind != SPOKEN or name.is_setting or name.is_asked for name in names):
        return True
    from enricher.sources.code.special.spoken import names_like

    return any(names_like(index, name.text, is_asked=name.is_asked) for name in names)


def _needless(fact: Fact, request: Request) -> str:
    from enricher.sources.code.facts import SEEN_IN_TRACE

    if fact.fault and (fact.fault != SEEN_IN_TRACE or not is_as_specified(request.settings)):
        return fact.fault
    # A path alone saves the agent one search for a file name; such facts helped in 3 of 22 cases (``python -m
    # tests.usefulness``).
    if fact.is_only_file() and _is_named(fact.path.rpartition("/")[0], request.prompt):
        return FOLDER_NAMED
    if fact.reason == "defined here" and any(fact.path in command for command in request.conversation.commands):
        return ALREADY_OPEN
    if _is_known_from_trace(fact, request.prompt):
        return SEEN_IN_TRACE
    is_flag, is_unread = fact.subject.startswith("--"), fact.reason == "declared here"
    is_aside = (is_flag or is_unread) and not fact.is_asked and not is_as_specified(request.settings)
    is_rarely_meant = request.conversation.prompts or (is_flag and is_unread)
    if is_aside and is_rarely_meant and not _asks_what_it_is(request.prompt):
        return FLAG_SUFFICES
    is_found_by_name = (fact.kind == FILE and not fact.others) or (fact.kind == COMMAND and not fact.line)
    return NAME_SUFFICES if is_found_by_name and not is_as_specified(request.settings) else ""


def _asks_what_it_is(prompt: str) -> bool:
    return any(asks_for_meaning(line, line.lower().split()) for line in prompt.splitlines()) or "default" in prompt


def _is_known_from_trace(fact: Fact, prompt: str) -> bool:
    """Return whether the prompt has the place as a file and a line: "Checker.java:310", "at output.c:269".

    The callers of a function, if they are few, are new to the agent all the same.
    """
    if fact.kind in (FRAME, FILE) or (fact.callers and MORE not in fact.reason):
        return False
    from enricher.sources.code.facts import DEFINITION

    near = NEAR_IN_TRACE if fact.kind == DEFINITION else 0
    mark = f"{fact.path.rpartition('/')[2]}:"
    numbers = [part[: len(part) - len(part.lstrip("0123456789"))] for part in prompt.split(mark)[1:]]
    return any(number and 0 <= int(number[:6]) - fact.line <= near for number in numbers)


def _merge_by_file(found: list[Fact]) -> list[Fact]:
    """Merge the facts about a file into the one with the highest score, which then lists the lines of the others."""
    surest: dict[str, Fact] = {}
    merged: list[Fact] = []
    for fact in sorted(found, key=lambda one: -one.score):
        if fact.line and fact.subject and not fact.fault and surest.setdefault(fact.path, fact) is not fact:
            merged.append(fact)
            if sum(one.path == fact.path for one in merged) <= MOST_MERGED:
                subject = fact.reason if fact.kind == FRAME else quoted(fact.subject)
                head = fact.reason.partition(";")[0].partition("d here")[2]  # "defined here" or "declared here"
                others = head if " and " in head else ""
                if variable := fact.reason.partition("; set by ")[2].partition(";")[0]:
                    others = f" (set by {variable})"
                surest[fact.path].reason += f"; {subject}: line {fact.line}{others}"
    return [fact for fact in found if fact not in merged]


def _is_named(folder: str, prompt: str) -> bool:
    parts = folder.split("/")
    return len(parts) > 1 and "/".join(parts[-2:]) in prompt


def _of_files(files: list[Fact]) -> Candidate:
    paths = ", ".join(quoted(fact.path) for fact in files)
    return Candidate("", paths, files[0].score, label=f"{paths} — the only files of these names", kind=FILE)


def _place(fact: Fact) -> str:
    return f"{quoted(fact.path)}{f':{fact.line}' if fact.line else ''}"


def _label(fact: Fact) -> str:
    return f"{_place(fact)}{f' {quoted(fact.subject)}' if fact.subject else ''} — {fact.reason}"


def _candidate(fact: Fact, known: set[str]) -> Candidate:
    label = _label(fact)
    if len(label) > LONGEST_LABEL:  # a truncated path of tests is useless, so they are omitted
        label = label.rpartition("; and ")[0] or label
    if len(label) > LONGEST_LABEL and " — " in (head := label[: LONGEST_LABEL - len(MORE)].rpartition(", ")[0]):
        label = head + MORE
    is_open = known & {fact.path, *fact.others} and not (fact.is_asked or _lists_unknown_callers(fact, known))
    stale = fact.fault or (ALREADY_OPEN if is_open else "")
    ref = fact.path if fact.kind == FRAME else _place(fact)
    return Candidate("", ref, fact.score, label=label, kind=fact.kind, stale=stale)


def _lists_unknown_callers(fact: Fact, known: set[str]) -> bool:
    """Return whether the reason of a fact lists a caller in a file that the conversation has not opened."""
    unknown = set(fact.callers) - known - {fact.path}
    return any(f"{path.rpartition('/')[2]}:" in fact.reason for path in unknown)


def _unindexed(request: Request, names: list[Name]) -> list[Candidate]:
    # A name that several files have is left out.
    if not is_as_specified(request.settings):
        return []
    from enricher.sources.code.unindexed import files_named

    wanted = [name.text for name in names if name.kind == FILE and not os.path.exists(f"{request.cwd}/{name.text}")]
    found = files_named(request.project, wanted) if wanted else {}
    return [
        Candidate("", path, 0.8, label=f"{quoted(path)} — the only file of that name", kind="file")
        for paths in found.values() if len(paths) == 1
        for path in paths if path != wanted[0]
    ]  # fmt: skip


def _chosen(offered: list[Candidate], request: Request) -> list[Candidate]:
    conversation = request.conversation
    most = MOST_LATER if conversation.prompts else MOST_FIRST
    offered.sort(key=lambda one: -one.score)
    for one in offered:
        if not one.stale:
            most -= 1
            one.stale = ACCOMPANIES if most < 0 else ""
    return offered


CHANNEL = Channel(
    offer=offer,
    question=None,
    can_ask_again=True,
    gives="where the names, quoted texts, routes and flags in it are defined, who uses them, which do not exist",
    read_more="docs/code.md",
    min_score=0.5,
    most=3,
    priority=9,
    tokens=150,
)

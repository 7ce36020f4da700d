"""Choose the sentence, command or file that tells the agent how this project performs an action, such as a release.

The code index contains several for most actions. What the client has already loaded, or the conversation has shown, is
marked as stale. This module runs in the hook, but is loaded only if a prompt asks for an action.
"""

from __future__ import annotations

from enricher.context import Candidate
from enricher.prompt import ADDITION_CUES
from enricher.prompt.text import has_cue
from enricher.sources.code import NEW, ONE_TEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from enricher.context import Request

# For these actions, a sentence from a document is used only if there is no command.
BY_COMMAND = ("test", ONE_TEST, "lint", "run", "build", "install")
SURE, LESS_SURE = 0.9, 0.85
ADDITION = "addition"
# For these actions, both a sentence and a dedicated file (template, workflow) are shown.
TWO_LINES = ("pull-request", "release", "push", "deploy")
MAKING = ("generate", "revision", "makemigrations", "create", "migrate dev")
"""Parts of commands that write a new migration instead of applying existing ones."""
APPLYING = "run_ apply execut ejecut esegu lance führ запуст накати 运行 执行 実行"
"""Beginnings of words that apply migrations, unless the prompt also asks for a new one; where ``_`` means a space."""
LEAST_SENTENCE = {"commit": 7.0, "test": 8.0, "lint": 8.0, "new-test": 9.0, "build": 8.0}
"""Lowest rank of a sentence that is shown, by action: below it a command or the history is more informative."""
GUIDE = 8.5
"""The rank of a document that is about the action as a whole."""
ABOUT = {
    "commit": "on commits", "sign-off": "on signing off", "ai-policy": "on AI", "trigger": "on pushes",
    "pull-request": "on pull requests", "push": "on pushing", "release": "on releases",
    "test": "on tests", ONE_TEST: "on tests", "new-test": "on new tests", "lint": "on checks", "run": "on running it",
    "build": "on building", "deploy": "on deploying", "dependency": "on dependencies", "setting": "on settings",
    "migration": "on migrations", "changelog": "on the changelog", "translation": "on translations",
    "contributor": "on contributors", "install": "on installing it",
}  # fmt: skip
CONVENTIONAL = "conventional"
SUITES = ("integration", "e2e", "end-to-end", "smoke", "acceptance", "regression")
"""Names of parts of the tests: if a prompt names one, only statements about that part are shown."""
WHOLE = (" check", " ci")
"""Ends of commands that run all that the project checks."""
WHOLE_CHECK = (" checks", "whole check", "full check", "ci check", "full ci", "whole ci", "ci locally")
"""Words that mean all that the project checks, so that `make check` is told rather than `make test`."""
EXCEPTIONS = frozenset(
    "not no without except skip nicht ohne keine außer sans pas sauf sin excepto salvo sem não exceto senza non tranne"
    " не без кроме".split()
)
"""Words before the name of such a part that leave it out."""
NEAR = 2
"""Number of words before the name of a part that are searched for an exception: "not the integration tests"."""
NOT_THE_TESTS = (*SUITES, "speed", "bench", "stress", "fuzz")  # words of commands for a part of the tests
READS_LOG = "the host has it: it reads the newest commits before it commits"
LOG_READERS = ("claude",)  # they read ``git log`` before each commit by themselves
ALSO_WORDS = ("make", "just", "go", "task")  # ordinary English words, which prompts contain anyway
OTHER_BRANCH = "a push of another branch does not start it"
CONCRETE_ONLY = ("pull-request", "changelog", "release", "translation", "contributor")
"""Actions about which a prompt without a question gets a sentence only if that has one of TELLING.

Of 26 readings of sentences on these and on commits, in 40 projects, two found one helpful.
"""
TELLING = ("`", '"', "/", "\u201c", " branch", " must ", "ever ", " only ", " containing ", " link to ")
"""Signs of a command, a path, an example, a strict rule or a form in a sentence; "ever " also finds "whenever"."""
TRIED_FIRST = "an agent tries it first"
OF_NPM = "npm install NAME"
DID_IT = "the conversation has it: it did so already"
DONE_BY = {
    "commit": ("git commit",), "pull-request": ("gh pr create",), "test": ("test", "vitest", "jest", "rspec"),
    ONE_TEST: ("test", "vitest", "jest", "rspec"), "lint": ("lint", "ruff", "format", "mypy", "typecheck"),
    "build": ("build",), "run": ("dev", "start", "serve"), "install": ("install",),
}  # fmt: skip
"""Parts of commands, by action: an agent that ran such a command knows how the project does it."""


class Way:
    """What a file or the history of the project says about one action; ``folder`` is empty if it applies everywhere."""

    __slots__ = ("folder", "kind", "label", "line", "path", "rank", "text")

    def __init__(self, kind: str, text: str, label: str, path: str, line: int, folder: str, rank: float) -> None:
        self.kind, self.text, self.label = kind, text, label
        self.path, self.line, self.folder, self.rank = path, line, folder, rank


def _about(action: str) -> str:
    """Return the words that introduce a quoted sentence: "on commits", "on adding an exporter"."""
    if action in ABOUT:
        return ABOUT[action]
    thing = action.removeprefix(NEW)
    return f"on adding {'an' if thing[:1] in 'aeiou' else 'a'} {thing}"


def best_ways(action: str, index: sqlite3.Connection, request: Request, loaded: set[str]) -> list[Candidate]:
    """Return the best facts of the index about one action, as candidates; ``loaded`` are files that the client has."""
    is_whole = action == "test" and any(words in request.prompt.lower() for words in WHOLE_CHECK)
    rows = index.execute(
        "select kind, said, label, path, line, folder, rank from ways where action in (?, ?)"
        " order by action <> ?, rank desc",
        (action, "lint" if is_whole else action, action),
    ).fetchall()
    ways = _in_scope([Way(*row) for row in rows], request)
    loaded_file = next(
        (way.path for way in ways if way.path in loaded or way.path.replace("claude.md", "CLAUDE.md") in loaded), ""
    )
    offered = []
    for number, way in enumerate(_chosen(action, ways, request.prompt.lower())):
        score = SURE if not number else LESS_SURE
        ref = f"{action} {way.path}:{way.line}" if way.path else f"{action} {way.kind}"
        stale = _objection(action, way, request, loaded_file)
        label = f"{way.label}, {_about(action)}" if way.kind == "sentence" else way.label
        quoted = way.text if way.kind in ("sentence", "history") else ""  # the other labels contain the text already
        kind = f"way: {action if action in ABOUT else ADDITION}"
        offered.append(Candidate(quoted, ref, score, label=label, kind=kind, stale=stale))
    return offered


def _in_scope(ways: list[Way], request: Request) -> list[Way]:
    """Return the ways about folders in which the agent works, deepest first, then those about the project.

    Without any, all ways are returned if they are about one folder, the project's only package, unless the agent works
    outside of it.
    """
    near = _near(request)
    here = [way for way in ways if way.folder and any(path.startswith(way.folder + "/") for path in near)]
    here.sort(key=lambda way: (-len(way.folder), -way.rank))
    whole = [way for way in ways if not way.folder]
    if here or whole:
        return here + whole
    folders = {way.folder for way in ways}
    return ways if len(folders) == 1 and not near else []


def _near(request: Request) -> list[str]:
    folder, conversation = request.folder(), request.conversation
    return ([f"{folder}/"] if folder else []) + (conversation.changed or conversation.files[:3])


def _chosen(action: str, ways: list[Way], low: str) -> list[Way]:
    sentences = [way for way in ways if way.kind == "sentence" and way.rank >= LEAST_SENTENCE.get(action, 0.0)]
    if action in CONCRETE_ONLY and "?" not in low and "\uff1f" not in low:
        sentences = [way for way in sentences if any(mark in way.text for mark in TELLING)]
    commands = [way for way in ways if way.kind == "command"]
    others = [way for way in ways if way.kind in ("file", "history")]
    if action == "pull-request" and others:  # the template is more informative than a general sentence
        sentences = [way for way in sentences if any(mark in way.text for mark in TELLING)]
    if action == "lint":
        commands = _check_commands(commands, low)
    elif action == "dependency":
        # Of several package managers, the prompt names none; a sentence is mostly about all dependencies at once.
        commands, sentences = (commands if len({way.text for way in commands}) == 1 else []), []
    elif action == "build" and " docs" in low:
        commands, sentences = [way for way in commands if "doc" in way.text], []
    elif action == "test":
        commands, sentences = _of_the_suite(commands, low), _of_the_suite(sentences, low)
        whole = [way for way in commands if way.text.endswith(WHOLE)]
        commands = whole or commands if any(words in low for words in WHOLE_CHECK) else commands
    if action in BY_COMMAND:
        return (commands or sentences)[:1]
    if action == "migration" and (not has_cue(low, APPLYING) or has_cue(low, ADDITION_CUES) or " need " in low):
        making = [way for way in commands if any(word in way.label for word in MAKING)]
        known = sorted(sentences[:1] + others[:1], key=lambda way: -way.rank)
        return known[:1] + making[:1] or commands[:1]
    if action in TWO_LINES:
        if guide := [way for way in others if way.rank == GUIDE]:  # a guide is better than a single sentence of it
            return guide[:1] + [way for way in others if way.path.startswith(".github/")][:1]
        found = sentences[:1] + others[:1]
        return found or commands[:1]
    best = sorted(sentences[:1] + others[:1] + commands[:1], key=lambda way: -way.rank)
    is_on_form = action == "changelog" and best[:1] == sentences[:1] != [] and "/" not in best[0].text
    return best[:1] + (others[:1] if is_on_form else [])


def _check_commands(commands: list[Way], low: str) -> list[Way]:
    wanted: tuple[str, ...] = ("format", "fmt") if "format" in low else ("lint", "check")
    wanted = ("type", "tsc", "mypy", "pyright") if "type" in low else wanted
    named = [way for way in commands if any(word in way.text for word in wanted)]
    return named or (commands if wanted[0] == "lint" else [])


def _of_the_suite(ways: list[Way], low: str) -> list[Way]:
    # Without a named kind, statements about a single kind are left out.
    named = [word for word in SUITES if _is_wanted(word, low)]
    if named:
        return [way for way in ways if any(word in way.text.lower() for word in named)]
    return [way for way in ways if not any(_is_of_a_part(word) for word in way.text.lower().split())]


def _is_wanted(suite: str, low: str) -> bool:
    """Return whether a prompt names a part of the tests other than to leave it out: "not the integration tests"."""
    return any(EXCEPTIONS.isdisjoint(before.split()[-NEAR:]) for before in low.split(suite)[:-1])


def _is_of_a_part(word: str) -> bool:
    """Return whether a word limits a command to some tests: the path of a test file, or a name like "integration"."""
    stem, dot, _ending = word.rpartition("/")[2].rpartition(".")
    is_file = bool(dot) and "/" in word.removeprefix("./") and "test" in stem
    return is_file or any(suite in word for suite in NOT_THE_TESTS)


def _objection(action: str, way: Way, request: Request, loaded_file: str) -> str:
    from enricher.context import host_context

    conversation = request.conversation
    if loaded_file:
        return host_context.IN_HOST_FILE + loaded_file
    path = way.path
    opened = [*conversation.files, *conversation.changed]
    if path and (any(one == path or one.startswith(f"{path}/") for one in opened) or _is_named(path, request.prompt)):
        return host_context.IN_CONVERSATION
    if way.text == OF_NPM:
        return TRIED_FIRST
    if way.kind == "command" and _has_command(request.prompt, way.text):
        return host_context.IN_CONVERSATION
    if action == "push" and way.kind == "file" and not _is_pushed(way.text, request):
        return OTHER_BRANCH
    if way.kind == "history" and request.host in LOG_READERS:
        return READS_LOG
    if way.kind == "history" and CONVENTIONAL in request.prompt.lower():
        return host_context.IN_CONVERSATION
    done = (way.text,) if way.text.endswith(WHOLE) else DONE_BY.get(action, ())
    if done and any(word in command for command in conversation.commands for word in done):
        return DID_IT
    return ""


def _is_named(path: str, prompt: str) -> bool:
    """Return whether a prompt names a path; a folder such as "changelog" may also be an ordinary word."""
    return (path if "/" in path or "." in path else f"{path}/") in prompt


def _is_pushed(branches: str, request: Request) -> bool:
    """Return whether one of ``branches`` is checked out or named in the prompt; "*" ends a beginning: "release/*"."""
    from enricher.prompt.project import current_branch

    own, words = current_branch(request.project.root), request.prompt.lower().split()
    listed = branches.split(", ")
    return any(own == one or one in words or ("*" in one and own.startswith(one.partition("*")[0])) for one in listed)


def _has_command(prompt: str, command: str) -> bool:
    if command in prompt:
        return True
    program = command.partition(" ")[0]
    words = prompt.replace("`", " ").split()
    return program not in ALSO_WORDS and program in words[:-1]  # no arguments follow the last word


def loaded_files(request: Request, imported: str) -> set[str]:
    """Return the paths of the files that the client loads by itself for the folders in which the agent works.

    Each line of ``imported`` names a file and another one, which is loaded with it.
    """
    from enricher.context import host_context

    names = host_context.own_files(request.host)
    loaded = set(names)
    for folder in _folders(request):
        loaded.update(f"{folder}/{name}" for name in names)
    for line in imported.splitlines():
        name, _, other = line.partition(" ")
        if name in loaded:
            loaded.add(other)
    return loaded


def _folders(request: Request) -> set[str]:
    """Return the client's working folder, the folders of opened files, and all their parents within the project."""
    found: set[str] = set()
    for path in [*_near(request), *request.conversation.files]:
        folder = path.rpartition("/")[0]
        while folder and not folder.startswith(("/", "..")):
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found

"""Look up what a plan may name: existing files, locations of symbols, tests, commands, the task tracker.

Runs once per prompt; the result is recorded with the other inputs, so that a replay writes the same plan. If something
cannot be found, the plan uses a step template that does without it.
"""

from __future__ import annotations

import os
import time

from enricher.prompt.wording import ATTACHED, FILE, FRAME, IDENTIFIER
from enricher.prompt.wording.names import read_names
from enricher.respond.hydration.plan import TASK_CREATE, UPDATE_PLAN, WRITE_TODOS
from enricher.respond.hydration.reading.vocabulary import SAMPLING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from sqlite3 import Connection
    from typing import Any

    from enricher.context import Request
    from enricher.prompt.wording import Name
    from enricher.settings import Value
    from enricher.sources.code.testfiles.matching import Test

MOST_FILES, MOST_SYMBOLS, MOST_TESTS = 4, 3, 3
LONGEST_SIGN = 24  # characters next to a name that are searched for words such as "e.g."
LOOKUP_S = 0.15  # seconds for all lookups of one prompt, after the channels have answered
TEXTS = (".md", ".rst")
PACKAGE = "__init__.py"  # every import from the package imports it, so this does not show that a test tests it
LIST_TOOLS = {"codex": UPDATE_PLAN, "gemini": WRITE_TODOS}
HAS_TASKS, OFF = "CLAUDE_CODE_ENABLE_TASKS", ("0", "false", "no", "off")
"""The variable that selects Claude Code's tool for task lists, and the values with which it is ``TodoWrite``."""
BEADS = ".beads"
AUTO, NONE = "auto", "none"
LONGEST_COMMAND = 120
ACTIONS = {"test": "all_tests", "lint": "lint_command", "build": "build_command"}
PROGRAMS = frozenset(
    "npm npx pnpm yarn bun node deno python python3 pytest uv poetry tox nox pip make just cargo go rake bundle rails"
    " mix gradle mvn dotnet docker kubectl terraform ruff mypy tsc eslint jest vitest git gh".split()
)


def look_up(request: Request, settings: Mapping[str, Value]) -> dict[str, Any]:
    """Look up what the plan for this prompt may name, and return it as plain values for the trace.

    Raises the database's exceptions if a query to the index fails.
    """
    request.until = time.perf_counter() + LOOKUP_S
    root = request.project.root
    names = read_names(request.prompt)
    found: dict[str, Any] = {
        "tracker": _tracker(root, settings), "task_tool": _task_tool(request), "failing": _command_in(request.prompt)
    }  # fmt: skip
    try:
        index = request.index() if root else None
        samples = [one for one in names if _is_sample(request.prompt, one.text)]
        files = _files([one for one in names if one not in samples], request, index)
        symbols = _symbols(names, index) if index else []
        frames = (name for name in names if name.kind == FRAME)
        places = (f"{path}:{frame.line}" for frame in frames for path in existing(frame.text, request, index))
        found |= {
            "files": list(dict.fromkeys([*files, *(path for _name, path, _line in symbols)]))[:MOST_FILES],
            "samples": _files(samples, request, index),
            "symbols": [[name, f"{path}:{line}"] for name, path, line in symbols],
            "place": next(places, "") or _place(symbols, files),
        }
        if index:
            found |= _tests(index, root, found["files"], symbols)
            found |= _ways(index)
    finally:
        request.close()
    return {name: value for name, value in found.items() if value}


def _tracker(root: str, settings: Mapping[str, Value]) -> str:
    named = str(settings.get("tracker", AUTO))
    if named != AUTO:
        return "" if named == NONE else named
    return "bd" if root and os.path.isdir(f"{root}/{BEADS}") else ""


def _task_tool(request: Request) -> str:
    """Return the tool with which the client keeps its task list, inferred from its use so far; empty if unknown."""
    has_list = bool(request.conversation.todos)
    if request.host in LIST_TOOLS:
        return LIST_TOOLS[request.host] if has_list else ""
    if request.host != "claude" or os.environ.get(HAS_TASKS, "").lower() in OFF:
        return ""
    from enricher.hosts.claude import task_folder

    folder = task_folder(request.session_id)
    if folder and os.path.isdir(folder):
        return TASK_CREATE
    return TASK_CREATE if folder and not has_list and os.path.isdir(os.path.dirname(folder)) else ""


def _files(names: list[Name], request: Request, index: Connection | None) -> list[str]:
    found: list[str] = []
    for name in names:
        if name.kind in (FILE, ATTACHED, FRAME):
            found += [path for path in existing(name.text, request, index) if path not in found]
    return found[:MOST_FILES]


def _place(symbols: list[tuple[str, str, int]], files: list[str]) -> str:
    # If the prompt names files, a symbol elsewhere is not what it is about.
    return next((f"{path}:{line}" for _name, path, line in symbols if not files or path in files), "")


def _is_sample(prompt: str, name: str) -> bool:
    """Return whether a prompt mentions a name only as an example, as in "the handlers, e.g. orders.py"."""
    before, *behind = prompt.lower().split(name.lower())
    for rest in behind:
        lead = before[-LONGEST_SIGN:].rstrip(' `@("').removesuffix(" in")
        is_introduced = lead.endswith(tuple(sign.rstrip() for sign in SAMPLING))
        if not (is_introduced or rest[:LONGEST_SIGN].lstrip(' `,)"').startswith(SAMPLING)):
            return False
        before = rest
    return bool(behind)


def existing(name: str, request: Request, index: Connection | None) -> list[str]:
    """Return a list with the one project file that ``name`` refers to; empty if no file or more than one fits."""
    root, written = request.project.root, name.removeprefix("./").lstrip("@")
    if not root:
        return []
    for base in (request.cwd or root, root):
        path = os.path.realpath(os.path.join(base, written))
        if path.startswith(os.path.realpath(root) + os.sep) and os.path.isfile(path):
            return [os.path.relpath(path, os.path.realpath(root)).replace(os.sep, "/")]
    if index is None:
        return []
    from enricher.sources.code import stem_of

    rows = index.execute("select path from files where stem = ?", (stem_of(written),)).fetchall()
    bare = written.replace("\\", "/")
    meant = [path for (path,) in rows if path == bare or path.endswith("/" + bare) or bare.endswith("/" + path)]
    return [path for path in meant if os.path.isfile(os.path.join(root, path))] if len(meant) == 1 else []


def _symbols(names: list[Name], index: Connection) -> list[tuple[str, str, int]]:
    """Return (name, path, line) of each symbol in the prompt that exactly one source file defines."""
    from enricher.sources.code import OF_THE_PROGRAM

    found = []
    for name in [one for one in names if one.kind == IDENTIFIER][:MOST_SYMBOLS]:
        rows = index.execute(
            "select files.path, files.kind, min(symbols.line) from symbols join files on files.id = symbols.file"
            " where symbols.key = ? and symbols.name = ? group by files.path limit 20",
            (name.text.lower(), name.text),
        ).fetchall()
        defining = [(path, line) for path, kind, line in rows if kind in OF_THE_PROGRAM and not path.endswith(TEXTS)]
        if len(defining) == 1:
            found.append((name.text, *defining[0]))
    return found


def _tests(index: Connection, root: str, files: list[str], symbols: list[tuple[str, str, int]]) -> dict[str, Any]:
    from enricher.sources.code.testfiles import sources, test_of
    from enricher.sources.code.testfiles.running import command

    wanted = [(path, name) for name, path, _line in symbols]
    wanted += [(path, "") for path in files if path not in {one for one, _name in wanted}]
    tests: list[Test] = []
    for path, name in wanted:
        if any(sources(index, path)) and (test := test_of(index, root, path, name)):
            is_weak = test.kind == "by import" and path.endswith(PACKAGE)
            tests += [test] if not is_weak and all(test.path != one.path for one in tests) else []
    tests = tests[:MOST_TESTS]
    if not tests:
        return {}
    same = [one for one in tests if one.path.rpartition(".")[2] == tests[0].path.rpartition(".")[2]]
    return {"tests": [one.path for one in tests], "test_command": command(index, root, same)[:LONGEST_COMMAND]}


def _ways(index: Connection) -> dict[str, Any]:
    found: dict[str, Any] = {}
    rows = index.execute(
        "select action, kind, said, path, line from ways where folder = '' order by rank desc"
    ).fetchall()
    for action, kind, text, path, line in rows:
        if kind == "command" and action in ACTIONS and len(text) <= LONGEST_COMMAND:
            found.setdefault(ACTIONS[action], text)
        elif kind == "sentence" and action == "commit":
            found.setdefault("commit_way", [text[:160], f"{path}:{line}"])
    return found


def _command_in(prompt: str) -> str:
    for part in prompt[:4000].split("`")[1::2]:
        words = part.split()
        if len(words) > 1 and words[0].removeprefix("./").lower() in PROGRAMS and "\n" not in part:
            return part.strip()[:LONGEST_COMMAND]
    return ""

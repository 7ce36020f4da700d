"""Find the commands that test, build, run and release a project, in its manifests, task files and documents.

This module does not run in the hook. Each command has its source file and line. The package manager is taken from the
lock file, else from ``packageManager``, else it is the one that the project's own commands use most.
"""

from __future__ import annotations

import json
import posixpath
import re
import textwrap
from collections import Counter
from dataclasses import dataclass

from enricher.sources.code import ONE_TEST, TEST
from enricher.sources.code.indexing.actions import action_of_command, action_of_task, task_named, usual_action
from enricher.sources.code.indexing.conventions import is_document
from enricher.sources.code.indexing.documents import fenced, units
from enricher.sources.code.indexing.listing import kind_of

TARGET, SCRIPT, DOCUMENT, WORKFLOW, README = 6.0, 5.0, 5.5, 3.0, 4.0
INSTALL_TASK = "installDebug"
ANDROID_APP = ("com.android.application", "plugins.android.application", "plugins.androidApplication")
"""How build files name the Gradle plugin for Android apps: by its id, or by usual names of a version catalogue."""
"""Ranks of commands by the file that contains them: a project's task file and its own documents rank highest."""
LONGEST_COMMAND = 90

NODE_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun",
              "package-lock.json": "npm", "npm-shrinkwrap.json": "npm"}  # fmt: skip
PYTHON_LOCKS = {"uv.lock": "uv", "poetry.lock": "poetry", "pdm.lock": "pdm", "Pipfile.lock": "pipenv"}
_ADDING = {"pnpm": "pnpm add", "yarn": "yarn add", "bun": "bun add", "npm": "npm install", "uv": "uv add",
           "poetry": "poetry add", "pdm": "pdm add", "pipenv": "pipenv install"}  # fmt: skip


TASK_SCRIPT = re.compile(
    r"^(?:scripts?/|bin/|tools/)?(?:run[-_])?(tests?|lint|format|typecheck|build|deploy|release|publish|dev|start|serve)(?:\.sh)?$"
)
_OWN_SCRIPT = re.compile(r"^(?:scripts?|bin|tools)/([\w-]+)(?:\.(?:sh|py|rb|pl|[cm]?js|ts))?$")
_MAKE_TARGET = re.compile(r"^([A-Za-z][\w.-]*)\s*:(?![=:])", re.MULTILINE)  # "NAME := value" is no target
_JUST_TARGET = re.compile(r"^@?([A-Za-z][\w-]*)(?:\s+[^:=\n]*)?:(?!=)", re.MULTILINE)
_RUN_LINE = re.compile(r"^\s*(?:- )?run:\s*(?![|>])(\S.*)$")
_NODE_CALL = re.compile(r"\b(pnpm|yarn|bun|npm)\s+(?:install|i|ci|run|test|add|build|dev|start)\b")
_PYTHON_CALL = re.compile(r"\b(uv|poetry|pdm|pipenv)\s+run\b")
_NOT_DEVELOPMENT = re.compile(
    r"usage|example|install(?:ation)?$|quick ?start|api|docker|deploy(?:ed)? with|upgrad|faq|troubl", re.IGNORECASE
)
"""Words in headings above commands for those who use the project, not for those who work on it."""
_ADVISED = re.compile(
    r"^`([^`]+)` (?:runs|checks|builds|starts|deploys|releases|publishes|formats|lints)\b"
    r"|\b(?:[Rr]un|[Uu]se|with|via|by (?:running|executing|calling)):? `([^`]+)`"
)
"""A command in a sentence that advises to run it: "Run the tests with `make test`", "`make check` runs the linters"."""
_ONLY_PRINT = ("#", "echo ", "printf ", "$(info", "$(warning")  # recipe lines that do not show what a target does
_FORBIDS = re.compile(r"\b(?:not|never|don't|instead|without|avoid|no longer|deprecated)\b", re.IGNORECASE)


@dataclass(slots=True)
class Command:
    """A command for an action such as ``test``.

    ``path`` and ``line`` are the source of the command, ``folder`` is where to run it, and ``means`` shows what the
    script or recipe that it runs contains, or is empty.
    """

    action: str
    command: str
    path: str
    line: int
    folder: str
    rank: float
    means: str = ""


@dataclass(slots=True)
class Manager:
    """A package manager, and the file that shows that the project uses it."""

    name: str
    path: str
    line: int = 0


class ProjectFiles:
    """The paths of a project's files, and the contents of the files that may contain commands.

    ``texts`` maps paths to these contents. ``python_test`` is the content of one of the project's Python test files.
    ``has_hook`` says whether git runs a hook before each commit.
    """

    def __init__(
        self, paths: list[str], texts: dict[str, str], python_test: str = "", *, has_hook: bool = False
    ) -> None:
        self.has_hook = has_hook
        self.paths = paths
        self.python_test = python_test
        self.texts = texts
        self.present = set(paths)
        calls = "\n".join(text for path, text in texts.items() if path.endswith((".yml", ".yaml", ".md", "Makefile")))
        self._node = Counter(_NODE_CALL.findall(calls)).most_common(1)
        self._python = Counter(_PYTHON_CALL.findall(calls)).most_common(1)

    def node(self, folder: str) -> Manager:
        """Return the package manager used in a folder with a ``package.json``."""
        lock = self._lock(folder, NODE_LOCKS)
        if lock:
            return Manager(NODE_LOCKS[lock.rpartition("/")[2]], lock)
        for above in _upwards(folder):
            if (path := posixpath.join(above, "pnpm-workspace.yaml")) in self.present:
                return Manager("pnpm", path)
            path = posixpath.join(above, "package.json")
            named = _loaded(self.texts.get(path, "")).get("packageManager")  # such as "pnpm@9.1.0"
            if isinstance(named, str) and (name := named.partition("@")[0]) in _ADDING:
                return Manager(name, path, line_of(self.texts[path], '"packageManager"'))
        return Manager(self._node[0][0] if self._node else "npm", "")

    def python(self, folder: str) -> Manager:
        """Return the tool that runs Python commands, such as ``uv``; its name is empty if it is unknown."""
        lock = self._lock(folder, PYTHON_LOCKS)
        if lock:
            return Manager(PYTHON_LOCKS[lock.rpartition("/")[2]], lock)
        return Manager(self._python[0][0] if self._python else "", "")

    def _lock(self, folder: str, kinds: dict[str, str]) -> str:
        for above in _upwards(folder):
            for name in kinds:
                if (path := posixpath.join(above, name)) in self.present:
                    return path
        return ""


def commands(project: ProjectFiles) -> list[Command]:
    """Return every command found in the project, best first."""
    found: list[Command] = []
    for path, text in project.texts.items():
        name = path.rpartition("/")[2]
        if name == "package.json":
            found += _scripts(project, path, text)
        elif name in ("Makefile", "makefile", "GNUmakefile"):
            found += _targets(path, text, _MAKE_TARGET, "make")
        elif name.lower() in ("justfile", ".justfile"):
            found += _targets(path, text, _JUST_TARGET, "just")
        elif path.startswith(".github/workflows/"):
            found += _of_workflow(path, text)
        elif is_document(path):
            found += _of_document(project, path, text)
        if name in ("pyproject.toml", "package.json") and path.count("/") <= 2:
            found += _adding(project, path)
    found += _wrapped(project)
    for path in project.paths:
        script = TASK_SCRIPT.match(path)
        if script and (path.endswith(".sh") or path.startswith(("script/", "scripts/", "bin/"))):
            means = _first_call(project.texts.get(path, ""))
            found.append(Command(usual_action(script[1]), f"./{path}", path, 0, "", TARGET, means))
        elif own := _OWN_SCRIPT.match(path):
            found.append(Command(task_named(own[1]), path, path, 0, "", SCRIPT))
    return sorted((one for one in found if one.action), key=lambda one: -one.rank)


def _wrapped(project: ProjectFiles) -> list[Command]:
    """Return the test and build commands that a wrapper script or lock file in the top folder implies.

    Their rank is low, because they are only a fallback.
    """
    for wrapper, test, build in (("gradlew", "test", "build"), ("mvnw", "test", "package")):
        if wrapper in project.present:
            tasks = [("test", test), ("build", build)] + [("install", INSTALL_TASK)] * _is_plain_android_app(project)
            return [Command(action, f"./{wrapper} {task}", wrapper, 0, "", WORKFLOW + 0.5) for action, task in tasks]
    manager = project.python("")
    if manager.path and "pytest" in project.texts.get("pyproject.toml", ""):
        return [Command("test", f"{manager.name} run pytest", manager.path, 0, "", WORKFLOW + 0.5)]
    return []


def _is_plain_android_app(project: ProjectFiles) -> bool:
    """Return whether Gradle builds one Android app without flavours, whose names would be parts of the task's name."""
    builds = [text for path, text in project.texts.items() if path.endswith(("build.gradle", "build.gradle.kts"))]
    apps = [text for text in builds if any(plugin in text for plugin in ANDROID_APP) and "android {" in text]
    return len(apps) == 1 and "productFlavors" not in apps[0]


def _first_call(text: str) -> str:
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("function ") or bare.endswith(("()", "() {")):  # what a function calls
            return ""
        if (
            bare
            and not bare.startswith(("#", "set ", "cd ", "export ", "if ", "SCRIPT", "DIR", "echo "))
            and "=" not in bare.partition(" ")[0]  # a variable is set
        ):
            return shortened(bare)
    return ""


def _scripts(project: ProjectFiles, path: str, text: str) -> list[Command]:
    scripts = _loaded(text).get("scripts")
    folder = path.rpartition("/")[0]
    if not isinstance(scripts, dict):
        return []
    manager = project.node(folder)
    found = []
    for name, body in scripts.items():
        action = action_of_task(name, str(body))
        if not action or not isinstance(body, str) or "no test specified" in body.lower():
            continue
        # npm runs few scripts without "run"; "bun test" and "yarn publish" are commands of the managers themselves.
        is_short = name in ("test", "start") if manager.name == "npm" else manager.name != "bun" and name != "publish"
        call = f"{manager.name} {name}" if is_short else f"{manager.name} run {name}"
        rank = SCRIPT + (0.5 if name in ("test", "lint", "build", "dev", "release", "deploy") else 0.0)
        line = line_of(text, f'"{name}":', behind='"scripts"')
        shown_by = f", {manager.name} by {manager.path}" if manager.path and manager.path != path else ""
        found.append(Command(action, call, path, line, folder, rank, means=shortened(body) + shown_by))
    return found


def _targets(path: str, text: str, pattern: re.Pattern[str], program: str) -> list[Command]:
    found = []
    lines = text.splitlines()
    for match in pattern.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        steps = (one.strip().lstrip("@-") for one in lines[line : line + 3] if one[:1] in "\t ")
        recipe = next((one for one in steps if one and not one.startswith(_ONLY_PRINT)), "")
        action = action_of_task(match[1], recipe)
        if not action or (action == "changelog" and "-b changes" in recipe):  # a builder of Sphinx
            continue
        folder, call = path.rpartition("/")[0], f"{program} {match[1]}"
        found.append(Command(action, call, path, line, folder, rank_of_target(match[1]), means=shortened(recipe)))
    return found


def rank_of_target(name: str) -> float:
    return TARGET + (0.5 if name in ("test", "lint", "build", "run", "release", "deploy") else 0.0)


def _of_workflow(path: str, text: str) -> list[Command]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        run = _RUN_LINE.match(line)
        # A deeply indented line may be one of several lines below "run: |".
        command = _unquoted(run[1].strip()) if run else line.strip() if line.startswith("        ") else ""
        action = action_of_command(command)
        if action in ("test", "lint", "build") and "${{" not in command and len(command) <= LONGEST_COMMAND:
            found.append(Command(action, command, path, number, "", WORKFLOW))
    return found


def _unquoted(value: str) -> str:
    """Return a value of a YAML file without the quotation marks around it."""
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" and value[0] not in value[1:-1]
    return value[1:-1] if is_quoted else value


def _of_document(project: ProjectFiles, path: str, text: str) -> list[Command]:
    is_readme = path.rpartition("/")[2].upper().startswith("README")
    folder = path.rpartition("/")[0]
    folder = "" if folder.startswith((".github", ".agents", ".claude", ".cursor", "doc")) else folder
    found: dict[str, Command] = {}
    for number, line, headings in fenced(text):
        command = line.partition(" #")[0].strip()
        action = ONE_TEST if runs_test_by_itself(project, command) else action_of_command(command)
        action = action or _own_task(project, command)
        if not action or action in found or line.startswith("#") or len(command) > LONGEST_COMMAND:
            continue
        if (_has_placeholder(command) and action != ONE_TEST) or (headings and _NOT_DEVELOPMENT.search(headings[0])):
            continue
        found[action] = Command(action, command, path, number, folder, README if is_readme else DOCUMENT)
    for unit in units(text):
        advised = _ADVISED.search(unit.text)
        command = (advised[1] or advised[2]) if advised and not _FORBIDS.search(unit.text) else ""
        action = action_of_command(command)
        is_whole = " " in command or action == "test"  # "Formatted with `ruff`" names a tool, no command
        is_meant = is_whole and len(command) <= LONGEST_COMMAND and not _has_placeholder(command)
        if action and action not in found and is_meant:
            rank = (README if is_readme else DOCUMENT) - 0.5  # a command in a code block is more likely meant to be run
            found[action] = Command(action, command, path, unit.line, folder, rank)
    return list(found.values())


def runs_test_by_itself(project: ProjectFiles, command: str) -> bool:
    """Return whether a command passes a test file to one of the project's own programs: ``bin/try a_test.exs``.

    An interpreter may come before it, and the path may stand for any: ``dart tool/try.dart path/to/a_test.dart``.
    """
    words = [word for word in command.split() if "=" not in word]
    *called, test = words or [""]
    is_own = any("/" in word and (word in project.present or not at) for at, word in enumerate(called[:2]))
    return is_own and kind_of(test) == TEST and (test in project.present or "path/to" in test)


def _own_task(project: ProjectFiles, command: str) -> str:
    """Return the task that a script in the top folder does: "generate schema" of ``./dev generate-schema``."""
    program, *given = command.split() or [""]
    is_own = program.startswith("./") and program[2:] in project.present
    return task_named(given[0]) if is_own and len(given) == 1 and "-" in given[0] and given[0][0] != "-" else ""


def _has_placeholder(command: str) -> bool:
    return "..." in command.replace("./...", "") or "<" in command  # "./..." are all packages in Go


def _adding(project: ProjectFiles, path: str) -> list[Command]:
    """Return the command that adds a dependency, as a list; empty if no file shows which package manager is used."""
    folder = path.rpartition("/")[0]
    manager = project.node(folder) if path.endswith("package.json") else project.python(folder)
    if not manager.path or manager.name not in _ADDING:
        return []
    call = f"{_ADDING[manager.name]} NAME"
    if "pnpm-workspace.yaml" in project.present and manager.name == "pnpm":
        call += " --filter PACKAGE"
    shown = Command("dependency", call, manager.path, manager.line, folder, TARGET)
    return [shown] if not folder or manager.path.startswith(f"{folder}/") else []


def shortened(command: str) -> str:
    return textwrap.shorten(command, LONGEST_COMMAND, placeholder=" …")


def line_of(text: str, mark: str, *, behind: str = "") -> int:
    """Return the number (from 1) of the first line with ``mark`` after the text ``behind``; 0 if there is none."""
    start = max(text.find(behind), 0) if behind else 0
    at = text.find(mark, start)
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def _loaded(text: str) -> dict[str, object]:
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _upwards(folder: str) -> list[str]:
    found = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return found

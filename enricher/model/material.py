"""Collect the files and code of a project, without secrets, that a channel sends to a model along with the prompt."""

from __future__ import annotations

import os
import time

from enricher.prompt.project import identify
from enricher.prompt.redaction import redact
from enricher.prompt.wording import ATTACHED, FILE, FRAME
from enricher.prompt.wording.names import read_names
from enricher.sources.code import database_file, is_project, open_index
from storage.base import private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from enricher.model.allowance import CountedCall

MOST_FILES = 3
MOST_RANKED = 6
MOST_SNIPPETS = 24
MOST_BYTES = 64 * 1024
SNIPPET_LINES = 24
LONGEST_SNIPPET = 900
FENCE = "```"
DEFINES = (
    "def ", "async def ", "class ", "func ", "fn ", "pub fn ", "pub struct ", "struct ", "enum ", "trait ", "impl ",
    "interface ", "type ", "function ", "async function ", "export ", "module ", "create table ",
)  # fmt: skip
IMPORTS = ("import ", "from ", "#include ", "use ", "require(", "const ", "package ")
COMMENTS = ('"""', "'''", "///", "//", "/*", "*", "#", "--")


class ProjectFile:
    """A file of the project: its path relative to the root, and the beginning of its text without secrets."""

    __slots__ = ("path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text


class Snippet:
    """The code of one definition (such as a function or a class) in a file, and the line where it begins."""

    __slots__ = ("line", "path", "text")

    def __init__(self, path: str, line: int, text: str) -> None:
        self.path, self.line, self.text = path, line, text

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Material:
    """The files and code snippets of a project that a prompt is about, for a channel that queries a model.

    ``until`` is the deadline, on the clock ``time.monotonic``. ``purpose`` is the name of the channel, and ``limits``
    are the settings that limit its calls to a model (``enricher.model.allowance.LIMITS``).
    """

    def __init__(
        self, prompt: str, cwd: str, state: str, *, until: float, purpose: str, limits: Mapping[str, str]
    ) -> None:
        self.prompt, self.state, self.until = prompt, state, until
        self.purpose, self.limits = purpose, limits
        self.project = identify(cwd)
        self.cwd = os.path.realpath(cwd) if cwd else self.project.root
        self.is_project = bool(cwd) and is_project(self.project.root, self.project.git_dir)

    def call(self) -> CountedCall:
        """Return a context manager that counts one call to a model; it raises ModelError if none may be made now."""
        from enricher.model.allowance import CountedCall

        return CountedCall(self.purpose, self.limits, self.state)

    def files(self) -> list[ProjectFile]:
        """Return up to three files that the prompt names by their paths or by something that they define."""
        if not self.is_project:
            return []
        paths = dict.fromkeys([*self._named_by_path(), *self._named_by_definition()])
        return list(self._read(paths))[:MOST_FILES]

    def code(self) -> str:
        """Return the code in the prompt's code blocks, which are marked with three backticks."""
        return "\n".join(part.partition("\n")[2].strip("\n") for part in self.prompt.split(FENCE)[1::2])

    def snippets(self) -> list[Snippet]:
        """Return the definitions that share the most words with the prompt, from the files that the index ranks best.

        A definition that the prompt itself contains is left out.
        """
        asked = words(self.prompt)
        given = " ".join(self.prompt.split())
        found = [snippet for file in self._read(self._ranked()) for snippet in definitions(file)]
        found = [one for one in found if " ".join(one.text.split()) not in given]
        shared = {id(one): len(asked & words(f"{one.path} {one.text}")) for one in found}
        found.sort(key=lambda one: (-shared[id(one)], one.path, one.line))
        return found[:MOST_SNIPPETS]

    def _named_by_path(self) -> list[str]:
        names = [name.text for name in read_names(self.prompt) if name.kind in (FILE, ATTACHED, FRAME)]
        missing = []
        paths = []
        for name in names:
            found = [self._inside(os.path.join(folder, name)) for folder in (self.cwd, self.project.root)]
            if any(found):
                paths.append(found[0] or found[1])
            else:
                missing.append(name)
        # If there is an index of the project, ``_named_by_definition`` finds such files.
        if missing and not os.path.exists(database_file(self.state, self.project.id)):
            from enricher.sources.code.unindexed import files_named

            paths += [own[0] for own in files_named(self.project, missing).values() if len(own) == 1]
        return paths

    def _inside(self, path: str) -> str:
        real, root = os.path.realpath(path), self.project.root
        return os.path.relpath(real, root) if real.startswith(root + os.sep) and os.path.isfile(real) else ""

    def _named_by_definition(self) -> list[str]:
        from enricher.sources.code.places import facts

        db = open_index(self.state, self.project.id, self._is_late)
        if db is None:
            return []
        try:
            found = facts(db, self.project.root, read_names(self.prompt))
            return [fact.path for fact in sorted(found, key=lambda one: -one.score)]
        finally:
            db.close()

    def _ranked(self) -> list[str]:
        if not self.is_project:
            return []
        from enricher.prompt.wording.query import read
        from enricher.sources.code.ranking import rank

        db = open_index(self.state, self.project.id, self._is_late)
        if db is None:
            return []
        try:
            return [hit.path for hit in rank(db, read(self.prompt), limit=MOST_RANKED).hits]
        finally:
            db.close()

    def _is_late(self) -> bool:
        return time.monotonic() > self.until

    def _read(self, paths: Iterable[str]) -> Iterable[ProjectFile]:
        for path in paths:
            full = os.path.realpath(os.path.join(self.project.root, path))
            if not full.startswith(self.project.root + os.sep):
                continue
            try:
                content = private.read_file(full, MOST_BYTES)
            except (OSError, ValueError):
                continue
            if content.strip() and b"\0" not in content:  # a NUL byte means a binary file
                yield ProjectFile(path, redact(content.decode(errors="replace"))[0])


def words(text: str) -> set[str]:
    """Return the words of three or more characters in a text, in lower case; identifiers are split into their parts."""
    spaced = "".join(
        f" {char}" if char.isupper() and not before.isupper() else (char if char.isalnum() else " ")
        for before, char in zip(" " + text, text, strict=False)
    )
    return {word for word in spaced.lower().split() if len(word) >= 3}


def definitions(file: ProjectFile) -> list[Snippet]:
    """Return the definitions in a file, in their order, each with the lines up to the next definition."""
    lines = file.text.splitlines()
    starts = [at for at, line in enumerate(lines) if line.lower().lstrip().startswith(DEFINES)]
    found = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        text = "\n".join(lines[start : min(end, start + SNIPPET_LINES)]).rstrip()
        found.append(Snippet(file.path, start + 1, text[:LONGEST_SNIPPET]))
    return found


def outline(text: str, *, most: int) -> list[str]:
    """Return the lines of code that import or define something, as a Markdown list with line numbers."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.lower().startswith(DEFINES) or (line[:1].strip() and bare.startswith(IMPORTS)):
            depth = "  " if line[:1].isspace() else ""
            found.append(f"{depth}- `{bare.rstrip('{: ')[:100]}` (line {number})")
    return found[:most]


def opening(file: ProjectFile) -> str:
    """Return the first sentence of the docstring, comment or heading that begins a file; empty if there is none."""
    for line in file.text.splitlines()[:20]:
        bare = line.strip()
        if bare.startswith("#!") or not bare:
            continue
        is_prose = file.path.endswith((".md", ".rst", ".txt"))
        mark = next((one for one in COMMENTS if bare.startswith(one)), "")
        sentence = bare.removeprefix(mark).strip("#*/-\"' ")
        if sentence and (mark or is_prose):
            return sentence.partition(". ")[0].rstrip(".") + "."
        if not mark:
            return ""
    return ""

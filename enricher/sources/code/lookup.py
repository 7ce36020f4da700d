"""Look up in a project's index where a name is defined and used, and where a text occurs.

Runs in the hook. The index leads to a few files, which are then read, so answers reflect the files' current content.
The limits count work, not time, so the same files give the same answer.
"""

from __future__ import annotations

from enricher.prompt.wording.words import is_code_form, terms_in
from enricher.sources import code
from enricher.sources.code.lines import (
    declares,
    defines,
    defines_in,
    indentation,
    is_comment,
    is_in_import,
    is_list_of_names,
    is_only_quoted,
    is_renaming,
    is_text_of_form,
    occurrences,
    only_mentions,
    without_pod,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from sqlite3 import Connection

MOST_READ = 48
"""Maximum number of files that are read for one prompt."""
MOST_CANDIDATES = 20
"""Maximum number of files that are read to find one name or text; one in more files does not identify a place."""
MOST_DEFINING = 4
"""Maximum number of files that define a name; with more, the name does not identify a place."""
MOST_WITH_ALL_WORDS = 40
"""The same maximum for a text of at least three words: many files may contain all its words, but few in this order."""
LONG_FILE = 100
"""Minimum lines of a file for a name's place in it to be worth showing, even if the prompt names the file."""
MOST_ROWS = 400
"""Maximum rows that a query of the index returns, and maximum ids in its condition."""
MOST_DEFINITIONS = 60
LISTING_FILES = ("CMakeLists.txt", "meson.build")
"""Names of build files in which a name is that of a source file."""
NOT_REGISTERING = frozenset(
    "derive inline must_use allow non_exhaustive repr dataclass dataclasses property cached_property staticmethod"
    " classmethod cache lru_cache abstractmethod contextmanager final overload total_ordering Deprecated"
    " Nullable NonNull SuppressWarnings discardableResult MainActor implementation end".split()
)
"""Decorators, attributes and annotations that register nothing: such code is only called by its name."""
INDENTATION_OF_DART = 2
PLATFORMS = frozenset("android ios macos windows linux web frontend backend server client mobile desktop".split())
"""Parts that a project has side by side, so that what is in one of them is not in another."""

SHORTEST_MISSPELLED = 6
"""Minimum letters of a name that may be misspelled; too many other names are similar to a shorter one."""
_ASIDE = (".config.", ".d.ts")
_FUNCTIONS = ("function ", "async function ", "def ", "async def ", "func ", "fn ", "pub fn ")
_OF_PACKAGES = ("func ", "type ", "var ", "const ", "\t")
_OWN = ("this", "self", "exports", "module", "Self")
LIKE_START = 2
"""Number of initial letters that a misspelled name must share with the correct one."""


class SourceLine:
    """A line in a file of the project, at which a name is defined or used.

    ``kind`` is the kind of the file, and ``text`` the content of the line.
    """

    __slots__ = ("kind", "line", "path", "text")

    def __init__(self, path: str, line: int, kind: int, text: str) -> None:
        self.path, self.line, self.kind, self.text = path, line, kind, text


class Uses:
    """The places where a name is used.

    If too many files contain the name for all to be read, ``places`` is empty and ``files`` is their number.
    ``renaming`` are imports under another name, which may hide any number of uses, and ``is_partial`` means that some
    places may be missing. ``exports`` are the lines that only pass the name on to other programs.
    """

    __slots__ = ("exports", "files", "is_partial", "places", "renaming")

    def __init__(self) -> None:
        self.places: list[SourceLine] = []
        self.renaming: list[SourceLine] = []
        self.exports: list[SourceLine] = []
        self.files = 0
        self.is_partial = False


class Lookup:
    """Looks up names and texts in one project, for one prompt, and reads each file at most once."""

    def __init__(self, db: Connection, root: str) -> None:
        self.db = db
        self.root = root
        self.named_paths: list[str] = []
        """Paths that the prompt names."""
        self.identifiers: list[str] = []
        """Identifiers in the prompt."""
        self.named_types: list[str] = []
        """Identifiers in the prompt that begin with a capital letter; most of them are types."""
        self.placed_paths: list[str] = []
        """Paths that the prompt names together with a line."""
        self.said: list[str] = []
        """The lines of the prompt whose words may name a folder: "on Android"."""
        self.opened: Collection[str] = ()
        """Files that the conversation has opened."""
        self.is_exhausted = False
        """Whether a file was not read because of MOST_READ, so that a name that was not found may still exist."""
        self.attached = 0
        """Number of files that the prompt attaches."""
        self._texts: dict[str, str] = {}

    def is_named_in_prompt(self, path: str) -> bool:
        """Return whether the prompt already names the file, by its whole path or the end of it."""
        return any(f"/{path}".endswith(f"/{named}") for named in self.named_paths)

    def gives_place(self, path: str) -> bool:
        """Return whether the prompt already says where to look in the file at ``path``.

        This is so if it names a line of the file, or if it names the file and the file is short.
        """
        if any(f"/{path}".endswith(f"/{named}") for named in self.placed_paths):
            return True
        return self.is_named_in_prompt(path) and self.text(path).count("\n") < LONG_FILE

    # --- definitions

    def definitions(self, name: str) -> list[SourceLine]:
        """Return the first definition of ``name`` (case-sensitive) in each file, beginning with the likeliest file.

        A file such as ``vite.config.ts`` or ``types.d.ts`` counts only if no other has a definition: it sets or
        describes what others define.
        """
        rows = self.db.execute(
            "select files.path, files.kind, symbols.line from symbols join files on files.id = symbols.file"
            " where symbols.key = ? and symbols.name = ? order by files.path, symbols.line limit ?",
            (name.lower(), name, MOST_ROWS),
        ).fetchall()
        found: dict[str, SourceLine] = {}
        for path, kind, line in rows:
            if kind in code.DEFINING and path not in found and len(found) < MOST_DEFINITIONS:
                found[path] = SourceLine(path, line, kind, "")
        places = [one for one in found.values() if not any(mark in one.path for mark in _ASIDE)] or list(found.values())
        return sorted(places, key=lambda one: (code.DEFINING.index(one.kind), one.path))

    def lines_in(self, path: str, name: str) -> list[int]:
        """Return the numbers of the lines of a file that define ``name``."""
        rows = self.db.execute(
            "select line from symbols join files on files.id = symbols.file"
            " where symbols.key = ? and symbols.name = ? and files.path = ? order by line limit 50",
            (name.lower(), name, path),
        )
        return [line for (line,) in rows]

    def verified(self, place: SourceLine, name: str) -> bool:
        """Return whether the file of ``place`` still defines ``name``; if so, update the line and text of ``place``."""
        lines = self.text(place.path).split("\n")  # the file may have changed since it was indexed
        if 0 < place.line <= len(lines) and name in lines[place.line - 1]:
            place.text = lines[place.line - 1]
            return True
        moved = [number for number, text in enumerate(lines, 1) if name in text and defines(text, name)]
        if not moved:
            return False
        place.line, place.text = moved[0], lines[moved[0] - 1]
        return True

    def is_member(self, place: SourceLine, owner: str, name: str) -> bool:
        """Return whether ``place`` defines ``owner.name``: as "app.use = …", or in a file called ``owner``."""
        written = f"{owner}.{name}"
        if self.verified(place, written) and written in place.text.partition("=")[0]:  # not "param = app.param"
            return True
        is_its_file = code.bare_name(place.path) == owner
        return is_its_file and self.verified(place, name) and not indentation(place.text)

    def is_decorated(self, place: SourceLine) -> bool:
        """Return whether a definition has a decorator that may register it to be called by a framework."""
        lines = self.text(place.path).split("\n", place.line)
        above = lines[place.line - 2].strip() if len(lines) > place.line - 2 >= 0 else ""
        name = above.lstrip("@#[").partition("(")[0].partition(" ")[0].strip("]").rpartition(".")[2]
        return above.startswith(("@", "#[")) and name not in NOT_REGISTERING

    # --- uses

    def uses(self, name: str, home: str, namesakes: set[str]) -> Uses:
        """Return the places that use ``name``, which is defined in the file ``home``.

        Definitions, imports and comments do not count. Files in ``namesakes`` are skipped, because they define
        something else that has the same name.
        """
        uses = Uses()
        files = self.holding(name)
        if len(files) > MOST_CANDIDATES:
            uses.files = len(files)
            return uses
        defining = set(self.lines_in(home, name))
        is_plain = self._begin_with(home, defining, _FUNCTIONS)
        package = ""
        if home.endswith(".go") and self._begin_with(home, defining, _OF_PACKAGES):
            package = f"\n{self.text(home)}".partition("\npackage ")[2].partition("\n")[0].split(" ", 1)[0].strip()
        for path, kind in files:
            if path != home and path in namesakes:
                uses.is_partial = True
                continue
            if path != home and ".config." in path and self.lines_in(path, name):
                continue
            if kind not in (*code.USING, code.TEST) or path.endswith(LISTING_FILES):
                continue
            if kind == code.TEST and home.endswith(".py") and _is_for_browsers(path):
                continue  # a browser test may have a form field of the same name
            lines = self.occurrences(path, name)
            if package and path.rpartition("/")[0] != home.rpartition("/")[0]:  # it names the package with it
                lines = [one for one in lines if f"{package}.{name}" in one[1]]
            if kind == code.TEST and path != home and any(declares(text, name) for _line, text in lines):
                continue  # a helper of these tests has the same name, and helpers are not indexed
            for line, text in lines:
                is_definition = defines_in(path, text, name) or (path == home and line in defining)
                is_definition = is_definition or (path == home and _is_constructor_of_dart(path, text, name))
                # "other.load()" in the file of the function "load" calls that of another.
                is_definition = is_definition or (path == home and is_plain and _has_owner(text, name))
                is_key = kind == code.TEST and is_only_quoted(text, name)
                if not is_definition and not is_key and not only_mentions(path, self.text(path), line, text, name):
                    uses.places.append(SourceLine(path, line, kind, text))
                elif path != home and is_renaming(text, name):
                    uses.renaming.append(SourceLine(path, line, kind, text))
                elif path != home and not is_definition and self._is_offered(path, kind, line, text):
                    uses.exports.append(SourceLine(path, line, kind, text))
        return uses

    def _begin_with(self, path: str, lines: set[int], starts: tuple[str, ...]) -> bool:
        """Return whether the lines of a file begin with one of ``starts``, and none is that of a method of Go."""
        texts = self.text(path).split("\n")
        found = [texts[line - 1] for line in lines if line <= len(texts)]
        return bool(found) and all(one.startswith(starts) and not one.startswith("func (") for one in found)

    def _is_offered(self, path: str, kind: int, line: int, text: str) -> bool:
        """Return whether a line only makes a name available to others: an export, or a line of an ``__init__.py``."""
        if text.startswith("export {") or (path.endswith("/__init__.py") and kind == code.SOURCE):
            return True
        above = self.text(path).split("\n", line)[:line]
        return is_in_import(above, ("export {", "export type {")) and is_list_of_names(text)

    def occurrences(self, path: str, name: str, *, with_docstrings: bool = False) -> list[tuple[int, str]]:
        """Return the number and the content of each line of a file that contains ``name`` as a whole word.

        Docstrings of Python files are skipped unless ``with_docstrings`` is set, and in a form of Qt Designer the names
        of its parts.
        """
        found = occurrences(self.text(path), name, with_docstrings=with_docstrings or not path.endswith(".py"))
        return [one for one in found if is_text_of_form(one[1], name)] if path.endswith(".ui") else found

    # --- texts

    def holding(self, text: str) -> list[tuple[str, int]]:
        """Return the (path, kind) of the files that contain all words of ``text``, source files first."""
        wanted = terms_in(text)
        if not wanted:
            return []
        ids: set[int] | None = None
        # Rare terms first, to narrow down the files quickly; the files themselves are read afterwards.
        for _count, term in sorted((code.count_with(self.db, term), term) for term in wanted)[:4]:
            found = set[int]().union(*code.files_with(self.db, term))
            ids = found if ids is None else ids & found
            if not ids:
                return []
        return self._files(ids or set())

    def occurs(self, name: str) -> bool:
        """Return whether the project contains ``name`` (case-sensitive), or has too many files to check for it."""
        files = self.holding(name)
        return len(files) > MOST_CANDIDATES or any(name in self.text(path) for path, _kind in files)

    def is_in_code(self, name: str) -> bool:
        """Return whether ``name`` occurs in code, and not only in documents and comments.

        Return true, too, if so many files contain it that they cannot all be read.
        """
        paths = [path for path, kind in self.holding(name) if kind != code.DOC]
        if len(paths) > MOST_CANDIDATES:
            return True
        return any(not is_comment(line) for path in paths for _number, line in self.occurrences(path, name))

    def _files(self, ids: set[int]) -> list[tuple[str, int]]:
        some = sorted(ids)[: 4 * MOST_ROWS]
        found: list[tuple[str, int]] = []
        for start in range(0, len(some), MOST_ROWS):
            part = some[start : start + MOST_ROWS]
            found += self.db.execute(f"select path, kind from files where id in ({code.marks(part)})", part)
        return sorted(found, key=lambda one: (code.BY_IMPORTANCE.index(one[1]), one[0]))

    # --- files

    def named(self, path: str) -> list[tuple[str, int]]:
        """Return the (path, kind) of the files whose path ends with ``path``."""
        parts = [part for part in path.split("/") if part not in ("", ".", "..")]
        if not parts:
            return []
        same = (code.stem_of("/".join(parts)),)
        rows = self.db.execute("select path, kind from files where stem = ? limit 4000", same).fetchall()
        return [(own, kind) for own, kind in rows if own.split("/")[-len(parts) :] == parts]

    def source_called(self, name: str) -> str:
        """Return the path of the only source file with that name and any extension; empty if there is not just one."""
        if not is_code_form(name) and "-" not in name:  # an ordinary word
            return ""
        kinds = (code.SOURCE, code.TEMPLATE, *((code.TEST,) if name.lower().startswith("test") else ()))
        files = [path for path, kind in self.of_stem(name) if kind in kinds]
        return files[0] if len(files) == 1 else ""

    def of_stem(self, name: str) -> list[tuple[str, int]]:
        """Return the path and kind of each file called ``name``, ignoring the file extension."""
        return self.db.execute("select path, kind from files where stem = ? limit 20", (name.lower(),)).fetchall()

    # --- missing names and files

    def has_history(self, name: str) -> bool:
        """Return whether a commit renamed or removed a file called ``name``.

        If so, the channel ``history`` reports it.
        """
        rows = self.db.execute("select 1 from file_changes where name = ? and before <> '' limit 1", (name.lower(),))
        return rows.fetchone() is not None

    def was_known(self, name: str) -> bool:
        """Return whether commits added or removed ``name`` in some file; if so, the channel ``history`` reports it."""
        from enricher.sources.code.name_history import key

        return self.db.execute("select 1 from name_changes where key = ? limit 1", (key(name),)).fetchone() is not None

    def files_like(self, name: str) -> list[str]:
        """Return the paths of the files whose names begin with the same few letters as ``name``."""
        return self._beginning_like(name, "select path from files where stem >= ? and stem < ? limit 2000")

    def names_like(self, name: str) -> list[str]:
        """Return the names defined in the project that begin with the same few letters as ``name``."""
        return self._beginning_like(name, "select distinct name from symbols where key >= ? and key < ? limit 4000")

    def _beginning_like(self, name: str, query: str) -> list[str]:
        start = name[:LIKE_START].lower()
        # Every text that begins with ``start`` sorts before ``start`` and Unicode's last character.
        return [found for (found,) in self.db.execute(query, (start, f"{start}\U0010ffff")).fetchall()]

    def text(self, path: str) -> str:
        """Return the beginning of a file's current content.

        It is empty if the file cannot be read, or if MOST_READ other files have already been read for this prompt.
        """
        known = self._texts.get(path)
        if known is None:
            self.is_exhausted = self.is_exhausted or len(self._texts) >= MOST_READ
            known = "" if self.is_exhausted else without_pod(path, code.read_file(self.root, path))
            self._texts[path] = known
        return known


def _has_owner(line: str, name: str) -> bool:
    """Return whether a line has ``name`` only as a member of something else: ``other.name()``."""
    at = line.find(name)
    owner = line[: at - 1].rstrip("?") if line[at - 1 : at] == "." else ""
    return bool(owner) and not owner.endswith(_OWN) and line.count(name) == 1


def _is_constructor_of_dart(path: str, line: str, name: str) -> bool:
    is_member = path.endswith(".dart") and indentation(line) <= INDENTATION_OF_DART
    return is_member and line.lstrip().removeprefix("factory ").startswith((f"{name}(", f"{name}."))


def _is_for_browsers(path: str) -> bool:
    return path.endswith((".js", ".jsx", ".ts", ".tsx", ".mjs", ".vue", ".svelte"))


def is_near(one: str, other: str) -> bool:
    """Return whether two names differ in one place only, by at most two adjacent letters.

    These letters may be changed, missing, added or swapped.
    """
    if one == other or abs(len(one) - len(other)) > 2:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return max(len(one), len(other)) - start - end <= 2

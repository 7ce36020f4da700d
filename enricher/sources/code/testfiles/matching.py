"""Check test files: whether their names fit a source file, whether they can be run, and what they mention.

Runs in the hook, with ``enricher.sources.code.testfiles``, which decides what tests what.
"""

from __future__ import annotations

from enricher.prompt.text import places
from enricher.prompt.wording.words import pieces
from enricher.sources.code import OF_THE_PROGRAM, TEST, files_with, marks, read_file
from enricher.sources.code.lines import declares, is_only_quoted, is_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

MOST_READ = 8
MOST_HOLDING = 200
ENDS = frozenset(
    "py js jsx ts tsx mjs cjs mts cts go rs rb php java kt scala groovy cs swift dart ex exs c cc cpp lua t".split()
)
SCRIPTS = (".tcl", ".fish", ".bats")
"""Extensions of tests of whole programs; such a file is named after what it tests, without a mark."""
_IS_NO_TEST = (".stories.", "conftest", "settings_test.py", ".tst.", ".test-d.", ".d.ts")
"""Parts of the names of files that belong to tests, among them tests of types, which a compiler checks."""
_ENDINGS = ("test", "tests", "spec", "_test", "_tests", "_spec", "-test", "-spec", "testcase")
SHARED_STEMS = frozenset("index main app utils util helpers helper types constants config models views mod lib".split())
"""File names that many folders contain; a test of such a file must have the same relative path."""
_FAMILIES = (
    frozenset("js jsx ts tsx mjs cjs mts cts vue svelte".split()), frozenset("java kt scala groovy".split()),
    frozenset("c cc cpp h hpp".split()), frozenset("ex exs".split()), frozenset("pl pm t".split()),
)  # fmt: skip
MOST_IMPORTERS = 2
"""Maximum test files that import a module; with more, it is used everywhere, and no file is meant to test it."""


class Test:
    """A test file and the line to look at; ``why`` (in words) and ``kind`` (as a key) say how the test was found.

    ``subject`` is the name that is tested, if the names of test functions in a Go file contain it.
    """

    __slots__ = ("kind", "line", "path", "subject", "why")

    def __init__(self, path: str, why: str, kind: str, line: int = 0, subject: str = "") -> None:
        self.path, self.line, self.subject = path, line, subject
        self.why, self.kind = why, kind


def stems_of_tests(stem: str) -> list[str]:
    """Return the file names, without extension, that tests of a file called ``stem`` usually have."""
    return [stem, *(f"{stem}{end}" for end in _ENDINGS), *(f"{start}{stem}" for start in ("test", "test_", "test-"))]


def files_of_stems(db: Connection, stems: list[str]) -> list[str]:
    query = f"select path from files where kind = ? and stem in ({marks(stems)})"
    return [path for (path,) in db.execute(query, (TEST, *stems))]


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def is_only(db: Connection, stem: str, end: str) -> bool:
    """Return whether at most one source file is called ``stem`` and has the file extension ``end``.

    If there are several, a test named after them may belong to any of them. A package's ``__main__.py`` is no other
    file than its ``__init__.py``.
    """
    paths = [path.replace("/__main__.py", "/__init__.py") for path in sources_of_stem(db, stem) if path.endswith(end)]
    return len({*paths}) <= 1


def sources_of_stem(db: Connection, stem: str) -> list[str]:
    rows = db.execute("select path, kind from files where stem = ?", (stem,))
    return [path for path, kind in rows if kind in OF_THE_PROGRAM]


def is_runnable(path: str, stem: str) -> bool:
    """Return whether a file in a test folder is itself a test, not a fixture or snapshot."""
    name = path.rpartition("/")[2].lower()
    if not (name.rpartition(".")[2] in ENDS or name.endswith(SCRIPTS)) or any(mark in name for mark in _IS_NO_TEST):
        return False
    if name.endswith(".py") and not (name.startswith("test") or name.endswith(("_test.py", "_tests.py"))):
        return False  # neither pytest nor unittest collects it
    parts = path.lower().split("/")[:-1]
    if any(part in ("fixtures", "__fixtures__", "__mocks__", "testdata", "test_data", "snapshots") for part in parts):
        return False
    is_marked = ".test." in name or ".spec." in name or bool({"__tests__", "tests", "test"}.intersection(parts))
    return is_marked or name.partition(".")[0] != stem  # the name alone does not make e2e/cart.ts a test of cart.ts


def fits(test: str, end: str) -> bool:
    other = test.rpartition(".")[2].lower()
    return other == end or any(end in family and other in family for family in _FAMILIES)


def holding(db: Connection, name: str) -> list[str]:
    """Return the test files that contain a compound name, which the index stores as a single term."""
    if len(words := pieces(name)) < 2:
        return []
    found: list[str] = []
    for ids in files_with(db, "".join(words)):
        if len(ids) > MOST_HOLDING:
            return []
        rows = db.execute(f"select path from files where kind = ? and id in ({marks(ids)})", (TEST, *ids))
        found += [path for (path,) in rows if is_runnable(path, "")]
    return found if len(found) <= MOST_IMPORTERS else []


def mentioning(root: str, tests: list[str], name: str) -> tuple[str, int, int, str] | None:
    """Return the test file that mentions ``name`` most often (imports aside), its first such line, and the count.

    The last element is ``Test.subject``.
    """
    best: tuple[str, int, int, str] | None = None
    subject = name[:1].upper() + name[1:]
    for path in tests[:MOST_READ]:
        text = read_file(root, path)
        if name not in text:  # spares splitting the text into lines
            continue
        lines = text.split("\n")
        if any(_is_of_its_own(one, name) for one in lines):
            continue
        line, count, is_used = 0, 0, False
        for number, one in enumerate(lines, 1):
            if _has_name(one, name) and not one.lstrip().startswith(
                ("import ", "from ", "use ", "//", "#", "}", name + ",")
            ):
                count += 1
                line = line or number
                is_used = is_used or not is_only_quoted(one, name)
        if is_used and (best is None or count > best[2]):
            functions = [one.partition("(")[0] for one in lines if one.startswith("func Test")]
            best = (path, line, count, subject if any(subject in one for one in functions) else "")
    return best


def _is_of_its_own(line: str, name: str) -> bool:
    """Return whether a line defines something in the tests themselves that is also called ``name``."""
    at = line.find(name)
    if f"'{name}'," in line or f'"{name}",' in line:  # the title of a test
        return False
    return at >= 0 and is_whole(line, at, at + len(name)) and declares(line, name)


def _has_name(line: str, name: str) -> bool:
    """Return whether a line contains ``name`` as a whole name, or a test named after it, such as ``TestName``."""
    for at in places(line, name):
        end = at + len(name)
        is_test = line[:at].lower().endswith(("test", "test_")) and line[end : end + 1] in ("", "(", ":", " ")
        if is_test or is_whole(line, at, end):
            return True
    return False

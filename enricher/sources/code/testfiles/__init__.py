"""Find the tests of a source file, or of a name that it defines, in the code index.

Runs in the hook. A test is found by its file name (``test_x``, ``x.test.ts``, ``XSpec``), by what it imports, or
because it contains the name, for which at most MOST_READ files are read. Only runnable files count as tests, not
fixtures and snapshots.
"""

from __future__ import annotations

from enricher.prompt.wording.words import pieces
from enricher.sources.code import OF_THE_PROGRAM, TEST, count_with, marks, read_file, stem_of
from enricher.sources.code.testfiles.matching import (
    MOST_IMPORTERS,
    SHARED_STEMS,
    Test,
    files_of_stems,
    fits,
    holding,
    is_only,
    is_runnable,
    mentioning,
    sources_of_stem,
    stems_of_tests,
    times,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

MOST_USING = 12
"""Maximum files that contain a name; with more, it is used everywhere, and no file is meant to test it."""

IN_FILE = "in the file"
_IS_FOR_TESTS = frozenset("test tests testing spec specs conftest".split())
"""Path components of files that only support tests; the files that use them are not their tests."""
_NO_PLACES = frozenset("src tests test lib __tests__ spec unit app main".split())
FEWEST_ASPECTS = 2
"""Minimum tests of parts of a file for it to be unclear which of them a change of the file needs."""


def sources(db: Connection, name: str) -> list[str]:
    """Return the source file that the path ``name`` refers to, as a list; empty if no file or more than one matches."""
    stem = stem_of(name)
    rows = db.execute("select path, kind from files where stem = ?", (stem,)).fetchall()
    meant = [path for path, kind in rows if kind in OF_THE_PROGRAM and (path == name or path.endswith("/" + name))]
    exact = [path for path in meant if path == name]
    return exact or (meant if len(meant) == 1 else [])


def is_test_file(db: Connection, path: str) -> bool:
    """Return whether the file at ``path`` is a test that can be run."""
    is_test = db.execute("select 1 from files where path = ? and kind = ?", (path, TEST)).fetchone()
    return bool(is_test) and is_runnable(path, "")


def defining(db: Connection, name: str, opened: list[str] | None = None) -> list[str]:
    """Return the source file that defines a name, in a list; empty if several do, or if the name is widely used.

    If several do, but the conversation has opened just one of them, it is that one.
    """
    rows = db.execute(
        "select distinct files.path, files.kind from symbols join files on files.id = symbols.file"
        " where symbols.key = ? and symbols.name = ? limit 20",
        (name.lower(), name),
    ).fetchall()
    found = [path for path, kind in rows if kind in OF_THE_PROGRAM and not path.endswith((".md", ".rst"))]
    if len(found) > 1 and (known := [path for path in found if path in (opened or ())]):
        return known if len(known) == 1 else []
    return found if len(found) == 1 and count_with(db, "".join(pieces(name))) <= MOST_USING else []


def test_of(db: Connection, root: str, source: str, name: str) -> Test | None:
    """Return the test of a source file, or of the ``name`` that it defines; None if there is none."""
    return next(iter(tests_of(db, root, source, name)), None)


def tests_of(db: Connection, root: str, source: str, name: str) -> list[Test]:
    """Return the test of a source file, or of the ``name`` that it defines.

    There are several if these are test files that import the file, and nothing shows which of them is meant to test it.
    """
    if _IS_FOR_TESTS.intersection(source.lower().replace(".", "/").replace("_", "/").replace("-", "/").split("/")):
        return []
    own = source.rpartition("/")[2]
    if own.startswith(("__init__.", "index.", "mod.")):  # it is called like many others
        own = "/".join(source.split("/")[-2:])
    by_name = named_like(db, source)
    if name:
        if mentioned := mentioning(root, _named_after(db, name), name):
            path, line, count, subject = mentioned
            return [Test(path, f"tests {name}, named there {times(count)}", "by name", line, subject)]
        files = dict.fromkeys((*by_name, *holding(db, name), *_using(db, source)))
        mentioned = mentioning(root, by_name, name)
        if by_name and not mentioned and stem_of(source) == name.lower():  # the tests have a subclass of that name
            return [Test(by_name[0], f"tests {own}, by its name", "by name")]
        if mentioned := mentioned or mentioning(root, list(files), name):
            path, line, count, subject = mentioned
            kind = "by name" if path in by_name else "by mention"
            return [Test(path, f"tests {name}, named there {times(count)}", kind, line, subject)]
        return _inline(root, source) if source.endswith(".rs") else []
    if by_name:
        return [Test(by_name[0], f"tests {own}, by its name", "by name")]
    from enricher.sources.code.testfiles import unnamed

    named = unnamed.functions_named_after(db, source)
    if source.endswith(".rs") and (inline := _inline(root, source)):
        return inline + named
    importers = _importers(db, source)
    alike = [path for path in importers if stem_of(source) in path.rpartition("/")[2].lower()]
    if len(alike) == 1:
        return [Test(alike[0], f"tests {own}, by its name and its import", "by name")]
    if 0 < len(importers) <= MOST_IMPORTERS and stem_of(source) not in SHARED_STEMS:
        why = f"import{'s' * (len(importers) == 1)} {own}"
        return [Test(path, why, "by import") for path in importers]
    return named or unnamed.in_another_language(db, source) or unnamed.with_the_class(db, root, source)


def called(db: Connection, phrase: list[str]) -> Test | None:
    """Return the only test file whose name consists of the words of ``phrase``; None if there is none, or several.

    It is None, too, if names of other test files contain the words: "the table tests" may be ``RateTableTests.java``.
    Hyphens, underscores, the plural and the parts that mark a file as a test do not matter: ``cart_total_test.go``,
    ``CartTotalsTest.java`` and ``test-cart-totals.js`` all have the words "cart totals". If other tests are in a folder
    of that name, the phrase means a kind of test: "the routing test" may be any in ``test/integration/routing``.
    """
    forms = list(dict.fromkeys(form for stem in _joined(phrase) for form in stems_of_tests(stem)))
    found = [path for path in files_of_stems(db, forms) if is_runnable(path, "")]
    if len(found) != 1:
        return None
    bare = "replace(replace(stem, '_', ''), '-', '')"
    others = f"select 1 from files where kind = ? and path <> ? and instr({bare}, ?) limit 1"
    if db.execute(others, (TEST, found[0], "".join(phrase).removesuffix("s"))).fetchone():
        return None
    folders = " or ".join("instr('/' || lower(path), ?)" for _form in forms)
    query = f"select 1 from files where kind = ? and path <> ? and ({folders}) limit 1"
    is_kind = db.execute(query, (TEST, found[0], *(f"/{form}/" for form in forms))).fetchone()
    return None if is_kind else Test(found[0], "the only test file of that name", "by name")


def has_source(db: Connection, phrase: list[str]) -> bool:
    """Return whether a source file is named after the words of ``phrase``."""
    stems = _joined(phrase)
    rows = db.execute(f"select kind from files where stem in ({marks(stems)})", stems)
    return any(kind in OF_THE_PROGRAM for (kind,) in rows)


def _joined(phrase: list[str]) -> list[str]:
    """Return the file names, without extension, that consist of the words of ``phrase``, in the plural or not."""
    last = phrase[-1]
    ends = dict.fromkeys((last, last.removesuffix("s") or last, f"{last}s"))
    return [mark.join((*phrase[:-1], end)) for mark in ("", "_", "-") for end in ends]


def _using(db: Connection, source: str) -> list[str]:
    """Return the test files that import a source file or, for Go, are in the same package."""
    if source.endswith(".go"):
        folder = source.rpartition("/")[0]
        rows = db.execute("select path from files where kind = ? and path like ?", (TEST, f"{folder}/%_test.go"))
        return [path for (path,) in rows if path.rpartition("/")[0] == folder]
    return _importers(db, source)


def named_like(db: Connection, source: str) -> list[str]:
    """Return the test file that is named after a source file, as a list; empty if there is none.

    Of several such files, it is the one that shares the most folder names with the source file. The list is empty, too,
    if the test file may as well belong to another source file.
    """
    stem = stem_of(source)
    end = source.rpartition(".")[2].lower()
    found = [
        path
        for path in files_of_stems(db, stems_of_tests(stem))
        if path != source and is_runnable(path, stem) and fits(path, end)
    ]
    exact = [path for path in found if not _is_of_an_aspect(path)]
    if len(exact) == 1 and len(_for_aspects(db, exact[0], stem)) >= FEWEST_ASPECTS:
        return []  # "cart-totals.test.js" and others beside "cart.test.js" test parts of cart.js
    if not exact and len(found) > 1:  # "command.help.test.js" and others test parts of command.js
        return []
    found = exact or found
    if not found:
        return []
    found.sort(key=lambda path: (-_shared(path, source), len(path)))
    best = _shared(found[0], source)
    alike = [path for path in found if _shared(path, source) == best]
    if end == "go":
        return [path for path in found if path.rpartition("/")[0] == source.rpartition("/")[0]][:1]
    if _mirrors(found[0], source):
        return found[:1]
    if len(alike) > 2 or stem in SHARED_STEMS:
        return []
    return found[:1] if is_only(db, stem, end) or (len(alike) == 1 and _have_others(db, source, found[1:])) else []


def _have_others(db: Connection, source: str, tests: list[str]) -> bool:
    """Return whether each other source file of the same name has one of ``tests``, which fits it better."""
    end = source.rpartition(".")[2]
    others = [path for path in sources_of_stem(db, stem_of(source)) if path.endswith(end) and path != source]
    return all(any(_shared(test, other) > _shared(test, source) for test in tests) for other in others)


def _for_aspects(db: Connection, test: str, stem: str) -> list[str]:
    """Return the tests beside ``test`` that are named after parts of the same source: ``cart-totals.test.js``."""
    folder, _, name = test.rpartition("/")
    beside = db.execute("select path, stem from files where kind = ? and path like ?", (TEST, f"{folder}/{stem}-%"))
    names = [(path, own) for path, own in beside.fetchall() if path.rpartition("/")[0] == folder]
    return [path for path, own in names if not sources_of_stem(db, own)] if name.lower().startswith(stem) else []


def _is_of_an_aspect(path: str) -> bool:
    """Return whether the name of a test has a part between that of the source and its ending: ``cart.help.test.js``."""
    middle = path.rpartition("/")[2].split(".")[1:-1]
    return bool(middle) and middle[0] not in ("test", "spec", "tests")


def _shared(one: str, other: str) -> int:
    """Return how many folder names two paths have in common, without generic ones like ``src`` and ``tests``."""
    return len(_specific_parts(one) & _specific_parts(other))


def _specific_parts(path: str) -> set[str]:
    return set(path.lower().split("/")[:-1]) - _NO_PLACES


def _mirrors(test: str, source: str) -> bool:
    """Return whether a test's path contains all folders of its source file, apart from generic ones like ``src``."""
    # The first folder may be missing, too: tests/core/test_x.py tests shop/core/x.py.
    return _specific_parts(source) - {"java", "kotlin"} <= _specific_parts(test) | {source.split("/", maxsplit=1)[0]}


def _importers(db: Connection, source: str) -> list[str]:
    bare = source.rpartition(".")[0].lower()
    if source.endswith(".py"):
        parts = bare.removesuffix("/__init__").split("/")
        # The import root is unknown, so a.b.c and b.c are tried; "c" alone may be any module.
        keys = [".".join(parts[start:]) for start in range(len(parts))]
        keys = [key for key in keys if "." in key or len(parts) == 1]
    else:
        bare = bare.removesuffix("/index")
        inner = bare.partition("src/")[2]
        keys = [bare] + ([f"@/{inner}"] if inner else [])  # "@/" is the usual alias of src/
    if not keys:
        return []
    asked = "select distinct files.path from imports join files on files.id = imports.file"
    rows = db.execute(f"{asked} where key in ({marks(keys)}) limit 20", keys).fetchall()
    found = [path for (path,) in rows if path != source and is_runnable(path, "")]
    return sorted(found, key=lambda path: (-_shared(path, source), path))


def _named_after(db: Connection, name: str) -> list[str]:
    """Return the test files with a compound name in their own: ``cart.addRow.test.js``, ``test_add_row.py``."""
    word = "".join(words) if len(words := pieces(name)) > 1 else ""
    bare = "replace(replace(lower(path), '_', ''), '-', '')"
    rows = db.execute(f"select path from files where kind = ? and instr({bare}, ?)", (TEST, word)) if word else ()
    found = [path for (path,) in rows]
    return [path for path in found if word in "".join(pieces(path.rpartition("/")[2])) and is_runnable(path, "")]


def _inline(root: str, source: str) -> list[Test]:
    """Return the tests inside a Rust source file as a list; empty if it has no module of tests with a body."""
    lines = [line.strip() for line in read_file(root, source).split("\n")]
    for number, line in enumerate(lines, 1):
        if line == "#[cfg(test)]":  # "mod testing;" is in another file, and a "use" has no tests
            below = next((one for one in lines[number:] if one and not one.startswith(("#", "//"))), "")
            if below.startswith("mod ") and below.endswith("{"):
                return [Test(source, "its tests are in the file itself", IN_FILE, number)]
    return []

"""Find the tests of a source file that has no test file of its name in its own language.

Runs in the hook, and is imported only for such a file.
"""

from __future__ import annotations

from enricher.prompt.wording.words import pieces
from enricher.sources.code import TEST, stem_of
from enricher.sources.code.testfiles.matching import (
    SCRIPTS,
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

FEWEST_NAMED = 2
SHORTEST_COMPOUND, SHORTEST_WORD, SHORTEST_NAME = 6, 8, 4
"""Minimum number of test functions, and of letters of a file's name in them or in the name of a test file."""
COMPILED = ("c", "cc", "cpp", "go", "rs", "swift", "java")


def functions_named_after(db: Connection, source: str) -> list[Test]:
    """Return the only test file with several functions named after a source file, as a list: ``test_cart_total_…``.

    Tests that are named after another source file are left out: they test that one. So is Go, where any file of the
    package may have the tests.
    """
    stem, end = stem_of(source), source.rpartition(".")[2].lower()
    words = pieces(source.rpartition("/")[2].partition(".")[0])
    if stem in SHARED_STEMS or len(stem) < (SHORTEST_COMPOUND if len(words) > 1 else SHORTEST_WORD) or end == "go":
        return []
    starts = dict.fromkeys(f"{test}{form}" for form in (stem, "".join(words)) for test in ("", "test", "test_"))
    found: dict[str, list[int]] = {}
    for start in starts:
        rows = db.execute(
            "select path, line, name from symbols join files on files.id = symbols.file"
            " where kind = ? and key >= ? and key < ? order by line",
            (TEST, start, start + "{"),
        )
        for path, line, name in rows:
            after = name[len(start) : len(start) + 1]
            if (not after.isalpha() or after.isupper()) and is_runnable(path, "") and fits(path, end):
                found.setdefault(path, []).append(line)
    if len(found) != 1:
        return []
    ((path, lines),) = found.items()
    if len(lines) < FEWEST_NAMED + (len(words) == 1) or _is_of_another(db, path):
        return []
    why = f"{len(lines)} functions named after {source.rpartition('/')[2]}"
    return [Test(path, why, "by name", min(lines))]


def _is_of_another(db: Connection, test: str) -> bool:
    """Return whether a source file in the language of a test has the name of the test, without the mark of tests."""
    stem, end = stem_of(test), test.rpartition(".")[2]
    own = stem.removeprefix("test_").removesuffix("_test").removesuffix("_spec").removesuffix("test")
    return any(path.endswith(f".{end}") for path in sources_of_stem(db, own))


def in_another_language(db: Connection, source: str) -> list[Test]:
    """Return the only test file that is named after a source file in C or the like, as a list: ``tests/limits.tcl``."""
    stem, end = stem_of(source), source.rpartition(".")[2].lower()
    if end not in COMPILED or stem in SHARED_STEMS or len(stem) < SHORTEST_NAME or not is_only(db, stem, end):
        return []
    found = [path for path in files_of_stems(db, stems_of_tests(stem)) if is_runnable(path, "")]
    if len(found) != 1 or not (found[0].endswith(SCRIPTS) or stem_of(found[0]) != stem):
        return []
    return [Test(found[0], f"tests {source.rpartition('/')[2]}, by its name", "by name")]


def with_the_class(db: Connection, root: str, source: str) -> list[Test]:
    """Return the test file that uses the class after which a source file is named, as a list."""
    rows = db.execute(
        "select distinct name from symbols join files on files.id = symbols.file where key = ? and kind <> ?",
        (stem_of(source), TEST),
    ).fetchall()
    names = [name for (name,) in rows if name[:1].isupper() and len(pieces(name)) > 1]
    mentioned = mentioning(root, holding(db, names[0]), names[0]) if len(names) == 1 else None
    if not mentioned or mentioned[2] < FEWEST_NAMED:
        return []
    path, line, count, subject = mentioned
    return [Test(path, f"tests {names[0]}, named there {times(count)}", "by mention", line, subject)]

"""Read files for a project's index, and write their terms, symbols and imports into it as one segment."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from hashlib import blake2b
from typing import TYPE_CHECKING

from enricher.prompt.redaction import without_secrets
from enricher.prompt.wording.words import LONGEST, terms
from enricher.sources.code import MOST_READ_BYTES, TEST, TRANSLATION, stem_of
from enricher.sources.code.indexing import listing
from enricher.sources.code.indexing.symbols import definitions, imported
from storage.base import private

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

LONGEST_LINE = 2_000
MINIFIED_LINE = 400
"""Average characters per line above which a file was not written by hand."""
MOST_TERMS = 20_000
"""Maximum terms that are indexed of one file; only a file like a dictionary has more."""

SATURATION, LENGTH_SHARE, USUAL_LENGTH = 1.2, 0.4, 900.0
"""The parameters k1 and b of the ranking formula BM25, and the number of names in an average file."""

_MOST_OF_A_BEGINNING = 4_000
_SHELL = re.compile(
    rb"(?:[ \t]*(?:#[^\n]*)?\n)*"  # comments
    rb"(?:if \[|case |for \w+ in |while |\. [\w./$]|[A-Za-z_]\w*=[\w\"'$`/.-]|[a-z_]+\(\) ?\{|echo |cat |export )"
)
"""How a part of a shell script begins, which other scripts include, as those of a hand-written ``configure``."""
_NAME = re.compile(r"[^\W\d]\w*(?:-[^\W\d]\w*)*")


class FileContent:
    """The content of a file for indexing; its text is empty if the file is binary, too large or minified."""

    def __init__(self, root: str, file: listing.ListedFile, *, reads: bool = True) -> None:
        self.file = file
        self.text = ""
        self.digest = ""
        path = f"{root}/{file.path}"
        if reads and 0 < file.size <= MOST_READ_BYTES and (listing.is_text(file.path) or self._is_script(path)):
            self._read(path)

    def _is_script(self, path: str) -> bool:
        """Return whether a file without an extension is a script: it names an interpreter, or begins like shell."""
        if not listing.may_be_script(path):
            return False
        try:
            beginning = private.read_file(path, _MOST_OF_A_BEGINNING)
        except OSError:
            return False
        return beginning.startswith(b"#!") or _SHELL.match(beginning) is not None

    def _read(self, path: str) -> None:
        try:
            content = private.read_file(path, MOST_READ_BYTES)
        except OSError:
            return
        self.digest = blake2b(content, digest_size=8).hexdigest()
        if b"\0" in content:
            return
        lines = content.count(b"\n") + 1
        if len(content) / lines > MINIFIED_LINE:
            return
        text = content.decode(errors="replace")
        if len(content) > LONGEST_LINE:  # otherwise, no line can be too long
            text = "\n".join(line if len(line) <= LONGEST_LINE else "" for line in text.split("\n"))
        self.text = without_secrets(text)


_terms_of: dict[str, tuple[str, ...]] = {}
"""Cache of the terms of names, because most files repeat the names of others."""


def _terms(name: str) -> tuple[str, ...]:
    found = _terms_of.get(name)
    if found is None:
        if len(_terms_of) > 1_000_000:  # limits the memory
            _terms_of.clear()
        found = _terms_of[name] = tuple(terms(name)) if len(name) <= LONGEST else ()
    return found


class Segment:
    """A part of the index that is being built: the terms, symbols and imports of some files, to be written together.

    ``fields`` are three dicts: for the terms in files' texts, in their paths, and in the names that they define. Each
    maps a term to the files that contain it there, with its weight (see ``_numbers``).
    """

    def __init__(self, db: sqlite3.Connection, number: int) -> None:
        self.db = db
        self.number = number
        self.fields: tuple[defaultdict[str, array[int]], ...] = tuple(defaultdict(_numbers) for _ in range(3))
        self.files: list[tuple[object, ...]] = []
        self.symbols: list[tuple[str, int, int, str]] = []
        self.imports: list[tuple[str, int]] = []

    def add(self, content: FileContent, *, identity: int) -> None:
        in_content, in_path, in_defined = self.fields
        above = identity << 8
        file = content.file
        kind = listing.kind_of(file.path)
        self.files.append((identity, file.path, stem_of(file.path), kind, file.mtime_ns, file.size, content.digest))
        for term, impact in _path_terms(file.path).items():
            in_path[term].append(above | impact)
        # Only one of the translations is read; otherwise, the keys of their texts would occur in very many files.
        if not content.text or (kind == TRANSLATION and not listing.is_english(file.path)):
            return
        counts = _counted(_NAME.findall(content.text))
        # As in BM25, a term counts more the more often it occurs, but less and less so, and less in a long file.
        scale = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * sum(counts.values()) / USUAL_LENGTH)
        for term, count in list(counts.items())[:MOST_TERMS]:
            in_content[term].append(above | int(255 * count / (count + scale)))
        defined = definitions(file.path, content.text)
        self.symbols += [(name.lower(), identity, line, name) for name, line in defined]
        if kind == TEST:
            self.imports += [(key, identity) for key in imported(file.path, content.text)]
        for term, count in _counted([name for name, _line in defined]).items():
            in_defined[term].append(above | int(255 * count / (count + 0.8)))

    def write(self) -> None:
        self.db.executemany(
            "insert into files (id, path, stem, kind, mtime_ns, size, digest) values (?, ?, ?, ?, ?, ?, ?)", self.files
        )
        self.db.executemany("insert into symbols values (?, ?, ?, ?)", self.symbols)
        self.db.executemany("insert into imports values (?, ?)", self.imports)
        self.db.executemany("insert into postings values (?, ?, ?, ?, ?, ?)", self._rows())

    def _rows(self) -> Iterable[tuple[object, ...]]:
        """Yield a database row for each term: the term, the segment's number, three counts, and the packed files.

        The counts are the numbers of files with the term in their text, path and definitions. The bytes are the ids of
        these files in the same order, four bytes each, and then the weights of the term in them, one byte each.
        """
        for term in sorted(set().union(*self.fields)):
            found = [field.get(term, ()) for field in self.fields]
            packed = [one for field in found for one in field]
            identities = array("I", [one >> 8 for one in packed]).tobytes()
            yield (
                term,
                self.number,
                *(len(field) for field in found),
                identities + bytes([one & 255 for one in packed]),
            )


def _numbers() -> array[int]:
    """Return an empty array, to be filled with a number for each file that contains a term.

    The number is the file's id times 256, plus the weight of the term in that file.
    """
    return array("I")


def _counted(names: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, count in Counter(names).items():
        for term in _terms(name):
            counts[term] = counts.get(term, 0) + count
    return counts


def _path_terms(path: str) -> dict[str, int]:
    """Return the weight (up to 255) of each term of a path: highest in the file name, less in each folder above."""
    folder, _, name = path.rpartition("/")
    bare = name.partition(".")[0] or name
    folders = folder.split("/") if folder else []
    if bare.lower() in ("__init__", "index", "mod", "__main__") and folders:  # as ``stem_of``, but keeps the case
        bare = folders.pop()
    own = _terms(bare)
    # The more parts a compound name has, the less each part says about the file.
    found = dict.fromkeys(own, int(255 / (1 + 0.3 * max(0, len(own) - 2))))
    impact = 110
    for part in reversed(folders):
        for term in _terms(part):
            found[term] = max(found.get(term, 0), impact)
        impact = max(20, impact // 2)
    return found

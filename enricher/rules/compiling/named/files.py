"""The texts that rules are compiled from, and the files that a rule names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from enricher.rules.compiling.document import Problem
from enricher.rules.layers import packaged_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enricher.rules.compiling.document import RuleBlock


class Files:
    """The source of the texts of rules: the disk, or texts given in place of some files."""

    __slots__ = ("_texts",)

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._texts = texts or {}

    def has(self, file: str) -> bool:
        """Return whether there is a text for the file."""
        return file in self._texts or os.path.isfile(file)

    def content(self, file: str) -> str:
        """Return the text as far as it can be read; the identity of the rules is computed from it."""
        if file in self._texts:
            return self._texts[file]
        try:
            return Path(file).read_text(encoding="utf-8", errors="replace") if os.path.isfile(file) else ""
        except OSError:
            return ""

    def read(self, file: str, problems: list[Problem], what: str, *, named_at: str = "") -> str:
        """Return the text; if ``what`` cannot be read, return an empty text and add a problem with the reason.

        ``named_at`` is the place where a rule names the file, to be corrected if the name is wrong.
        """
        if file in self._texts:
            return self._texts[file]
        if named_at and not os.path.lexists(file):
            place, _, line = named_at.rpartition(":")
            message = f"the catalogue {file} does not exist, so nothing is taken from it; correct the path"
            problems.append(Problem(place, int(line), "error", message))
            return ""
        return _read_text(file, problems, f"{what} (named at {named_at})" if named_at else what)


def _read_text(file: str, problems: list[Problem], what: str) -> str:
    if os.path.exists(file) and not os.path.isfile(file):
        problems.append(Problem(file, 1, "error", f"{what} is not a regular file"))
        return ""
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        problems.append(Problem(file, 1, "error", f"{what} cannot be read: {reason}"))
        return ""


class NamedFile(NamedTuple):
    """The path of a file that a rule names, and file and line of the name."""

    path: str
    file: str
    line: int


def named_file(rule: RuleBlock, key: str, *index: int) -> NamedFile:
    """Return the file that a value of a rule, or an item of it, names; its path is relative to the rule's own file."""
    value = rule.data[key]
    name = str(value[index[0]] if index else value)
    return NamedFile(sibling_path(rule, name), *rule.place_of(key, *index))


def sibling_path(rule: RuleBlock, name: str) -> str:
    """Return the path of a file whose name is relative to the file of the rule."""
    return os.path.normpath(os.path.join(os.path.dirname(rule.file), name))


def found_path(named: NamedFile, files: Files, problems: list[Problem], *, is_whole: bool, what: str) -> str:
    """Return the path of the file that a rule names; if there is none, report an error and return an empty string.

    A complete file (``is_whole``) may be a copy of the packaged instructions without the files beside it: then the
    path of the packaged one is returned, with a warning. ``what`` describes the file in the error.
    """
    if files.has(named.path):
        return named.path
    beside = os.path.relpath(named.path, os.path.dirname(named.file))
    packaged = os.path.join(os.path.dirname(packaged_file()), beside)
    if is_whole and files.has(packaged):
        message = f"there is no {beside} beside this file; the packaged one is used"
        problems.append(Problem(named.file, named.line, "warning", message))
        return packaged
    message = f"{what} {named.path} does not exist; put it there, or correct the path"
    problems.append(Problem(named.file, named.line, "error", message))
    return ""

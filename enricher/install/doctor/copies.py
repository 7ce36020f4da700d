"""Find instructions files that are copies of the packaged ones, and reduce each to what the user changed in it.

A copy overrides every later version of the packaged rules. The catalogues of guardrails that it names by relative
paths are missing in its folder, so that no guardrail is shown. An instructions file is also called a layer.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.home import state_dir
from enricher.rules.compiling.compiled import NAMED_FILES
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.document import read_document
from enricher.rules.layers import find_layers, packaged_file
from enricher.rules.own_layer import LayerError, refuse_other_effect
from enricher.rules.own_layer.entries import entries_for, fitted_sections, sections, with_entries
from storage.base import temporary_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from enricher.rules.compiling.document import Problem
    from enricher.rules.layers import Layer

LEAST_SHARE = 0.5  # of the packaged rules that a file contains verbatim, from which it counts as a copy of them
BACKUP = ".copy"
EDITABLE = ("user", "project", "package")
"""Kinds of instructions files that may be reduced; the one under ``$AOPS`` has to stay complete (seed 000)."""


@dataclass(frozen=True, slots=True)
class Copy:
    """An instructions file that is a copy of the packaged one.

    ``text`` is what the file is to be reduced to, and ``rules`` is the number of rules in this text. If the file cannot
    be reduced, the text is empty, and ``reason`` says why.
    """

    path: str
    text: str
    rules: int
    reason: str = ""


def missing_files(cwd: str) -> list[Problem]:
    """Return a problem for each line of the instructions for ``cwd`` that names a missing catalogue or rule file."""
    compiled = compile_layers(find_layers(cwd).instructions)
    gone = [path for path in compiled.sources if not compiled.files.has(path)]
    messages = tuple(f"the {what} {path} does not exist" for what in ("catalogue", "fitted file") for path in gone)
    return [one for one in compiled.problems if one.message.startswith(messages)]


def copies(cwd: str) -> Iterator[Copy]:
    """Yield the instructions files that apply in ``cwd`` and are copies of any version of the packaged ones."""
    layers = find_layers(cwd).instructions
    versions: list[str] = []
    for layer in layers:
        if layer.name in EDITABLE and os.path.isfile(layer.path):
            versions = versions or list(_packaged_texts())  # read only if there is a file to compare
            text = _content(layer.path)
            base = max(versions, key=lambda version: _share(version, text))
            if _share(base, text) >= LEAST_SHARE:
                yield _small(layer, text, base, layers)


def counted(rules: int) -> str:
    """Return a number of rules with its noun: "1 rule", "2 rules"."""
    return f"{rules} rule{'s' * (rules != 1)}"


def replace(copy: Copy) -> str:
    """Reduce the file to ``copy.text``, after copying it to a backup; return the backup's path. Raises OSError."""
    backup = _free_path(copy.path + BACKUP)
    shutil.copy2(copy.path, backup)
    temporary_files.replace_file(copy.path, copy.text.encode())
    return backup


def _free_path(path: str) -> str:
    number, found = 1, path
    while os.path.lexists(found):
        number += 1
        found = f"{path}{number}"
    return found


def _content(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        return file.read()


def _packaged_texts() -> Iterator[str]:
    """Yield the current packaged instructions, then the earlier versions with which stored prompts were recorded."""
    yield _content(packaged_file())  # first: of two versions that are equally similar, ``max`` takes the first
    from storage import traces
    from storage.db import database
    from storage.evaluation import corpus

    if not os.path.exists(os.path.join(state_dir(), traces.DATABASE)):
        return
    try:
        with closing(database.connect(state_dir())) as db:
            sources = corpus.all_sources(db)
    except database.StorageError:  # reported by another check
        return
    yield from dict.fromkeys(text for files in sources.values() for layer, _path, text in files if layer == "packaged")


def _share(version: str, text: str) -> float:
    """Return the share (0 to 1) of the rules in ``version``, a packaged text, that ``text`` contains verbatim."""
    rules = {one.key: one.text for one in sections(version) if one.rule}
    same = sum(rules.get(one.key) == one.text for one in sections(text) if one.rule)
    return same / max(1, len(rules))


def _small(layer: Layer, text: str, base: str, layers: list[Layer]) -> Copy:
    """Reduce a copy, which has the text ``text``, to the rules that differ from ``base``.

    ``base`` is the version of the packaged instructions that was copied. Together with it, the reduced file must have
    the same effect as the copy; otherwise the result says why the copy cannot be reduced. A rule that is missing in the
    copy stays in force, because a rule is not disabled by leaving it out.
    """
    catalogues = _catalogues(layer.path)
    texts = {packaged_file(): base, layer.path: text, **catalogues}
    wanted = compile_layers(layers, texts=texts)
    if wanted.broken:
        return Copy(layer.path, "", 0, str(wanted.broken[0]))
    own = [path for path in wanted.sources if os.path.dirname(path) == os.path.dirname(layer.path)]
    has_own = any(path not in catalogues and path != layer.path for path in own)
    verbatim = ("catalogues",) if has_own else ()
    entries = list(entries_for(base, text, keeps_removed=True, verbatim=verbatim, fitted=fitted_sections(wanted)))
    small = with_entries("", entries)
    try:
        refuse_other_effect(wanted, small, stack=layers, own=layer, below=base, edited=read_document(layer.path, text))
    except LayerError as error:
        return Copy(layer.path, "", 0, str(error.problems[0]))
    return Copy(layer.path, small, sum(bool(one.rule) for one in entries))


def _catalogues(path: str) -> Mapping[str, str]:
    """Map each path where a copy of the instructions at ``path`` looks for a named file to that file's packaged text.

    Paths at which there is a file with a different text are left out.
    """
    packaged = compile_layers([layer for layer in find_layers("").instructions if layer.name == "packaged"])
    found = {}
    for source in (source for layer, source, _text in packaged.texts if layer in NAMED_FILES):
        beside = os.path.join(os.path.dirname(path), os.path.relpath(source, os.path.dirname(packaged_file())))
        if not os.path.exists(beside) or _content(beside) == _content(source):
            found[beside] = _content(source)
    return found

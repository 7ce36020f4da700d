"""Define the two sides of a comparison, each a set of rules by which recorded prompts are judged.

A side is a stored version, a file, an unsaved text or a git revision of a file; it can also be the recorded outcomes.

Rules are compiled from layers of files (packaged, user, project and others). A side made from a file that is one of
these layers has the rules of each recorded version, with this file in place of the layer's; a project's file is used
only for prompts that it applies to (``workbench.replay.rulesets.layer_stack``). Any other file replaces all layers.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from enricher.classify import Rules
from enricher.rules.compiling.compiled import LONE_LAYER
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.document import Problem
from enricher.rules.layers import Layer
from enricher.sources import git
from storage.base.fast_stdlib import keyed_hash
from workbench.replay.rulesets.layer_stack import layer_file, stack_of
from workbench.replay.rulesets.versions import UnpackedTable, compile_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from enricher.rules.compiling.compiled import Compiled
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.rulesets.layer_stack import LayerFile
    from workbench.replay.rulesets.versions import Texts, Versions

NEWEST = ""
"""Passed to ``rules_for`` instead of a version's hash, to get the newest rules."""
SHORT = 10
MOST_LISTED = 10
"""Maximum number of problems in the message of an error; its ``problems`` attribute has all of them."""


class SideError(ValueError):
    """Raised if a set of rules to compare does not exist or is broken, or if a prompt cannot be judged by it.

    ``problems`` lists what is broken in the rules, with file, line and reason.
    """

    def __init__(self, message: str, *, problems: Sequence[Problem] = ()) -> None:
        left = len(problems) - MOST_LISTED
        more = [f"… and {left} more; the first is often the cause of the others"] if left > 0 else []
        super().__init__("\n".join([message, *map(str, problems[:MOST_LISTED]), *more]))
        self.problems = list(problems)


class Side:
    """One of two sets of rules whose outcomes for recorded prompts are compared.

    ``hash`` is the hash of the newest rules; empty if there are none, as for the recorded outcomes. ``problems`` are
    those found in the rules so far. Unless a derived class says otherwise, the rules do not depend on where a prompt
    was typed.
    """

    label: str
    hash: str
    problems: tuple[Problem, ...] = ()

    @property
    def scopes(self) -> tuple[str, ...]:
        """Return every value that ``scope`` may return."""
        return ("",)

    def concerns(self, row: RecordedPrompt) -> bool:
        """Return whether the side applies to a prompt; if not, the prompt keeps its recorded outcome."""
        del row
        return True

    def scope(self, row: RecordedPrompt) -> str:
        """Return the prompt's scope, a string derived from the folder in which the prompt was typed.

        The rules for a prompt depend only on its recorded rules version and its scope.
        """
        del row
        return ""

    def rules_for(self, recorded: str, scope: str = "") -> Rules | None:
        """Return the rules for prompts with this scope that were recorded under the version ``recorded``.

        Return None if these prompts keep their recorded outcome.
        """
        raise NotImplementedError


class Recorded(Side):
    """The recorded outcomes of prompts, used as a side with which a set of rules is compared."""

    label = "recorded"
    hash = ""

    def rules_for(self, recorded: str, scope: str = "") -> Rules | None:
        """Return None, because recorded outcomes are read from the database, not computed by rules."""
        del recorded, scope
        return None


RECORDED = Recorded()


class Fixed(Side):
    """One set of rules for every prompt: a stored version, or a file that replaces all layers."""

    def __init__(self, label: str, rules: Rules, problems: Sequence[Problem] = ()) -> None:
        self.label = label
        self.hash = rules.hash
        self.rules = rules
        self.problems = tuple(problems)

    def rules_for(self, recorded: str, scope: str = "") -> Rules | None:
        del recorded, scope
        return self.rules


class LayeredSide(Side):
    """Rules that are compiled from layers of files, for each recorded version and scope.

    Warnings are reported for the file at ``place``; they say that the rules of a version are broken because of
    ``reason``.
    """

    reason: str

    def __init__(self, label: str, versions: Versions, *, place: str) -> None:
        self.label, self._place = label, place
        self._versions = versions
        self._known: dict[tuple[str, str], Rules | None] = {}
        self._compiled: dict[str, Rules] = {}  # several versions may have the same files
        self._whole: dict[str, Texts] = {}
        newest = self.rules_for(NEWEST)
        self.hash = newest.hash if newest else ""

    def texts(self, recorded: str = NEWEST, scope: str = "") -> Texts:
        """Return the files for prompts of this version and scope as (layer, path, text), lowest layer first.

        They are empty if these prompts keep their recorded outcome.
        """
        raise NotImplementedError

    def all_texts(self, recorded: str = NEWEST, scope: str = "") -> Texts:
        """Return the files that ``texts`` returns, plus the catalogues and other files that they name."""
        self.rules_for(recorded, scope)
        return self._whole[stack_key(self.texts(recorded, scope))]

    def rules_for(self, recorded: str, scope: str = "") -> Rules | None:
        """Return the rules for prompts with this scope that were recorded under the version ``recorded``.

        Return None, so that these prompts keep their recorded outcome, if there are no files for them, or if the files
        of that version are broken; ``problems`` reports the latter. Raises SideError if the newest rules, or those of a
        scope, are broken.
        """
        if (recorded, scope) not in self._known:
            self._known[recorded, scope] = self._rules_from(self.texts(recorded, scope), recorded, scope)
        return self._known[recorded, scope]

    def _rules_from(self, texts: Texts, recorded: str, scope: str) -> Rules | None:
        if not texts:
            return None
        try:
            return self._compile(texts)
        except SideError as broken:
            if recorded == NEWEST or scope:
                raise
            message = f"{self.reason}, so the prompts of version {recorded[:SHORT]} are as recorded"
            warning = Problem(self._place, 1, "warning", message)
            self.problems = tuple(sorted({*self.problems, *broken.problems, warning}))
            return None

    def _compile(self, texts: Texts) -> Rules:
        key = stack_key(texts)
        if key not in self._compiled:
            compiled = compile_texts(texts)
            self._whole[key] = compiled.texts
            self._compiled[key] = sound(compiled, self.label)
            self.problems = tuple(sorted({*self.problems, *compiled.problems}))
        return self._compiled[key]


class Edited(LayeredSide):
    """The rules of each recorded version with an edited text in place of the file of one layer."""

    reason = "its rules are broken with this text"

    def __init__(self, label: str, file: LayerFile, *, text: str, versions: Versions) -> None:
        self.file, self.text = file, text
        super().__init__(label, versions, place=file.path)

    def concerns(self, row: RecordedPrompt) -> bool:
        return self.file.concerns(row)

    def texts(self, recorded: str = NEWEST, scope: str = "") -> Texts:
        """Return the files of the version ``recorded`` with the edited text inserted.

        They are empty if the version has another file in this file's place.
        """
        del scope
        return self.file.within(stack_of(recorded, self.file, self._versions), self.text)


def stack_key(texts: Texts) -> str:
    """Return a key for a list of files, each as (layer, path, text), by which their compiled rules can be cached."""
    return keyed_hash(b"stack", repr(texts).encode(errors="replace"))


def from_version(wanted: str, versions: Versions) -> Side:
    """Return the rules to compare from the stored version whose hash begins with ``wanted``.

    Raises SideError if no version or several begin like this, or if another release compiled the version.
    """
    found = [one for one in versions.in_use if one.startswith(wanted)] if wanted else []
    if len(found) != 1:
        known = ", ".join(one[:SHORT] for one in versions.in_use[:SHORT]) or "none yet"
        raise SideError(f"{'several versions begin' if found else 'no version begins'} with {wanted!r}; known: {known}")
    rules = versions.rules(found[0])
    if rules is None:
        raise SideError(f"version {found[0]} was compiled by another release of the enricher; choose a later one")
    return Fixed(f"version {found[0][:SHORT]}", rules)


def from_file(path: str, versions: Versions) -> Side:
    """Return the rules to compare from the file at ``path`` as it is on disk.

    Raises SideError if the file cannot be read or its rules are broken.
    """
    return from_text(path, read_text(path), versions=versions, label=path)


def read_text(path: str) -> str:
    """Return the text of a file; raises SideError if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) else "it is not UTF-8 text"
        raise SideError(f"{path}: cannot be read: {reason}") from failure


def from_text(path: str, text: str, *, versions: Versions, label: str = "buffer") -> Side:
    """Return the rules to compare from a text, saved or not, of the file at ``path``.

    Raises SideError if they are broken.
    """
    file = layer_file(path, versions)
    if file is not None:
        return Edited(label, file, text=text, versions=versions)
    path = os.path.abspath(path)
    compiled = compile_layers([Layer(LONE_LAYER, path)], texts={path: text})
    return Fixed(label, sound(compiled, label), compiled.problems)


def text_at(revision: str, path: str) -> str:
    """Return a file's text in a git revision of the file's repository; raises SideError if the revision has none."""
    folder, name = os.path.split(os.path.realpath(path))
    if revision.startswith("-"):  # git would take it for an option
        raise SideError(f"{revision!r} is not a git revision")
    try:
        return git.ask(folder, "show", f"{revision}:./{name}").decode(errors="replace")
    except git.GitError as failure:
        message = str(failure).removeprefix("git show: ").removeprefix("fatal: ")
        raise SideError(f"git has no {revision}:{name}: {message}") from failure


def named(name: str, *, path: str, versions: Versions, at_revision: Callable[[str, str], Side] | None = None) -> Side:
    """Return the rules to compare that the user names: ``recorded``, a file, a version's hash or a git revision.

    For a git revision, the text of the file at ``path`` is read from it, and the result is ``at_revision(label, text)``
    or, if ``at_revision`` is None, the rules with this text in place of the file at ``path``. Raises SideError if
    ``name`` is none of these, or the rules are broken.
    """
    if name == RECORDED.label:
        return RECORDED
    if os.path.isfile(name):
        return from_file(name, versions)
    try:
        return from_version(name, versions)
    except SideError as no_version:
        try:
            text, label = text_at(name, path), f"{name}:{os.path.basename(path)}"
            return at_revision(label, text) if at_revision else from_text(path, text, versions=versions, label=label)
        except SideError as no_revision:
            message = f"{name!r} is no file, no version and no git revision of {path}"
            raise SideError(f"{message}: {no_version}; {no_revision}") from no_revision


def refuse_broken(compiled: Compiled, label: str) -> None:
    """Raise SideError, with ``label`` in its message, if the compiled rules are broken."""
    if not compiled.is_usable:
        raise SideError(f"{label} cannot be used:", problems=compiled.broken or compiled.problems)


def sound(compiled: Compiled, label: str) -> Rules:
    """Convert newly compiled rules to the form in which stored rules are loaded; raises SideError if they are broken.

    ``label`` is their name in the message of that error.
    """
    refuse_broken(compiled, label)
    rules = Rules(compiled.hash, json.loads(json.dumps(compiled.body)))  # like a stored version: lists, no tuples
    rules.table = UnpackedTable(rules.body["classes"])
    return rules


def texts_of(side: Side, versions: Versions) -> Texts:
    """Return the files of a set of rules to compare, as (layer, path, text); empty if they are unknown."""
    return side.texts() if isinstance(side, LayeredSide) else versions.texts(side.hash)

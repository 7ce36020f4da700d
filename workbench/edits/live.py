"""Evaluate an edit of the instructions while it is typed: compile it, replay prompts, check golden cases, and lint it.

An ``EditSession`` represents one file being edited; each call of ``examine`` evaluates one version of its text and
yields progress records. This module has no user interface and no timer: the caller decides when to start and stop.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from enricher.home import project_root
from enricher.rules.compiling.compiled import LONE_LAYER, NAMED_FILES
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer, find_layers, packaged_file
from enricher.rules.lint import findings
from enricher.rules.own_layer import LayerError
from storage.traces.selection import EVERYTHING, Selection
from workbench.edits import instructions_file as files
from workbench.edits.progress import (
    YIELD_EVERY_S,
    Broken,
    CauseBatch,
    ChangeCause,
    Figures,
    GateResult,
    LintResult,
    account,
)
from workbench.gate import cases, gate
from workbench.gate.cases import CasesError, path_for
from workbench.gate.gate import RevisionError, find_revision
from workbench.replay import attribution
from workbench.replay.corpus import opened
from workbench.replay.replay import Replay, never
from workbench.replay.rulesets import compared_rules
from workbench.replay.rulesets.compared_rules import NEWEST
from workbench.replay.rulesets.layer_stack import OF_ONE_FOLDER, ORDER, layer_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from enricher.classify import Rules
    from enricher.rules.compiling.document import Problem
    from enricher.rules.own_layer import OwnLayer
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.edits.progress import Progress
    from workbench.replay.compare import Change
    from workbench.replay.corpus import Corpus
    from workbench.replay.rulesets.layer_stack import LayerFile
    from workbench.replay.rulesets.versions import Versions

OPENED, HEAD = "opened", "HEAD"
"""Two of the bases with which an edit can be compared: the file as it was opened, and the file in the last commit."""
MOST_CAUSES = 1000
"""Maximum number of changed prompts, newest first, for which the part of the edit that changed them is searched."""


class CachedSide(compared_rules.Side):
    """One of the two rule sets (sides) of a replay; its rules are compiled only once for all replays of a session.

    ``known`` maps a recorded version to the rules for prompts recorded under it. Rules that it lacks come from the side
    that ``make`` returns, and are added. Each replay has its own instance, because rules are read from the database in
    the replay's thread.
    """

    def __init__(
        self,
        label: str,
        make: Callable[[], compared_rules.Side],
        *,
        known: dict[str, Rules | None],
        file: LayerFile | None = None,
    ) -> None:
        self.label = label
        self._file = file
        self._make = make
        self._made: compared_rules.Side | None = None
        self._known = known
        newest = self.rules_for(NEWEST)
        self.hash = newest.hash if newest else ""

    def concerns(self, row: RecordedPrompt) -> bool:
        """Return whether these rules apply to a prompt; if not, the prompt keeps its recorded outcome."""
        return self._file is None or self._file.concerns(row)

    def rules_for(self, recorded: str, scope: str = "") -> Rules | None:
        """Return the rules for prompts recorded under the version ``recorded``.

        Return None if these prompts keep their recorded outcome. Raises SideError.
        """
        del scope  # the same for every prompt (``Side``)
        if recorded not in self._known:
            self._made = self._made or self._make()
            self._known[recorded] = self._made.rules_for(recorded)
        return self._known[recorded]


class _File(NamedTuple):
    path: str
    text: str


@dataclass(slots=True)
class EditSession:
    """The editing of one file: its path, its text when it was opened, and the base that edits are compared with.

    ``base`` is OPENED (the text ``opened``, named ``opened_as`` in figures), ``recorded`` (the recorded outcomes), HEAD
    or another git revision, or the beginning of the hash of a stored version. ``cwd`` determines the other layers and
    the repository with the golden cases.

    Unless ``cwd`` is in the product's checkout, an edit of the packaged file is saved in ``into``, a layer above it.
    Then that layer is what is compiled and replayed, at its position among the layers.
    """

    state_dir: str
    path: str
    opened: str
    base: str = OPENED
    selection: Selection = EVERYTHING
    cwd: str = ""
    into: Layer | None = None
    opened_as: str = "as opened"
    _known: dict[str, Rules | None] = field(default_factory=dict)
    _layer: _File | None = None

    def __post_init__(self) -> None:
        self.path = os.path.abspath(self.path)
        self.cwd = self.cwd or os.getcwd()
        if files.saves_as_layer(self.path, self.cwd):
            self.into = self.into or files.layers_for_edits(self.cwd)[0]
        else:
            self.into = None

    @property
    def _saved(self) -> _File:
        """Return the path of the file that a save will write, and its current text."""
        return self._layer or _File(self.path, self.opened)

    def examine(self, text: str, *, should_stop: Callable[[], bool] = never) -> Iterator[Progress]:
        """Evaluate an edited text, and yield each part of the result as soon as it is known.

        First come figures over more and more prompts, then the gate's result, lint problems, and causes of changes. If
        the text does not compile, only ``Broken`` is yielded. Raises ``SideError`` for a base that does not exist,
        ``StorageError``, ``files.FileError``.
        """
        began = time.perf_counter()
        with opened(self.state_dir, self.selection) as corpus:
            try:
                layer, candidate = self._compiled(text, corpus.versions)
            except (compared_rules.SideError, LayerError) as error:
                yield Broken(tuple(error.problems), str(error).splitlines()[0])
                return
            base = self._base_side(corpus.versions)
            changes: tuple[Change, ...] = ()
            run = Replay(corpus, candidate, base=base, should_stop=should_stop)
            problems: tuple[Problem, ...] = ()
            for figures in account(run, cases_file=self._cases_file(), began=began):
                changes = figures.changes
                if figures.is_complete:
                    problems = tuple(findings(layer.compiled) if layer else self.lint(text, corpus.versions))
                    errors = sum(one.severity == "error" for one in problems)
                    yield replace(figures, errors=errors)
                else:
                    yield figures
            if should_stop():
                return
            yield self._gate_result(layer.text if layer else text)
            yield LintResult(problems)
            yield from self._causes(corpus, text, changes, should_stop=should_stop)  # last, as it judges prompts again

    def sound_figures(self, text: str) -> Figures | None:
        """Return the complete figures of an edited text; None if ``enricher check`` would report an error.

        Errors are searched for first, because a text that has one need not be replayed.
        """
        with opened(self.state_dir, self.selection) as corpus:
            try:
                layer, candidate = self._compiled(text, corpus.versions)
            except (compared_rules.SideError, LayerError):
                return None
            problems = findings(layer.compiled) if layer else self.lint(text, corpus.versions)
            if any(one.severity == "error" for one in problems):
                return None
            run = Replay(corpus, candidate, base=self._base_side(corpus.versions))
            return list(account(run, cases_file=self._cases_file()))[-1]

    def _compiled(self, text: str, versions: Versions) -> tuple[OwnLayer | None, compared_rules.Side]:
        """Compile an edited text, and return the layer in which it is saved (None if in its own file) and its rules.

        Raises SideError or LayerError if the rules are broken.
        """
        if not self.into:
            return None, self._candidate(text, versions)
        self._layer = self._layer or _File(self.into.path, files.read(self.into.path))
        layer = files.layer_of_edit(text, self.opened, self.cwd, self.into)
        return layer, self._candidate(layer.text, versions)

    def lint(self, text: str, versions: Versions) -> list[Problem]:
        """Return the problems that ``enricher check`` would report in all files if the text were saved."""
        file = layer_file(self.path, versions)
        if file is not None and file.layer in NAMED_FILES:
            found = find_layers(self.cwd)
            return findings(compile_layers(found.instructions, found.configuration, texts={file.path: text}))
        if file is None or file.layer not in ORDER:
            return findings(compile_layers([Layer(LONE_LAYER, self.path)], texts={self.path: text}))
        found = find_layers(os.path.dirname(file.path) if file.layer in OF_ONE_FOLDER else self.cwd)
        others = [one for one in found.instructions if os.path.abspath(one.path) != file.path]
        stack = sorted([*others, Layer(file.layer, file.path)], key=lambda one: ORDER.index(one.name))
        return findings(compile_layers(stack, found.configuration, texts={file.path: text}))

    def _candidate(self, text: str, versions: Versions, label: str = "") -> compared_rules.Side:
        name = label or f"{os.path.basename(self.path)} as edited"
        return compared_rules.from_text(self._saved.path, text, versions=versions, label=name)

    def _base_side(self, versions: Versions) -> compared_rules.Side:
        if self.base == compared_rules.RECORDED.label:
            return compared_rules.RECORDED
        if self.base not in (OPENED, HEAD):
            named = partial(compared_rules.named, self.base, path=self._saved.path, versions=versions)
            return CachedSide(self.base, named, known=self._known)
        label = self.opened_as if self.base == OPENED else f"{HEAD}:{os.path.basename(self.path)}"
        return CachedSide(
            label,
            lambda: self._candidate(self._saved.text if self.base == OPENED else self._at_head(), versions, label),
            known=self._known,
            file=layer_file(self._saved.path, versions),
        )

    def _at_head(self) -> str:
        """Return the last committed text of the file that a save will write.

        The text is empty if the file is a layer that is not committed.
        """
        path = self._saved.path
        with contextlib.suppress(RevisionError):  # not in a repository; ``text_at`` says so in its error
            is_layer = bool(files.layer_of(path, self.cwd)) and path != packaged_file()
            if is_layer and not find_revision(project_root(os.path.dirname(path)), HEAD).holds(path):
                return ""
        return compared_rules.text_at(HEAD, path)

    def _cases_file(self) -> str:
        """Return the path of the repository's golden cases; empty if that file is unusable, which the gate reports."""
        path = path_for(self.cwd)
        try:
            cases.read(path)
        except CasesError:
            return ""
        return path

    def _gate_result(self, text: str) -> GateResult:
        """Return the reasons why the gate would be closed if the text were saved.

        There are none if the gate would be open, or if it cannot run.
        """
        if os.path.exists(path_for(self.cwd)):
            with contextlib.suppress(gate.GateError):
                report = gate.run_on_last_commit(project_root(self.cwd), texts={self._saved.path: text})
                return GateResult(tuple(report.reasons()))
        return GateResult(())

    def _causes(
        self, corpus: Corpus, text: str, changes: Sequence[Change], *, should_stop: Callable[[], bool]
    ) -> Iterator[CauseBatch]:
        """Yield, in batches, the hunk of the edit that caused each of the newest changes."""
        found: dict[str, ChangeCause] = {}
        yielded_at = time.perf_counter()
        base = self._base_text(corpus.versions)
        newest = changes[:MOST_CAUSES]
        for trace_id, cause in attribution.attribute(
            newest, corpus=corpus, path=self.path, candidate=text, base=base, should_stop=should_stop
        ):
            found[trace_id] = ChangeCause(_describe_cause(cause), cause.heading, cause.line, _group_of(cause))
            if time.perf_counter() - yielded_at > YIELD_EVERY_S:
                yield CauseBatch(found)
                found, yielded_at = {}, time.perf_counter()
        if found:
            yield CauseBatch(found)

    def _base_text(self, versions: Versions) -> str | None:
        """Return the text that the edited file has in the base of the session.

        Return None if that text differs between prompts or is unknown.
        """
        if self.base == OPENED or (self.base == HEAD and self.into):
            return self.opened
        if self.base == HEAD:
            return self._at_head()
        texts = next((versions.texts(one) for one in versions.in_use if one.startswith(self.base)), ())
        return next((text for _layer, path, text in texts if path == self.path), None)


def _describe_cause(cause: attribution.Cause) -> str:
    """Return the description of a cause, in which files are named without their folders."""
    text = str(cause)
    for hunk in cause.hunks:
        text = text.replace(hunk.file, os.path.basename(hunk.file))
    return text


def _group_of(cause: attribution.Cause) -> str:
    """Return the key by which changes with the same cause are grouped.

    If one edited line alone caused the change, the key has its file, number and text; otherwise it is only a phrase,
    such as "several lines".
    """
    if cause.how != attribution.ALONE:
        return "several lines" if cause.hunks else "not this edit"
    hunk = cause.hunks[0]  # the only one
    return f"{os.path.basename(hunk.file)}:{hunk.line} {hunk.first_line}"


@dataclass(frozen=True, slots=True)
class EditTimes:
    """The times until the first and the complete figures of an edit were known, and its effect.

    ``changed`` of ``prompts`` replayed prompts got another outcome.
    """

    name: str
    first_ms: float
    complete_ms: float
    prompts: int
    changed: int


def measure(state_dir: str, path: str, name: str, *, before: str, after: str) -> EditTimes:
    """Return how long a user waits for the figures of an edit named ``name`` of the file at ``path``.

    As in the app, the base is already cached, and the edited text is new.
    """
    session = EditSession(state_dir, path, before)
    for _progress in session.examine(before):
        pass
    began = time.perf_counter()
    timed = [
        ((time.perf_counter() - began) * 1000, progress)
        for progress in session.examine(after)
        if isinstance(progress, Figures)
    ]
    complete_ms, figures = timed[-1]
    return EditTimes(name, timed[0][0], complete_ms, figures.prompts, len(figures.changes))

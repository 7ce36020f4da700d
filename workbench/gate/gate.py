"""Evaluate the golden cases with changed instructions, and decide whether the change may be merged.

Only the cases file and the instructions are read, so that the result is the same for every user and on CI: no database,
no trusted folders, no settings. A case that already failed with the instructions before the change is reported, but
does not close the gate, unless it was approved after that.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from enricher.classify import Rules
from enricher.home import config_dir, project_root
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import OWN_FILE, OWN_FOLDER, Layer, packaged_file
from enricher.sources.git import GitError, ask
from workbench.gate import cases as files
from workbench.gate.gate_report import Checked, GateReport, figures_of
from workbench.statistics.pairs import verdict_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enricher.rules.compiling.compiled import Compiled
    from workbench.gate.case import GoldenCase

PROJECT, HEAD = "project", "HEAD"


class GateError(Exception):
    """Raised if the gate cannot be run; the message says what to do."""


class NoCasesError(GateError):
    """Raised if the cases file does not exist or has no golden case yet."""


@dataclass(frozen=True, slots=True)
class _Base:
    """The rules before the change; reports show ``label`` as their name, and ``notes`` as remarks on them."""

    label: str
    rules: Rules
    notes: tuple[str, ...]


def run(
    cwd: str,
    *,
    base: str = "",
    cases: str = "",
    instructions: str = "",
    allow_removed: bool = False,
    texts: Mapping[str, str] | None = None,
) -> GateReport:
    """Evaluate the cases of the repository around ``cwd``, or of the file ``cases``, and return the report.

    ``base`` is the git revision to compare with. ``instructions`` is a file to use in place of all layers. ``texts``
    maps paths of files in the work tree to unsaved texts that replace their contents. With ``allow_removed``, cases
    that the base has may be missing from the file. Raises GateError if there are no cases or no usable instructions.
    """
    path = os.path.abspath(os.path.join(cwd, cases)) if cases else files.path_for(cwd)
    instructions = os.path.abspath(os.path.join(cwd, instructions)) if instructions else ""
    try:
        known = _read(path)
        now = work_tree_rules(cwd, instructions, texts or {})
        if not base:
            return _report(path, known, now)
        revision = find_revision(cwd, base)
        before = _rules_at(revision, cwd, instructions)
        earlier = _cases_at(revision, path)
        return _report(path, known, now, before=before, earlier=earlier, allow_removed=allow_removed)
    except (files.CasesError, RevisionError) as error:
        raise GateError(str(error)) from error


def run_on_last_commit(project: str, *, texts: Mapping[str, str] | None = None) -> GateReport:
    """Run the gate for a project, and compare its rules with those of its last commit if there is one.

    ``texts`` maps paths of files to unsaved texts that replace their contents.
    """
    try:
        find_revision(project, HEAD)
    except RevisionError:
        return run(project, texts=texts)
    return run(project, base=HEAD, texts=texts)


def _read(path: str) -> files.Cases:
    if not os.path.exists(path):
        raise NoCasesError(f"{path}: no such file; write cases with: enricher trace label ID ok --case")
    known = files.read(path)
    if not known.cases and not known.problems:
        raise NoCasesError(f"{path}: no case in it; write some with: enricher trace label ID ok --case")
    return known


def _layers(cwd: str, instructions: str, texts: Mapping[str, str]) -> list[Layer]:
    """Return the layers to evaluate: the packaged file and the one above it, or only the file ``instructions``.

    The upper file is included if it exists or has an unsaved text in ``texts``.
    """
    if instructions:
        return [Layer("base", instructions)]
    upper = _upper_layer(cwd)
    return [Layer("packaged", packaged_file()), *([upper] if upper.path in texts or os.path.exists(upper.path) else [])]


def _upper_layer(cwd: str) -> Layer:
    """Return the layer above the packaged one, which is that of the repository around ``cwd``."""
    return Layer(PROJECT, os.path.join(project_root(cwd), OWN_FOLDER, OWN_FILE))


def passing_with_own_layer(cwd: str) -> list[str]:
    """Return the ids of the cases that fail in the gate, but would pass if the user's own layer were added.

    The cases are those of the repository around ``cwd``. Raises GateError if they or the rules cannot be used.
    """
    path, own = files.path_for(cwd), Layer("user", os.path.join(config_dir(), OWN_FILE))
    if not os.path.isfile(own.path):
        return []
    packaged, *above = _layers(cwd, "", {})
    try:
        known, with_own = _read(path), _rules(compile_layers([packaged, own, *above]))
    except files.CasesError as error:
        raise GateError(str(error)) from error
    rules = work_tree_rules(cwd)
    failing = [case for case in known.cases if case.faults(case.decided_by(rules))]
    return [case.id for case in failing if not case.faults(case.decided_by(with_own))]


def work_tree_rules(cwd: str, instructions: str = "", texts: Mapping[str, str] = MappingProxyType({})) -> Rules:
    """Return the rules that the gate uses for the work tree around ``cwd``; raises GateError if they are broken.

    ``instructions`` is a file to use in place of all layers, ``texts`` maps paths of files to unsaved texts.
    """
    if instructions and not os.path.exists(instructions):
        raise GateError(f"{instructions}: no such file")
    return _rules(compile_layers(_layers(cwd, instructions, texts), texts=texts))


def _rules_at(revision: Revision, cwd: str, instructions: str) -> _Base:
    """Return the rules before the change, compiled from the repository's files as they are in ``revision``.

    The layers are the same as after the change, with two exceptions: a repository's own file that the revision lacks is
    left out, and if the revision lacks ``instructions``, the packaged file is used instead.
    """
    layers, notes = [Layer("packaged", packaged_file())], []
    upper = _upper_layer(cwd)
    if instructions and revision.holds(instructions):
        layers = _layers(cwd, instructions, {})
    elif instructions:
        notes.append(f"{instructions} is not in {revision.name}; the packaged instructions are the base instead")
    elif revision.holds(upper.path):
        layers.append(upper)
    elsewhere = _uncommitted(os.path.dirname(layers[0].path), revision)
    if elsewhere:
        names = ", ".join(sorted(os.path.basename(path) for path in elsewhere))
        notes.append(f"{names} of the packaged instructions: what is not committed counts as part of the edit")
    texts = {**elsewhere, **_texts_at(revision, [layer.path for layer in layers])}
    compiled = compile_layers(layers, texts=texts)
    # Only compiling the layers shows which catalogues (files of guardrails) they name.
    if catalogues := _texts_at(revision, [path for path in compiled.sources if path not in texts]):
        compiled = compile_layers(layers, texts={**texts, **catalogues})
    label = f"{revision.name} ({revision.commit[:10]})"
    return _Base(label, _rules(compiled, of=f" of {revision.name}"), tuple(notes))


def _uncommitted(folder: str, revision: Revision) -> dict[str, str]:
    """Return, by path, the committed texts of the packaged files in ``folder`` that have uncommitted edits.

    The rules before the change are compiled from these texts; otherwise, the edits would be in the rules both before
    and after the change, and could not affect any case. The result is empty if ``folder`` lies in the repository of
    ``revision``, which has the committed texts itself.
    """
    try:
        other = find_revision(folder, HEAD)
        # Modified and deleted files only: the commit has no text of an added one.
        names = _ask(other.root, "diff", "-z", "--name-only", "--diff-filter=MD", other.commit, "--", folder)
    except RevisionError:  # usually, the package is installed and in no repository
        return {}
    if other.root == revision.root:
        return {}
    paths = [os.path.join(other.root, os.fsdecode(name)) for name in names.split(b"\0") if name]
    return {path: other.content(path).decode("utf-8", "replace") for path in paths}


def _texts_at(revision: Revision, paths: list[str]) -> dict[str, str]:
    return {path: revision.content(path).decode("utf-8", "replace") for path in paths if revision.holds(path)}


def _rules(compiled: Compiled, *, of: str = "") -> Rules:
    if compiled.broken:
        problems = "\n".join(map(str, compiled.broken))
        raise GateError(f"the instructions{of} are broken, so no case was judged\n{problems}")
    return Rules(compiled.hash, compiled.body)


def _cases_at(revision: Revision, path: str) -> dict[str, GoldenCase]:
    """Return, by id, the cases in the file at ``path`` as it is in ``revision``; its unusable lines are ignored."""
    if not revision.holds(path):
        return {}
    return files.parse(revision.content(path), path=f"{revision.name}:{path}").by_id()


def _report(
    path: str,
    known: files.Cases,
    now: Rules,
    *,
    before: _Base | None = None,
    earlier: dict[str, GoldenCase] | None = None,
    allow_removed: bool = False,
) -> GateReport:
    present, earlier = known.by_id(), earlier or {}
    rules_before = before.rules if before else None
    checked = tuple(_check(case, now, rules_before, is_new=case.id not in earlier) for case in known.cases)
    gone = tuple(case for case in earlier.values() if case.id not in present)
    figures = figures_of(checked, is_paired=before is not None)
    verdict = verdict_of(
        figures.changed,
        failing_cases=sum(one.closes_gate for one in checked),
        gained=figures.gained,
        lost=figures.lost,
    )
    if before is None and not figures.approved:
        verdict = "inconclusive"  # nothing was approved, so nothing can have regressed
    return GateReport(
        path,
        now.hash,
        before.label if before else "",
        before.rules.hash if before else "",
        checked,
        known.problems,
        missing=() if allow_removed else gone,
        removed=gone if allow_removed else (),
        rewritten=tuple(case for case in known.cases if case.id in earlier and _differs(case, earlier[case.id])),
        figures=figures,
        verdict=verdict,
        notes=before.notes if before else (),
    )


def _check(case: GoldenCase, now: Rules, before: Rules | None, *, is_new: bool) -> Checked:
    got = case.decided_by(now)
    if before is None:
        return Checked(case, got, case.faults(got), is_new=is_new)
    earlier = got if before.hash == now.hash else case.decided_by(before)
    return Checked(case, got, case.faults(got), earlier, case.faults(earlier), is_new)


def _differs(case: GoldenCase, earlier: GoldenCase) -> bool:
    # A case is not rewritten by a note or by another person's approval.
    return replace(case, note="", by="") != replace(earlier, note="", by="")


class RevisionError(Exception):
    """Raised if git cannot read a revision or a file in it; the message says why."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit in the repository whose work tree is at ``root``; ``name`` is what the user wrote, such as a branch."""

    root: str
    name: str
    commit: str

    def holds(self, path: str) -> bool:
        """Return whether ``path`` lies in the work tree and the commit has a file there."""
        name = self._name(path)
        return bool(name and _ask(self.root, "ls-tree", "-z", "--name-only", self.commit, "--", name))

    def content(self, path: str) -> bytes:
        """Return the contents of the file at ``path`` in the commit; raises RevisionError if there is no such file."""
        return _ask(self.root, "show", f"{self.commit}:{self._name(path)}")

    def _name(self, path: str) -> str:
        """Return the path relative to the root, as git writes it; empty if it lies outside of the work tree."""
        name = os.path.relpath(os.path.realpath(path), self.root)
        return "" if name.startswith(os.pardir) else name.replace(os.sep, "/")  # git writes / on Windows, too


def find_revision(folder: str, name: str) -> Revision:
    """Return the revision ``name`` of the git repository around ``folder``; raises RevisionError if there is none."""
    root = os.path.realpath(_ask(folder, "rev-parse", "--show-toplevel").decode(errors="surrogateescape").rstrip("\n"))
    try:
        # --end-of-options: a name may begin with "-"; ^{commit}: a tag's commit instead of the tag.
        found = ask(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except GitError as error:
        message = f"{name} is no revision of {root}; fetch it first (in CI: fetch-depth: 0), or name another"
        raise RevisionError(message) from error
    return Revision(root, name, found.decode("ascii").strip())


def _ask(folder: str, *arguments: str) -> bytes:
    try:
        return ask(folder, *arguments)
    except GitError as error:
        raise RevisionError(str(error)) from error

"""Find out which hunks of an edit of the instructions files changed the outcome of a prompt.

A hunk is undone and the prompt judged again: if this restores the earlier outcome, the hunk is the cause. Single hunks
are tried first, then pairs. If neither restores the outcome, all hunks that can affect the prompt are named.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from enricher.classify import Rules
from enricher.rules.compiling.compiled import FITTED, LONE_LAYER
from storage.evaluation.corpus import rows_of
from workbench.replay.evaluator import level_of
from workbench.replay.hunks import Edits, FileEdit, Hunk, joined
from workbench.replay.impact import NOT, Impact
from workbench.replay.outcome import reevaluated
from workbench.replay.replay import never
from workbench.replay.rulesets.current_layers import CurrentLayers, with_current_paths
from workbench.replay.rulesets.layer_stack import layer_file, stack_of
from workbench.replay.rulesets.versions import compile_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.compare import Change
    from workbench.replay.corpus import Corpus
    from workbench.replay.outcome import Outcome
    from workbench.replay.rulesets.compared_rules import Side
    from workbench.replay.rulesets.versions import Texts

    Compiler = Callable[[Mapping[str, str]], Rules | None]

MOST_HUNKS = 40
"""Maximum number of hunks that are undone one by one; if there are more, hunks are joined first.

After undoing a hunk, the rules must be compiled, which takes 0.1 s.
"""
MOST_IN_PAIRS = 12
"""Maximum number of hunks that are tried in pairs: twelve make 66 pairs, each of which must be compiled."""
FEWEST_FOR_IMPACT = 50
"""Minimum number of prompts for which the ``Impact`` of each hunk (the prompts that it can affect) is computed.

The computation takes as long as judging this many prompts.
"""

BATCH = 50
"""Number of prompts that are read from the database at once."""
ALONE, TOGETHER, PAIR, SET, ELSEWHERE = "alone", "together", "pair", "set", "elsewhere"


@dataclass(frozen=True, slots=True)
class Cause:
    """The hunks that changed the outcome of a prompt.

    ``how`` says what must be undone to restore the earlier outcome: the only hunk («alone»), any one of the hunks
    («together»), both hunks («pair»), or an unknown subset of them («set»). If not even undoing the whole edit restores
    the outcome, ``how`` is «elsewhere», and ``hunks`` is empty.
    """

    hunks: tuple[Hunk, ...]
    how: str

    @property
    def file(self) -> str:
        """Return the path of the first hunk's file; empty if there is no hunk."""
        return self.hunks[0].file if self.hunks else ""

    @property
    def line(self) -> int:
        """Return the line number of the first hunk in the edited file; 0 if there is no hunk."""
        return self.hunks[0].line if self.hunks else 0

    @property
    def heading(self) -> str:
        """Return the headings of the sections that contain the hunks, separated by commas."""
        return ", ".join(dict.fromkeys(hunk.heading for hunk in self.hunks))

    def __str__(self) -> str:
        if not self.hunks:
            return "not this edit: other rules, settings or another release"
        joint = {TOGETHER: " together with ", PAIR: " and also "}.get(self.how, "; ")
        return ("several of: " if self.how == SET else "") + joint.join(map(str, self.hunks))


@dataclass(slots=True)
class Undoing:
    """An edit of some instructions files, and the rules that result when some of its hunks are undone.

    ``compiler`` takes the texts of the files by path, and returns the compiled rules or None if they are broken.
    ``prompts`` is the number of prompts for which ``cause`` will be called.
    """

    edits: Edits
    compiler: Compiler
    prompts: int = 1
    _rules: dict[frozenset[int], Rules | None] = field(default_factory=dict)
    _impact: dict[frozenset[int], Impact] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._join_many()
        self._join_broken()

    def cause(
        self,
        row: RecordedPrompt,
        before: Outcome,
        *,
        recorded: Rules | None,
        should_stop: Callable[[], bool] = never,
    ) -> Cause | None:
        """Find the hunks that made a prompt's outcome differ from ``before``; None if ``should_stop`` ended the search.

        ``recorded`` are the rules that judged the prompt when it was recorded, or None if they are unknown.
        """

        def is_undone_by(*hunks: Hunk) -> bool:
            rules = self.without(hunks)
            return rules is not None and reevaluated(row, rules, recorded=recorded).is_same(before)

        reaching = [hunk for hunk in self.edits.hunks if self._may_affect(hunk, row)]
        found = []
        for hunk in reaching:
            if should_stop():
                return None
            if is_undone_by(hunk):
                found.append(hunk)
        if found:
            return Cause(tuple(found), TOGETHER if len(found) > 1 else ALONE)
        if not is_undone_by(*self.edits.hunks):
            return Cause((), ELSEWHERE)
        for pair in self._pairs(reaching):
            if should_stop():
                return None
            if is_undone_by(*pair):
                return Cause(pair, PAIR)
        return Cause(tuple(reaching or self.edits.hunks), SET)

    def without(self, hunks: Iterable[Hunk]) -> Rules | None:
        """Return the rules that result from the edit if these hunks are undone; None if those rules are broken."""
        hunks = tuple(hunks)
        key = frozenset(part for hunk in hunks for part in hunk.parts)
        if key not in self._rules:
            self._rules[key] = self.compiler(self.edits.undone(hunks))
        return self._rules[key]

    def _pairs(self, reaching: Sequence[Hunk]) -> Iterator[tuple[Hunk, Hunk]]:
        """Yield pairs of hunks to undo together, formed from at most MOST_IN_PAIRS hunks.

        ``reaching`` are the hunks that can each affect the prompt. Pairs of two such hunks come first, then pairs with
        one, then pairs with none.
        """
        others = [hunk for hunk in self.edits.hunks if hunk not in reaching]
        near = [*reaching, *others][:MOST_IN_PAIRS]
        pairs = list(combinations(near, 2))
        yield from sorted(pairs, key=lambda pair: sum(hunk in others for hunk in pair))

    def _may_affect(self, hunk: Hunk, row: RecordedPrompt) -> bool:
        rules, candidate = self.without([hunk]), self.without([])
        if self.prompts < FEWEST_FOR_IMPACT or rules is None or candidate is None:
            return rules is not None
        if hunk.parts not in self._impact:
            self._impact[hunk.parts] = Impact(candidate, rules)
        return level_of(row, self._impact[hunk.parts], knows_features=False, knows_confidence=False) != NOT

    def _join_many(self) -> None:
        if len(self.edits.hunks) > MOST_HUNKS:
            self.edits.by_heading()
        while len(self.edits.hunks) > MOST_HUNKS:
            halves = self.edits.hunks[::2], self.edits.hunks[1::2]
            pairs = [joined(*pair) for pair in zip(*halves, strict=False)]
            self.edits.hunks = pairs + halves[0][len(pairs) :]  # with an odd number, the last hunk is not joined

    def _join_broken(self) -> None:
        """Join each hunk that cannot be undone alone, because the rules would be broken, with another hunk.

        The other one is the nearest hunk with which it can be undone, or simply the nearest hunk if there is none.
        """
        at = 0
        while at < len(self.edits.hunks) > 1:
            hunk = self.edits.hunks[at]
            if self.without([hunk]) is not None:
                at += 1
                continue
            others = [other for other in self.edits.hunks if other is not hunk]
            others.sort(key=lambda other: abs(self.edits.hunks.index(other) - at))
            partner = next((other for other in others if self.without([hunk, other]) is not None), others[0])
            rest = [other for other in self.edits.hunks if other not in (hunk, partner)]
            self.edits.hunks = sorted([*rest, joined(hunk, partner)], key=lambda one: (one.file, one.line))
            at = 0  # positions have changed; compiled rules are cached


def attribute(
    changes: Sequence[Change],
    *,
    corpus: Corpus,
    path: str,
    candidate: str,
    base: str | None = None,
    should_stop: Callable[[], bool] = never,
) -> Iterator[tuple[str, Cause]]:
    """Yield the trace id and the cause of each change, in the order of the changes.

    ``candidate`` is the edited text of the file at ``path``, ``base`` its text before the edit. If ``base`` is None,
    the text before the edit is, for each prompt, the one in the rules version that was recorded with the prompt. A
    change is left out if that text is unknown.
    """
    known: dict[tuple[object, ...], Undoing] = {}
    file = layer_file(path, corpus.versions)
    place = file.path if file else os.path.abspath(path)

    def undoing_for(row: RecordedPrompt) -> Undoing | None:
        stack = file.within(stack_of(row.rules_hash, file, corpus.versions), "") if file else [(LONE_LAYER, place, "")]
        recorded = {of: text for _layer, of, text in corpus.versions.texts(row.rules_hash)}
        before = (recorded.get(place, "") if file else None) if base is None else base
        if before is None or not stack:
            return None
        key = (before, *(one for one in stack if one[1] != place))
        if key not in known:
            edits = [FileEdit(place, before, candidate)]
            if base is None:  # files of fitted weights are edited together with it
                edits += [
                    FileEdit(of, recorded[of], text)
                    for layer, of, text in stack
                    if layer == FITTED and recorded.get(of, text) != text
                ]
            known[key] = Undoing(Edits(edits), _compiler_of(stack), len(changes))
        return known[key]

    return _attributed(changes, corpus, undoing_for, should_stop)


def attribute_layers(
    changes: Sequence[Change], *, corpus: Corpus, candidate: CurrentLayers, base: Side
) -> Iterator[tuple[str, Cause]]:
    """Yield the trace id and the cause of each change, for an edit of several files.

    For each prompt, the edit turns the files of ``base`` into the files of ``candidate`` that apply to that prompt. If
    ``base`` is ``RECORDED``, its files are those of the rules version recorded with the prompt. A change is left out if
    the files of the base are unknown.
    """
    known: dict[tuple[object, ...], Undoing] = {}

    def undoing_for(row: RecordedPrompt) -> Undoing | None:
        scope = candidate.scope(row)
        now = candidate.all_texts(row.rules_hash, scope)
        version = base.hash or row.rules_hash
        then = (
            base.all_texts(row.rules_hash, scope) if isinstance(base, CurrentLayers) else corpus.versions.texts(version)
        )
        if not then:
            return None
        was = with_current_paths(then, now)
        key = (*was, *now)
        if key not in known:
            known[key] = undoing_between(was, now, prompts=len(changes))
        return known[key]

    return _attributed(changes, corpus, undoing_for, never)


def _attributed(
    changes: Sequence[Change],
    corpus: Corpus,
    undoing_for: Callable[[RecordedPrompt], Undoing | None],
    should_stop: Callable[[], bool],
) -> Iterator[tuple[str, Cause]]:
    rows: dict[str, RecordedPrompt] = {}
    for at, change in enumerate(changes):
        if at % BATCH == 0:
            following = [one.prompt.id for one in changes[at : at + BATCH]]
            rows = {row.id: row for row in rows_of(corpus.db, following)}
        if should_stop():
            return
        row = rows.get(change.prompt.id)
        undoing = row and undoing_for(row)
        if row is None or undoing is None:
            continue
        recorded = corpus.versions.rules(row.rules_hash)
        if cause := undoing.cause(row, change.before, recorded=recorded, should_stop=should_stop):
            yield change.prompt.id, cause


def undoing_between(was: Texts, now: Texts, *, prompts: int = 1) -> Undoing:
    """Return the edit that turns the files ``was`` into the files ``now``, with hunks that can be undone.

    A file that is missing in one of them counts as empty there. ``prompts`` is the number of prompts for which
    ``cause`` will be called.
    """
    before, after = ({path: text for _layer, path, text in texts} for texts in (was, now))
    edits = [
        FileEdit(path, before.get(path, ""), after.get(path, ""))
        for path in dict.fromkeys([*before, *after])
        if before.get(path, "") != after.get(path, "")
    ]
    return Undoing(Edits(edits), _compiler_of(_merged_files(was, now)), prompts)


def _merged_files(was: Texts, now: Texts) -> Texts:
    """Return the files of ``now``; files that only ``was`` has are inserted with empty texts."""
    known = {path for _layer, path, _text in now}
    found = list(now)
    for at, (layer, path, _text) in enumerate(was):
        if path not in known:
            found.insert(min(at, len(found)), (layer, path, ""))
    return found


def _compiler_of(stack: Texts) -> Compiler:
    """Return a function that compiles the files in ``stack`` to rules, or returns None if the rules are broken.

    The argument of that function maps paths to texts that replace those in ``stack``.
    """

    def compiled(instead: Mapping[str, str]) -> Rules | None:
        found = compile_texts(stack, instead=instead)
        return Rules(found.hash, found.body) if found.is_usable else None

    return compiled

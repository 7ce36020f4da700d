"""Suggest small changes to an instructions file, supported by labels, each as a diff for the user to review.

A change sets one weight, adds one phrase, removes one signal, or raises one floor (the least score with which a line is
shown). The effect of every candidate on the labelled prompts is computed from sums of points; the best candidates are
compiled, checked with the examples of the file, and evaluated with the real classifier. No file is written.
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enricher.classify import Rules
from enricher.rules.compiling.compiled import FITTED
from enricher.rules.lint import findings
from workbench.coverage.rule_positions import RulePosition, newest_stack, of_file, recorded_path
from workbench.replay.impact import NOT, Impact
from workbench.replay.replay import Replay, never
from workbench.replay.rulesets import compared_rules
from workbench.replay.rulesets.versions import compile_texts
from workbench.statistics.pairs import benjamini_hochberg, mcnemar_midp
from workbench.tuning.floors import floors, judged_lines
from workbench.tuning.labelled_prompts import example, from_log, from_rows, task_type
from workbench.tuning.rewriting import Rewriter, changed_line
from workbench.tuning.rule_changes import Search, best
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from workbench.coverage.rule_positions import LocatedRules, LocatedSignal
    from workbench.replay.corpus import Corpus
    from workbench.replay.rulesets.compared_rules import Side
    from workbench.tuning.floors import Floor, JudgedLine
    from workbench.tuning.labelled_prompts import Example, LabelledPrompt, LabelledRow
    from workbench.tuning.rule_changes import RuleChange

    Labelled = LabelledPrompt | JudgedLine

MOST_SHOWN, MOST_TRIED = 10, 24
"""Maximum number of proposals, and of candidates that are compiled and replayed, because that takes a long time."""
ENOUGH_LABELS = 30
"""Number of labelled prompts below which a proposal may depend on single prompts."""
BEYOND_CHANCE = 0.05  # the usual level of significance


class SuggestError(ValueError):
    """Raised if nothing can be suggested because there are no usable labels; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change to a file that labels support; it applies to the file's current text, without the other proposals.

    ``fixes`` and ``breaks`` are the labelled prompts that become right and wrong, each as its trace id, or as the file
    and line from which it was read. For a higher floor, they are the lines labelled wrong and right that it removes,
    each as a trace id and line number. ``p`` is the mid-p value of McNemar's test on these two numbers, and ``q`` that
    value adjusted for all candidates that were tried (Benjamini-Hochberg). ``sessions`` is the number of sessions of
    ``fixes``; ``holds`` means that more is fixed than broken even without any one of these sessions. ``log_changes`` is
    how many of the ``log_prompts`` recorded prompts without a label would get a different outcome, right or wrong.
    """

    title: str
    file: str
    line: int
    diff: str
    fixes: tuple[str, ...]
    breaks: tuple[str, ...]
    p: float
    q: float
    sessions: int
    holds: bool
    log_changes: int
    log_prompts: int


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The proposals, the most useful first, and the numbers on which they are based.

    Of ``labelled`` prompts, the current rules classify ``right`` correctly; ``unclear`` counts labels that only say
    «wrong», and ``tried`` the candidates. ``missing`` has sentences on what would make the proposals more certain.
    ``texts`` has the texts of the labelled prompts and lines, by id.
    """

    labelled: int
    right: int
    unclear: int
    tried: int
    proposals: tuple[Proposal, ...]
    missing: tuple[str, ...]
    judged_lines: int = 0
    texts: dict[str, str] = field(default_factory=dict)


def suggest(
    corpus: Corpus,
    *,
    path: str,
    text: str,
    rows: Iterable[LabelledRow] = (),
    should_stop: Callable[[], bool] = never,
) -> Suggestions:
    """Return the best small changes to ``text``, the text of the file at ``path``.

    The labelled prompts are those of the corpus (the recorded prompts) and ``rows``, which were read from a file.
    Raises SuggestError if no label can be used, and SideError if the rules do not compile.
    """
    path = recorded_path(path, corpus.versions)
    written = of_file(path, text, versions=corpus.versions)
    recorded, unclear = from_log(corpus)
    known = set(written.task_types())
    given = [*recorded, *from_rows(rows)]
    prompts = [one for one in given if one.right <= known]
    lines = list(judged_lines(corpus, written.rules))
    if not prompts and not lines:
        raise SuggestError(_nothing(len(given), unclear))
    texts = _texts(written, path)
    search = Search(written, texts, [example(one, written.rules) for one in prompts])
    candidates = list(search.candidates()) if prompts else []
    higher = [found for found in floors(lines) if found]
    tried: list[RuleChange | Floor] = [*candidates, *(floor for found in higher for floor in found)]
    adjusted = benjamini_hochberg([one.p_value() for one in tried])
    q_of = {id(one): q for one, q in zip(tried, adjusted, strict=True)}
    trial = _Trial(corpus, written, texts, search.examples, lines)
    proposals = list(_passed_trial(trial, best(candidates), q_of, should_stop))
    for floor in (found[0] for found in higher):  # a rule has one floor, so only the best one of each
        if not should_stop() and (proposal := trial.floor_proposal(floor, q_of[id(floor)])):
            proposals.append(proposal)
    proposals.sort(key=lambda one: (len(one.breaks) - len(one.fixes), one.p))  # the best net effect first
    right = sum(one.is_right() for one in search.examples)
    missing = _missing(search.examples, known, unclear, len(given) - len(prompts), proposals)
    judged = {one.id: one.text for one in prompts} | {one.id: one.text for one in lines}
    counts = len(prompts), right, unclear, len(tried)
    return Suggestions(*counts, tuple(proposals), tuple(missing), len(lines), judged)


def _texts(written: LocatedRules, path: str) -> dict[str, str]:
    """Return the texts of the file at ``path`` and of the files with fitted weights in its folder, keyed by path."""
    texts = {file: (layer, text) for layer, file, text in written.compiled.texts}
    layer, own = texts.pop(path)
    fitted = {file: text for file, (kind, text) in texts.items() if kind == FITTED and layer != FITTED}
    beside = os.path.dirname(path) + os.sep
    return {path: own} | {file: text for file, text in fitted.items() if file.startswith(beside)}


def _passed_trial(
    trial: _Trial, candidates: Iterable[RuleChange], q_of: dict[int, float], should_stop: Callable[[], bool]
) -> Iterator[Proposal]:
    """Yield the candidates that pass the trial as proposals, but only the first of several with the same effect."""
    effects: set[object] = set()
    tries = 0
    for candidate in candidates:
        effect = (candidate.fixed, candidate.broken)
        if should_stop() or tries == MOST_TRIED or len(effects) == MOST_SHOWN:
            return
        if effect in effects:
            continue
        tries += 1
        proposal = trial.proposal(candidate, q_of[id(candidate)])
        if proposal:
            effects.add(effect)
            yield proposal


class _Trial:
    """A trial of candidates: each is written into the text of its file, compiled, and evaluated with the classifier."""

    def __init__(
        self,
        corpus: Corpus,
        written: LocatedRules,
        texts: Mapping[str, str],
        examples: Sequence[Example],
        lines: Sequence[JudgedLine],
    ) -> None:
        self._corpus, self._written, self._texts, self._examples = corpus, written, texts, examples
        self._lines = lines
        self._stack = newest_stack(next(iter(texts)), corpus.versions)
        self._rewriters = {path: Rewriter(path, text) for path, text in texts.items()}
        # Without their lines, which an edit may move.
        self._known = {(one.severity, one.message) for one in findings(written.compiled)}
        self._right = [task_type(one.prompt, written.rules) in one.prompt.right for one in examples]
        self._bases: dict[str, Side] = {}

    def proposal(self, candidate: RuleChange, q: float) -> Proposal | None:
        """Return a candidate as a proposal with its exact effect; ``q`` is its adjusted p-value.

        Return None if the candidate cannot be written, if ``enricher check`` finds a new problem, or if it does not fix
        more prompts than it breaks.
        """
        path = candidate.file
        text = self._rewritten(candidate)
        rules = self._checked(path, text) if text else None
        if text is None or rules is None:
            return None
        fixes, breaks = self._effect(rules, candidate.signal)
        index = candidate.signal.index if candidate.signal else -1
        line = self._rewriters[path].line_of(candidate.rule, index)
        return self._proposed(candidate.title(), RulePosition(path, line), text, q, fixes, breaks)

    def floor_proposal(self, floor: Floor, q: float) -> Proposal | None:
        """Return a higher floor as a proposal, with the labelled lines that it removes.

        Return None in the same cases as ``proposal``.
        """
        path = next(iter(self._texts))
        text = floor.written(self._rewriters[path], self._written)
        rules = self._checked(path, text) if text else None
        if text is None or rules is None:
            return None
        gone = [one for one in self._lines if one.is_taken_out(self._written.rules, rules)]
        line = changed_line(self._texts[path], text)
        wrong, right = [one for one in gone if one.is_wrong], [one for one in gone if not one.is_wrong]
        return self._proposed(floor.title(), RulePosition(path, line), text, q, wrong, right)

    def _proposed(
        self,
        title: str,
        place: RulePosition,
        text: str,
        q: float,
        fixes: Sequence[Labelled],
        breaks: Sequence[Labelled],
    ) -> Proposal | None:
        """Return the proposal to write ``text`` into a file; None if that does not fix more than it breaks.

        ``place`` names the file and the changed line; ``fixes`` and ``breaks`` are the labelled prompts or lines that
        become right and wrong.
        """
        if len(fixes) <= len(breaks):
            return None
        path = place.file
        changes, prompts = self._in_the_log(path, text)
        before, after = (one.splitlines(keepends=True) for one in (self._texts[path], text))
        sessions = {one.session for one in fixes}
        return Proposal(
            title,
            path,
            place.line,
            "".join(difflib.unified_diff(before, after, path, path)),
            tuple(one.id for one in fixes),
            tuple(one.id for one in breaks),
            mcnemar_midp(len(fixes), len(breaks)),
            q,
            len(sessions),
            all(_net_without(session, fixes, breaks) > 0 for session in sessions),
            changes,
            prompts,
        )

    def _rewritten(self, step: RuleChange) -> str | None:
        rewriter = self._rewriters[step.file]
        if step.signal is None:
            return rewriter.with_signal(step.rule, {"phrase": step.phrase, "weight": step.weight})
        return rewriter.with_weight(step.rule, step.signal.index, step.weight)

    def _checked(self, path: str, text: str) -> Rules | None:
        """Return the rules that apply if the file at ``path`` has the text ``text``.

        Return None if they do not compile, or if ``enricher check`` would report a new problem.
        """
        compiled = compile_texts(self._stack, instead={**self._texts, path: text})
        if compiled.broken or any((one.severity, one.message) not in self._known for one in findings(compiled)):
            return None
        return Rules(compiled.hash, compiled.body)

    def _effect(self, rules: Rules, signal: LocatedSignal | None) -> tuple[list[LabelledPrompt], list[LabelledPrompt]]:
        """Return the labelled prompts that become right under ``rules``, and those that become wrong.

        If ``signal`` is given, only that signal was changed, so prompts on which it did not fire are skipped, unless
        they refer to earlier turns.
        """
        reach = Impact(self._written.rules, rules)
        fixes: list[LabelledPrompt] = []
        breaks: list[LabelledPrompt] = []
        for one, was_right in zip(self._examples, self._right, strict=True):
            prompt = one.prompt
            is_reached = signal is None or prompt.earlier or signal.condition in one.fired
            if not is_reached or reach.level(prompt.text, prompt.earlier) == NOT:
                continue
            is_right = task_type(prompt, rules) in prompt.right
            if is_right != was_right:
                (fixes if is_right else breaks).append(prompt)
        return fixes, breaks

    def _in_the_log(self, path: str, text: str) -> tuple[int, int]:
        """Return two counts of unlabelled recorded prompts: those whose outcome ``text`` would change, and all of them.

        ``text`` is the edited text of the file at ``path``.
        """
        versions = self._corpus.versions
        if path not in self._bases:
            self._bases[path] = compared_rules.from_text(path, self._texts[path], versions=versions)
        run = Replay(self._corpus, compared_rules.from_text(path, text, versions=versions), base=self._bases[path])
        radius = run.complete_blast_radius(processes=1)
        labelled = {one.prompt.id for one in self._examples} | {one.row.id for one in self._lines}
        changes = [one.prompt.id for one in radius.changes]
        return len({*changes} - labelled), len({*radius.replayed} - labelled)


def _net_without(session: str, fixes: Iterable[Labelled], breaks: Iterable[Labelled]) -> int:
    return sum(one.session != session for one in fixes) - sum(one.session != session for one in breaks)


def _nothing(given: int, unclear: int) -> str:
    if given:
        return f"none of the {given} labels names a task type that these rules define; see: enricher check --effective"
    only = (
        f"{unclear} labels only say «wrong»: say which class it should have been" if unclear else "no labelled prompts"
    )
    return f"{only}; label some: enricher trace queue, or enricher trace label ID CLASS"


def _missing(
    examples: Sequence[Example], known: set[str], unclear: int, foreign: int, proposals: Sequence[Proposal]
) -> Iterator[str]:
    """Yield a sentence for each reason why the proposals are uncertain."""
    if not examples:
        yield "no labelled prompts: only higher floors can be proposed, from the lines called wrong"
        return
    if len(examples) < ENOUGH_LABELS:
        yield f"{counted(len(examples), 'labelled prompt')}; below {ENOUGH_LABELS} a proposal follows single prompts"
    if unclear:
        yield f"{unclear} labels only say «wrong»; which class it should have been: enricher trace label ID CLASS"
    if foreign:
        yield f"{foreign} labels name a task type that these rules do not define, and were left out"
    seen = Counter(name for one in examples for name in one.prompt.right)
    if unseen := sorted(known - seen.keys()):
        yield f"no label for {', '.join(unseen)}: what a proposal breaks there cannot be seen"
    if proposals and all(one.q >= BEYOND_CHANCE for one in proposals):
        yield "no proposal is beyond chance after all that were tried (q < 0.05): treat them as hints"

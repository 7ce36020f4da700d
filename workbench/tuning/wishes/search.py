"""Find the smallest edits of the instructions that give one recorded prompt the outcome that a user wants for it.

A candidate changes one weight, removes one signal, adds one phrase, or raises the floors of the unwanted guardrails.
How many points are needed is computed from the prompt's scores under the current rules. The candidate is then written
into the text of a file, compiled and replayed on all prompts like a user's edit, and kept if the prompt gets the
desired outcome.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from enricher.classify import TASK_TYPE
from enricher.classify.verdict import Observation, scanned_part
from enricher.respond import Inputs
from enricher.respond.decision import verdict_on
from enricher.rules.compiling.signals import LEAST_WEIGHT, MOST_WEIGHT
from workbench.coverage.rule_positions import for_prompt, recorded_path
from workbench.edits import instructions_file as files
from workbench.edits.live import OPENED, EditSession
from workbench.replay.outcome import reevaluated, reweighed
from workbench.replay.replay import never
from workbench.replay.rulesets import compared_rules
from workbench.replay.rulesets.layer_stack import layer_file
from workbench.tuning.floors import Floor, points_of
from workbench.tuning.labelled_prompts import heeded_words
from workbench.tuning.rewriting import Rewriter, changed_line, signal_text
from workbench.tuning.wishes.candidates import MANY, Candidate, phrases_of
from workbench.tuning.wishes.wish import GUARDRAIL, SILENT, WITHOUT, FulfilledError, Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from enricher.classify import Rules
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.coverage.rule_positions import LocatedRules, LocatedSignal
    from workbench.edits.progress import Figures
    from workbench.replay.corpus import Corpus
    from workbench.replay.outcome import Outcome
    from workbench.tuning.wishes.candidates import Phrases

PARTS = {TASK_TYPE: ("Classification", "Task type"), GUARDRAIL: ("Guardrails", "Guardrail")}
"""The facets (kinds of class) to whose rules a phrase can be added.

Each has the part of the file for such rules, and the word with which their headings begin.
"""
MOST_POINTS = 40  # above the largest weight, so that the message can say how many points are missing
MOST_TRIED = 16
"""Maximum number of candidates that are compiled and replayed on all prompts."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that gives the prompt the desired outcome: ``text`` is the new text of the file at ``path``.

    ``line`` is the edited line, ``points`` the number of points that it adds or takes away, ``figures`` its effect on
    all recorded prompts, and ``worse_ids`` the other prompts that may get a worse outcome. ``note`` says what the edit
    writes if that differs from its title.
    """

    title: str
    path: str
    text: str
    line: int
    points: int
    figures: Figures
    is_told: bool
    """Whether a desired task type is certain enough to be shown after the edit; true for other wishes."""
    worse_ids: frozenset[str]
    is_lone: bool = False
    """Whether the edit adds a phrase that no other recorded prompt contains, so that it helps only this wording."""
    has_filler: bool = False
    """Whether the edit adds a phrase that begins or ends with a filler such as "yes"."""
    note: str = ""

    @property
    def worse(self) -> int:
        """Return the number of other prompts that may get a worse outcome."""
        return len(self.worse_ids)

    @property
    def order(self) -> tuple[bool, int, bool, int, int, int]:
        """Return the key by which edits are sorted, best first.

        In this order, edits are preferred that make a desired task type certain enough to be shown; that may make the
        fewest other prompts worse; whose phrase also occurs in other prompts, and has no filler at its ends; that
        change the fewest others beyond MANY (similar prompts usually should get the same outcome); that change the most
        others, up to MANY, without making them worse; and that need the fewest points.
        """
        others = len(self.figures.changes) - 1
        mended = min(MANY, others - self.worse)
        is_accident = self.is_lone or self.has_filler
        return not self.is_told, self.worse, is_accident, max(0, others - MANY), -mended, self.points


def edits_for(
    corpus: Corpus,
    trace_id: str,
    wish: Wish,
    *,
    state_dir: str,
    path: str,
    cwd: str,
    edited: Mapping[str, str] | None = None,
    should_stop: Callable[[], bool] = never,
    report: Callable[[int, int], object] | None = None,
) -> Iterator[Edit]:
    """Yield edits that give a recorded prompt the desired outcome, in the order in which they are found.

    ``Edit.order`` is the key to sort them by. ``report`` is called with the number of candidates tried, and of all. New
    phrases go into the file at ``path``, or into the user's own layer if that file belongs to another project than the
    prompt. ``edited`` has unsaved texts of files, by path, on which the edits are based. Raises FulfilledError if the
    prompt already has that outcome, and SideError if its text was not kept, the rules are broken, or the class lacks
    more points than a signal can give.
    """
    search = _search_for(corpus, trace_id, wish, path=path, cwd=cwd, texts=dict(edited or {}))
    sessions: dict[str, EditSession] = {}
    steps = list(islice(search.steps(), MOST_TRIED))
    is_found = False
    for tried, step in enumerate(steps):
        if report:
            report(tried, len(steps))
        if should_stop():
            return
        written = search.written_as(step)
        if written is None:
            continue
        file, before, after, line = written
        session = sessions.setdefault(file, EditSession(state_dir, file, before, OPENED, cwd=cwd))
        figures = session.sound_figures(after)  # the session caches the rules before the edit for all candidates
        change = next((one for one in figures.changes if one.prompt.id == trace_id), None) if figures else None
        if figures and change and wish.holds(change.after):
            is_told, worse = wish.is_told(change.after), _worse(figures, trace_id, wish)
            is_lone = bool(step.phrase) and search.phrases.is_lone(step.phrase)
            has_filler = bool(step.phrase) and search.phrases.has_filler(step.phrase)
            points, is_found = abs(step.points), True
            yield Edit(step.title(), file, after, line, points, figures, is_told, worse, is_lone, has_filler, step.note)
    if not is_found and search.lacking:
        raise compared_rules.SideError(search.lacking)


def _search_for(corpus: Corpus, trace_id: str, wish: Wish, *, path: str, cwd: str, texts: dict[str, str]) -> _Search:
    row = corpus.find(trace_id)
    if row is None or not row.has_inputs:
        raise compared_rules.SideError("its text was not kept, so it cannot be judged again")
    search = _Search(corpus, row, wish, path=path, cwd=cwd, texts=texts)
    if search.is_fulfilled():
        doubt = "" if search.is_told() else ", too uncertain to be shown, but nothing is added to it anyway"
        raise FulfilledError(f"the instructions as they are now give that already{doubt}")
    return search


def files_for(corpus: Corpus, trace_id: str, paths: list[str]) -> list[str]:
    """Return those of the instructions files ``paths`` that apply to a recorded prompt, or only the user's own layer.

    The layer of another project than the prompt's does not apply to it.
    """
    row = corpus.find(trace_id)
    return [one for one in paths if row is None or _applies(one, row, corpus)] or [files.own_file()]


def _applies(path: str, row: RecordedPrompt, corpus: Corpus) -> bool:
    layer = layer_file(path, corpus.versions)
    return layer is None or layer.concerns(row)


def _worse(figures: Figures, trace_id: str, wish: Wish) -> frozenset[str]:
    """Return the ids of the other prompts that an edit may make worse.

    Every changed prompt counts, except those that showed no task type before the edit and show the desired one after
    it, unless their approved result became wrong.
    """
    regressed = figures.label_results.regressed if figures.label_results else ()
    others = [one for one in figures.changes if one.prompt.id != trace_id]
    gained = {
        one.prompt.id for one in others if wish.kind == TASK_TYPE and not one.before.shown and wish.is_told(one.after)
    }
    return frozenset(one.prompt.id for one in others) - (gained - set(regressed))


class _Search:
    """A search for candidate edits for one prompt, based on the current rules and the user's unsaved edits."""

    def __init__(
        self, corpus: Corpus, row: RecordedPrompt, wish: Wish, *, path: str, cwd: str, texts: dict[str, str]
    ) -> None:
        self._corpus, self._row, self._wish, self._cwd = corpus, row, wish, cwd
        path = path if _applies(path, row, corpus) else files.own_file()
        self._path = recorded_path(path, corpus.versions)
        self._texts = texts
        text = self._text(self._path)
        self._written: LocatedRules = for_prompt(row, self._path, text, cwd=cwd, versions=corpus.versions)
        self._rules: Rules = self._written.rules
        self._recorded = corpus.versions.rules(row.rules_hash)
        judged = verdict_on(Inputs.from_json(row.prompt, json.loads(row.inputs)), self._rules)
        self._scores = judged.scores
        self._now = reevaluated(row, self._rules, recorded=self._recorded)
        fired = self._written.fired(row.prompt, judged.task_type)
        self._fired = [one for one in self._written.signals if one.condition in fired]
        self.lacking = ""
        """Why no signal of the desired class is enough; empty unless it lacks too many points."""

    def _text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = files.read(path)
        return self._texts[path]

    def is_fulfilled(self) -> bool:
        """Return whether the current rules already give the prompt the desired outcome."""
        return self._wish.holds(self._now)

    def is_told(self) -> bool:
        """Return whether the current rules even give a desired task type with enough confidence to show it."""
        return self._wish.is_told(self._now)

    @cached_property
    def phrases(self) -> Phrases:
        """Return the phrases of the prompt that are tried as signals."""
        table = self._rules.table
        words = heeded_words(Observation(scanned_part(self._row.prompt), table))
        return phrases_of(self._row, words, self._wish.name, corpus=self._corpus, fillers=table.openers)

    def steps(self) -> Iterator[Candidate]:
        """Yield the edits to try, beginning with those that change a score by the fewest points.

        Those that strengthen a class and those that weaken one alternate, so that both are among the first.
        """
        found = [step for facet, name, sign in self._wanted_changes() for step in self._steps_of(facet, name, sign)]
        found = sorted([*found, *self._higher_floors()], key=self._rank)
        both = ([one for one in found if one.points > 0], [one for one in found if one.points <= 0])
        yield from (one for pair in zip_longest(*both) for one in pair if one)

    def _rank(self, step: Candidate) -> tuple[int, bool, bool]:
        """Return the key by which candidates are sorted: those that change the fewest points come first.

        Among equals, signals that match words come before those that match a feature of the prompt, such as its length;
        among these, edits of the chosen file come before edits of other files.
        """
        signal = step.signal
        return abs(step.points), bool(signal and signal.feature), bool(signal and signal.place.file != self._path)

    def _wanted_changes(self) -> list[tuple[str, str, int]]:
        """Return each class whose points must change to fulfil the wish: facet, name, and 1 to rise or -1 to fall."""
        winner = (TASK_TYPE, self._now.task_type, -1)
        if self._wish.kind == GUARDRAIL:
            return [(GUARDRAIL, self._wish.name, 1)]
        if self._wish.kind == WITHOUT:
            return [(GUARDRAIL, self._wish.name, -1)]
        if self._wish.kind == TASK_TYPE:
            return [(TASK_TYPE, self._wish.name, 1), *([winner] if winner[1] != self._wish.name else [])]
        silent: list[str] = next((one["silent"] for one in self._rules.table.facets if one["name"] == TASK_TYPE), [])
        guardrails = [(GUARDRAIL, name, -1) for name in self._now.guardrails]
        return [*((TASK_TYPE, name, 1) for name in silent), winner, *guardrails]

    def _higher_floors(self) -> Iterator[Candidate]:
        """Yield edits that remove the unwanted guardrails, in the chosen file and in the file of their rules.

        Such an edit raises the floor (the least points) of each of them above the points that it has now.
        """
        points = points_of(self._row, self._rules)
        unwanted = {WITHOUT: (self._wish.name,), SILENT: self._now.guardrails}.get(self._wish.kind, ())
        names = [name for name in unwanted if (GUARDRAIL, name) in points]
        if not names:
            return
        floors = tuple(Floor(GUARDRAIL, name, points[GUARDRAIL, name] + 1, 1, 0) for name in names)
        settings = self._rules.body["guardrails"]
        needed = {identity: own or settings["min_score"] for identity, *_, own in settings["rules"]}
        most = max(int(floor.value - needed[floor.name]) for floor in floors)
        files_of = {block.file for of, block in self._written.rules_of(GUARDRAIL) if of in names}
        # An edit changes one file, so the rules can be edited in place only if all are in the same one.
        written = [file for file in files_of if len(files_of) == 1 and not files.objection(file, self._cwd)]
        for file in dict.fromkeys([self._path, *written]):
            yield Candidate(GUARDRAIL, names[0], -most, floors=floors, file=file)

    def _steps_of(self, facet: str, name: str, sign: int) -> Iterator[Candidate]:
        # If no weight makes a task type certain enough to be shown, it is enough that the prompt has it.
        needed = self._least(facet, name, sign, self._wish.is_told)
        if not needed or needed > MOST_WEIGHT:
            needed = self._least(facet, name, sign, self._wish.holds)
        if sign > 0 and not 0 < needed <= MOST_WEIGHT:
            lacks = str(needed or f"more than {MOST_POINTS}")
            self.lacking = f"{name} lacks {lacks} points, but a signal gives at most {MOST_WEIGHT}: write several there"
        if not needed:
            return
        for signal in self._fired:
            if (signal.facet, signal.name) != (facet, name):
                continue
            weight = signal.weight + sign * needed
            is_added = bool(files.objection(signal.place.file, self._cwd))
            if is_added and sign > 0 and self._is_repeated(signal):
                continue  # the layer already has this signal; its weight there is raised instead
            if is_added and sign < 0 and not files.saves_as_layer(signal.place.file, self._cwd):
                continue  # a layer can raise the weight of a fitted signal, but not lower it
            if LEAST_WEIGHT <= weight <= MOST_WEIGHT:
                yield Candidate(facet, name, sign * needed, signal, is_added=is_added and sign > 0)
            elif sign < 0 and self._suffices(facet, name, -signal.weight, self._wish.holds):
                yield Candidate(facet, name, -signal.weight, signal)  # the signal is removed
        if sign > 0 and facet in PARTS and needed <= MOST_WEIGHT:
            for phrase in self.phrases.best:
                yield Candidate(facet, name, needed, phrase=phrase)

    def _is_repeated(self, signal: LocatedSignal) -> bool:
        """Return whether a file that may be edited contains a copy of ``signal`` for the same rule."""
        return any(
            (one.rule, one.condition) == (signal.rule, signal.condition)
            and not files.objection(one.place.file, self._cwd)
            for one in self._fired
        )

    def _least(self, facet: str, name: str, sign: int, holds: Callable[[Outcome], bool]) -> int:
        """Return the least number of points that a class must gain or lose so that ``holds`` is true of the outcome.

        ``sign`` is 1 to gain and -1 to lose. The result is 0 if not even MOST_POINTS are enough.
        """
        steps = range(1, MOST_POINTS + 1)
        return next((points for points in steps if self._suffices(facet, name, sign * points, holds)), 0)

    def _suffices(self, facet: str, name: str, points: int, holds: Callable[[Outcome], bool]) -> bool:
        """Return whether ``holds`` is true of the outcome if the class gets ``points`` more, all else being equal."""
        scores = {of: dict(names) for of, names in self._scores.items()}
        if name not in scores.get(facet, {}):
            return False
        scores[facet][name] += points
        recorded = self._recorded or self._rules
        try:
            return holds(reweighed(self._row, scores, self._rules, recorded=recorded))
        except KeyError:  # an old trace without recorded features: only a replay can tell
            return True

    def written_as(self, step: Candidate) -> tuple[str, str, str, int] | None:
        """Return the file that a candidate edits, its text before and after the edit, and the edited line.

        Return None if the layout of the file's text prevents the edit.
        """
        if step.floors:
            return self._with_floors(step)
        if step.signal is None or step.is_added:
            return self._with_new_signal(step)
        file, index = step.signal.place.file, step.signal.index
        before = self._text(file)
        rewriter, rule = Rewriter(file, before), step.signal.rule
        after = rewriter.with_weight(rule, index, step.weight)
        return (file, before, after, step.signal.place.line) if after else None

    def _with_floors(self, step: Candidate) -> tuple[str, str, str, int] | None:
        before = after = self._text(step.file)
        for floor in step.floors:
            written = floor.written(Rewriter(step.file, after), self._written)
            if written is None:
                return None
            after = written
        return step.file, before, after, changed_line(before, after)

    def _with_new_signal(self, step: Candidate) -> tuple[str, str, str, int] | None:
        block = next((one for name, one in self._written.rules_of(step.facet) if name == step.name), None)
        name = block.name if block else step.name
        rule = f"{step.facet}.{name.replace(' ', '-')}"
        before, written = self._text(self._path), signal_text(step.new_signal)
        rewriter = Rewriter(self._path, before)
        after = rewriter.with_signal(rule, step.new_signal)
        if after is None and not rewriter.has_rule(rule):
            part, kind = PARTS[step.facet]
            after = rewriter.with_section(part, f"{kind}: {name}", rule, f"signals:\n  - {written}")
        if after is None:
            return None
        line = next((at for at, text in enumerate(after.splitlines(), 1) if text.endswith(written)), 1)
        return self._path, before, after, line

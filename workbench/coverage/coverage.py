"""Count how often each rule fires on recorded prompts, and which rules fire together.

If a prompt was recorded under the measured rules, its recorded outcome is used; otherwise it is judged again. Which
signals fire is determined again for every prompt, because a trace does not list the signals of a class whose points sum
to 0. Figures are available after every page of prompts.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from enricher.classify import SEARCH_INTENT, TASK_TYPE
from enricher.prompt.text import estimate_tokens
from enricher.settings import AS_SPECIFIED, is_as_specified
from storage.evaluation.corpus import labels_of
from workbench.coverage.figures import FIRED, KINDS, RIGHT, WRONG, Coverage, CoverageRow, Overlap
from workbench.coverage.unmatched import Unmatched
from workbench.replay.outcome import reevaluated
from workbench.replay.replay import never

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from storage.evaluation.corpus import RecordedPrompt as Recorded
    from workbench.coverage.rule_positions import LocatedRules
    from workbench.replay.corpus import Corpus
    from workbench.replay.outcome import Outcome

UNINFORMATIVE = frozenset(
    "always no_words tiny short medium long very_long several_sentences non_english order_last".split()
)
"""Features of a prompt's length and form, not of its subject.

A prompt on which only signals for these features fire counts as unmatched.
"""
LEAST_TOGETHER = 5
"""Minimum number of prompts in which rules must fire together to be reported; in fewer, it may be chance."""
EXAMPLES = 3
NOT_ASKED = ("off", "untrusted")
"""Statuses of a channel that was not asked for a prompt; if nothing was gathered, it is not recorded at all."""


@dataclass(slots=True)
class _Tally:
    """The counts of one rule or signal, from which its ``CoverageRow`` is made."""

    rule: CoverageRow
    """The rule or signal, without its figures."""
    kept: int
    asked: int | None = None
    """The number of prompts for which the rule was asked; None for a rule that can fire on every prompt."""
    fired: int = 0
    tokens: int = 0
    mark: int = 0
    """The exclusive or of a number for each prompt on which the rule fired; equal for rules that fired together."""
    ids: dict[str, list[str]] = field(default_factory=lambda: {FIRED: [], RIGHT: [], WRONG: []})
    """The ids of prompts on which the rule fired (at most ``kept``), and of those whose labels confirm or refute it."""

    def add(self, trace_id: str, mark: int, *, tokens: int = 0) -> None:
        self.fired += 1
        self.tokens += tokens
        self.mark ^= mark
        if self.fired <= self.kept:
            self.ids[FIRED].append(trace_id)

    def row(self, prompts: int) -> CoverageRow:
        return replace(
            self.rule,
            fired=self.fired,
            prompts=prompts if self.asked is None else self.asked,
            tokens=self.tokens,
            right=len(self.ids[RIGHT]),
            wrong=len(self.ids[WRONG]),
            examples=tuple(self.ids[FIRED][:EXAMPLES]),
        )


class Measurement:
    """An unfinished count of how often each rule fires; pages of a corpus can be added, and figures read, at any time.

    ``kept`` is the maximum number of prompt ids that are stored for each figure.
    """

    def __init__(self, corpus: Corpus, written: LocatedRules, *, kept: int = EXAMPLES) -> None:
        self._corpus, self._written, self._most_kept = corpus, written, kept
        self.prompts = self.judged_again = self.labelled = 0
        self._kept: dict[str, list[str]] = {"prompts": [], "judged_again": [], "labelled": [], "unmatched": []}
        self._labels: Counter[str] = Counter()
        self._unmatched = Unmatched()
        self._signals: dict[int, list[_Tally]] = {}
        foreign = {(one.place, one.index) for one in written.foreign_signals()}
        for one in written.signals:
            row = CoverageRow(
                "signal", one.rule, one.facet, one.name, one.label, one.weight, one.condition, one.place.file,
                one.place.line, is_foreign=(one.place, one.index) in foreign,
            )  # fmt: skip
            self._signals.setdefault(one.condition, []).append(_Tally(row, kept))
        self._informative = {
            one.condition for one in written.signals if one.facet == TASK_TYPE and one.feature not in UNINFORMATIVE
        }
        self._as_specified = _as_specified(written)
        self._lines: dict[tuple[str, str], _Tally] = {}
        for row in _rules(written):
            key = row.kind, row.name
            is_asked_apart = row.kind == "channel" or key in self._as_specified
            self._lines[key] = _Tally(row, kept, asked=0 if is_asked_apart else None)
        self._titles = {identity: title for identity, (title, _) in written.guardrail_titles().items()}
        self._approaches = list(_approaches(written))

    def add(self, page: Iterable[Recorded]) -> None:
        """Count the rules that fire on each prompt of a page (a list of prompts from the corpus)."""
        rows = list(page)
        verdicts = labels_of(self._corpus.db, [row.id for row in rows])
        for row in rows:
            is_recorded = row.rules_hash == self._written.rules.hash
            outcome = self._corpus.recorded(row) if is_recorded else self._outcome_under(row)
            # The table also numbers the conditions under ``with`` and ``unless``, which are no signals themselves.
            fired = self._signals.keys() & self._written.fired(row.prompt, outcome.task_type)
            self._count(row, outcome, fired, verdicts.get(row.id))

    def _outcome_under(self, row: Recorded) -> Outcome:
        self.judged_again += 1
        self._keep("judged_again", row.id)
        return reevaluated(row, self._written.rules, recorded=self._corpus.versions.rules(row.rules_hash))

    def _count(self, row: Recorded, outcome: Outcome, fired: set[int], verdict: tuple[str, str] | None) -> None:
        self.prompts += 1
        self._keep("prompts", row.id)
        # Rules that fire on the same prompts have the same exclusive or of these numbers; others practically never do.
        mark = int.from_bytes(hashlib.blake2b(row.id.encode(), digest_size=16).digest())
        tallies = [tally for condition in fired for tally in self._signals[condition]]
        for tally in tallies:
            tally.add(row.id, mark)
        for key in _asked(row, self._as_specified):
            if rule := self._lines.get(key):
                rule.asked = (rule.asked or 0) + 1
        for key, tokens in self._shaping_rules(row, outcome):
            if key in self._lines:
                self._lines[key].add(row.id, mark, tokens=tokens)
        if fired.isdisjoint(self._informative):
            self._unmatched.add(row.id, row.prompt)
            self._keep("unmatched", row.id)
        if verdict:
            self._count_label(row, outcome.task_type, tallies, verdict)

    def _count_label(self, row: Recorded, won: str, fired: list[_Tally], verdict: tuple[str, str]) -> None:
        """Count a labelled prompt as right or wrong for the rules in ``fired`` whose class is ``won``, the one chosen.

        A label that only says «wrong» counts against the class that was recorded; what it says of another is unknown.
        """
        self.labelled += 1
        self._keep("labelled", row.id)
        kind, right = verdict[0], verdict[1] or row.task_type
        if kind != "wrong":
            self._labels[right] += 1
        elif won != row.task_type:
            return
        number = RIGHT if kind != "wrong" and won == right else WRONG
        for tally in [*fired, *filter(None, [self._lines.get(("task type", won))])]:
            if (tally.rule.facet, tally.rule.name) == (TASK_TYPE, won):
                tally.ids[number].append(row.id)

    def _keep(self, number: str, trace_id: str) -> None:
        if len(self._kept[number]) < self._most_kept:
            self._kept[number].append(trace_id)

    def _shaping_rules(self, row: Recorded, outcome: Outcome) -> Iterator[tuple[tuple[str, str], int]]:
        """Yield a pair for each rule that contributed to a prompt's outcome: its kind and name, and its tokens.

        The tokens are those of the rule's own text; they are 0 for rules that add no text.
        """
        yield ("task type", outcome.task_type), 0
        yield ("search intent", outcome.search_intent), 0
        for identity in outcome.guardrails:
            yield ("guardrail", identity), estimate_tokens(f"{identity} ({self._titles.get(identity, '')})")
        if outcome.approach:
            # An outcome has the text of its approach only, in which the placeholders are filled in.
            name = next((name for name, pattern in self._approaches if pattern.fullmatch(outcome.approach)), "")
            yield ("approach", name), estimate_tokens(outcome.approach)
        if outcome.workflow:
            yield ("workflow", outcome.workflow), 0
        if outcome.items:  # most prompts have none, and parsing their inputs takes long
            for channel, tokens in _tokens_by_channel(row, outcome).items():
                yield ("channel", channel), tokens

    def coverage(self) -> Coverage:
        """Return the figures for all prompts counted so far."""
        tallies = [tally for group in self._signals.values() for tally in group] + list(self._lines.values())
        found = [(tally.row(self.prompts), tally) for tally in tallies]
        found.sort(key=lambda pair: (KINDS.index(pair[0].kind), pair[0].file, pair[0].line))
        return Coverage(
            self._written.rules.hash,
            self.prompts,
            self.judged_again,
            self.labelled,
            tuple(row for row, _tally in found),
            tuple(_overlaps(found)),
            self._unmatched.count,
            tuple(self._unmatched.clusters()),
            dict(self._labels),
            {row: tally.ids for row, tally in found},
            self._kept,
            self._written.folder,
        )


def measure(corpus: Corpus, written: LocatedRules, *, should_stop: Callable[[], bool] = never) -> Coverage:
    """Return how often each rule fired on the prompts of a corpus, or on those read before ``should_stop`` was true."""
    measurement = Measurement(corpus, written)
    for page in corpus.pages():
        if should_stop():
            break
        measurement.add(page)
    return measurement.coverage()


def _rules(written: LocatedRules) -> Iterator[CoverageRow]:
    """Yield the rules, as distinct from their signals, without figures."""
    for facet in (TASK_TYPE, SEARCH_INTENT, "approach", "workflow", "channel"):
        for name, block in written.rules_of(facet):
            yield CoverageRow(facet.replace("_", " "), block.id, facet, name, "", 0, -1, block.file, block.line)
    for identity, (title, at) in written.guardrail_titles().items():
        yield CoverageRow("guardrail", f"guardrail.{identity}", "guardrail", identity, title, 0, -1, at.file, at.line)


def _approaches(written: LocatedRules) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the name of each approach, and a pattern that matches its text, whatever is filled in for ``{…}``."""
    approaches = written.rules.body["approaches"]
    for name, say, *_ in (*approaches["rules"], *approaches[AS_SPECIFIED]):
        pieces = re.split(r"\{[^{}]*\}", say)
        yield name, re.compile(".*".join(map(re.escape, pieces)), re.DOTALL)


def _as_specified(written: LocatedRules) -> list[tuple[str, str]]:
    """Return the approaches that are tried only in the profile ``as-specified``, as (kind, name)."""
    return [("approach", name) for name, *_ in written.rules.body["approaches"][AS_SPECIFIED]]


def _asked(row: Recorded, as_specified: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the kind and name of each rule that is tried for some prompts only, and that was tried for this one.

    These are channels, none of which is asked for an imported prompt, and the approaches in ``as_specified``.
    """
    inputs = json.loads(row.inputs)
    yield from (("channel", one["name"]) for one in inputs["channels"] if one["status"] not in NOT_ASKED)
    if is_as_specified(inputs["settings"]):
        yield from as_specified


def _tokens_by_channel(row: Recorded, outcome: Outcome) -> dict[str, int]:
    offered = {
        (channel["name"], item[1]): item[0] or item[3]
        for channel in json.loads(row.inputs)["channels"]
        for item in reversed(channel["candidates"])  # of several with one reference, the first one was taken
    }
    found: dict[str, int] = {}
    for channel, ref in outcome.items:
        found[channel] = found.get(channel, 0) + estimate_tokens(offered.get((channel, ref), ref))
    return found


def _overlaps(rows: Iterable[tuple[CoverageRow, _Tally]]) -> Iterator[Overlap]:
    together: dict[tuple[str, str, int, int], list[CoverageRow]] = {}
    for row, tally in rows:
        if LEAST_TOGETHER <= row.fired < row.prompts:  # rules that always fire are reported as such
            together.setdefault((row.kind, row.facet, row.fired, tally.mark), []).append(row)
    for group in sorted(together.values(), key=lambda group: -group[0].fired):
        # Signals with one condition are one signal with points for several classes.
        if len({(one.condition, "" if one.condition >= 0 else one.name) for one in group}) > 1:
            yield Overlap(tuple(group), group[0].fired)

"""Count how often each rule fires on recorded prompts; find rules that never fire, always fire or fire together.

If a prompt was recorded under the measured rules, its recorded outcome is used; otherwise it is judged again. Which
signals fire is determined again for every prompt, because a trace does not list the signals of a class whose points sum
to 0. Figures are available after every page of prompts.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from enricher.classify import SEARCH_INTENT, TASK_TYPE
from enricher.prompt.text import estimate_tokens
from enricher.settings import AS_SPECIFIED, is_as_specified
from storage.evaluation.corpus import labels_of
from workbench.coverage.unmatched import Unmatched
from workbench.replay.outcome import reevaluated
from workbench.replay.replay import never
from workbench.statistics.intervals import Interval, upper_bound, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from storage.evaluation.corpus import RecordedPrompt as Recorded
    from workbench.coverage.rule_positions import LocatedRules
    from workbench.coverage.unmatched import Cluster
    from workbench.replay.corpus import Corpus
    from workbench.replay.outcome import Outcome

ALWAYS = "<always>"
"""The label of the points that a class gives to every prompt."""
KINDS = ("signal", "task type", "search intent", "guardrail", "approach", "workflow", "channel")
UNINFORMATIVE = frozenset(
    "always no_words tiny short medium long very_long several_sentences non_english order_last".split()
)
"""Features of a prompt's length and form, not of its subject.

A prompt on which only signals for these features fire counts as unmatched.
"""
LEAST_TOGETHER = 5
"""Minimum number of prompts in which rules must fire together to be reported; in fewer, it may be chance."""
MOST_POSSIBLE = 0.2
"""A rule that was asked for only some prompts, and never fired, is called dead if its true share is at most this."""
ENOUGH_PROMPTS = 20
"""Minimum number of prompts before rules that always fire are reported; in fewer, it may be chance."""
EXAMPLES = 3
NOT_ASKED = ("off", "untrusted")
"""Statuses of a channel that was not asked for a prompt; if nothing was gathered, it is not recorded at all."""
FIRED, RIGHT, WRONG = "fired", "right", "wrong"
"""The attributes of a ``CoverageRow`` that count prompts."""


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """One rule or signal, with the number of prompts on which it fired (matched) and what labels say about it.

    ``rule`` is the id of the rule; ``name`` is its class, guardrail, approach, workflow or channel; ``label`` is the
    signal as ``enricher explain`` prints it. ``prompts`` is the number of prompts on which it could fire: all that were
    measured; for a channel or an approach of the profile ``as-specified``, those for which it was asked. It fired on
    ``fired`` of them, and added ``tokens`` tokens to them in total. ``right`` and ``wrong`` count the labelled prompts
    on which it fired and its class won, rightly or wrongly. ``examples`` are the ids of the newest prompts on which it
    fired. ``condition`` is the number of a signal in the compiled table, -1 for a rule. ``is_foreign`` is whether a
    signal has wordings of other languages.
    """

    kind: str
    rule: str
    facet: str
    name: str
    label: str
    weight: int
    condition: int
    file: str
    line: int
    fired: int = 0
    prompts: int = 0
    tokens: int = 0
    right: int = 0
    wrong: int = 0
    examples: tuple[str, ...] = ()
    is_foreign: bool = False

    @property
    def share(self) -> float:
        """Return the share of ``prompts`` on which the rule fired; 0 if there are none."""
        return self.fired / self.prompts if self.prompts else 0.0

    @property
    def is_dead(self) -> bool:
        """Return whether the rule never fired, although it could have."""
        return not self.fired and self.prompts > 0

    @property
    def is_always_on(self) -> bool:
        """Return whether the rule fired on every prompt, so that it does not distinguish prompts."""
        return self.fired == self.prompts > 0

    @property
    def is_meant_to_fire(self) -> bool:
        """Return whether the rule is meant to fire on every prompt: the points that a class begins with."""
        return self.label == ALWAYS

    @property
    def tokens_each(self) -> int:
        """Return the mean number of tokens that the rule adds to a prompt on which it fires; 0 if it never fired."""
        return round(self.tokens / self.fired) if self.fired else 0

    def rightness(self) -> Interval:
        """Return Wilson's interval for how often the rule's class was right, of the times that it won with the rule."""
        return wilson(self.right, self.right + self.wrong)

    def may_reach(self) -> float:
        """Return the 95 % upper bound of the true share of a rule that has fired on none of its prompts.

        The true share is the share of all prompts on which the rule would fire, not only of the recorded ones.
        """
        return upper_bound(self.prompts)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Several rules or signals of one kind and facet that fired on exactly the same prompts."""

    rows: tuple[CoverageRow, ...]
    fired: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """The figures of a coverage count: how often each rule fired on the prompts counted so far.

    ``judged_again`` is the number of prompts that were recorded under other rules. ``labels`` has the number of
    labelled prompts for each right task type; prompts whose label only says «wrong» are not among them. ``folder`` is
    the folder whose own layer is among the rules, which judge all prompts, wherever they were typed.
    """

    rules_hash: str
    prompts: int
    judged_again: int
    labelled: int
    rows: tuple[CoverageRow, ...]
    overlaps: tuple[Overlap, ...]
    unmatched: int
    clusters: tuple[Cluster, ...]
    labels: dict[str, int]
    tallies: Mapping[CoverageRow, _Tally] = field(default_factory=dict, repr=False, compare=False)
    kept: Mapping[str, list[str]] = field(default_factory=dict, repr=False, compare=False)
    folder: str = field(default="", compare=False)

    def counted(self, row: CoverageRow, number: str = FIRED) -> list[str]:
        """Return the ids of the prompts that are counted in one of the figures of ``row``, newest first.

        ``number`` is FIRED, RIGHT or WRONG: the prompts on which the rule fired, was right, or was wrong. Ids beyond
        the maximum ``kept`` of the ``Measurement`` may be missing.
        """
        return self.tallies[row].ids[number][: getattr(row, number)]

    def counted_in_all(self, number: str) -> list[str]:
        """Return the ids of the prompts that are counted in one of the figures of this object.

        ``number`` names the figure: "prompts", "labelled", "judged_again" or "unmatched".
        """
        return self.kept[number][: getattr(self, number)]

    def class_share(self, row: CoverageRow) -> float:
        """Return how often a class that wins at random would be right: the share of labels with the row's class."""
        known = sum(self.labels.values())
        return self.labels.get(row.name, 0) / known if known else 0.0

    def doubtful(self) -> list[CoverageRow]:
        """Return the signals with whose points their class won, but was right no more often than by chance (95 %)."""
        judged = [row for row in self.rows if row.kind == "signal" and row.facet == TASK_TYPE and row.right + row.wrong]
        found = [row for row in judged if not row.is_meant_to_fire and row.rightness().high <= self.class_share(row)]
        return sorted(found, key=lambda row: (row.rightness().high - self.class_share(row), row.file, row.line))

    def dead(self) -> list[CoverageRow]:
        """Return the rules and signals that never fired, although they could have.

        Signals with wordings of other languages than English come last.
        """
        found = (row for row in self.rows if row.is_dead and not self.is_too_seldom_asked(row))
        return sorted(found, key=lambda row: row.is_foreign)

    def is_too_seldom_asked(self, row: CoverageRow) -> bool:
        """Return whether a rule never fired, but was asked for too few of the prompts to tell whether it ever would."""
        is_asked_apart = not row.fired and row.prompts < self.prompts
        return is_asked_apart and (not row.prompts or row.may_reach() > MOST_POSSIBLE)

    def too_seldom_asked(self) -> list[CoverageRow]:
        """Return the rules about which nothing is known, because too few of the counted prompts were checked."""
        return list(filter(self.is_too_seldom_asked, self.rows))

    def always_on(self) -> list[CoverageRow]:
        """Return the rules and signals that fired on every prompt, if at least ENOUGH_PROMPTS prompts were counted.

        The signal ``<always>`` is left out, because it is meant to fire always.
        """
        found = [row for row in self.rows if row.is_always_on and not row.is_meant_to_fire]
        return [row for row in found if row.prompts >= ENOUGH_PROMPTS]

    def dead_may_reach(self) -> float:
        """Return ``may_reach`` of a rule that could have fired on each of the counted prompts, but did on none."""
        return upper_bound(self.prompts)


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
            dict(found),
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


def _identified(row: CoverageRow) -> dict[str, object]:
    return {"file": row.file, "line": row.line, "label": row.label, "name": row.name}


def as_object(found: Coverage) -> dict[str, object]:
    """Return all figures of a coverage count as JSON values."""
    rows, dead = [], set(found.dead())
    for row in found.rows:
        interval = row.rightness()
        judged = {"low": interval.low, "high": interval.high} if row.right + row.wrong else None
        rows.append(
            asdict(row) | {"share": row.share, "rightness": judged, "dead": row in dead, "always_on": row.is_always_on}
        )
    overlaps = [{"fired": one.fired, "rows": list(map(_identified, one.rows))} for one in found.overlaps]
    return {
        "rules_hash": found.rules_hash,
        "prompts": found.prompts,
        "judged_again": found.judged_again,
        "labelled": found.labelled,
        "dead_may_reach": found.dead_may_reach() if found.prompts else None,
        "rows": rows,
        "overlaps": overlaps,
        "labels": found.labels,
        "doubtful": list(map(_identified, found.doubtful())),
        "unmatched": {"prompts": found.unmatched, "clusters": [one.as_object() for one in found.clusters]},
    }

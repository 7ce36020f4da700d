"""Split the text added to a prompt into lines, store users' labels for these lines, and count those called right."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storage.base import fast_stdlib

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from storage.traces.selection import Selection

    Row = dict[str, object]

OK, WRONG = VERDICTS = ("ok", "wrong")
VERDICT_WORDS = {OK: "right", WRONG: "wrong"}
GUARDRAIL, APPROACH, TASK_TYPE, OTHER = "guardrail", "approach", "task_type", "other"
"""Kinds of lines; any other kind is the name of the channel (source of facts) that the line came from."""
HASH_DIGITS = 16
LONGEST_REASON = 400  # characters

# Beginnings of lines that are neither a fact nor advice, so that there is nothing to label.
_HEADINGS = ("## ", "**Relevant Context**", "_Partial: ")
_GUARDRAILS, _APPROACH, _TASK_TYPE = (
    "**Applicable Guardrails**: ", "**Suggested Approach**: ", "**Classification**: ",
)  # fmt: skip
IS_NEWEST = """
    line_labels.id = (select max(newer.id) from line_labels as newer
                      where newer.trace_id = line_labels.trace_id and newer.line = line_labels.line)
"""
"""The condition on a row of ``line_labels`` that it is the newest label of its line."""
COLUMNS = ("labelled_at", "verdict", "line", "line_kind", "rule", "text_hash", "because")
INSERT = f"""
    insert into line_labels (trace_id, {", ".join(COLUMNS)})
    values (:id, {", ".join(f":{name}" for name in COLUMNS)})
"""
DELETE_NEWEST = """
    delete from line_labels where id = (
        select max(id) from line_labels where trace_id = :id and line = :line
    )
"""
NEWEST_OF_TRACE = f"""
    select line, verdict, because, labelled_at from line_labels where trace_id = :id and {IS_NEWEST} order by line
"""
KEEP_RATES = f"""
    select line_labels.line_kind, line_labels.rule, sum(line_labels.verdict = 'ok'), count(*)
    from line_labels join traces on traces.id = line_labels.trace_id
    where {IS_NEWEST} and %s
    group by line_labels.line_kind, line_labels.rule
    order by avg(line_labels.verdict = 'ok'), count(*) desc, line_labels.line_kind, line_labels.rule
"""
NEWEST_LABELS = f"""
    select line_labels.trace_id, line_labels.line_kind, line_labels.rule, line_labels.verdict
    from line_labels join traces on traces.id = line_labels.trace_id
    where {IS_NEWEST} and (%s) order by line_labels.trace_id desc, line_labels.line
"""


class UnknownLineError(LookupError):
    """Raised if the text that was added to the prompt has no line with the given number."""


class NothingToUndoError(LookupError):
    """Raised if the label of a line is to be taken back, but the line has none."""


@dataclass(frozen=True, slots=True)
class Line:
    """A part of an added text that a user can label: one line, or one guardrail of a line that lists several.

    ``number`` is its position, from 1. ``kind`` is GUARDRAIL, APPROACH, TASK_TYPE or OTHER, or the channel of a fact.
    ``rule`` is the id of the guardrail, or the task type; it is empty for facts, and for an approach, whose name the
    text does not contain.
    """

    number: int
    kind: str
    rule: str
    text: str

    @property
    def text_hash(self) -> str:
        """Return a hash of the line's text, by which the same line is recognized in the text of another prompt."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


@dataclass(frozen=True, slots=True)
class LineLabel:
    """The newest label that a user gave to a line of an added text, with the user's reason (``because``)."""

    line: int
    verdict: str
    because: str
    labelled_at: str


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """A line of an added text that a user has labelled; ``verdict`` is its newest label, "ok" or "wrong"."""

    trace_id: str
    kind: str
    rule: str
    verdict: str


@dataclass(frozen=True, slots=True)
class KeepRate:
    """The share of labelled lines that users called right, for one kind of line or one rule.

    ``judged`` is the number of labelled lines, and ``right`` is how many of them users called right. ``rule`` is empty
    if all rules of a kind are counted together; ``kind`` is empty, too, if all lines are.
    """

    kind: str
    rule: str
    right: int
    judged: int

    @property
    def share(self) -> float:
        """Return the share of labelled lines that users called right, from 0 to 1."""
        return self.right / self.judged if self.judged else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Return Wilson's 95 % confidence interval of the share; from 0 to 1 if no line was labelled."""
        n, z = self.judged, 1.959964  # the 97.5 % quantile; as in workbench.statistics, which storage must not import
        if not n:
            return 0.0, 1.0
        centre, spread = self.right + z * z / 2, z * math.sqrt(self.right * (n - self.right) / n + z * z / 4)
        return max(0.0, (centre - spread) / (n + z * z)), min(1.0, (centre + spread) / (n + z * z))

    def prompts(self, lines: Iterable[JudgedLine], verdict: str = "") -> list[str]:
        """Return the ids of the prompts with at least one labelled line of this kind and rule.

        ``lines`` are all labelled lines; with ``verdict``, only those with this label are considered.
        """
        found = (one for one in lines if self.kind in ("", one.kind) and self.rule in ("", one.rule))
        return list(dict.fromkeys(one.trace_id for one in found if verdict in ("", one.verdict)))

    @property
    def filter(self) -> str:
        """Return the filter text for the prompts that have labelled lines of this kind and rule.

        ``storage.traces.selection`` describes filter texts.
        """
        return self._filter("any")

    @property
    def filter_wrong(self) -> str:
        """Return the filter text for the prompts that have a line of this kind and rule that was labelled wrong."""
        return self._filter(WRONG)

    def _filter(self, judged: str) -> str:
        named = " ".join(filter(None, (judged, self.kind, self.rule)))
        return f'line:"{named}"' if self.kind else f"line:{judged}"


@dataclass(frozen=True, slots=True)
class KeepRates:
    """The shares of labelled lines that are right, in total, for each kind of line and for each rule.

    Kinds and rules with the lowest shares come first.
    """

    total: KeepRate
    kinds: tuple[KeepRate, ...]
    rules: tuple[KeepRate, ...]


def lines(trace: Mapping[str, object]) -> list[Line]:
    """Return the lines, without headings, of the text added to a prompt; ``trace`` is a result of ``queries.show``."""
    found = list(_parts(trace))
    return [Line(number, kind, rule, text) for number, (kind, rule, text) in enumerate(found, 1)]


def _parts(trace: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    texts = str(trace["output_text"]).splitlines()
    channels = [str(one["channel"]) for one in _rows(trace, "items") if one["kept"]]
    bullets = sum(text.startswith("- ") for text in texts)
    # Bullets and kept facts have the same order. If their numbers differ, it is not known which bullet is which fact.
    facts = iter(channels if len(channels) == bullets else [OTHER] * bullets)
    for text in texts:
        if text.startswith("- "):
            yield next(facts), "", text.removeprefix("- ")
        elif text.startswith(_GUARDRAILS):
            yield from _guardrails(text.removeprefix(_GUARDRAILS), trace)
        elif text.startswith(_APPROACH):
            yield APPROACH, "", text.removeprefix(_APPROACH)
        elif text.startswith(_TASK_TYPE):
            yield TASK_TYPE, str(trace["task_type"]), text.removeprefix(_TASK_TYPE)
        elif text.strip() and not text.startswith(_HEADINGS):
            yield OTHER, "", text


def _guardrails(text: str, trace: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the rule id and the text of each guardrail in a line that lists several.

    ``text`` is that line without its heading, such as ``H3 (…), H5 (…)``; ``trace`` says which guardrails to look for.
    """
    starts: list[tuple[int, str]] = []
    after = 0
    for one in _rows(trace, "guardrails"):
        # Searched from ``after`` on, because the text of an earlier guardrail may name this one.
        at = text.find(f"{one['guardrail_id']} (", after)
        if at >= 0:
            starts.append((at, str(one["guardrail_id"])))
            after = at + 1
    if not starts:
        yield GUARDRAIL, "", text
    # Each guardrail ends where the next one begins.
    for (at, identity), (end, _next) in zip(starts, [*starts[1:], (len(text), "")], strict=True):
        yield GUARDRAIL, identity, text[at:end].rstrip(", ")


def _rows(trace: Mapping[str, object], name: str) -> list[Row]:
    rows = trace.get(name)
    return rows if isinstance(rows, list) else []


def line(trace: Mapping[str, object], number: int) -> Line:
    """Return the line with this number of the text added to the prompt of ``trace``; raises UnknownLineError."""
    found = lines(trace)
    if not 1 <= number <= len(found):
        known = f"the lines are 1 to {len(found)}" if found else "nothing was added, or its text was not stored"
        raise UnknownLineError(f"trace {trace['id']} has no line {number}: {known}")
    return found[number - 1]


def as_rows(found: Sequence[Line], judged: Mapping[int, LineLabel]) -> list[Row]:
    """Return lines of an added text as rows for JSON, with their labels.

    ``judged`` has the labels by line number. ``verdict`` is None in the row of a line without a label.
    """
    return [
        {
            "line": one.number, "line_kind": one.kind, "rule": one.rule, "text": one.text,
            "verdict": judged[one.number].verdict if one.number in judged else None,
            "because": judged[one.number].because if one.number in judged else "",
        }
        for one in found
    ]  # fmt: skip


def add(db: sqlite3.Connection, trace_id: str, judged: Line, verdict: str, *, because: str = "") -> Row:
    """Store a user's label for a line, "ok" or "wrong", and return it as a row.

    ``because`` is the user's reason, from which the caller must have removed secrets. If the line has that label and
    reason already, nothing is stored, and that label is returned.
    """
    entry: Row = {
        "id": trace_id,
        "labelled_at": fast_stdlib.utc_now(),
        "verdict": verdict,
        "line": judged.number,
        "line_kind": judged.kind,
        "rule": judged.rule,
        "text_hash": judged.text_hash,
        "because": because[:LONGEST_REASON],
    }
    known = of_trace(db, trace_id).get(judged.number)
    if known is not None and (known.verdict, known.because) == (verdict, entry["because"]):
        return {**entry, "labelled_at": known.labelled_at}
    db.execute(INSERT, entry)
    return entry


def take_back(db: sqlite3.Connection, trace_id: str, number: int) -> None:
    """Delete the newest label of a line, so that an earlier one counts again; raises NothingToUndoError."""
    if not db.execute(DELETE_NEWEST, {"id": trace_id, "line": number}).rowcount:
        raise NothingToUndoError(f"line {number} of trace {trace_id} has no label")


def of_trace(db: sqlite3.Connection, trace_id: str) -> dict[int, LineLabel]:
    """Return the newest label of each labelled line of a trace, keyed by line number."""
    return {row[0]: LineLabel(*row) for row in db.execute(NEWEST_OF_TRACE, {"id": trace_id})}


def labelled_traces(db: sqlite3.Connection) -> set[str]:
    """Return the ids of all traces in whose added text a user labelled at least one line."""
    return {row[0] for row in db.execute("select distinct trace_id from line_labels")}


def keep_rates(db: sqlite3.Connection, which: Selection | None = None) -> KeepRates:
    """Return the shares of labelled lines that are right in the traces that ``which`` selects.

    None selects all traces except those of tests.
    """
    where, named = (f"({which.where})", which.parameters) if which else ("traces.origin <> 'test'", {})
    rows = [KeepRate(*row) for row in db.execute(KEEP_RATES % where, named)]
    kinds = [_sum(kind, [one for one in rows if one.kind == kind]) for kind in dict.fromkeys(one.kind for one in rows)]
    kinds.sort(key=lambda one: (one.share, -one.judged, one.kind))
    return KeepRates(_sum("", rows), tuple(kinds), tuple(one for one in rows if one.rule))


def judged(db: sqlite3.Connection, which: Selection) -> list[JudgedLine]:
    """Return the labelled lines of the selected traces, newest trace first."""
    return [JudgedLine(*row) for row in db.execute(NEWEST_LABELS % which.where, which.parameters)]


def is_sound(label: Sequence[object]) -> bool:
    """Return whether a label of a line that was read from another database can be stored in this one.

    ``label`` has its values in the order of COLUMNS.
    """
    named = dict(zip(COLUMNS, label, strict=True))
    number = named.pop("line")
    is_whole = isinstance(number, int) and number >= 1
    is_text = all(isinstance(value, str) for value in named.values())
    return is_whole and is_text and named["verdict"] in VERDICTS and bool(named["line_kind"])


def _sum(kind: str, rows: list[KeepRate]) -> KeepRate:
    return KeepRate(kind, "", sum(one.right for one in rows), sum(one.judged for one in rows))

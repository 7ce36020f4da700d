"""Parse filter texts that select traces, such as ``type:debug guardrail:H3 ms>20 since:2d "a phrase" -label:ok``.

All parts must match. ``-`` negates a part, a comma between values means any of them, and quotes group words. User input
reaches SQL only as named parameters. Traces of tests are excluded unless ``origin:`` is given.
"""

from __future__ import annotations

import difflib
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from storage import traces
from storage.traces import labels, line_labels, queries
from storage.traces.selection import NO_TESTS, Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from storage.traces.selection import Value

# An unclosed quote reaches to the end of the text, so that the error can name it; \S* may be empty, as in "type:".
PART = re.compile(r'(?P<minus>-?)(?:(?P<field>[A-Za-z_]+)(?P<sign>:|>=|<=|>|<))?(?P<value>"[^"]*"?|\S*)')
SPAN = re.compile(r"(\d+(?:\.\d+)?)(m|h|d|w)")
SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
WENT_BADLY = (" timeout", " error")
"""Endings of ``channel:`` values, after a channel's name and a blank, that select failed calls.

An index finds these. Only the ending is compared, because a channel's name may contain blanks itself.
"""
_IS_CORRECT = "(labels.verdict = 'ok' or labels.verdict = 'class' and labels.task_type = traces.task_type)"
LABELS = {
    "ok": "labels.verdict = 'ok'",
    "wrong": "labels.verdict = 'wrong'",
    "class": "labels.verdict = 'class'",
    "correct": _IS_CORRECT,
    "incorrect": f"not {_IS_CORRECT}",
}
"""The values of ``label:`` with their SQL conditions on the newest label of a trace.

A label is ``correct`` if it confirms the task type that the trace has.
"""
# Because of the list of labelled traces, SQLite looks up only these; for ``exists`` alone, it would read all traces.
_NEWEST_LABEL = f"""
    traces.id in (select trace_id from labels)
    and exists (select 1 from labels where labels.trace_id = traces.id and {{}} and {labels.IS_NEWEST})
"""
_NEWEST_LINE_LABEL = f"""
    traces.id in (select line_labels.trace_id from line_labels where {{}} and {line_labels.IS_NEWEST})
"""
JUDGED = {"any": "", "right": "ok", "wrong": "wrong"}


class SelectionError(ValueError):
    """Raised if a part of a filter text cannot be parsed.

    ``position`` is the offset of that part in the filter text; ``remedy`` says what would be valid.
    """

    def __init__(self, text: str, position: int, remedy: str) -> None:
        super().__init__(f"{text} (at {position + 1}): {remedy}")
        self.text, self.position, self.remedy = text, position, remedy


@dataclass(slots=True)
class _Parts:
    """What the parser has made of a filter text so far: SQL conditions, their parameters, words and bounds."""

    now: float
    conditions: list[str] = field(default_factory=list)
    on_words: list[str] = field(default_factory=list)
    parameters: dict[str, Value] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    bounds: list[str] = field(default_factory=list)

    def name(self, value: Value) -> str:
        """Add a query parameter with this value; return its placeholder for the SQL text."""
        name = f"s{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

    def names(self, values: str) -> str:
        """Add a query parameter for each of the comma-separated ``values``; return their placeholders."""
        return ", ".join(self.name(one) for one in values.split(",") if one)


def parse(text: str, *, now: float | None = None) -> Selection:
    """Return the selection that a filter text describes; raises SelectionError.

    ``now``, in seconds since the epoch, is the time from which ``since:2d`` counts back.
    """
    text = traces.storable(text)  # the arguments of a command may have bytes that are no text
    parts = _Parts(time.time() if now is None else now)
    fields = set()
    for found in PART.finditer(text):
        if found[0].strip():
            _parse_part(found, parts)
            fields.add((found["field"] or "").lower())
    if "origin" not in fields:  # ``origin:test`` selects the traces of tests
        parts.conditions.insert(0, NO_TESTS)
    without_words = " and ".join(parts.conditions) or "1"
    where = " and ".join([*parts.conditions, *parts.on_words]) or "1"
    bounds = tuple(parts.bounds)
    return Selection(where, parts.parameters, tuple(parts.words), without_words, bounds=bounds, typed=text.strip())


def _parse_part(found: re.Match[str], parts: _Parts) -> None:
    name, sign, value = (found["field"] or "").lower(), found["sign"] or "", found["value"]
    minus = "not " if found["minus"] else ""
    if not name:
        _add_words(found, value, minus, parts)
        return
    place = found.start("field")
    if name not in FIELDS:
        near = difflib.get_close_matches(name, FIELDS, n=1)
        hint = f"did you mean {near[0]}:?" if near else f"put quotes around words; fields: {', '.join(FIELDS)}"
        raise SelectionError(f"there is no field {found['field']!r}", place, hint)
    takes = FIELDS[name]
    if sign not in takes.signs:
        raise SelectionError(f"{name} takes {' '.join(takes.signs)}", found.start("sign"), f"like {takes.example}")
    value = _unquoted(value, found.start("value"))
    if not value:
        raise SelectionError(f"{name} has no value", found.end(), f"like {takes.example}")
    try:
        condition = takes.condition(sign, value, parts)
    except ValueError as error:
        raise SelectionError(str(error), found.start("value"), f"like {takes.example}") from None
    parts.conditions.append(f"{minus}({condition})")
    if takes.is_indexed and not minus:  # what a part excludes may be nearly everything
        parts.bounds.append(f"traces where {condition}")
    if name == "guardrail" and not minus:
        parts.bounds.append(_with_guardrail(value, parts))


def _add_words(found: re.Match[str], value: str, minus: str, parts: _Parts) -> None:
    words = _unquoted(value, found.start("value"))
    if not words:
        raise SelectionError("there is nothing here", found.start(), 'write a word, a "phrase", or a field')
    pattern = "%" + re.sub(r"([\\%_])", r"\\\1", words) + "%"
    condition = f"traces.prompt like {parts.name(pattern)} escape '\\'"
    if minus:
        parts.conditions.append(f"not ({condition})")
    else:
        parts.on_words.append(f"({condition})")
        parts.words.append(words)


def _unquoted(value: str, position: int) -> str:
    if not value.startswith('"'):
        return value
    if len(value) < 2 or not value.endswith('"'):
        raise SelectionError("the quotes are not closed", position, 'end the phrase with "')
    return value[1:-1]


def _is(column: str) -> Condition:
    def condition(_sign: str, value: str, parts: _Parts) -> str:
        return f"traces.{column} in ({parts.names(value)})"

    return condition


def _check(value: str, known: Collection[str]) -> None:
    if value not in known:
        raise ValueError(f"{value!r} is none of {', '.join(known)}")


def _one_of(column: str, known: tuple[str, ...]) -> Condition:
    def condition(sign: str, value: str, parts: _Parts) -> str:
        for one in value.split(","):
            _check(one, known)
        return _is(column)(sign, value, parts)

    return condition


def _begins(column: str) -> Condition:
    def condition(_sign: str, value: str, parts: _Parts) -> str:
        name = parts.name(value)
        # A range, since ``like`` would not use the index; 1114111 is the last code point.
        return f"traces.{column} >= {name} and traces.{column} < {name} || char(1114111)"

    return condition


def _number(column: str) -> Condition:
    def condition(sign: str, value: str, parts: _Parts) -> str:
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f"{value!r} is no number") from None
        return f"traces.{column} {sign} {parts.name(number)}"

    return condition


def _project(_sign: str, value: str, parts: _Parts) -> str:
    name = parts.name(value.rstrip("/"))
    return f"""traces.project = {name} or traces.project like '%/' || {name}
        or (traces.project not like '%/%' and traces.cwd like '%/' || {name})"""


def _guardrail(_sign: str, value: str, parts: _Parts) -> str:
    return f"""exists (select 1 from trace_guardrails where trace_guardrails.trace_id = traces.id
        and trace_guardrails.guardrail_id collate nocase in ({parts.names(value)}))"""


def _reason(sign: str, value: str, parts: _Parts) -> str:
    # The narrow index contains the status, so only skipped traces are looked up.
    return f"traces.status = 'skipped' and {_is('skip_reason')(sign, value, parts)}"


def _channel(_sign: str, value: str, parts: _Parts) -> str:
    named = parts.names(value)
    if all(one.endswith(WENT_BADLY) for one in value.split(",") if one):
        return f"""traces.id in (select own.trace_id from trace_channels as own
            where own.status not in ('ok', 'empty') and own.channel || ' ' || own.status in ({named}))"""
    return f"""exists (select 1 from trace_channels as own where own.trace_id = traces.id
        and (own.channel in ({named}) or own.channel || ' ' || own.status in ({named})))"""


def _stage(_sign: str, value: str, parts: _Parts) -> str:
    return f"""exists (select 1 from trace_stages as own where own.trace_id = traces.id
        and own.stage in ({parts.names(value)}))"""


def _with_guardrail(value: str, parts: _Parts) -> str:
    return f"""trace_guardrails as added cross join traces on traces.id = added.trace_id
        where added.guardrail_id collate nocase in ({parts.names(value)})"""


def _signal(_sign: str, value: str, parts: _Parts) -> str:
    name = parts.name(value)  # the signal of a word or phrase is stored in quotes
    return f"""exists (select 1 from trace_scores, json_each(trace_scores.evidence) as piece where
        trace_scores.trace_id = traces.id and json_extract(piece.value, '$[0]') in ({name}, '"' || {name} || '"'))"""


def _label(_sign: str, value: str, _parts: _Parts) -> str:
    _check(value, (*LABELS, "none", "any"))
    if value in LABELS:
        return _NEWEST_LABEL.format(LABELS[value])
    return f"traces.id {'not ' * (value == 'none')}in (select trace_id from labels)"


def _should(_sign: str, value: str, parts: _Parts) -> str:
    return _NEWEST_LABEL.format(f"labels.verdict = 'class' and labels.task_type in ({parts.names(value)})")


def _line(_sign: str, value: str, parts: _Parts) -> str:
    judged, _, named = value.partition(" ")
    _check(judged, JUDGED)
    conditions = [f"verdict = {parts.name(JUDGED[judged])}"] if JUDGED[judged] else []
    if named:
        name = parts.name(named)
        conditions.append(f"(line_kind = {name} or line_kind || ' ' || rule = {name})")
    return _NEWEST_LINE_LABEL.format(" and ".join(conditions) or "1")


def _shown(_sign: str, value: str, _parts: _Parts) -> str:
    if value not in ("yes", "no"):
        raise ValueError(f"{value!r} is neither yes nor no")
    return f"traces.output_tokens {'>' if value == 'yes' else '='} 0"


def _id(sign: str) -> Condition:
    def condition(_sign: str, value: str, parts: _Parts) -> str:
        return f"traces.id {sign} {parts.name(queries.first_id(moment(value, now=parts.now)))}"

    return condition


def moment(text: str, *, now: float | None = None) -> float:
    """Return the time, in seconds since the epoch, that a text such as 2d, today or 2026-03-31 means.

    A span such as 2d counts back from ``now``. Raises ValueError if the text is not a time.
    """
    now = time.time() if now is None else now
    if span := SPAN.fullmatch(text):
        return now - float(span[1]) * SECONDS[span[2]]
    if text == "today":
        return now - now % 86400
    if not queries.is_date(text):
        raise ValueError(f"{text!r} is not a time")
    whole = text.removesuffix("Z")
    if len(whole) < 10:  # a year or a month, which stands for its first day
        whole += "-01" * (2 - whole.count("-"))
    return datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp()


if TYPE_CHECKING:
    Condition = Callable[[str, str, _Parts], str]


@dataclass(frozen=True, slots=True)
class Field:
    """A field that filter texts can use.

    ``signs`` are the operators it allows, and ``condition`` makes SQL from operator and value. ``values`` are the
    possible values, empty if they are not fixed.
    """

    signs: tuple[str, ...]
    example: str
    about: str
    condition: Condition
    values: tuple[str, ...] = ()
    is_indexed: bool = False


WHOLE_VALUES = ("type", "intent", "workflow", "host", "guardrail")
"""Fields whose value must be complete: the beginning or the end of a stored value does not match."""
_EQUAL = (":",)
_COMPARED = (">", ">=", "<", "<=")
FIELDS = {
    "type": Field(_EQUAL, "type:debug,test", "the task type", _is("task_type")),
    "intent": Field(_EQUAL, "intent:howto", "the search intent", _is("search_intent")),
    "workflow": Field(_EQUAL, "workflow:debugging,plan-mode", "the workflow that was chosen", _is("workflow")),
    "guardrail": Field(_EQUAL, "guardrail:H3", "a guardrail that was added", _guardrail),
    "signal": Field(_EQUAL, 'signal:"stack_trace"', "a signal that fired", _signal),
    "reason": Field(_EQUAL, "reason:slash_command", "why it was skipped", _reason),
    "channel": Field(_EQUAL, 'channel:"code timeout"', "a channel that was asked, or how that ended", _channel),
    "stage": Field(_EQUAL, "stage:gather", "a stage of the hook that was timed", _stage),
    "host": Field(_EQUAL, "host:claude", "the agent client", _is("host")),
    "project": Field(_EQUAL, "project:shop", "the project, the end of its path, or its folder", _project),
    "session": Field(_EQUAL, "session:3f2a", "the beginning of a session", _begins("session_id"), is_indexed=True),
    "id": Field(_EQUAL, "id:0064", "the beginning of a trace's id", _begins("id")),
    "status": Field(_EQUAL, "status:ok,partial", "how it ended", _one_of("status", traces.STATUSES), traces.STATUSES),
    "origin": Field(_EQUAL, "origin:import", "where it came from", _one_of("origin", traces.ORIGINS), traces.ORIGINS),
    "version": Field(_EQUAL, "version:ab12", "the beginning of a version of the rules", _begins("rules_hash")),
    "label": Field(_EQUAL, "label:wrong", "the newest label of a user", _label, (*LABELS, "none", "any")),
    "should": Field(_EQUAL, "should:debug", "the task type that the newest label asks for", _should),
    "line": Field(
        _EQUAL, 'line:"wrong guardrail H3"', "a line that a user called right or wrong", _line, tuple(JUDGED)
    ),
    "ms": Field(_COMPARED, "ms>20", "how long the hook took", _number("latency_ms"), is_indexed=True),
    "tokens": Field(_COMPARED, "tokens>100", "how much was added", _number("output_tokens"), is_indexed=True),
    "since": Field(
        _EQUAL, "since:2d", "from then on (30m, 4h, 2d, 1w, today, a UTC date)", _id(">="), ("1h", "today", "2d", "1w")
    ),
    "before": Field(_EQUAL, "before:2026-11-01", "until then", _id("<"), ("1h", "today", "2d", "1w")),
    "shown": Field(_EQUAL, "shown:yes", "whether anything was added", _shown, ("yes", "no")),
}


def completions(text: str, values: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the filter texts that result from completing the last part of ``text`` to a field name or a value.

    ``values`` are the known values of each field.
    """
    last = text[text.rfind(" ") + 1 :]
    before = text[: len(text) - len(last)]
    minus, last = ("-", last[1:]) if last.startswith("-") else ("", last)
    name, colon, value = last.partition(":")
    if not colon:
        signs = {field: FIELDS[field].signs[0] for field in FIELDS if field.startswith(last)}
        return [f"{before}{minus}{field}{sign}" for field, sign in signs.items()]
    if name not in FIELDS:
        return []
    *earlier, begun = value.split(",")
    known = values.get(name, ()) or FIELDS[name].values
    found = [one for one in known if one.startswith(begun) and one != begun and one not in earlier]
    quoted = (f'"{one}"' if " " in one else one for one in found)
    return [f"{before}{minus}{name}:{','.join([*earlier, one])}" for one in quoted]


def value_warnings(text: str, values: dict[str, tuple[str, ...]]) -> list[str]:
    """Return a warning for each value in a filter text that no recent trace has; it names similar known values.

    ``values`` are the values that recent traces have, by field, most frequent first.
    """
    found = []
    for part in PART.finditer(text):
        name = (part["field"] or "").lower()
        known = values.get(name, ()) if name in WHOLE_VALUES else ()
        for one in part["value"].strip('"').split(",") if known and not part["minus"] else ():
            if one and one.casefold() not in map(str.casefold, known):
                near = difflib.get_close_matches(one, known, n=3) or known[:8]
                found.append(f"{name}:{one} is not among the recent prompts; there is: {', '.join(near)}")
    return found

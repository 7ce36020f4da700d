"""Represent which traces are meant, as an SQL condition; ``storage.traces.filter_text`` parses it from a text."""

from __future__ import annotations

from dataclasses import dataclass, field

Value = str | float
NO_TESTS = "traces.origin <> 'test'"


@dataclass(frozen=True, slots=True)
class Selection:
    """A parsed filter: an SQL condition on ``traces`` with its named parameters.

    ``where`` is the full condition. ``words`` are the texts that the prompt must contain. ``without_words`` is the
    condition for callers that look up these texts in the full-text index; ``match`` is the expression to look up, set
    by ``storage.traces.search.with_index``. ``bounds`` has those parts of the condition, as SQL, that SQLite can look
    up in an index; if one of them finds only a few rows, only these are read. ``typed`` is the text that was parsed.
    """

    where: str
    parameters: dict[str, Value] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    without_words: str = ""
    match: str = ""
    bounds: tuple[str, ...] = ()
    typed: str = ""


EVERYTHING = Selection(NO_TESTS, {}, (), NO_TESTS)

"""Represent the compiled rules, the classification of a prompt by them, and the evidence for it."""

from __future__ import annotations

from storage.base.fast_stdlib import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from enricher.classify.table import Table

FRESH, STALE, BROKEN, UNSETTLED = "fresh", "stale", "broken", "unsettled"
"""States of loaded rules.

Fresh: compiled from the files as they are. Stale: a file was edited, but is not compiled yet. Broken: the
last edit has errors. Stale and broken rules are the last good version. Unsettled: these layers were never compiled, so
that the settings in them, which may switch the enricher off, are unknown.
"""
RULES, MODEL, BOTH = "rules", "model", "both"
"""Values of ``Classification.source``, which says what a classification is based on.

RULES: only the signals of the rules. BOTH: these and a language model. MODEL: these and a language model, which
decided the search intent, because the signals alone would give another one or none.
"""

TASK_TYPE, SEARCH_INTENT, NO_INTENT = "task_type", "search_intent", "none"
PLAIN_WORDS = "plain words"
"""Name used in the evidence, instead of a signal's, for the points that the single words of a prompt give together."""
EARLIER = "earlier turn"
"""Name used in the evidence, instead of a signal's, for the points from the earlier text that a prompt refers to."""
FROM_MODEL = "model"
"""Name used in the evidence, instead of a signal's, for the points of the class that a language model named."""


class Rules:
    """One version of the compiled rules.

    ``body`` is a plain JSON object. ``hash`` identifies the version. ``state`` says whether it matches the current
    files: FRESH, STALE, BROKEN or UNSETTLED. ``problem`` is the first problem that the compiler found, or empty.
    """

    __slots__ = ("_table", "body", "hash", "problem", "state")

    def __init__(self, identity: str, body: Mapping[str, Any], state: str = FRESH, problem: str = "") -> None:
        self.hash = identity
        self.body = body
        self.state = state
        self.problem = problem
        self._table: Table | None = None

    def packed(self, part: str) -> Any:
        """Parse and return a part of the body that is stored as JSON text because few prompts need it.

        These parts are ``plans``, ``prompts`` and ``complexity``.
        """
        return loads(self.body[part])

    @property
    def table(self) -> Table:
        """Return the table of signals with which prompts are classified; it is created on first use."""
        if self._table is None:
            from enricher.classify.table import Table

            self._table = Table(self.body["classes"])
        return self._table

    @table.setter
    def table(self, table: Table) -> None:
        """Use an existing table, which saves time when many prompts are classified by the same rules."""
        self._table = table


class Evidence:
    """A signal that fired: the class that it supports, its range of characters, and the points that it added.

    ``facet`` is the kind of class, such as TASK_TYPE, and ``name`` the class.
    """

    __slots__ = ("end", "facet", "name", "signal", "start", "weight")

    def __init__(self, facet: str, name: str, signal: str, *, start: int, end: int, weight: int) -> None:
        self.facet, self.name, self.signal = facet, name, signal
        self.start, self.end, self.weight = start, end, weight


class Classification:
    """The task type and the search intent found for a prompt, the confidence in each, and the evidence.

    ``task_type`` is always the best guess; ``uncertain`` means that the guess should not be shown.
    ``search_intent`` is empty if the prompt asks for no information. ``source`` is RULES, MODEL or BOTH.
    """

    __slots__ = (
        "complexity", "confidence", "evidence", "features", "intent_confidence", "keywords", "scanned_chars", "scores",
        "search_intent", "source", "task_type", "topics", "uncertain",
    )  # fmt: skip

    def __init__(self) -> None:
        self.source = RULES
        self.task_type = ""
        self.confidence = 0.0
        self.uncertain = True
        self.scores: dict[str, dict[str, int]] = {}
        self.evidence: list[Evidence] = []
        self.search_intent = ""
        self.intent_confidence = 0.0
        self.keywords: list[str] = []
        self.topics: list[str] = []
        self.features: list[str] = []
        self.complexity = 0
        self.scanned_chars = 0

    def changed(self, values: Mapping[str, Any]) -> Classification:
        """Return a copy with some attributes changed; ``values`` maps their names to the new values."""
        copy = Classification()
        for name in self.__slots__:
            setattr(copy, name, values.get(name, getattr(self, name)))
        return copy

    def to_json(self) -> dict[str, Any]:
        """Return the part of the classification that a trace (the record of a prompt) stores: only its source.

        All the rest can be computed again from the inputs that the trace records, which include the model's answer.
        """
        return {"source": self.source}

"""The signal table for a process that judges many prompts: it is unpacked at once, not word by word as in the hook.

It returns the same entries as ``enricher.classify.table.Table``, in the same order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from enricher.classify.table import Table, entry_of
from enricher.rules.compiling.classes.table import MOST_CACHED_TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    Drawers = tuple[tuple[str, str], ...]
    Group = tuple[list[Any], dict[str, list[Any]]]

NOTHING: list[Any] = []


class UnpackedTable(Table):
    """A signal table that holds all phrases by their first words, in dictionaries."""

    __slots__ = ("_bases", "_packed", "_words")

    def __init__(self, packed: dict[str, Any]) -> None:
        super().__init__(packed)
        self._packed = packed
        self._bases, self._words = _unpacked(*(tuple(packed[name].items()) for name in ("fold", "exact", "index")))

    def __reduce__(self) -> tuple[type[UnpackedTable], tuple[dict[str, Any]]]:
        return UnpackedTable, (self._packed,)

    def base(self, word: str) -> str:
        """Return the base form that ``word`` is an inflection of; empty if there is none."""
        return self._bases.get(word, "")

    def phrases(self, word: str, follower: str) -> list[Any]:
        """Return the phrases that may begin with ``word`` and continue with ``follower``."""
        groups = self._words.get(word)
        if not groups:
            return NOTHING
        base = self._bases.get(follower)
        found: list[Any] = []
        for alone, behind in groups:
            found += alone
            if behind:
                found += behind.get(follower, NOTHING)
                if base:
                    found += behind.get(base, NOTHING)
        return found


@lru_cache(maxsize=MOST_CACHED_TABLES)
def _unpacked(fold: Drawers, exact: Drawers, index: Drawers) -> tuple[dict[str, str], dict[str, list[Group]]]:
    """Return the base forms, and for each word the groups of phrases that may begin with it.

    Tables with the same phrases share them, as the two sides of an edit that changes a threshold have.
    """
    bases = dict(pairs(dict(fold)))
    by_exact, by_index = ({word: _group(value) for word, value in pairs(dict(drawers))} for drawers in (exact, index))
    words = {}
    for word in {*by_exact, *by_index, *bases}:
        groups = (by_exact.get(word), by_index.get(word), by_index.get(bases.get(word, "")))
        words[word] = [group for group in groups if group]
    return bases, words


def pairs(drawers: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each word of a packed index with its value."""
    for text in drawers.values():
        for pair in text.split("~"):
            if pair:
                word, _, value = pair.partition("=")
                yield word, value


def _group(packed: str) -> Group:
    alone, _, behind = packed.partition("|")
    groups = (group.partition("=") for group in behind.split("|") if group)
    return _entries(alone), {second: _entries(texts) for second, _, texts in groups}


def _entries(texts: str) -> list[Any]:
    return [entry_of(text) for text in texts.split(";") if text]

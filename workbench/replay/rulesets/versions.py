"""Read the versions of the rules under which prompts were recorded: compiled rules, and the files behind them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from enricher.classify.table import Table, entry_of
from enricher.interfaces.api import recorded_rules
from enricher.rules.compiling.class_table import MOST_CACHED_TABLES
from enricher.rules.compiling.compiled import NAMED_FILES
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer
from enricher.rules.sources import packaged_texts
from storage.evaluation import corpus
from storage.traces import queries

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

    from enricher.classify import Rules
    from enricher.rules.compiling.compiled import Compiled

    Texts = Sequence[tuple[str, str, str]]
    PackedIndex = tuple[tuple[str, str], ...]
    Group = tuple[list[Any], dict[str, list[Any]]]

NOTHING: list[Any] = []  # shared by all words without phrases; never modified


class Versions:
    """The recorded versions of the rules.

    The files of all versions are read when the object is made, the compiled rules of each version when they are needed.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._rules: dict[str, Rules | None] = {}
        self._texts: dict[str, Texts] = {**corpus.all_sources(db)}
        if (shipped := packaged_texts()) is not None:
            self._texts.setdefault(*shipped)
        self.in_use = [identity for identity, _prompts, _newest in corpus.versions(db)]

    def rules(self, identity: str) -> Rules | None:
        """Return the compiled rules of a version; None if they were not stored, or were stored by another release."""
        if identity not in self._rules:
            stored = queries.instructions(self._db, identity)
            self._rules[identity] = _readable(identity, stored)
        return self._rules[identity]

    def texts(self, identity: str) -> Texts:
        """Return the files of a version as (layer, path, text); empty if they are unknown.

        The lowest layer comes first, and the files that the layers name come last.
        """
        return self._texts.get(identity, ())

    def stacks_with(self, path: str) -> list[str]:
        """Return the hashes of the versions that the file at ``path`` is part of, the most recently used first."""
        named = [*self.in_use, *(identity for identity in self._texts if identity not in self.in_use)]
        return [one for one in named if any(path == of for _layer, of, _text in self.texts(one))]


@lru_cache(maxsize=8)  # a corpus is opened at each save, with mostly the same versions as before
def _readable(identity: str, stored: str | None) -> Rules | None:
    try:
        rules = recorded_rules(identity, stored) if stored else None
    except ValueError:
        return None
    if rules is not None:
        rules.table = UnpackedTable(rules.body["classes"])
    return rules


def compile_texts(texts: Texts, *, instead: Mapping[str, str] | None = None) -> Compiled:
    """Compile the files of a version again, with the texts in ``instead`` replacing those at their paths."""
    layers = [Layer(layer, path) for layer, path, _text in texts if layer not in NAMED_FILES]
    return compile_layers(layers, texts={path: text for _layer, path, text in texts} | dict(instead or {}))


class UnpackedTable(Table):
    """A signal table that is unpacked into dictionaries at once, for a process that judges many prompts.

    The hook's ``Table`` unpacks word by word; this class returns the same entries in the same order.
    """

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
def _unpacked(
    fold: PackedIndex, exact: PackedIndex, index: PackedIndex
) -> tuple[dict[str, str], dict[str, list[Group]]]:
    """Return the base form of each inflected word, and for each word the groups of phrases that may begin with it.

    They are unpacked from three indexes of a signal table: ``fold`` has the base forms, ``exact`` the phrases by their
    first word as written, ``index`` the phrases by the base form of their first word. The result is cached, because
    many edits, such as those of a threshold, do not change the phrases.
    """
    bases = dict(pairs(dict(fold)))
    by_exact, by_index = ({word: _group(value) for word, value in pairs(dict(packed))} for packed in (exact, index))
    words = {}
    for word in {*by_exact, *by_index, *bases}:
        groups = (by_exact.get(word), by_index.get(word), by_index.get(bases.get(word, "")))
        words[word] = [group for group in groups if group]
    return bases, words


def pairs(packed: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each word and its value from an index that is packed into a few strings."""
    for text in packed.values():
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

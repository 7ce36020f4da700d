"""The rules versions that traces name: their compiled form, and the files each was compiled from."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from enricher.interfaces.api import recorded_rules
from enricher.rules.compiling.compiled import NAMED_FILES
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.layers import Layer
from enricher.rules.sources import packaged_texts
from storage.evaluation import corpus
from storage.traces import queries
from workbench.replay.rulesets.unpacked_table import UnpackedTable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from enricher.rules.cache import Rules
    from enricher.rules.compiling.compiled import Compiled

    Texts = Sequence[tuple[str, str, str]]


class Versions:
    """The recorded versions; files are read once, compiled forms on demand."""

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
        """Return the version's files (layer, path, text), lowest layer first, then files these name; else empty."""
        return self._texts.get(identity, ())

    def stacks_with(self, path: str) -> list[str]:
        """Return the hashes of versions compiled from the file at ``path`` and others, newest use first."""
        named = [*self.in_use, *(identity for identity in self._texts if identity not in self.in_use)]
        return [one for one in named if any(path == of for _layer, of, _text in self.texts(one))]


@lru_cache(maxsize=8)
def _readable(identity: str, stored: str | None) -> Rules | None:
    try:
        rules = recorded_rules(identity, stored) if stored else None
    except ValueError:
        return None
    if rules is not None:
        rules.table = UnpackedTable(rules.body["classes"])
    return rules


def compile_texts(texts: Texts, *, instead: Mapping[str, str] | None = None) -> Compiled:
    """Compile the files of a version again, with some texts replaced."""
    layers = [Layer(layer, path) for layer, path, _text in texts if layer not in NAMED_FILES]
    return compile_layers(layers, texts={path: text for _layer, path, text in texts} | dict(instead or {}))

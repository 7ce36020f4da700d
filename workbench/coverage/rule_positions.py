"""Find the file and line of every signal and rule in the compiled rules.

The compiled table identifies signals only by number. This module maps each number to the lines from which it was
compiled, in every layer that extends a rule.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.classify import TASK_TYPE, Rules, matching
from enricher.classify.verdict import Observation, scanned_part
from enricher.rules.compiling.class_table import condition_numbers
from enricher.rules.compiling.compiled import CATALOGUE, LONE_LAYER
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.signals import LEAST_WEIGHT, label
from enricher.rules.layers import HEURISTICS, find_layers
from workbench.replay.rulesets.compared_rules import refuse_broken
from workbench.replay.rulesets.current_layers import CurrentLayers
from workbench.replay.rulesets.layer_stack import layer_file, scope_of, stack_of
from workbench.replay.rulesets.versions import compile_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import RuleBlock
    from enricher.rules.compiling.signals import ClassRule
    from storage.evaluation.corpus import RecordedPrompt
    from workbench.replay.rulesets.versions import Texts, Versions


CATALOGUES = (CATALOGUE, HEURISTICS)
"""Layers whose files contain guardrails, not rules."""


@dataclass(frozen=True, slots=True)
class RulePosition:
    """The position of a rule or signal: an instructions file, and a line number counted from 1."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class LocatedSignal:
    """One signal of one class, with its position in an instructions file.

    ``index`` is its number among the signals of its rule in that file, ``condition`` its number in the compiled table
    of signals; signals with the same condition fire together. ``name`` is the class name in the table; ``signal`` is
    the signal as written in the file.
    """

    rule: str
    facet: str
    name: str
    label: str
    weight: int
    feature: str
    condition: int
    index: int
    place: RulePosition
    signal: Mapping[str, Any] = field(compare=False)

    @property
    def has_foreign_letters(self) -> bool:
        """Return whether one of its wordings has a letter that English lacks."""
        wordings = [self.signal.get("phrase", ""), *self.signal.get("any", ())]
        return any(letter.isalpha() and not letter.isascii() for one in wordings for letter in str(one))


@dataclass(slots=True)
class LocatedRules:
    """Compiled rules, with the files and lines from which they were compiled."""

    compiled: Compiled
    rules: Rules = field(init=False)
    signals: list[LocatedSignal] = field(init=False)

    def __post_init__(self) -> None:
        self.rules = Rules(self.compiled.hash, self.compiled.body)
        self.signals = list(self._signals())

    @property
    def files(self) -> list[str]:
        """Return the instructions files, lowest layer first, followed by the files with fitted weights.

        Files with catalogues of guardrails are left out.
        """
        return [path for layer, path, _text in self.compiled.texts if layer not in CATALOGUES]

    @property
    def folder(self) -> str:
        """Return the folder whose project or package layer is among the rules; empty if there is none."""
        # The highest layer first: the folder of a package lies in that of its project.
        return next(filter(None, (scope_of(layer, path) for layer, path, _text in reversed(self.compiled.texts))), "")

    def foreign_signals(self) -> list[LocatedSignal]:
        """Return the signals with wordings of other languages, recognised by letters that English lacks.

        Wordings of other languages that need no such letter are recognised by their neighbours: if most signals of a
        rule in one file have such letters, all of them count.
        """
        signals, having = Counter(map(_block, self.signals)), Counter[tuple[str, str]]()
        having.update(_block(one) for one in self.signals if one.has_foreign_letters)
        mostly = {block for block, number in having.items() if 2 * number > signals[block]}
        return [one for one in self.signals if one.has_foreign_letters or _block(one) in mostly]

    def fired(self, prompt: str, task_type: str) -> set[int]:
        """Return the numbers of the signals that fire on a prompt, including those that require ``task_type``."""
        table = self.rules.table
        found = Observation(scanned_part(prompt), table).found
        return found.keys() | matching.fired_late(found, task_type, table).keys()

    def task_types(self) -> list[str]:
        """Return the names of the task types in the order of the compiled table.

        If two task types get equal points for a prompt, the one that comes first is chosen.
        """
        table = self.rules.body["classes"]
        return [name for of, name in table["classes"] if table["facets"][of]["name"] == TASK_TYPE]

    def rules_of(self, kind: str) -> Iterator[tuple[str, RuleBlock]]:
        """Yield each named rule of a kind as a pair: the rule's name in outcomes, and its block in the file."""
        for block in self.compiled.rules.values():
            if block.kind == kind and block.name:
                yield self._name_of(kind, block.name), block

    def guardrail_titles(self) -> dict[str, tuple[str, RulePosition]]:
        """Return the title and the position of each guardrail that the rules can add to a prompt, keyed by its id.

        The position is that of the rule or the table row that defines it.
        """
        linked = self.compiled.guardrails
        places = {identity: RulePosition(one.file, one.line) for identity, one in linked.catalogue.items()}
        # Reversed, so that of several rows for a guardrail the first one wins.
        places |= {row.guardrail: RulePosition(row.file, row.line) for row in reversed(linked.shorthands)}
        places |= {name: RulePosition(block.file, block.line) for name, block in self.rules_of("guardrail")}
        return {identity: (title, places[identity]) for identity, title, *_ in self.rules.body["guardrails"]["rules"]}

    def _name_of(self, kind: str, name: str) -> str:
        return self.compiled.guardrails.id_of(name) if kind == "guardrail" else name

    def _signals(self) -> Iterator[LocatedSignal]:
        lists = {rule.name: rule.data["words"] for rule in self.compiled.rules.values() if rule.kind == "words"}
        rules = self._in_table_order()
        for rule, numbers in zip(rules, condition_numbers(rules, lists), strict=True):
            identity = f"{rule.facet}.{rule.name.replace(' ', '-')}"
            block = self.compiled.rules[identity]
            for at, (signal, number) in enumerate(zip(rule.signals, numbers, strict=True)):
                writer, index = block.origin_of("signals", at)
                yield LocatedSignal(
                    identity,
                    rule.facet,
                    self._name_of(rule.facet, rule.name),
                    label(signal),
                    signal.get("weight", LEAST_WEIGHT),
                    signal.get("feature", ""),
                    number,
                    index,
                    RulePosition(writer.file, writer.line_of("signals", index)),
                    signal,
                )

    def _in_table_order(self) -> list[ClassRule]:
        """Return the rules that have signals, in the order in which the compiler numbers them; guardrails come last.

        Guardrails whose signals the compiler does not use are left out.
        """
        takes_signals_of = self.compiled.guardrails.takes_signals_of
        classes = [rule for rule in self.compiled.classes if rule.facet != "guardrail"]
        guards = [rule for rule in self.compiled.classes if rule.facet == "guardrail"]
        return [*classes, *(rule for rule in guards if takes_signals_of(rule.name))]


def in_force(cwd: str) -> LocatedRules:
    """Return the rules that apply in ``cwd``; raises SideError if they are broken."""
    return _sound(compile_layers(find_layers(cwd).instructions))


def of_file(path: str, text: str, *, versions: Versions) -> LocatedRules:
    """Return the rules that result if the file at ``path`` has the text ``text``.

    The other layers are those of the newest recorded version with this file. Raises SideError if the rules are broken.
    """
    return _sound(compile_texts(newest_stack(path, versions), instead={recorded_path(path, versions): text}))


def for_prompt(row: RecordedPrompt, path: str, text: str, *, cwd: str, versions: Versions) -> LocatedRules:
    """Return the rules under which a prompt would be judged now if the file at ``path`` had the text ``text``.

    Raises SideError if they are broken.
    """
    now = CurrentLayers("now", cwd, versions)
    file = layer_file(path, versions)
    texts = file.within(now.all_texts(row.rules_hash, now.scope(row)), text) if file else []
    return _sound(compile_texts(texts)) if texts else of_file(path, text, versions=versions)


def recorded_path(path: str, versions: Versions) -> str:
    """Return the path under which recorded versions list a file, or its absolute path if none does."""
    file = layer_file(path, versions)
    return file.path if file else os.path.abspath(path)


def newest_stack(path: str, versions: Versions) -> Texts:
    """Return the files that are compiled together with the file at ``path``, in their newest known versions.

    If the file is not a layer, return only this file.
    """
    file = layer_file(path, versions)
    return file.within(stack_of("", file, versions), "") if file else [(LONE_LAYER, os.path.abspath(path), "")]


def _sound(compiled: Compiled) -> LocatedRules:
    refuse_broken(compiled, "the instructions")
    return LocatedRules(compiled)


def _block(signal: LocatedSignal) -> tuple[str, str]:
    return signal.rule, signal.place.file

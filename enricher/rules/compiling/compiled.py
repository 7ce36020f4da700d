"""The result of a compilation: the merged rules of all layers, their files, and the body that the hook reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.model.question import meaning_of
from enricher.rules.compiling import schema
from enricher.rules.compiling.guardrails import Guardrails
from enricher.rules.compiling.named_files import Files
from enricher.rules.compiling.workflows import WORKFLOWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.rules.compiling.document import Problem, RuleBlock
    from enricher.rules.compiling.guardrails import CatalogueFile
    from enricher.rules.compiling.named_files import NamedFile
    from enricher.rules.compiling.signals import ClassRule
    from enricher.rules.compiling.workflows import Index

CATALOGUE, FITTED, PROMPTS, THRESHOLDS = "catalogue", "fitted", "prompts", "thresholds"
NAMED_FILES = (CATALOGUE, FITTED, PROMPTS, THRESHOLDS, WORKFLOWS)
"""Kinds of files that a layer's rules name; in ``Compiled.texts``, the kind is in place of the layer's name."""
LONE_LAYER = "base"
"""Name of the layer whose file replaces all layers (``--instructions``)."""
WHOLE_LAYERS = (LONE_LAYER, "aops")
"""Names of the layers whose file is always complete, so that it may be a copy of the packaged file."""


@dataclass(slots=True)
class Compiled:
    """The result of a compilation: the body (only settings if the rules are broken), its identity, and the problems.

    ``texts`` has for each file its layer (or one of ``NAMED_FILES``), its path and its text; ``hash``, the identity of
    the rules, is computed from these texts. ``catalogues`` are the files of guardrails and short names, those of the
    lowest layer first. ``prompts`` has the template files by name, and under ``MODES`` the file with their modes.
    ``workflows`` are the indices of the workflow catalogues, that of the lowest layer first. ``baseless`` are the
    rules that extend or disable a rule that no lower layer has.
    """

    body: dict[str, Any] = field(default_factory=dict)
    hash: str = ""
    problems: list[Problem] = field(default_factory=list)
    rules: dict[str, RuleBlock] = field(default_factory=dict)
    winners: dict[str, str] = field(default_factory=dict)
    disabled: dict[str, RuleBlock] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    classes: list[ClassRule] = field(default_factory=list)
    broken: list[Problem] = field(default_factory=list)
    texts: list[tuple[str, str, str]] = field(default_factory=list)
    files: Files = field(default_factory=Files)
    catalogues: list[CatalogueFile] = field(default_factory=list)
    guardrails: Guardrails = field(default_factory=Guardrails)
    baseless: list[RuleBlock] = field(default_factory=list)
    fitted: list[str] = field(default_factory=list)
    prompts: dict[str, NamedFile] = field(default_factory=dict)
    workflows: list[Index] = field(default_factory=list)
    thresholds: str = ""

    def kind_of(self, path: str) -> str:
        """Return the kind (one of ``NAMED_FILES``) of a file that a layer's rules name."""
        if path in self.fitted:
            return FITTED
        if path == self.thresholds:
            return THRESHOLDS
        if path in self.workflow_files():
            return WORKFLOWS
        return PROMPTS if any(one.path == path for one in self.prompts.values()) else CATALOGUE

    def workflow_files(self) -> list[str]:
        """Return the files of the workflow catalogues: each index, then the files of its workflows."""
        found = [path for index in self.workflows for path in (index.path, *map(index.file_of, index.entries))]
        return list(dict.fromkeys(found))

    def whole_files(self) -> set[str]:
        """Return the paths of the layers that are always complete."""
        return {path for layer, path, _text in self.texts if layer in WHOLE_LAYERS}

    def of_kind(self, kind: str, *, named: bool = True) -> Iterator[RuleBlock]:
        """Yield the rules of a kind that have a name or, with ``named=False``, its only rule without a name."""
        return (rule for rule in self.rules.values() if rule.kind == kind and bool(rule.name) == named)

    def values(self, kind: str) -> dict[str, Any]:
        """Return the values of a kind's unnamed rule, with defaults for the missing ones."""
        _part, model = schema.KINDS[kind, False]
        data = next((rule.data for rule in self.of_kind(kind, named=False)), {})
        return model.model_validate(data).model_dump(exclude={"disabled", "extend"})

    @property
    def task_types(self) -> set[str]:
        """The names of all task types."""
        return {rule.name for rule in self.of_kind("task_type")}

    def meanings(self) -> dict[str, str]:
        """Return the meaning of each task type, as it is explained to a language model that classifies a prompt."""
        return {rule.name: meaning_of(rule.prose) for rule in self.of_kind("task_type")}

"""Read the instructions files of all layers, and merge their rules into the result of a compilation.

A rule of a higher layer replaces the rule with the same id of a lower one; with ``extend: true`` it adds to
that rule, with ``disabled: true`` it removes it. If any rule cannot be read, no rules are compiled.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enricher.context import CHANNELS
from enricher.context.gathering import load
from enricher.home import root_dir
from enricher.model.question import meaning_of
from enricher.rules.compiling import schema
from enricher.rules.compiling.document import PARTS, Document, Problem, RuleBlock, read_document
from enricher.rules.compiling.guardrails import GUARDRAILS, CatalogueFile, Guardrails, catalogue_files
from enricher.rules.compiling.named_files import (
    Files,
    fitted_files,
    found_path,
    join_fitted,
    prompt_files,
    refuse_other_keys,
)
from enricher.rules.compiling.workflows import WORKFLOW, WORKFLOWS, index_of, with_signals, workflows_of
from enricher.rules.layers import HEURISTICS

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from enricher.rules.compiling.named_files import NamedFile
    from enricher.rules.compiling.signals import ClassRule
    from enricher.rules.compiling.workflows import Index
    from enricher.rules.layers import Layer

CATALOGUE, FITTED, PROMPTS, THRESHOLDS = "catalogue", "fitted", "prompts", "thresholds"
NAMED_FILES = (CATALOGUE, FITTED, PROMPTS, THRESHOLDS, WORKFLOWS)
"""Kinds of files that a layer's rules name; in ``Compiled.texts`` they have their kind instead of a layer's name."""
LONE_LAYER = "base"  # the layer whose file is used instead of all others (option ``--instructions``)
WHOLE_LAYERS = (LONE_LAYER, "aops")  # their file is always complete, so it may be a copy of the packaged one
MOST_CACHED_FILES = 64
"""Number of parsed files that a process caches.

A replay, which tries an edit on recorded prompts, compiles the same files many times with one of them edited.
"""
HOW_TO_ADD_A_CHANNEL = "see 'Add a channel' in CONTRIBUTING.md"
DECLARES = "\nCHANNEL = "
LISTED_KEYS = ("signals", "unless", "examples", "needs", "words", "task_types", "triggers")
"""Keys of a rule whose lists get further items by ``extend: true``; the values of its other keys are replaced."""


@dataclass(slots=True)
class Compiled:
    """The result of a compilation: the body that the hook reads, the hash that identifies it, and the problems found.

    If rules are broken, the body has only settings, and ``broken`` lists the errors. ``texts`` has for each file its
    layer (or one of ``NAMED_FILES``), its path and its text; ``hash`` is computed from these texts. ``winners`` maps
    the id of each rule to the place (``file:line``) where the highest layer has it. ``catalogues`` are the files of
    guardrails and short names, and ``workflows`` the index files of the workflow catalogues; both begin with the lowest
    layer. ``prompts`` maps names to the files of prompt templates, and ``MODES`` to the file that describes the modes
    of the templates. ``baseless`` are the rules that extend or disable a rule that no lower layer has. ``replacing``
    has each rule that replaces one of a lower layer, with the replaced rule.
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
    replacing: list[tuple[RuleBlock, RuleBlock]] = field(default_factory=list)
    fitted: list[str] = field(default_factory=list)
    prompts: dict[str, NamedFile] = field(default_factory=dict)
    workflows: list[Index] = field(default_factory=list)
    thresholds: str = ""

    @property
    def is_usable(self) -> bool:
        """Return whether prompts can be judged by the result."""
        return not self.broken and "classes" in self.body

    def kind_of(self, path: str) -> str:
        """Return the kind (one of ``NAMED_FILES``) of a file to which the rules of a layer refer."""
        if path in self.fitted:
            return FITTED
        if path == self.thresholds:
            return THRESHOLDS
        if path in self.workflow_files():
            return WORKFLOWS
        return PROMPTS if any(one.path == path for one in self.prompts.values()) else CATALOGUE

    def workflow_files(self) -> list[str]:
        """Return the paths of the workflow catalogues' files: each index file, followed by those of its workflows."""
        found = [path for index in self.workflows for path in (index.path, *map(index.file_of, index.entries))]
        return list(dict.fromkeys(found))

    def whole_files(self) -> set[str]:
        """Return the paths of the instructions files that are complete without other layers (WHOLE_LAYERS)."""
        return {path for layer, path, _text in self.texts if layer in WHOLE_LAYERS}

    def of_kind(self, *kinds: str, named: bool = True) -> Iterator[RuleBlock]:
        """Yield the rules of these kinds that have a name, or with ``named=False``, the one of each that has none."""
        return (rule for rule in self.rules.values() if rule.kind in kinds and bool(rule.name) == named)

    def block_of(self, rule: ClassRule) -> RuleBlock:
        """Return the rule as it is written, of which ``rule`` is a part."""
        return self.rules[f"{rule.facet}.{rule.name.replace(' ', '-')}"]

    def values(self, kind: str) -> dict[str, Any]:
        """Return the values of the single, unnamed rule of the kind ``kind``; missing values have defaults."""
        _part, model = schema.KINDS[kind, False]
        data = next((rule.data for rule in self.of_kind(kind, named=False)), {})
        return model.model_validate(data).model_dump(exclude={"disabled", "extend"})

    @property
    def task_types(self) -> set[str]:
        """Return the names of all task types."""
        return {rule.name for rule in self.of_kind("task_type")}

    def meanings(self) -> dict[str, str]:
        """Return the explanation of each task type that is given to a language model when it classifies a prompt."""
        return {rule.name: meaning_of(rule.prose) for rule in self.of_kind("task_type")}


def read_layer(layer: Layer, result: Compiled) -> None:
    """Read the file of a layer, and merge its rules in ``result`` with those of the layers below."""
    result.sources.append(layer.path)
    text = ""
    if not result.files.has(layer.path):
        message = "not a regular file; put the instructions there as a text"
        result.problems.append(Problem(layer.path, 1, "error", message))
    elif layer.name == HEURISTICS:
        result.catalogues.append(CatalogueFile(GUARDRAILS, layer.path))
        text = result.files.content(layer.path)
    else:
        text = result.files.read(layer.path, result.problems, "the instructions file")
        _merge_file(layer, text, result)
    result.texts.append((layer.name, layer.path, text))


def _merge_file(layer: Layer, text: str, result: Compiled) -> None:
    is_whole = layer.name in WHOLE_LAYERS
    rules = _valid_rules(layer.path, text, result)
    fitted = _fitted_rules(fitted_files(rules), result, is_whole=is_whole)
    for rule in join_fitted(rules, fitted, result.problems):
        _merge(rule, result)
        if rule.kind == WORKFLOWS and not rule.data.get("disabled"):
            _add_workflows(rule, result, is_whole=is_whole)


def _fitted_rules(named: Sequence[NamedFile], result: Compiled, *, is_whole: bool) -> list[RuleBlock]:
    found: list[RuleBlock] = []
    for one in named:
        path = found_path(one, result.files, result.problems, is_whole=is_whole, what="the fitted file")
        result.fitted.append(path or one.path)  # also if it is missing: the cache is stale once it exists
        if path:
            text = result.files.read(path, result.problems, f"the fitted file (named at {one.file}:{one.line})")
            found += _valid_rules(path, text, result)
    result.problems += refuse_other_keys(found)
    return found


def _add_workflows(rule: RuleBlock, result: Compiled, *, is_whole: bool) -> None:
    index = index_of(rule, result.files, result.problems, is_whole=is_whole)
    if index is None:
        return
    result.workflows.append(index)
    for found in workflows_of(index, result.files, result.problems):
        if _is_valid(found, result.problems):
            _merge(found, result)


def _valid_rules(path: str, text: str, result: Compiled) -> list[RuleBlock]:
    rules, problems = _rules_of(path, text)
    result.problems += problems
    return list(rules)


@lru_cache(maxsize=MOST_CACHED_FILES)
def _rules_of(path: str, text: str) -> tuple[tuple[RuleBlock, ...], tuple[Problem, ...]]:
    """Return the valid rules of a file, and its problems; the rules are cached, so callers must not change them."""
    document = read_document(path, text)
    problems = [*document.problems, *_repeated(document)]
    valid = tuple(rule for rule in document.rules if _is_valid(rule, problems))
    return valid, tuple(problems)


def _repeated(document: Document) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for rule in document.rules:
        if rule.id in first:
            message = f"rule '{rule.id}' occurs twice; the first is on line {first[rule.id]}"
            yield Problem(rule.file, rule.line, "error", message)
        first.setdefault(rule.id, rule.line)


def _is_valid(rule: RuleBlock, problems: list[Problem]) -> bool:
    kind = schema.KINDS.get((rule.kind, bool(rule.name)))
    if kind is None:
        known = ", ".join(sorted({name.replace("_", " ").capitalize() for name, _ in schema.KINDS}))
        message = f"'{rule.kind}' is no kind of rule{'' if rule.name else ' without a name'}; known: {known}"
        problems.append(Problem(rule.file, rule.line, "error", message))
        return False
    part, model = kind
    if part != rule.part:
        message = f"rule '{rule.id}' belongs to the part '# {part}', but is in '# {rule.part}'"
        problems.append(Problem(rule.file, rule.line, "error", message))
    try:
        # The other keys of a disabled rule have no effect; ``enricher check`` reports them.
        model.model_validate({} if rule.data.get("disabled") is True else rule.data)
    except schema.ValidationError as error:
        for detail in error.errors():
            problems.append(Problem(rule.file, rule.line_of(*detail["loc"]), "error", _explain(detail, model)))
        return False
    return True


def _explain(detail: Any, model: Any) -> str:
    where = ".".join(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        return f"unknown key '{where}'; known: {', '.join(model.model_fields)}"
    return f"{where}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"


def _merge(rule: RuleBlock, result: Compiled) -> None:
    if rule.kind == WORKFLOW:
        rule = with_signals(rule)
    below = result.rules.get(rule.id)
    if rule.kind == "catalogues":
        result.catalogues = [] if rule.data.get("disabled") else [*result.catalogues, *catalogue_files(rule)]
    if rule.kind == PROMPTS:
        result.prompts = {} if rule.data.get("disabled") else {**result.prompts, **dict(prompt_files(rule))}
    if below is None and (rule.data.get("disabled") or rule.data.get("extend")):
        result.baseless.append(rule)
    if rule.data.get("disabled"):
        result.rules.pop(rule.id, None)
        result.disabled[rule.id] = rule
    elif rule.data.get("extend") and below:
        data = extended(below.data, rule.data)
        result.rules[rule.id] = replace(rule, prose=below.prose, data=data, below=below)
    else:
        if below:
            result.replacing.append((rule, below))
        result.rules[rule.id] = rule
        result.disabled.pop(rule.id, None)
    result.winners[rule.id] = f"{rule.file}:{rule.line}" + (" (disabled)" if rule.data.get("disabled") else "")


def extended(below: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a rule with the values ``own`` that extends a rule with the values ``below``."""
    data = {**below, **own}
    for key in LISTED_KEYS:
        if isinstance(below.get(key), list) and key in own:
            data[key] = [*below[key], *own[key]]
    return data


def add_undeclared(result: Compiled) -> Iterator[str]:
    """Add a default rule for each built-in channel that has no rule, and yield the path of the channel's module."""
    for found in _undeclared_channels(result.rules.keys() | result.disabled.keys()):
        yield found.file
        if isinstance(found, Problem):
            result.problems.append(found)
        elif _is_valid(found, result.problems):
            _merge(found, result)


def _undeclared_channels(declared: Container[str]) -> Iterator[RuleBlock | Problem]:
    # A problem stands for a module that cannot be loaded, and for a channel that ``CHANNELS`` does not list.
    folder = os.path.join(root_dir(), "enricher", "context", "channels")
    for name in CHANNELS:
        file, identity = os.path.join(folder, f"{name}.py"), f"channel.{name}"
        if identity in declared:
            continue
        try:
            channel = load(name)
        except Exception as failure:  # one faulty module must not affect the other channels
            yield Problem(file, 1, "error", f"the channel '{name}' cannot be loaded: {failure}; {HOW_TO_ADD_A_CHANNEL}")
        else:
            yield RuleBlock(identity, "channel", name, "Context", channel.gives, channel.budget, file, 1, {})
    for module in sorted(Path(folder).glob("*.py")):
        if module.stem not in CHANNELS and DECLARES in module.read_text(encoding="utf-8"):
            listed = os.path.join(os.path.dirname(folder), "__init__.py")
            message = f"CHANNELS in {listed} does not list '{module.stem}'; {HOW_TO_ADD_A_CHANNEL}"
            yield Problem(str(module), 1, "error", message)


def missing_parts(file: str, result: Compiled) -> list[Problem]:
    """Return an error in ``file`` for each required part (such as ``# Output``) in which no layer has a rule."""
    present = {rule.part for rule in result.rules.values()}
    missing = [part for part in PARTS if part not in present and part != "Context"]
    message = f"is missing or empty; an instructions file has {', '.join(PARTS)}"
    return [Problem(file, 1, "error", f"the part '# {part}' {message}") for part in missing]

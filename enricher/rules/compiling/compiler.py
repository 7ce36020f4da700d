"""Turn layers of instructions into the one JSON body that the hook reads: merge, validate, link.

A rule of a higher layer replaces the rule with the same id; with ``extend: true`` it adds to
that rule, with ``disabled: true`` it removes it. A rule that cannot be read makes the edit broken;
a guardrail that the catalogue lacks is only left out.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from enricher.context import CHANNELS, DECLARED, UNDECLARED
from enricher.model.question import meaning_of
from enricher.rules.cache import FORMAT, read_any_age, shipped_file
from enricher.rules.compiling import schema
from enricher.rules.compiling.catalogue import Files
from enricher.rules.compiling.configuration import read_configuration
from enricher.rules.compiling.document import PARTS, Document, Problem, RuleBlock, read_document
from enricher.rules.compiling.fitted import found_file, join, read_thresholds, refuse_other_keys
from enricher.rules.compiling.fitted import named_files as named_fitted
from enricher.rules.compiling.guardrails import GUARDRAILS, CatalogueFile, Guardrails, files_of_lone, link, named_files
from enricher.rules.compiling.registered import undeclared_channels
from enricher.rules.compiling.signals import (
    ClassRule,
    Facet,
    check_leanings,
    check_signal,
    compile_classes,
)
from enricher.rules.compiling.workflows.catalogue import (
    WORKFLOW,
    WORKFLOWS,
    Index,
    index_of,
    missing,
    with_signals,
    workflows_of,
)
from enricher.rules.compiling.workflows.linking import compiled_workflows
from enricher.rules.layers import HEURISTICS, USER, packaged_file
from enricher.settings import AS_SPECIFIED, CODER, DEFAULTS, EMBEDDING, USE_LLM, Value
from storage.base.lean import keyed_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from enricher.rules.compiling.fitted import FittedFile
    from enricher.rules.layers import Layer

CATALOGUE, FITTED, PROMPTS, THRESHOLDS = "catalogue", "fitted", "prompts", "thresholds"
NAMED_FILES = (CATALOGUE, FITTED, PROMPTS, THRESHOLDS, WORKFLOWS)
"""Kinds of the files that a layer names, stored in place of a layer's name."""
PACKAGED = "packaged"
"""The lowest layer; it has all our channels, even those that its file does not declare."""
MODES = "modes"
LONE_LAYER = "base"
"""Name of the layer of a file that replaces all layers (``--instructions``)."""
WHOLE_LAYERS = (LONE_LAYER, "aops")
"""Layers whose file is always complete, and so may be a copy of the packaged one."""
FACETS = ("task_type", "search_intent")
GUIDANCE = ("guardrail", "approach", WORKFLOW)
FACTS = ("frame", "error", "count", "listed", "skill")
PIPELINE_CHANNELS: dict[str, dict[str, Any]] = {
    "summarization": {"model": True, "priority": 5},
    "code_analysis": {"model": True, "priority": 4},
    "similarity": {"model": True, "priority": 3, "endpoint": EMBEDDING},
}
"""Values of channels with a name from seed 004, unless their rule sets others."""
HANDLERS = {"summarization": CODER, "code_analysis": CODER, "similarity": EMBEDDING}
"""Channels with a program in the package (``enricher.model.channels.handlers``), and the variables of their
endpoints. A rule with a command replaces the program."""
FORMS = {"summarization": "narrative", "code_analysis": "structure"}
"""Forms of the template ``enrichment`` with which these channels ask a model."""
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
FILES_KEPT = 64
"""Files that a process keeps parsed: a replay compiles the same files many times, with one of them edited."""
LISTED_KEYS = ("signals", "examples", "needs", "words", "task_types", "triggers")


class PromptFile(NamedTuple):
    """A template of a prompt for a model, or the file with the templates' modes; and where a rule names it."""

    path: str
    file: str
    line: int


@dataclass(slots=True)
class Compiled:
    """The result of a compilation: the body (empty if the rules are broken), its identity, and the problems found.

    The identity is the hash of ``texts``: layer (or «catalogue», «fitted», «prompts»), path and text of each file.
    ``catalogues`` are the files of guardrails and short names, those of the lowest layer first. ``prompts`` are the
    templates by their file's name, and under ``MODES`` the file with their modes. ``workflows`` are the indices of the
    workflow catalogues, that of the lowest layer first. ``baseless`` are the rules that
    extend or disable a rule that exists in no lower layer.
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
    prompts: dict[str, PromptFile] = field(default_factory=dict)
    workflows: list[Index] = field(default_factory=list)
    thresholds: str = ""

    def kind_of(self, path: str) -> str:
        """Return the kind of a file that a layer names: fitted lists, thresholds, prompts, workflows or a catalogue."""
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


def compile_layers(
    instructions: Sequence[Layer],
    configuration: Sequence[Layer] = (),
    *,
    texts: Mapping[str, str] | None = None,
    reuses_prompts: bool = True,
) -> Compiled:
    """Return the compiled rules of the layers, lowest first, with every problem found.

    ``texts`` replaces the contents of the files with these paths, such as by an unsaved buffer or an earlier version.
    Without ``reuses_prompts`` the prompts for a model are rendered even if the package has them already.
    """
    result = Compiled(files=Files(texts))
    modules: list[str] = []
    for layer in instructions:
        result.texts.append((layer.name, layer.path, _read_layer(layer, result)))
        if layer.name == PACKAGED:
            modules += _add_undeclared(result)
    _find_prompts(result)
    result.sources += [*modules, *dict.fromkeys(result.fitted), *(one.path for one in result.prompts.values())]
    result.sources += result.workflow_files()
    _find_missing_parts(instructions, result)
    lists = _lists(result)
    result.classes = list(_class_rules(result))
    _check_signals(result, lists)
    prompts, thresholds = _prompts(result, reuses=reuses_prompts), _thresholds(result)
    result.broken = sorted(problem for problem in result.problems if problem.severity == "error")
    if not result.broken:
        _build(result, lists, prompts)
        result.body["complexity"] = thresholds
    settings, unread = _settings(configuration, result)
    result.broken += unread
    result.body |= {"settings": settings, "format": FORMAT}
    for path in result.sources[len(instructions) :]:
        result.texts.append((result.kind_of(path), path, result.files.content(path)))
    result.hash = identity_of(text for _layer, _path, text in result.texts)
    result.problems.sort()
    return result


def identity_of(texts: Iterable[str]) -> str:
    """Return the identity of the rules that compile from these texts; the paths of the files do not matter."""
    return keyed_hash(b"rules", "\0".join([str(FORMAT), *texts]).encode())


def _read_layer(layer: Layer, result: Compiled) -> str:
    result.sources.append(layer.path)
    if not result.files.has(layer.path):
        result.problems.append(
            Problem(layer.path, 1, "error", "not a regular file; put the instructions there as a text")
        )
        return ""
    if layer.name == HEURISTICS:
        result.catalogues.append(CatalogueFile(GUARDRAILS, layer.path))
        return result.files.content(layer.path)
    text = result.files.read(layer.path, result.problems, "the instructions file")
    rules = _valid_rules(layer.path, text, result)
    fitted = _fitted_rules(named_fitted(rules), result, is_whole=layer.name in WHOLE_LAYERS)
    for rule in join(rules, fitted, result.problems):
        _merge(rule, result)
        if rule.kind == WORKFLOWS and not rule.data.get("disabled"):
            _add_workflows(rule, result, is_whole=layer.name in WHOLE_LAYERS)
    return text


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


@lru_cache(maxsize=FILES_KEPT)
def _rules_of(path: str, text: str) -> tuple[tuple[RuleBlock, ...], tuple[Problem, ...]]:
    """Return the valid rules of a file, and its problems. The rules are shared, so nobody may change them."""
    document = read_document(path, text)
    problems = [*document.problems, *_repeated(document)]
    valid = tuple(rule for rule in document.rules if _is_valid(rule, problems))
    return valid, tuple(problems)


def _fitted_rules(named: Sequence[FittedFile], result: Compiled, *, is_whole: bool) -> list[RuleBlock]:
    found: list[RuleBlock] = []
    for one in named:
        path = found_file(one, result.files, result.problems, is_whole=is_whole)
        result.fitted.append(path or one.path)
        if path:
            text = result.files.read(path, result.problems, f"the fitted file (named at {one.file}:{one.line})")
            found += _valid_rules(path, text, result)
    result.problems += refuse_other_keys(found)
    return found


def _add_undeclared(result: Compiled) -> Iterator[str]:
    """Add the rules of our channels that the packaged file does not declare; yield the files of their modules."""
    for found in undeclared_channels(result.rules.keys() | result.disabled.keys()):
        yield found.file
        if isinstance(found, Problem):
            result.problems.append(found)
        elif _is_valid(found, result.problems):
            _merge(found, result)


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
        result.catalogues = [] if rule.data.get("disabled") else [*result.catalogues, *named_files(rule)]
    if rule.kind == PROMPTS:
        result.prompts = {} if rule.data.get("disabled") else {**result.prompts, **dict(_prompt_files(rule))}
    if below is None and (rule.data.get("disabled") or rule.data.get("extend")):
        result.baseless.append(rule)
    if rule.data.get("disabled"):
        result.rules.pop(rule.id, None)
        result.disabled[rule.id] = rule
    elif rule.data.get("extend") and below:
        data = {**below.data, **rule.data}
        for key in LISTED_KEYS:
            if isinstance(below.data.get(key), list) and key in rule.data:
                data[key] = [*below.data[key], *rule.data[key]]
        result.rules[rule.id] = replace(rule, prose=below.prose, data=data, below=below)
    else:
        result.rules[rule.id] = rule
        result.disabled.pop(rule.id, None)
    result.winners[rule.id] = f"{rule.file}:{rule.line}" + (" (disabled)" if rule.data.get("disabled") else "")


def _prompt_files(rule: RuleBlock) -> Iterator[tuple[str, PromptFile]]:
    folder = os.path.dirname(rule.file)
    for index, name in enumerate(rule.data.get("files", [])):
        place = PromptFile(os.path.normpath(os.path.join(folder, name)), *rule.place_of("files", index))
        yield os.path.splitext(os.path.basename(name))[0], place
    if modes := rule.data.get("modes"):
        yield MODES, PromptFile(os.path.normpath(os.path.join(folder, modes)), rule.file, rule.line_of("modes"))


def _find_prompts(result: Compiled) -> None:
    """Report the prompt files that do not exist, and leave them out.

    A copy of the packaged instructions without the files beside it gets the packaged ones, with one warning.
    """
    whole = {path for layer, path, _text in result.texts if layer in WHOLE_LAYERS}
    warned: set[str] = set()
    for name, one in list(result.prompts.items()):
        if result.files.has(one.path):
            continue
        beside = os.path.relpath(one.path, os.path.dirname(one.file))
        packaged = os.path.join(os.path.dirname(packaged_file()), beside)
        if one.file in whole and result.files.has(packaged):
            result.prompts[name] = one._replace(path=packaged)
            message = f"there is no {beside} beside this file; the packaged prompt files are used"
            if one.file not in warned:
                result.problems.append(Problem(one.file, one.line, "warning", message))
            warned.add(one.file)
        else:
            message = f"the prompt file {one.path} does not exist; put it there, or correct the path"
            result.problems.append(Problem(one.file, one.line, "error", message))
            del result.prompts[name]


def _find_missing_parts(instructions: Sequence[Layer], result: Compiled) -> None:
    present = {rule.part for rule in result.rules.values()}
    for part in PARTS:
        if part not in present and part != "Context":
            message = f"the part '# {part}' is missing or empty; an instructions file has {', '.join(PARTS)}"
            result.problems.append(Problem(instructions[0].path, 1, "error", message))


def _kind(result: Compiled, kind: str, *, named: bool = True) -> Iterator[RuleBlock]:
    return (rule for rule in result.rules.values() if rule.kind == kind and bool(rule.name) == named)


def _values(result: Compiled, kind: str) -> dict[str, Any]:
    """Return the values of a kind's unnamed rule, with defaults for the missing ones."""
    _part, model = schema.KINDS[kind, False]
    data = next((rule.data for rule in _kind(result, kind, named=False)), {})
    return model.model_validate(data).model_dump(exclude={"disabled", "extend"})


def _lists(result: Compiled) -> dict[str, list[str]]:
    return {rule.name: rule.data["words"] for rule in _kind(result, "words")}


def _thresholds(result: Compiled) -> dict[str, Any]:
    """Return the compiled thresholds of the rule ``## Complexity``; empty without one: no effort is estimated then."""
    rule = next(_kind(result, "complexity", named=False), None)
    if rule is None:
        return {}
    is_whole = any(path == rule.file for layer, path, _text in result.texts if layer in WHOLE_LAYERS)
    result.thresholds, body = read_thresholds(rule, result.files, result.problems, is_whole=is_whole)
    result.sources.append(result.thresholds)
    known = {one.name for one in _kind(result, "task_type")} | {"default"}
    for kind in body.get("task_types", ()):
        if kind not in known:
            result.problems.append(Problem(result.thresholds, 1, "warning", _unknown_task_type(kind, known)))
    return body


def _class_rules(result: Compiled) -> Iterator[ClassRule]:
    for facet in (*FACETS, *GUIDANCE):
        for rule in _kind(result, facet):
            signals = rule.data.get("signals", [])
            examples = rule.data.get("examples", [])
            leanings = rule.data.get("leanings", {})
            yield ClassRule(facet, rule.name, rule.name, signals, examples, rule.line, rule.file, leanings)


def _check_signals(result: Compiled, lists: dict[str, list[str]]) -> None:
    for rule in result.classes:
        block = result.rules[f"{rule.facet}.{rule.name.replace(' ', '-')}"]
        for index, signal in enumerate(rule.signals):
            for message in check_signal(signal, lists):
                result.problems.append(Problem(*block.place_of("signals", index), "error", message))
        for message in check_leanings(rule.leanings):
            result.problems.append(Problem(*block.place_of("leanings"), "error", message))


def _build(result: Compiled, lists: dict[str, list[str]], prompts: dict[str, Any]) -> None:
    facets = [Facet(name, **_values(result, name)) for name in FACETS]
    guardrails = result.guardrails = _link_guardrails(result)
    classes = [rule for rule in result.classes if rule.facet != "guardrail"]
    classes += [
        replace(rule, name=guardrails.id_of(rule.name))
        for rule in result.classes
        if rule.facet == "guardrail" and guardrails.takes_signals_of(rule.name)
    ]
    result.body = {
        "classes": compile_classes(classes, facets=facets, lists=lists),
        "never_show": _values(result, "task_type")["silent"],
        "guardrails": {
            **_values(result, "guardrail"),
            "rules": guardrails.rows,
            "sentences": guardrails.sentences,
            AS_SPECIFIED: guardrails.as_specified,
        },
        "approaches": {**_values(result, "approach"), **_approaches(result)},
        "channels": list(_channels(result, prompts)),
        "budgets": {f"budgets.{key}": value for key, value in _values(result, "budgets").items()},
        "class_line": _class_line(result),
        "meanings": _meanings(result),
        "prompts": prompts,
        "workflows": _workflows(result),
    }


def _workflows(result: Compiled) -> dict[str, Any]:
    for index in result.workflows:
        result.problems += missing(index, result.files)
    task_types = {rule.name for rule in _kind(result, "task_type")}
    rules = list(_kind(result, WORKFLOW))
    values = _values(result, WORKFLOWS)
    return compiled_workflows(rules, values, task_types=task_types, problems=result.problems)


def _meanings(result: Compiled) -> dict[str, str]:
    return {rule.name: meaning_of(rule.prose) for rule in _kind(result, "task_type")}


def _prompts(result: Compiled, *, reuses: bool) -> dict[str, Any]:
    """Return the prompts that the hook writes, rendered but for what only a prompt tells.

    Rules that name no template get those of the package. Importing the template engine takes as long as the rest of
    the compilation, so what is compiled in the package already is taken from there.
    """
    texts = [(name, one.path, result.files.content(one.path)) for name, one in result.prompts.items()]
    meanings = _meanings(result)
    of = keyed_hash(b"prompts", repr(([(name, text) for name, _path, text in texts], meanings)).encode())
    shipped = read_any_age(shipped_file())
    if reuses and shipped and (not texts or shipped.body["prompts"]["of"] == of):
        return dict(shipped.body["prompts"])
    from enricher.structured.templates import TemplateProblemError, read_modes, skeletons

    try:
        modes = [pair for name, path, text in texts if name == MODES for pair in read_modes(path, text).items()]
        templates = tuple(one for one in texts if one[0] != MODES)
        return {"of": of, **skeletons(templates, tuple(modes), tuple(meanings.items()))}
    except TemplateProblemError as problem:
        result.problems.append(Problem(problem.file, problem.line, "error", str(problem.args[0])))
        return {}


def _class_line(result: Compiled) -> str:
    said = _values(result, "lines")
    if said["class_alone"] is None:
        return str(said["class_line"])
    return "alone" if said["class_alone"] else "beside"


def _channels(result: Compiled, prompts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for rule in _kind(result, "channel"):
        data = {**PIPELINE_CHANNELS.get(rule.name, {}), **rule.data}
        values = schema.Channel.model_validate(data).model_dump(exclude={"disabled", "extend"})
        if rule.name in HANDLERS and not values["command"]:
            yield _handler(rule.name, rule.data, prompts, is_declared=True)
        elif values["command"] or rule.name in CHANNELS:
            yield {"name": rule.name, **values}
        else:
            ours = ", ".join((*CHANNELS, *HANDLERS))
            message = f"channel '{rule.name}' has no command, and none of ours has that name ({ours})"
            result.problems.append(Problem(rule.file, rule.line, "error", message))
    for name in HANDLERS:
        if f"channel.{name}" not in result.rules.keys() | result.disabled.keys():
            yield _handler(name, {}, prompts, is_declared=False)


def _handler(name: str, said: Mapping[str, Any], prompts: Mapping[str, Any], *, is_declared: bool) -> dict[str, Any]:
    """Return the rule of a channel whose program is part of the package; it always asks a model."""
    data = {"endpoint": HANDLERS[name], **PIPELINE_CHANNELS[name], **said, "model": True}
    data["endpoint"] = data["endpoint"] or HANDLERS[name]
    values = schema.Channel.model_validate(data).model_dump(exclude={"disabled", "extend"})
    prompt = prompts["enrichment"]["forms"][FORMS[name]] if name in FORMS else ""
    return {"name": name, **values, "handler": DECLARED if is_declared else UNDECLARED, "prompt": prompt}


def _link_guardrails(result: Compiled) -> Guardrails:
    named = result.catalogues
    if result.texts[0][0] == LONE_LAYER:
        named = result.catalogues = files_of_lone(result.sources[0], named, result.files, result.problems)
    result.sources += [one.path for one in named if one.path not in result.sources]
    rules = list(_kind(result, "guardrail"))
    disabled = [rule for rule in result.disabled.values() if rule.kind == "guardrail" and rule.name]
    found = link(named, rules, disabled, files=result.files, problems=result.problems)
    task_types = {rule.name for rule in _kind(result, "task_type")}
    for row in found.shorthands:
        for kind in row.task_types:
            if kind not in task_types:
                message = f"'{row.slug}' names the task type '{kind}', which no rule defines"
                result.problems.append(Problem(row.file, row.line, "warning", message))
    for rule in rules:
        for index, kind in enumerate(rule.data.get("task_types", [])):
            if kind not in task_types:
                place = rule.place_of("task_types", index)
                result.problems.append(Problem(*place, "warning", _unknown_task_type(kind, task_types)))
    return found


def _unknown_task_type(kind: str, known: Iterable[str]) -> str:
    return f"unknown task type '{kind}'; known: {', '.join(sorted(known))}"


def _approaches(result: Compiled) -> dict[str, list[tuple[str, str, list[str], dict[str, int]]]]:
    """Return the approaches' rows in two lists: for every profile, and for ``as-specified`` only."""
    task_types = {rule.name for rule in _kind(result, "task_type")}
    rows: dict[str, list[tuple[str, str, list[str], dict[str, int]]]] = {"rules": [], AS_SPECIFIED: []}
    for rule in _kind(result, "approach"):
        data = schema.Approach.model_validate(rule.data)
        for fact in data.needs:
            if fact not in FACTS:
                message = f"unknown fact '{fact}'; known: {', '.join(FACTS)}"
                result.problems.append(Problem(rule.file, rule.line_of("needs"), "error", message))
        for name in PLACEHOLDER.findall(data.say):
            if name not in FACTS:
                message = f"unknown placeholder '{{{name}}}'; known: {', '.join(f'{{{fact}}}' for fact in FACTS)}"
                result.problems.append(Problem(rule.file, rule.line_of("say"), "error", message))
        for kind in data.task_types:
            if kind not in task_types:
                place = rule.line_of("task_types", kind)
                result.problems.append(Problem(rule.file, place, "warning", _unknown_task_type(kind, task_types)))
        rows[data.profile or "rules"].append((rule.name, " ".join(data.say.split()), data.needs, data.task_types))
    return rows


def _settings(configuration: Sequence[Layer], result: Compiled) -> tuple[dict[str, Value], list[Problem]]:
    """Return the merged settings of the readable files, and the errors in the others."""
    settings: dict[str, Value] = {**DEFAULTS, **result.body.get("budgets", {})}
    del settings[USE_LLM]  # its default depends on the environment
    unread: list[Problem] = []
    for layer in configuration:
        found, problems = read_configuration(layer.path, is_user=layer.name == USER)
        settings |= found
        result.problems += problems
        unread += [problem for problem in problems if problem.severity == "error"]
    return settings, unread

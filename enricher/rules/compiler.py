"""Turn layers of instructions into the one JSON body that the hook reads: merge, validate, link.

A rule of a higher layer replaces the one of the same id, ``extend: true`` adds to
it, ``disabled: true`` removes it. What cannot be read makes the edit broken; a
guardrail that the catalogue lacks is only left out.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from enricher.context import BUILT_IN
from enricher.rules import schema
from enricher.rules.cache import FORMAT
from enricher.rules.catalogue import Files, Guardrail, Shorthand, read_catalogue, read_shorthands
from enricher.rules.configuration import read_configuration
from enricher.rules.document import PARTS, Document, Problem, RuleBlock, read_document
from enricher.rules.layers import packaged_file
from enricher.rules.signals import ClassRule, Facet, SignalError, check_leanings, check_signal, compile_classes
from enricher.settings import DEFAULTS, Value
from storage.lean import keyed_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from enricher.rules.layers import Layer

CATALOGUE = "catalogue"
LONE_LAYER = "base"
"""A file that stands for all layers (``--instructions``)."""
FACETS = ("task_type", "search_intent")
GUIDANCE = ("guardrail", "approach")
FACTS = ("frame", "error", "count", "listed", "skill")
PIPELINE_CHANNELS: dict[str, dict[str, Any]] = {
    "summarization": {"model": True, "priority": 5},
    "code_analysis": {"model": True, "priority": 4},
    "similarity": {"model": True, "priority": 3, "endpoint": "LLM_EMBEDDING_URL"},
}
"""What a channel with a name from seed 004 is unless its rule says otherwise."""
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
LISTED_KEYS = ("signals", "examples", "needs", "words")


@dataclass(slots=True)
class Compiled:
    """The outcome: the body (empty if the rules are broken), its identity, what was found on the way.

    ``texts`` is all that the identity rests on: layer (or «catalogue»), path and text of each file.
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


def compile_layers(
    instructions: Sequence[Layer], configuration: Sequence[Layer] = (), *, texts: Mapping[str, str] | None = None
) -> Compiled:
    """Return the compiled rules of the layers, lowest first, with every problem found.

    ``texts`` stand for the files of these paths: an unsaved buffer, or an earlier version.
    """
    result = Compiled(files=Files(texts))
    for layer in instructions:
        result.texts.append((layer.name, layer.path, _read_layer(layer, result)))
    _find_missing_parts(instructions, result)
    lists = _lists(result)
    result.classes = list(_class_rules(result))
    _check_signals(result, lists)
    result.broken = sorted(problem for problem in result.problems if problem.severity == "error")
    if not result.broken:
        _build(result, lists)
    settings, unread = _settings(configuration, result)
    result.broken += unread
    result.body |= {"settings": settings, "format": FORMAT}
    result.texts += [(CATALOGUE, path, result.files.content(path)) for path in result.sources[len(instructions) :]]
    result.hash = identity_of(text for _layer, _path, text in result.texts)
    result.problems.sort()
    return result


def identity_of(texts: Iterable[str]) -> str:
    """Return the identity of the rules that these texts compile to; where a file lies makes no difference."""
    return keyed_hash(b"rules", "\0".join([str(FORMAT), *texts]).encode())


def _read_layer(layer: Layer, result: Compiled) -> str:
    result.sources.append(layer.path)
    if not result.files.has(layer.path):
        result.problems.append(
            Problem(layer.path, 1, "error", "not a regular file; put the instructions there as a text")
        )
        return ""
    text = result.files.read(layer.path, result.problems, "the instructions file")
    document = read_document(layer.path, text)
    result.problems += document.problems
    _refuse_second(document, result)
    for rule in document.rules:
        if _is_valid(rule, result):
            _merge(rule, result)
    return text


def _refuse_second(document: Document, result: Compiled) -> None:
    first: dict[str, int] = {}
    for rule in document.rules:
        if rule.id in first:
            message = f"rule '{rule.id}' stands twice; the first is on line {first[rule.id]}"
            result.problems.append(Problem(rule.file, rule.line, "error", message))
        first.setdefault(rule.id, rule.line)


def _is_valid(rule: RuleBlock, result: Compiled) -> bool:
    kind = schema.KINDS.get((rule.kind, bool(rule.name)))
    if kind is None:
        known = ", ".join(sorted({name.replace("_", " ").capitalize() for name, _ in schema.KINDS}))
        message = f"'{rule.kind}' is no kind of rule{'' if rule.name else ' without a name'}; known: {known}"
        result.problems.append(Problem(rule.file, rule.line, "error", message))
        return False
    part, model = kind
    if part != rule.part:
        message = f"rule '{rule.id}' belongs to the part '# {part}', it stands in '# {rule.part}'"
        result.problems.append(Problem(rule.file, rule.line, "error", message))
    try:
        model.model_validate({} if rule.data.get("disabled") is True else rule.data)
    except schema.ValidationError as error:
        for detail in error.errors():
            result.problems.append(Problem(rule.file, rule.line_of(*detail["loc"]), "error", _explain(detail, model)))
        return False
    return True


def _explain(detail: Any, model: Any) -> str:
    where = ".".join(map(str, detail["loc"]))
    if detail["type"] == "extra_forbidden":
        return f"unknown key '{where}'; known: {', '.join(model.model_fields)}"
    return f"{where}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"


def _merge(rule: RuleBlock, result: Compiled) -> None:
    if rule.kind == "catalogues":
        _resolve(rule)
    below = result.rules.get(rule.id)
    if rule.data.get("disabled"):
        result.rules.pop(rule.id, None)
        result.disabled[rule.id] = rule
    elif rule.data.get("extend") and below:
        data = {**below.data, **rule.data}
        for key in LISTED_KEYS:
            if key in below.data and key in rule.data:
                data[key] = [*below.data[key], *rule.data[key]]
        merged = RuleBlock(
            rule.id, rule.kind, rule.name, rule.part, below.prose, data, rule.file, rule.line, dict(rule.lines), below
        )
        result.rules[rule.id] = merged
    else:
        result.rules[rule.id] = rule
        result.disabled.pop(rule.id, None)
    result.winners[rule.id] = f"{rule.file}:{rule.line}" + (" (disabled)" if rule.data.get("disabled") else "")


def _resolve(rule: RuleBlock) -> None:
    """Make the files it names absolute: a layer that extends the rule has another folder."""
    for key in ("guardrails", "names"):
        if key in rule.data:
            rule.data[key] = os.path.normpath(os.path.join(os.path.dirname(rule.file), rule.data[key]))


def _find_missing_parts(instructions: Sequence[Layer], result: Compiled) -> None:
    present = {rule.part for rule in result.rules.values()}
    for part in PARTS:
        if part not in present and part != "Context":
            message = f"the part '# {part}' is missing or empty; an instructions file has {', '.join(PARTS)}"
            result.problems.append(Problem(instructions[0].path, 1, "error", message))


def _kind(result: Compiled, kind: str, *, named: bool = True) -> Iterator[RuleBlock]:
    return (rule for rule in result.rules.values() if rule.kind == kind and bool(rule.name) == named)


def _values(result: Compiled, kind: str) -> dict[str, Any]:
    """The values of an unnamed rule, defaults filled in."""
    _part, model = schema.KINDS[kind, False]
    data = next((rule.data for rule in _kind(result, kind, named=False)), {})
    return model.model_validate(data).model_dump(exclude={"disabled", "extend"})


def _lists(result: Compiled) -> dict[str, list[str]]:
    return {rule.name: rule.data["words"] for rule in _kind(result, "words")}


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
            result.problems.append(Problem(rule.file, block.line_of("leanings"), "error", message))


def _build(result: Compiled, lists: dict[str, list[str]]) -> None:
    facets = [Facet(name, **_values(result, name)) for name in FACETS]
    guardrails = _link_guardrails(result)
    classes = [rule for rule in result.classes if rule.facet != "guardrail"]
    classes += [
        ClassRule(
            "guardrail", guardrails.identity[rule.name], rule.title, rule.signals, rule.examples, rule.line, rule.file
        )
        for rule in result.classes
        if rule.facet == "guardrail" and rule.name in guardrails.identity
    ]
    try:
        table = compile_classes(classes, facets=facets, lists=lists)
    except SignalError as error:
        problem = Problem(error.rule.file, error.rule.line, "error", str(error))
        result.problems.append(problem)
        result.broken.append(problem)
        return
    result.body = {
        "classes": table,
        "never_show": _values(result, "task_type")["silent"],
        "guardrails": {**_values(result, "guardrail"), "rules": guardrails.rows},
        "approaches": {**_values(result, "approach"), "rules": list(_approaches(result))},
        "channels": list(_channels(result)),
        "budgets": {f"budgets.{key}": value for key, value in _values(result, "budgets").items()},
        **_values(result, "lines"),
    }


def _channels(result: Compiled) -> Iterator[dict[str, Any]]:
    for rule in _kind(result, "channel"):
        data = {**PIPELINE_CHANNELS.get(rule.name, {}), **rule.data}
        values = schema.Channel.model_validate(data).model_dump(exclude={"disabled", "extend"})
        if values["command"] or rule.name in BUILT_IN:
            yield {"name": rule.name, **values}
        else:
            message = f"channel '{rule.name}' has no command, and none of ours has that name ({', '.join(BUILT_IN)})"
            result.problems.append(Problem(rule.file, rule.line, "error", message))


@dataclass(slots=True)
class _Linked:
    rows: list[tuple[str, str, list[str], bool, int]]
    identity: dict[str, str]


def _link_guardrails(result: Compiled) -> _Linked:
    """Join catalogue, short names and rules; whatever does not exist is told and left out."""
    files = _values(result, "catalogues")
    home = next((rule.file for rule in _kind(result, "catalogues", named=False)), result.sources[0])
    catalogue_file, names_file = (_catalogue_file(home, files[key], result) for key in ("guardrails", "names"))
    result.sources += [catalogue_file, names_file]
    found: list[Problem] = []
    catalogue = read_catalogue(catalogue_file, found, result.files)
    shorthands = read_shorthands(names_file, found, result.files)
    missing = dict(_missing_catalogues(result))
    result.problems += [missing.get(problem.file, problem) for problem in found]
    known = {name: row.guardrail for row in shorthands for name in (row.slug, *row.aliases)}
    identity = dict(_resolved(result, known, catalogue))
    _report_dangling(shorthands, catalogue, result)
    silenced = _silenced(result, known, catalogue)
    rules = {identity[rule.name]: rule.data for rule in _kind(result, "guardrail") if rule.name in identity}
    rows = []
    for one in catalogue.values():
        task_types = {kind for row in shorthands if row.guardrail == one.id for kind in row.task_types}
        own = rules.get(one.id, {})
        if (own or task_types) and one.id not in silenced:
            rows.append((one.id, one.title, sorted(task_types), bool(own.get("always")), own.get("min_score") or 0))
    return _Linked(rows, identity)


def _catalogue_file(home: str, name: str, result: Compiled) -> str:
    """Return where a catalogue lies; beside a lone file that is a copy of ours there is none, and ours is meant."""
    path = os.path.join(os.path.dirname(home), name)
    name = os.path.relpath(path, os.path.dirname(home))
    ours = os.path.join(os.path.dirname(packaged_file()), name)
    if result.texts[0][0] != LONE_LAYER or result.files.has(path) or not result.files.has(ours):
        return path
    result.problems.append(
        Problem(home, 1, "warning", f"there is no {name} beside this file; the packaged one is used")
    )
    return ours


def _missing_catalogues(result: Compiled) -> Iterator[tuple[str, Problem]]:
    """Yield each catalogue that does not exist, with the line that names it."""
    for rule in _kind(result, "catalogues", named=False):
        for key, path in zip(("guardrails", "names"), result.sources[-2:], strict=True):
            if not os.path.lexists(path) and not result.files.has(path):
                message = f"the catalogue {path} does not exist, so no guardrail is shown; correct the path"
                yield path, Problem(rule.file, rule.line_of(key), "error", message)


def _silenced(result: Compiled, known: dict[str, str], catalogue: dict[str, Guardrail]) -> set[str]:
    disabled = [rule for rule in result.disabled.values() if rule.kind == "guardrail" and rule.name]
    for rule in disabled:
        if known.get(rule.name, rule.name) not in catalogue:
            message = f"guardrail '{rule.name}' is in no catalogue, so this disables nothing"
            result.problems.append(Problem(rule.file, rule.line, "warning", message))
    return {known.get(rule.name, rule.name) for rule in disabled}


def _resolved(result: Compiled, known: dict[str, str], catalogue: dict[str, Guardrail]) -> Iterator[tuple[str, str]]:
    for rule in _kind(result, "guardrail"):
        identity = known.get(rule.name, rule.name)
        if identity in catalogue:
            yield rule.name, identity
        else:
            message = f"guardrail '{rule.name}' is in no catalogue; it is left out"
            result.problems.append(Problem(rule.file, rule.line, "error", message))


def _report_dangling(rows: Iterable[Shorthand], catalogue: dict[str, Guardrail], result: Compiled) -> None:
    task_types = {rule.name for rule in _kind(result, "task_type")}
    for row in rows:
        if row.guardrail not in catalogue:
            message = f"'{row.slug}' stands for {row.guardrail}, which is in no catalogue; it is left out"
            result.problems.append(Problem(row.file, row.line, "error", message))
        for kind in row.task_types:
            if kind not in task_types:
                message = f"'{row.slug}' names the task type '{kind}', which no rule defines"
                result.problems.append(Problem(row.file, row.line, "warning", message))


def _approaches(result: Compiled) -> Iterator[tuple[str, str, list[str], dict[str, int]]]:
    task_types = {rule.name for rule in _kind(result, "task_type")}
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
                message = f"unknown task type '{kind}'; known: {', '.join(sorted(task_types))}"
                result.problems.append(Problem(rule.file, rule.line_of("task_types", kind), "warning", message))
        yield rule.name, " ".join(data.say.split()), data.needs, data.task_types


def _settings(configuration: Sequence[Layer], result: Compiled) -> tuple[dict[str, Value], list[Problem]]:
    """The settings of the files that can be read, and what makes another one unreadable."""
    settings: dict[str, Value] = {**DEFAULTS, **result.body.get("budgets", {})}
    unread: list[Problem] = []
    for layer in configuration:
        found, problems = read_configuration(layer.path)
        settings |= found
        result.problems += problems
        unread += [problem for problem in problems if problem.severity == "error"]
    return settings, unread

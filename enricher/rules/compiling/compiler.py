"""Merge the instruction files of all layers, validate them, and compile them into the JSON that the hook loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.rules.cache import FORMAT
from enricher.rules.compiling.body import build_body, check_signals, class_rules, effort_thresholds
from enricher.rules.compiling.compiled import Compiled
from enricher.rules.compiling.configuration import read_configuration
from enricher.rules.compiling.merging import add_undeclared, missing_parts, read_layer
from enricher.rules.compiling.named_files import Files, compiled_prompts, existing_prompts
from enricher.rules.layers import USER
from enricher.settings import DEFAULTS, USE_LLM, Value
from storage.base.fast_stdlib import dumps, keyed_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from enricher.rules.compiling.document import Problem
    from enricher.rules.layers import Layer

PACKAGED = "packaged"
"""Name of the lowest layer; it has all built-in channels, even those that its file does not declare."""


def compile_layers(
    instructions: Sequence[Layer],
    configuration: Sequence[Layer] = (),
    *,
    texts: Mapping[str, str] | None = None,
    reuses_prompts: bool = True,
) -> Compiled:
    """Return the compiled rules of the layers, lowest first, with every problem found.

    ``texts`` maps paths to texts that are read instead of the files, such as an unsaved buffer or an earlier version.
    Without ``reuses_prompts``, the prompts for a model are rendered again even if the package contains them.
    """
    result = Compiled(files=Files(texts))
    modules: list[str] = []
    for layer in instructions:
        read_layer(layer, result)
        if layer.name == PACKAGED:
            modules += add_undeclared(result)
    result.prompts = existing_prompts(result.prompts, result.files, result.problems, whole=result.whole_files())
    result.sources += [*modules, *dict.fromkeys(result.fitted), *(one.path for one in result.prompts.values())]
    result.sources += result.workflow_files()
    lists = {rule.name: rule.data["words"] for rule in result.of_kind("words")}
    result.classes = list(class_rules(result))
    check_signals(result, lists)
    prompts = compiled_prompts(result.prompts, result.meanings(), result.files, result.problems, reuses=reuses_prompts)
    thresholds = effort_thresholds(result)
    # Missing parts are listed first, because they cause the errors about rules that refer to them.
    missing = missing_parts(instructions[0].path, result)
    result.broken = [*missing, *sorted(problem for problem in result.problems if problem.severity == "error")]
    result.problems += missing
    if not result.broken:
        build_body(result, lists, prompts)
        result.body["complexity"] = dumps(thresholds) if thresholds else ""
    settings, unread = _settings(configuration, result)
    result.broken += unread
    result.body |= {"settings": settings, "format": FORMAT}
    for path in result.sources[len(instructions) :]:
        result.texts.append((result.kind_of(path), path, result.files.content(path)))
    result.hash = identity_of(text for _layer, _path, text in result.texts)
    result.problems.sort()
    return result


def identity_of(texts: Iterable[str]) -> str:
    """Return the identity (a hash) of the rules compiled from these texts; the paths of the files do not matter."""
    return keyed_hash(b"rules", "\0".join([str(FORMAT), *texts]).encode())


def _settings(configuration: Sequence[Layer], result: Compiled) -> tuple[dict[str, Value], list[Problem]]:
    """Return the merged settings of the readable files, and the errors of the unreadable ones."""
    settings: dict[str, Value] = {**DEFAULTS, **result.body.get("budgets", {})}
    del settings[USE_LLM]  # its default depends on the environment, so that it is set when a prompt arrives
    unread: list[Problem] = []
    for layer in configuration:
        found, problems = read_configuration(layer.path, is_user=layer.name == USER)
        settings |= found
        result.problems += problems
        unread += [problem for problem in problems if problem.severity == "error"]
    return settings, unread

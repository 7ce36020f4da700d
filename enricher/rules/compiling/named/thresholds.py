"""Read the thresholds of estimated effort, the YAML file that the rule ``## Complexity`` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enricher.complexity.thresholds import compile_thresholds
from enricher.rules.compiling.classes.inflection import forms
from enricher.rules.compiling.document import Problem, read_yaml_file
from enricher.rules.compiling.named.files import found_path, named_file

if TYPE_CHECKING:
    from typing import Any

    from enricher.rules.compiling.document import RuleBlock
    from enricher.rules.compiling.named.files import Files


def read_thresholds(
    rule: RuleBlock, files: Files, problems: list[Problem], *, is_whole: bool
) -> tuple[str, dict[str, Any]]:
    """Return the path of the file that ``## Complexity`` names, and its compiled content.

    A mistake is added to ``problems`` with its line, and the content is then empty; so is the path of a missing file.
    """
    named = named_file(rule, "thresholds")
    found = found_path(named, files, problems, is_whole=is_whole, what="the file of thresholds")
    if not found:
        return named.path, {}
    known = len(problems)
    text = files.read(found, problems, f"the file of thresholds (named at {named.file}:{named.line})")
    if len(problems) > known:
        return found, {}
    body, more = compiled_thresholds(found, text)
    problems += more
    return found, body


def compiled_thresholds(file: str, text: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return the compiled content of a file of thresholds, empty if it has a mistake, and the mistakes."""
    data, lines, problems = read_yaml_file(file, text)
    if data is None or problems:
        return {}, problems
    body, mistakes = compile_thresholds(data, forms=forms)
    for where, message in mistakes:
        line = next(lines[where[:end]] for end in range(len(where), -1, -1) if where[:end] in lines)
        problems.append(Problem(file, line, "error", message))
    return body, problems

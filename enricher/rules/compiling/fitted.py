"""Join the rules of an instructions file with their lists in the fitted files that the file names.

People write the instructions file. Programs fit the leanings, the many weighted wordings and the
word lists, which are in separate files of the same form. Both parts make one rule of one layer.

The thresholds of the rule ``## Complexity`` are a YAML file, found and reported like a fitted file.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from enricher.complexity.thresholds import compile_thresholds
from enricher.rules.compiling.document import Problem, read_yaml_file
from enricher.rules.compiling.inflection import forms
from enricher.rules.layers import packaged_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from enricher.rules.compiling.catalogue import Files
    from enricher.rules.compiling.document import RuleBlock

LISTS = ("signals", "leanings", "words")
"""Keys that a rule of a fitted file may have: its meaning, examples and settings belong in the instructions file."""
WITHOUT_LISTS = "the fitted file {} does not exist, so its rules lack their lists"
WITHOUT_THRESHOLDS = "the file of thresholds {} does not exist, so no effort can be estimated"
FREE_KIND = "words"
"""Kinds of rules that may exist in a fitted file only: a word list has no keys besides its words."""


class FittedFile(NamedTuple):
    """A fitted file, and ``file:line`` of the rule that names it."""

    path: str
    file: str
    line: int


def named_files(rules: Sequence[RuleBlock]) -> list[FittedFile]:
    """Return the files that a rule ``## Fitted`` names, with paths relative to the rule's own file."""
    return [
        FittedFile(os.path.normpath(os.path.join(os.path.dirname(rule.file), name)), *rule.place_of("files", index))
        for rule in rules
        if rule.kind == "fitted"
        for index, name in enumerate(rule.data.get("files", []))
    ]


def found_file(
    named: FittedFile, files: Files, problems: list[Problem], *, is_whole: bool, missing: str = WITHOUT_LISTS
) -> str:
    """Return the path of a fitted file; if it does not exist, add a problem and return an empty path.

    A complete file (``is_whole``) may be a copy of the packaged instructions without their fitted files: then
    the path of the packaged fitted file is returned, with a warning.
    """
    if files.has(named.path):
        return named.path
    name = os.path.relpath(named.path, os.path.dirname(named.file))
    packaged = os.path.join(os.path.dirname(packaged_file()), name)
    if is_whole and files.has(packaged):
        message = f"there is no {name} beside this file; the packaged one is used"
        problems.append(Problem(named.file, named.line, "warning", message))
        return packaged
    message = f"{missing.format(named.path)}; put it there, or correct the path"
    problems.append(Problem(named.file, named.line, "error", message))
    return ""


def read_thresholds(
    rule: RuleBlock, files: Files, problems: list[Problem], *, is_whole: bool
) -> tuple[str, dict[str, Any]]:
    """Return the path of the file that ``## Complexity`` names, and its compiled content.

    A mistake is added to ``problems`` with its line, and the content is then empty; so is the path of a missing file.
    """
    place = rule.place_of("thresholds")
    path = os.path.normpath(os.path.join(os.path.dirname(place[0]), str(rule.data["thresholds"])))
    found = found_file(FittedFile(path, *place), files, problems, is_whole=is_whole, missing=WITHOUT_THRESHOLDS)
    if not found:
        return path, {}
    known = len(problems)
    text = files.read(found, problems, f"the file of thresholds (named at {place[0]}:{place[1]})")
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


def refuse_other_keys(rules: Sequence[RuleBlock]) -> Iterator[Problem]:
    """Yield a problem for each key in a fitted file that belongs in the instructions file."""
    for rule in rules:
        for key in rule.data:
            if key not in LISTS:
                message = f"a fitted file holds {', '.join(LISTS)} only; write '{key}' into the instructions file"
                yield Problem(rule.file, rule.line_of(key), "error", message)


def join(rules: Sequence[RuleBlock], fitted: Sequence[RuleBlock], problems: list[Problem]) -> Iterator[RuleBlock]:
    """Yield the rules with their fitted lists appended to their own, then the word lists that are only fitted."""
    parts: dict[str, RuleBlock] = {}
    for part in fitted:
        if part.id in parts:
            first = parts[part.id]
            message = f"rule '{part.id}' is in two fitted files; the first is {first.file}:{first.line}"
            problems.append(Problem(part.file, part.line, "error", message))
        parts.setdefault(part.id, part)
    for rule in rules:
        is_joined = rule.id in parts and not rule.data.get("disabled")
        yield _joined(rule, parts[rule.id], problems) if is_joined else rule
    known = {rule.id for rule in rules}
    for part in parts.values():
        if part.id in known:
            continue
        if part.kind == FREE_KIND:
            yield part
        else:
            message = f"the instructions file has no rule '{part.id}', so these lists have no effect; write it there"
            problems.append(Problem(part.file, part.line, "warning", f"{message}, or remove them here"))


def _joined(rule: RuleBlock, part: RuleBlock, problems: list[Problem]) -> RuleBlock:
    data: dict[str, Any] = dict(rule.data)
    for key, value in part.data.items():
        if isinstance(value, list):
            data[key] = [*data.get(key, []), *value]
        elif key in data:
            message = f"'{key}' is also in {rule.file}:{rule.line_of(key)}; keep one of them"
            problems.append(Problem(*part.place_of(key), "error", message))
        else:
            data[key] = value
    return replace(rule, data=data, fitted=part)

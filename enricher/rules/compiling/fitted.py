"""Join the rules of an instructions file with the lists that stand in the fitted files it names.

What people write stands in the instructions file; what is fitted (leanings, the many weighted
wordings, word lists) in files beside it, of the same form. Both make one rule of one layer.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from enricher.rules.compiling.document import Problem
from enricher.rules.layers import packaged_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from enricher.rules.compiling.catalogue import Files
    from enricher.rules.compiling.document import RuleBlock

LISTS = ("signals", "leanings", "words")
"""What a rule of a fitted file may hold: its meaning, its examples and its settings are for people to write."""
FREE_KIND = "words"
"""A word list means nothing beyond its words, so it may stand in a fitted file alone."""


class FittedFile(NamedTuple):
    """A fitted file, and ``file:line`` of the rule that names it."""

    path: str
    file: str
    line: int


def named_files(rules: Sequence[RuleBlock]) -> list[FittedFile]:
    """Return the files that a rule ``## Fitted`` names, which are relative to its own file."""
    return [
        FittedFile(os.path.normpath(os.path.join(os.path.dirname(rule.file), name)), *rule.place_of("files", index))
        for rule in rules
        if rule.kind == "fitted"
        for index, name in enumerate(rule.data.get("files", []))
    ]


def found_file(named: FittedFile, files: Files, problems: list[Problem], *, is_whole: bool) -> str:
    """Return the path of a fitted file; empty and a problem where there is none.

    A file that is complete by its definition may be a copy of our instructions without ours beside it: then
    the packaged one is meant, with a warning.
    """
    if files.has(named.path):
        return named.path
    name = os.path.relpath(named.path, os.path.dirname(named.file))
    packaged = os.path.join(os.path.dirname(packaged_file()), name)
    if is_whole and files.has(packaged):
        message = f"there is no {name} beside this file; the packaged one is used"
        problems.append(Problem(named.file, named.line, "warning", message))
        return packaged
    message = f"the fitted file {named.path} does not exist, so its rules lack their lists; put it there, or"
    problems.append(Problem(named.file, named.line, "error", f"{message} correct the path"))
    return ""


def refuse_other_keys(rules: Sequence[RuleBlock]) -> Iterator[Problem]:
    """Yield what a fitted file says that only the instructions file may say."""
    for rule in rules:
        for key in rule.data:
            if key not in LISTS:
                message = f"a fitted file holds {', '.join(LISTS)} only; write '{key}' into the instructions file"
                yield Problem(rule.file, rule.line_of(key), "error", message)


def join(rules: Sequence[RuleBlock], fitted: Sequence[RuleBlock], problems: list[Problem]) -> Iterator[RuleBlock]:
    """Yield the rules with their fitted lists behind their own, then the word lists that are only fitted."""
    parts: dict[str, RuleBlock] = {}
    for part in fitted:
        if part.id in parts:
            first = parts[part.id]
            message = f"rule '{part.id}' stands in two fitted files; the first is {first.file}:{first.line}"
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
            message = f"'{key}' also stands in {rule.file}:{rule.line_of(key)}; keep one of them"
            problems.append(Problem(*part.place_of(key), "error", message))
        else:
            data[key] = value
    return replace(rule, data=data, fitted=part)

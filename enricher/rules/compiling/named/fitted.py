"""Join the rules of an instructions file with their lists in the fitted files that the file names.

People write the instructions file. Programs fit the leanings, the many weighted wordings and the
word lists, which are in separate files of the same form. Both parts make one rule of one layer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from enricher.rules.compiling.document import Problem
from enricher.rules.compiling.named.files import named_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from enricher.rules.compiling.document import RuleBlock
    from enricher.rules.compiling.named.files import NamedFile

LISTS = ("signals", "leanings", "words")
"""Keys that a rule of a fitted file may have: its meaning, examples and settings belong in the instructions file."""
FREE_KIND = "words"
"""The one kind of rule that may be in a fitted file without a rule in the instructions file: a word list."""


def named_files(rules: Sequence[RuleBlock]) -> list[NamedFile]:
    """Return the files that the rules ``## Fitted`` name."""
    return [
        named_file(rule, "files", index)
        for rule in rules
        if rule.kind == "fitted"
        for index in range(len(rule.data.get("files", [])))
    ]


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

"""Whether two stacks of layers have the same effect: the rules in which they differ, as problems of the edited text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from enricher.rules.compiling.document import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import Document

ORDERED_KINDS = ("task_type", "search_intent", "approach", "channel")
"""Kinds whose order matters: of equal rules the first wins."""


def differing_rules(wanted: Compiled, got: Compiled, edited: Document) -> Iterator[Problem]:
    """Yield a problem, with its line in the edited text, for each rule in which ``got`` differs from ``wanted``."""
    if got.broken:
        yield from got.broken
        return
    wanted_values, got_values = _rule_values(wanted), _rule_values(got)
    for rule in [*wanted_values, *(one for one in got_values if one not in wanted_values)]:
        if wanted_values.get(rule) != got_values.get(rule):
            message = f"this change of '{rule}' cannot be written as a layer; {_remedy(rule)}"
            yield Problem(edited.file, line_of(rule, edited), "error", message)
    yield from _other_order(wanted_values, got_values, edited)
    for key in wanted.body.keys() - {"classes", "settings"}:
        if wanted_values == got_values and wanted.body[key] != got.body.get(key):
            message = f"the edit changes '{key}' in a way that a layer cannot; take back what was changed there"
            yield Problem(edited.file, 1, "error", message)


def _rule_values(compiled: Compiled) -> dict[str, Any]:
    """Return the values of every rule; catalogues by their content, guardrails without any signal left out."""
    found: dict[str, Any] = {}
    for rule in compiled.rules.values():
        data = {key: value for key, value in rule.data.items() if key not in ("extend", "disabled")}
        if rule.kind == "catalogues":
            found[rule.id] = list(dict.fromkeys(compiled.files.content(one.path) for one in compiled.catalogues))
        elif data or rule.kind != "guardrail":
            found[rule.id] = data
    return found


def _remedy(rule: str) -> str:
    if rule == "catalogues":
        return "name the catalogues by their full paths"
    return "take out its keys 'extend' and 'disabled', or write the rule into your own layer"


def _other_order(
    wanted_values: Mapping[str, Any], got_values: Mapping[str, Any], edited: Document
) -> Iterator[Problem]:
    titles = {line: title for line, _level, title in edited.headings}
    for kind in ORDERED_KINDS:
        wanted, got = ([one for one in rules if one.partition(".")[0] == kind] for rules in (wanted_values, got_values))
        if sorted(wanted) != sorted(got):
            continue
        at = next((at for at, pair in enumerate(zip(wanted, got, strict=True)) if pair[0] != pair[1]), None)
        if at is not None:
            rule = wanted[at]
            line, other = line_of(rule, edited), line_of(got[got.index(rule) - 1], edited)
            message = (
                f"a layer cannot change the order of rules, which decides between equal scores; put "
                f"'## {titles.get(line)}' behind '## {titles.get(other)}' on line {other}"
            )
            yield Problem(edited.file, line, "error", message)


def line_of(rule: str, document: Document) -> int:
    return next((one.line for one in document.rules if one.id == rule), 1)

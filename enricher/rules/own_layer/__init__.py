"""Turn an edit of the packaged instructions into a layer: a small file of the user's own that has the same effect.

The layer has only the rules that differ: a new rule is copied, a removed one is disabled, and a rule that only gained
list items or got other values is extended. Before the layer is returned, two compilations are compared: the packaged
instructions with the layer, and the edited instructions without it. They must give the same rules.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.document import Problem, read_document
from enricher.rules.compiling.named_files import Files
from enricher.rules.own_layer.entries import entries_for, fitted_sections, with_entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import Document
    from enricher.rules.layers import Layer
    from enricher.rules.own_layer.entries import Entry

ORDERED_KINDS = ("task_type", "search_intent", "approach", "channel")  # of rules with equal scores, the first wins


class LayerError(ValueError):
    """Raised if an edit cannot be written as a layer; each of ``problems`` names a line of the edit and a remedy."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class OwnLayer:
    """The text of a layer, the ids of the rules that were added to it, and the compiled form of the edited text."""

    text: str
    rules: tuple[str, ...]
    compiled: Compiled


def layer_of_edit(
    edited: str, *, opened: str, stack: Sequence[Layer], own: Layer, configuration: Sequence[Layer] = ()
) -> OwnLayer:
    """Return the layer ``own`` with entries added that have the same effect as the edit of the lowest layer.

    ``opened`` is the text of the lowest layer before the edit (an update may have changed its file since). ``stack``
    are all instructions layers, including ``own``. Raises LayerError if a layer cannot have this effect.
    """
    packaged = stack[0].path
    checked = wanted = compile_layers(stack, configuration, texts={packaged: edited, **_absent(own)})
    if wanted.broken and not {one.file for one in wanted.broken} & {packaged, own.path}:
        stack = [stack[0], own]  # a file that this edit did not change is broken
        wanted = compile_layers(stack, texts={packaged: edited, **_absent(own)})
    errors = [one for one in wanted.problems if one.severity == "error" and one.file == packaged]
    if wanted.broken or errors:
        raise LayerError(wanted.broken or errors)
    own_text = next(text for _name, path, text in wanted.texts if path == own.path)
    document = read_document(packaged, edited)
    entries = list(entries_for(opened, edited, called=_called_by_table(wanted), fitted=fitted_sections(wanted)))
    if taken := list(_already_in(own.path, own_text, entries, document)):
        raise LayerError(taken)
    text = with_entries(own_text, entries)
    refuse_other_effect(wanted, text, stack=stack, own=own, below=opened, edited=document)
    return OwnLayer(text, tuple(one.rule for one in entries if one.rule), checked)


def refuse_other_effect(
    wanted: Compiled, text: str, *, stack: Sequence[Layer], own: Layer, below: str, edited: Document
) -> None:
    """Raise LayerError unless the layers, with ``text`` as the content of ``own``, compile to the rules of ``wanted``.

    ``below`` is the text of the lowest layer before the edit. If its file has changed since, the layers must also
    compile with the current file.
    """
    got = compile_layers(stack, texts={stack[0].path: below, own.path: text})
    if problems := list(_differing_rules(wanted, got, edited)):
        raise LayerError(problems)
    # An update of the package may have changed the file since the edit began.
    is_updated = Files().content(stack[0].path) != below
    if is_updated and (broken := compile_layers(stack, texts={own.path: text}).broken):
        raise LayerError(broken)


def _absent(own: Layer) -> dict[str, str]:
    # A file that does not exist yet is read as empty.
    return {} if os.path.exists(own.path) else {own.path: ""}


def _called_by_table(compiled: Compiled) -> set[str]:
    """Return the ids, short names and aliases of the guardrails that a catalogue's table triggers by task type."""
    rows = compiled.guardrails.shorthands
    return {name for row in rows if row.task_types for name in (row.guardrail, row.slug, *row.aliases)}


def _already_in(path: str, own: str, entries: Sequence[Entry], edited: Document) -> Iterator[Problem]:
    lines = {rule.id: rule.line for rule in read_document(path, own).rules}
    for entry in entries:
        if entry.rule in lines:
            title = entry.text.partition("\n")[0]
            message = f"'{title}' is also in your layer, {path}:{lines[entry.rule]}; make this change there"
            yield Problem(edited.file, line_of(entry.rule, edited), "error", message)


def _differing_rules(wanted: Compiled, got: Compiled, edited: Document) -> Iterator[Problem]:
    """Yield a problem for each rule in which ``got`` differs from ``wanted``, with the rule's line in ``edited``."""
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
    # Of the rule that names the catalogues, what these files contain, wherever they are.
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

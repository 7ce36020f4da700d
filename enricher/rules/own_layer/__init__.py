"""Write edited instructions as a small layer with the same effect: only the rules that differ from lower layers.

A new rule is copied, a removed one is disabled, and one that only gained list items or
got other values is extended. Before a layer is returned, the layers are compiled with
it, and the result is compared with the compiled edited text.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.document import Problem, read_document
from enricher.rules.compiling.named.files import Files
from enricher.rules.own_layer.effect import differing_rules, line_of
from enricher.rules.own_layer.entries import entries_for, with_entries
from enricher.rules.own_layer.sections import fitted_sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import Document
    from enricher.rules.layers import Layer
    from enricher.rules.own_layer.entries import Entry


class LayerError(ValueError):
    """The edit cannot be written as a layer; ``problems`` name the lines of the edited text and the remedies."""

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
    """Return ``own`` with the entries that give the layers the same effect as ``edited`` in place of the lowest one.

    ``opened`` is the text before the edit; an update may have changed that file since. ``stack`` are all
    layers as they are on the disk, including ``own``. Raises LayerError.
    """
    packaged = stack[0].path
    checked = wanted = compile_layers(stack, configuration, texts={packaged: edited, **_absent(own)})
    if wanted.broken and not {one.file for one in wanted.broken} & {packaged, own.path}:
        stack = [stack[0], own]  # another file is broken, not because of this edit
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
    """Raise LayerError unless ``text`` in place of ``own`` has the wanted effect, also with the current files.

    ``below`` is the text of the lowest layer on which the edit is based.
    """
    got = compile_layers(stack, texts={stack[0].path: below, own.path: text})
    if problems := list(differing_rules(wanted, got, edited)):
        raise LayerError(problems)
    is_updated = Files().content(stack[0].path) != below
    if is_updated and (broken := compile_layers(stack, texts={own.path: text}).broken):
        raise LayerError(broken)


def _absent(own: Layer) -> dict[str, str]:
    """Return an empty text for the path of a layer that does not exist yet; an empty mapping if it exists."""
    return {} if os.path.exists(own.path) else {own.path: ""}


def _called_by_table(compiled: Compiled) -> set[str]:
    """Return every name of the guardrails for which the table names task types."""
    rows = compiled.guardrails.shorthands
    return {name for row in rows if row.task_types for name in (row.guardrail, row.slug, *row.aliases)}


def _already_in(path: str, own: str, entries: Sequence[Entry], edited: Document) -> Iterator[Problem]:
    lines = {rule.id: rule.line for rule in read_document(path, own).rules}
    for entry in entries:
        if entry.rule in lines:
            title = entry.text.partition("\n")[0]
            message = f"'{title}' is also in your layer, {path}:{lines[entry.rule]}; make this change there"
            yield Problem(edited.file, line_of(entry.rule, edited), "error", message)

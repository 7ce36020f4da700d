"""Format memories (notes that the hook may add to prompts) as table rows and lines of text, without any widget."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enricher.prompt.text import shortened
from storage.memory.memories import short_source
from workbench.tui.widgets.lists.columns import short_time
from workbench.tui.widgets.lists.figures import Heading, TableRow
from workbench.tui.widgets.plain_text import one_line, plain
from workbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from storage.memory.memories import Memory, MemoryUse, Shelf

SHELF = "shelf:"
HEADINGS = (
    Heading("mark", " ", 1),
    Heading("date", "date", 10),
    Heading("namespace", "namespace", 11),
    Heading("memory", "memory", 0),
)
SHELF_HEADINGS = (
    Heading("namespace", "namespace", 0),
    Heading("memories", "all", 7, is_number=True),
    Heading("unreviewed", "?", 5, is_number=True),
)
USE_HEADINGS = (
    Heading("at", "when", 12),
    Heading("type", "task type", 14),
    Heading("prompt", "prompt", 0),
)

_KEPT_APART = re.compile(r"\s*(?:[-*+] |[>|#]|\d+[.)] |```)|\s{4}|\s*$")
"""A line of Markdown that does not continue the line before it."""


def row(one: Memory) -> TableRow:
    """Return a memory as a table row; ``?`` marks a memory that is not approved yet."""
    cells = ("" if one.reviewed else "?", one.created_at[:10], one.namespace, one_line(one.content[:600]))
    return TableRow(one.id, cells, ("accent", "text-muted", "primary", ""))


def shelf_rows(shelves: Iterable[Shelf], chosen: str) -> list[TableRow]:
    """Return table rows with the number of memories, and how many of them are not approved yet.

    The first row counts all memories, each further row those of one namespace. The row of the namespace ``chosen`` is
    marked, or the first row if ``chosen`` is empty.
    """
    every = list(shelves)
    sums = ("", sum(one.memories for one in every), sum(one.unreviewed for one in every))
    return [
        TableRow(
            SHELF + name,
            (f"{'▸' if name == chosen else ' '} {name or 'all'}", f"{count:,}", f"{waiting:,}" if waiting else ""),
            ("", "text-muted", "accent"),
        )
        for name, count, waiting in (sums, *((one.namespace, one.memories, one.unreviewed) for one in every))
    ]


def about(one: Memory) -> str:
    """Return the full text of a memory, followed by its id, state, origin and project."""
    state = "approved" if one.reviewed else "? nobody has approved it yet"
    facts = [
        f"{one.id} · {one.namespace} · {state}",
        f"{one.created_at[:10]} · {one.origin}" + (f" · {short_source(one.source)}" if one.source else ""),
    ]
    if one.tags:
        facts.append(f"tags: {', '.join(one.tags)}")
    if one.path_prefix:
        facts.append(f"about the folder {one.path_prefix}")
    if one.superseded_by:
        facts.append(f"superseded by {one.superseded_by}")
    facts.append(f"project: {one.project}")
    return plain("\n".join([_unwrapped(one.content.strip()), "", *facts]))


def _unwrapped(text: str) -> str:
    """Return Markdown with each paragraph on one line, except after a title, so that the pane can wrap it."""
    lines: list[str] = []
    is_code = False
    for line in text.splitlines():
        is_title = not lines or lines[-1].endswith((":", "```")) or lines[-1].startswith("#")
        if is_code or is_title or not lines[-1].strip() or _KEPT_APART.match(line):
            lines.append(line)
        else:
            lines[-1] += f" {line.strip()}"
        is_code ^= line.lstrip().startswith("```")
    return "\n".join(lines)


def use_row(one: MemoryUse) -> TableRow:
    """Return a table row for a prompt to which a memory was added."""
    cells = (short_time(one.at, long=True), one.task_type or "-", one_line(one.prompt))
    return TableRow(one.id, cells, ("text-muted", "primary", ""))


def uses_title(prompts: int) -> str:
    """Return the title above the list of prompts to which a memory was added; ``prompts`` is their number."""
    return f"told to {counted(prompts, 'prompt')}" if prompts else "told to no prompt yet"


def preview(one: Memory, chars: int) -> str:
    """Return the beginning of a memory as one line of about ``chars`` characters."""
    return shortened(one_line(one.content[: chars * 2]), chars)  # twice as many, as runs of blanks become one


def deletion_warning(one: Memory) -> str:
    """Return the warning that the user reads before a memory is deleted for good."""
    text = (
        f"{preview(one, 200)}\n\nIt is deleted from the database and from its search index; nothing "
        "brings it back. Prompts that were told it keep their record."
    )
    if one.source:
        text += f"\n\nIt came from {one.source}: an import brings it back while it is written there."
    return text

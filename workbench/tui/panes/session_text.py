"""A session as text: its prompts in order, with every change of the task type marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from workbench.tui.panes.trace_text import heading
from workbench.tui.widgets.lists.columns import MARKS, short_time
from workbench.tui.widgets.plain_text import fit, one_line, plain
from workbench.views.outcomes import drifts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from storage.traces.trace_pages import TraceLine

TYPE_CELLS = 16


def session_text(lines: Sequence[TraceLine], chosen: str, *, width: int) -> Content:
    """Return the prompts, oldest first; ``chosen`` is the id of the marked one."""
    if not lines:
        return Content("")
    changes = drifts(lines)
    stays = {0: "the class stays", 1: "the class changes once"}.get(
        len(changes), f"the class changes {len(changes)} times"
    )
    counts = f"{len(lines)} prompts, {stays}" if len(lines) > 1 else "one prompt"
    found = [heading("Session", f"{lines[0].session_id[:20]}"), Content.styled(counts, "$text-muted"), Content("")]
    prompt_cells = max(10, width - TYPE_CELLS - 14)
    for line in lines:
        mark = "▸" if line.id == chosen else " "
        drift = "↳" if line.id in changes else " "
        text = fit(one_line(line.prompt), prompt_cells)
        row = (
            f"{mark} {short_time(line.at):>6} {MARKS.get(line.status, '?')} ",
            (
                f"{drift}{fit(plain(line.task_type) + '?' * line.uncertain, TYPE_CELLS)}",
                "$primary" if line.id in changes else "",
            ),
            f" {text}",
        )
        found.append(Content.assemble(*row).stylize("bold") if line.id == chosen else Content.assemble(*row))
    found += [Content(""), Content.styled("↳ another class than the prompt before", "$text-muted")]
    return Content("\n").join(found)

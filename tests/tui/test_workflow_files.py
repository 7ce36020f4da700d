"""A workflow's file is edited in the app, with its effect in sight, and the next plan is written from it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from instructing import edited, instructions, own_layer, settled
from piloting import run_workbench, screen_text, until

sys.path.append(str(Path(__file__).parents[1] / "hydration"))

from test_catalogue import INDEX, NAMES, PAINTING, PROMPT

from workbench.edits import instructions_file as files

if TYPE_CHECKING:
    from simulator import Account


@pytest.mark.slow
async def test_a_workflow_that_was_saved_in_the_app_changes_the_next_plan(
    library: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_layer(library, monkeypatch)
    library.instruct(NAMES)
    library.write("config/WORKFLOWS.md", INDEX)
    file = library.write("config/workflows/painting.md", PAINTING)
    library.compile()
    library.env["ENRICHER_MODE"] = "hydrate"
    assert "**Workflow**: painting (Looked at)" in library.ask_patiently(PROMPT).context

    async with run_workbench(library.state, size=(120, 40), screen="instructions") as (app, pilot):
        await settled(app, pilot, "identical")
        shown = [one.path for one in (*files.choices(str(library.project)), *files.named_files(str(library.project)))]
        assert str(file) in shown
        down = shown.index(str(file)) - shown.index(str(library.config / "instructions.md"))
        await pilot.press("f")
        await until(pilot, lambda: "Which instructions?" in screen_text(app))
        await pilot.press(*["j"] * down, "enter")
        await until(pilot, lambda: "painting.md" in screen_text(app).splitlines()[1])
        await settled(app, pilot, "identical")
        await edited(app, pilot, PAINTING.replace("Looked at", "Dry"), "changed")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: not instructions(app).is_unsaved)

    assert "**Workflow**: painting (Dry)" in library.ask_patiently(PROMPT, session_id="after the edit").context

"""``enricher workbench``: start the terminal app, in which users look at prompts and edit the instructions."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options

if TYPE_CHECKING:
    from storage.traces.selection import Selection


@click.command("workbench", epilog='Example: enricher workbench --screen traces --where "type:debug since:2d"')
@click.option("--screen", default="", metavar="NAME", help="The screen to start with; default: the one shown last.")
@options.where(default=None)
@options.instructions_file(default="the nearest file that you can edit")
@click.option("--web", is_flag=True, help="Serve it to a browser on this machine, at an address with a token.")
def workbench(screen: str, selection: Selection | None, instructions: str | None, *, web: bool) -> None:
    """Open the workbench: look at recorded prompts, edit the instructions, and see what each edit changes."""
    from workbench.tui.screens import SCREENS, place

    if screen and place(screen) is None:
        known = ", ".join(one.name for one in SCREENS)
        raise click.BadParameter(f"there is no screen {screen!r}; the screens are: {known}", param_hint="--screen")
    file = os.path.abspath(instructions) if instructions else ""
    if web:
        given = {"--screen": screen, "--where": selection.typed if selection else "", "--instructions": file}
        _serve([word for name, value in given.items() if value for word in (name, value)])
        return
    if not _has_terminal():
        raise click.ClickException("the workbench needs a terminal; without one, use: enricher trace list --json")
    from workbench.tui.app import Workbench

    app = Workbench(
        state_dir(),
        screen=screen,
        selection=None if selection is None else selection.typed,
        instructions=file,
    )
    app.run()
    sys.exit(app.return_code or 0)


def _serve(given: list[str]) -> None:
    try:
        from workbench.tui.in_browser import WorkbenchServer
    except ModuleNotFoundError as missing:
        if str(missing.name).partition(".")[0] not in ("textual_serve", "aiohttp"):  # aiohttp: textual-serve needs it
            raise
        hint = "--web needs textual-serve; install it: pip install 'textual-serve>=1.1.3'"
        raise click.ClickException(hint) from missing
    WorkbenchServer(given).run()


def _has_terminal() -> bool:
    """Return whether the app can be shown: in a terminal, or in a browser by textual-serve, which uses pipes."""
    return bool(os.environ.get("TEXTUAL_DRIVER")) or (sys.stdin.isatty() and sys.stdout.isatty())

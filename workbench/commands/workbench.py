"""``enricher workbench``: start the app."""

from __future__ import annotations

import os
import sys

import click

from enricher.home import state_dir


@click.command("workbench")
@click.option("--screen", default="", metavar="NAME", help="The screen to begin with; else the last one.")
@click.option("--filter", "selection", default=None, metavar="TEXT", help='Which traces, like "type:debug since:2d".')
@click.option(
    "--instructions",
    type=click.Path(exists=True, dir_okay=False),
    default=None,
    help="The instructions to work on; else the nearest file that you edit.",
)
def workbench(screen: str, selection: str | None, instructions: str | None) -> None:
    """Look at the prompts, tune the instructions, see what an edit would change; in this terminal."""
    from workbench.tui.screens import SCREENS, place

    if screen and place(screen) is None:
        known = ", ".join(one.name for one in SCREENS)
        raise click.BadParameter(f"{screen!r} is no screen; known: {known}", param_hint="--screen")
    if selection:
        _check(selection)
    if not _has_terminal():
        raise click.ClickException("the workbench needs a terminal; for programs there is: enricher trace list --json")
    from workbench.tui.app import Workbench

    app = Workbench(
        state_dir(),
        screen=screen,
        selection=selection,
        instructions=os.path.abspath(instructions) if instructions else "",
    )
    app.run()
    sys.exit(app.return_code or 0)


def _check(selection: str) -> None:
    from storage.traces.selection import SelectionError, parse

    try:
        parse(selection)
    except SelectionError as error:
        raise click.BadParameter(str(error), param_hint="--filter") from error


def _has_terminal() -> bool:
    """Return whether the app can be shown: in a terminal, or in a browser by textual serve, which uses pipes."""
    return bool(os.environ.get("TEXTUAL_DRIVER")) or (sys.stdin.isatty() and sys.stdout.isatty())

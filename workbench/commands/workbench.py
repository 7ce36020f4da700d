"""``enricher workbench``: start the app."""

from __future__ import annotations

import os
import shlex
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
@click.option("--web", is_flag=True, help="Show it in a browser, at an address of this machine that holds a token.")
@click.option("--port", default=0, metavar="PORT", help="The port of --web; default: a free one.")
def workbench(screen: str, selection: Selection | None, instructions: str | None, web: bool, port: int) -> None:
    """Open the workbench: look at recorded prompts, edit the instructions, and see what each edit changes."""
    from workbench.tui.screens import SCREENS, place

    if screen and place(screen) is None:
        known = ", ".join(one.name for one in SCREENS)
        raise click.BadParameter(f"there is no screen {screen!r}; the screens are: {known}", param_hint="--screen")
    if web:
        _serve(screen, selection, instructions, port)
        return
    if not _has_terminal():
        raise click.ClickException("the workbench needs a terminal; without one, use: enricher trace list --json")
    from workbench.tui.app import Workbench

    app = Workbench(
        state_dir(),
        screen=screen,
        selection=None if selection is None else selection.typed,
        instructions=os.path.abspath(instructions) if instructions else "",
    )
    app.run()
    sys.exit(app.return_code or 0)


def _serve(screen: str, selection: Selection | None, instructions: str | None, port: int) -> None:
    """Serve the app until it is interrupted; each visitor gets a process with the same options."""
    try:
        from workbench.web.server.browser_app import BrowserApp
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("aiohttp", "textual_serve"):
            raise
        remedy = 'the package textual-serve is missing; install it with: pip install "prompt-enricher[web]"'
        raise click.ClickException(remedy) from error
    command = [sys.executable, "-c", "from enricher.interfaces.cli import main; main()", "workbench"]
    command += ["--screen", screen] if screen else []
    command += ["--where", selection.typed] if selection else []
    command += ["--instructions", os.path.abspath(instructions)] if instructions else []
    try:
        server = BrowserApp(shlex.join(command), port)
    except (OSError, OverflowError) as error:
        raise click.ClickException(f"port {port} cannot be used: {error}; choose another with --port") from error
    server.serve()


def _has_terminal() -> bool:
    """Return whether the app can be shown: in a terminal, or in a browser by textual serve, which uses pipes."""
    return bool(os.environ.get("TEXTUAL_DRIVER")) or (sys.stdin.isatty() and sys.stdout.isatty())

"""``enricher publish``: the history in a browser."""

from __future__ import annotations

import click

from enricher.home import state_dir


@click.command("publish")
@click.option("--port", default=8765, show_default=True, help="The port; the next free one where it is taken.")
def publish(port: int) -> None:
    """Show the history in a browser."""
    import uvicorn

    from storage import database
    from storage.traces import DATABASE
    from workbench.publication.serving import datasette_over
    from workbench.publication.upkeep import catch_up

    db = database.connect(state_dir())
    catch_up(db)
    app = datasette_over(f"{state_dir()}/{DATABASE}", is_immutable=False).app()
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")

"""``enricher publish``: show the history in a browser, live for this account, as a snapshot for others."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import sys
from typing import TYPE_CHECKING

import click

from enricher.home import state_dir
from enricher.interfaces.cli.output import printable
from workbench.web.snapshot.columns import TEXTS

if TYPE_CHECKING:
    import socket

    from workbench.web.reading.history import Publication

PORT = 8765
PASSWORD = "ENRICHER_PUBLISH_PASSWORD"
PASSWORD_BYTES = 18
SERVING = ("port", "is_opened", "host", "password_file", "allowed", "base_url")


@click.command("publish")
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option(
    "--snapshot", metavar="FILE", type=click.Path(dir_okay=False), help="Write a snapshot there, and show nothing."
)
@click.option(
    "--serve/--no-serve",
    "is_shown",
    default=None,
    help="With --snapshot: show it once it is written, or not (default).",
)
@click.option(
    "--text",
    type=click.Choice(TEXTS),
    help="With --snapshot: texts without secrets and names, which is the default; none; or as they are stored.",
)
@click.option("--yes", "is_sure", is_flag=True, help="With --text full: do not ask.")
@click.option(
    "--port",
    default=PORT,
    show_default=True,
    type=click.IntRange(0, 65_535),
    help="The next free one where it is taken; 0: any.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open it in the browser.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Another address: snapshots only, with a password."
)
@click.option(
    "--password-file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help=f"Its first line is the password; else {PASSWORD}; else one is made where one is needed.",
)
@click.option(
    "--allow-host", "allowed", metavar="NAME", multiple=True, help="A name under which it may be asked for, too."
)
@click.option("--base-url", default="/", show_default=True, metavar="/PATH/", help="Where a reverse proxy shows it.")
@click.option(
    "--write-config",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    help="Write what a plain datasette serve needs to show a snapshot; show nothing.",
)
def publish(
    file: str | None,
    snapshot: str | None,
    is_shown: bool | None,
    text: str | None,
    is_sure: bool,
    port: int,
    is_opened: bool,
    host: str,
    password_file: str | None,
    allowed: tuple[str, ...],
    base_url: str,
    write_config: str | None,
) -> None:
    """Show the history in a browser: the live one, or the snapshot FILE.

    What is live is shown on this machine only; --snapshot writes one and ends. A snapshot holds what the
    pages need, by default without secrets, this account's names, and folders; it may be shown to others.
    """  # fmt: skip
    from workbench.web.server.addresses import is_loopback

    base_url = _base(base_url)
    if write_config:
        _write_config(write_config, allowed, base_url)
        return
    if file and snapshot:
        raise click.UsageError("FILE is shown as it is; --snapshot writes one: give one of the two")
    if is_shown is not None and not snapshot:
        raise click.UsageError(
            "--serve and --no-serve go with --snapshot FILE; what is written already is always shown"
        )
    if snapshot and is_shown is None and (unused := _given(*SERVING)):
        raise click.UsageError(f"{unused} is for showing the snapshot: add --serve, or leave it out")
    is_shown = is_shown or not snapshot
    if text and not snapshot:
        raise click.UsageError("--text goes with --snapshot FILE: what is shown otherwise is shown as it is")
    if not is_loopback(host) and not (file or snapshot):
        raise click.UsageError(
            "the live history is shown on this machine only; for others: "
            f"enricher publish --snapshot FILE --serve --host {host}"
        )
    password = _password(password_file, is_needed=not is_loopback(host) and is_shown)
    said = _said(file, snapshot, text or TEXTS[0], is_sure=is_sure)
    if not is_shown:
        return
    plugin = _plugin(host, allowed, password)
    _serve(file or snapshot or "", said, plugin, (host, port), base_url=base_url, is_opened=is_opened)


def _given(*names: str) -> str:
    """Return the first of these options that was given on the command line; empty if none was."""
    context = click.get_current_context()
    given = {name for name in names if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE}
    return next((one.opts[0] for one in context.command.params if one.name in given), "")


def _said(file: str | None, snapshot: str | None, text: str, *, is_sure: bool) -> Publication | None:
    """Return the description of the snapshot, which is written now if requested; None for the live history."""
    from workbench.commands.publish_snapshot import written
    from workbench.web.snapshot import writing as snapshots

    try:
        if snapshot:
            return written(snapshot, text, is_sure=is_sure)
        if file:
            return snapshots.read(file)
        _prepare()
    except snapshots.SnapshotError as refusal:
        raise click.ClickException(printable(refusal)) from refusal
    return None


def _prepare() -> None:
    """Create or migrate the database if needed; an up-to-date one is opened later, by the upkeep thread."""
    from storage import traces
    from storage.base import reader
    from storage.db import database

    try:
        with contextlib.closing(reader.open_reader(f"{state_dir()}/{traces.DATABASE}")) as db:
            if int(db.execute("pragma user_version").fetchone()[0]) == traces.SCHEMA_VERSION:
                return
    except (reader.ReaderError, sqlite3.Error):
        pass  # connecting creates it, or reports the error
    try:
        database.connect(state_dir()).close()
    except database.StorageError as failure:
        raise click.ClickException(printable(failure)) from failure


def _password(file: str | None, *, is_needed: bool) -> str:
    """Return the password, generated if ``is_needed``, else maybe empty; raises click.ClickException if too short."""
    from workbench.web.server.guard import SHORTEST_PASSWORD

    given = os.environ.get(PASSWORD, "")
    if file:
        try:
            with open(file, encoding="utf-8") as source:
                given = source.readline().strip()
        except (OSError, UnicodeDecodeError) as failure:
            raise click.ClickException(printable(f"{file} cannot be read: {failure}")) from failure
    if (given or file) and len(given.encode()) < SHORTEST_PASSWORD:
        raise click.ClickException(f"the password has to have {SHORTEST_PASSWORD} characters or more")
    if not given and is_needed:
        given = secrets.token_urlsafe(PASSWORD_BYTES)
        click.echo(f"Password (any user name): {given}", err=True)
    return given


def _plugin(host: str, allowed: tuple[str, ...], password: str) -> dict[str, object]:
    """Return the plugin's configuration, without the password itself, because Datasette shows it to readers."""
    from workbench.web.server.addresses import names_of

    plugin: dict[str, object] = {"home": True, "allowed_hosts": [*names_of(host), *allowed]}
    if password:
        os.environ[PASSWORD] = password
        plugin["password_env"] = PASSWORD
    return plugin


def _base(url: str) -> str:
    parts = [part for part in url.split("/") if part]
    if not url.startswith("/") or not url.isascii() or any(part in (".", "..") for part in parts):
        raise click.BadParameter(f"{url!r} is no path like /history/", param_hint="--base-url")
    return f"/{'/'.join(parts)}/" if parts else "/"


def _serve(
    path: str,
    said: Publication | None,
    plugin: dict[str, object],
    where: tuple[str, int],
    *,
    base_url: str,
    is_opened: bool,
) -> None:
    from storage.traces import DATABASE
    from workbench.web.server import serving
    from workbench.web.server.addresses import announced, is_loopback, names_of
    from workbench.web.server.upkeep import kept_up

    host, port = where
    try:
        own = serving.listening(host, port)
        served = serving.datasette_over(
            path or f"{state_dir()}/{DATABASE}", is_immutable=bool(path), plugin=plugin, base_url=base_url
        )
        url = _address(names_of(host)[0], own) + base_url
        with serving.told_to_end() as asked, contextlib.ExitStack() as stack:
            if not path:
                stack.enter_context(kept_up(state_dir(), lambda line: click.echo(printable(line), err=True)))

            def is_up() -> None:
                stack.enter_context(announced(state_dir(), url))
                _tell(url, said, taken=port if port not in (0, own.getsockname()[1]) else 0)
                _lead_there(url, own.getsockname()[1] if is_loopback(host) else 0, is_opened=is_opened)

            serving.serve(served, own, asked, is_up=is_up)
    except serving.ServingError as failure:
        raise click.ClickException(printable(failure)) from failure


def _address(host: str, own: socket.socket) -> str:
    named = f"[{host}]" if ":" in host else host
    return f"http://{named}:{own.getsockname()[1]}"


def _tell(url: str, said: Publication | None, *, taken: int) -> None:
    if taken:
        click.echo(f"Port {taken} is taken.", err=True)
    click.echo(url)
    sys.stdout.flush()
    from workbench.commands.publish_snapshot import described

    shown = f"A snapshot: {described(said)}." if said else "The live history, for this machine only."
    click.echo(f"{shown} Ctrl-C ends it.", err=True)


def _lead_there(url: str, port: int, *, is_opened: bool) -> None:
    """Open a browser, or print how to reach the server; ``port`` is 0 if no forwarding is needed."""
    from workbench.web.server import addresses

    for line in addresses.forwarding(port) if port else ():
        click.echo(line, err=True)
    if is_opened and addresses.can_open_a_browser():
        import webbrowser

        webbrowser.open(url)
    elif is_opened:
        click.echo("No browser is opened here: it would be on this machine.", err=True)


def _write_config(folder: str, allowed: tuple[str, ...], base_url: str) -> None:
    from workbench.web.server import files as server_files

    plugin: dict[str, object] = {
        "home": True,
        "allowed_hosts": [*(allowed or ("localhost",))],
        "password_env": PASSWORD,
    }
    try:
        for path in server_files.write(folder, plugin=plugin, base_url=base_url):
            click.echo(printable(path))
    except OSError as failure:
        raise click.ClickException(printable(failure)) from failure

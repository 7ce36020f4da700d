"""``enricher publish``: show the history in a browser, either live on this machine or as a snapshot for others."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import sys
from typing import TYPE_CHECKING

import click

from enricher.home import state_dir
from enricher.interfaces.cli import options
from enricher.interfaces.cli.output import printable, progress_bar
from workbench.web.snapshot.columns import TEXTS
from workbench.wording import counted

if TYPE_CHECKING:
    import socket

    from workbench.web.reading.history import Publication

PORT = 8765
PASSWORD = "ENRICHER_PUBLISH_PASSWORD"
PASSWORD_BYTES = 18  # random bytes, which make 24 characters
# Options that only have an effect if the pages are shown.
SERVING = ("port", "is_opened", "host", "password_file", "allowed", "base_url")
STEPS = {
    "traces": "prompts", "trace_scores": "scores", "trace_stages": "stages", "index": "index", "sums": "sums",
    "explanations": "reasons",
}  # fmt: skip


@click.command("publish", epilog="Example: enricher publish --snapshot history.db")
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option(
    "--snapshot",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write a snapshot to this file, and do not show it.",
)
@click.option("--serve", "is_shown", is_flag=True, help="With --snapshot: show it after it is written.")
@click.option(
    "--text",
    type=click.Choice(TEXTS),
    help="With --snapshot: redacted (default): texts without secrets and names; hash: no texts; full: texts as stored.",
)
@options.without_asking
@click.option(
    "--port",
    default=PORT,
    show_default=True,
    type=click.IntRange(0, 65_535),
    help="The port, or the next free one if it is taken; 0: any.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the pages in your browser.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; others than this machine's need a snapshot and a password.",
)
@click.option(
    "--password-file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help=f"Read the password from the first line; default: ${PASSWORD}, or a generated one if one is needed.",
)
@click.option(
    "--allow-host",
    "allowed",
    metavar="NAME",
    multiple=True,
    help="Also answer requests for this host name; repeatable.",
)
@click.option(
    "--base-url",
    default="/",
    show_default=True,
    metavar="/PATH/",
    help="The path under which a reverse proxy serves the pages.",
)
@click.option(
    "--write-config",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    help="Write the configuration with which a plain `datasette serve` shows a snapshot, and stop.",
)
def publish(
    file: str | None,
    snapshot: str | None,
    is_shown: bool,
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
    """Show your history in a browser, or the snapshot FILE.

    The live history can be reached from this machine only. To show it to others, write a snapshot with --snapshot:
    it contains what the pages need, by default without secrets, without the names of this account and without paths.
    """
    from workbench.web.server.addresses import is_loopback

    base_url = _base_path(base_url)
    if write_config:
        _write_config(write_config, allowed, base_url)
        return
    is_local = is_loopback(host)
    _refuse_unusable(file, snapshot, text, "" if is_local else host, is_shown=is_shown)
    is_shown = is_shown or not snapshot
    password = _password(password_file, is_needed=not is_local and is_shown)
    publication = _source(file, snapshot, text or TEXTS[0], is_sure=is_sure)
    if not is_shown:
        return
    plugin = _plugin(host, allowed, password)
    _serve(file or snapshot or "", publication, plugin, (host, port), base_url=base_url, is_opened=is_opened)


def _refuse_unusable(
    file: str | None, snapshot: str | None, text: str | None, other_host: str, *, is_shown: bool
) -> None:
    """Raise a usage error if options exclude each other or would have no effect.

    ``other_host`` is the address at which other machines could reach the server; it is empty if none can.
    """
    if file and snapshot:
        raise click.UsageError("FILE shows an existing snapshot and --snapshot writes a new one; use only one of them")
    if is_shown and not snapshot:
        raise click.UsageError("--serve can only be used with --snapshot FILE")
    if snapshot and not is_shown and (unused := _first_serving_option()):
        raise click.UsageError(f"{unused} only matters if the snapshot is shown: add --serve, or leave {unused} out")
    if text and not snapshot:
        raise click.UsageError("--text can only be used with --snapshot FILE")
    if other_host and not (file or snapshot):
        raise click.UsageError(
            "the live history is shown on this machine only; to show a snapshot to others, run: "
            f"enricher publish --snapshot FILE --serve --host {other_host}"
        )


def _first_serving_option() -> str:
    """Return the first option of SERVING that was given on the command line; empty if none was."""
    context = click.get_current_context()
    given = {name for name in SERVING if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE}
    return next((one.opts[0] for one in context.command.params if one.name in given), "")


def _source(file: str | None, snapshot: str | None, text: str, *, is_sure: bool) -> Publication | None:
    """Return the description of the snapshot ``file``, or of a new one, which is written to the path ``snapshot``.

    If both are empty, prepare the database for showing the live history, and return None.
    """
    from storage.db.database import StorageError
    from workbench.web.snapshot import writing

    try:
        if snapshot:
            return _write_snapshot(snapshot, text, is_sure=is_sure)
        if file:
            return writing.read(file)
        _prepare()
    except (writing.SnapshotError, StorageError) as refusal:
        raise click.ClickException(printable(refusal)) from refusal
    return None


def _write_snapshot(path: str, text: str, *, is_sure: bool) -> Publication:
    """Write a snapshot of the user's history to ``path`` and return its description.

    Raises SnapshotError, StorageError, or click.ClickException if the file cannot be written.
    """
    from storage.db import database
    from workbench.web.snapshot import writing

    writing.may_be_written(path)  # before the questions and the minutes of work
    try:
        with database.opened(state_dir()) as db:
            if text == "full":
                _reveal(db, is_sure=is_sure)
            publication = _measure_and_write(db, path, text)
    except (OSError, sqlite3.Error) as failure:
        raise click.ClickException(printable(f"{path} cannot be written: {failure}")) from failure
    size = os.stat(path).st_size / 1e6
    click.echo(printable(f"{path}: {_described(publication)}, {size:,.1f} MB"), err=True)
    return publication


def _described(publication: Publication) -> str:
    """Return a phrase that describes a snapshot: the number of prompts, the period, and how texts were treated."""
    kept = {"redacted": "texts redacted", "hash": "no texts", "full": "texts as stored"}[publication.text]
    span = f" from {publication.since[:10]} to {publication.until[:10]}" if publication.prompts else ""
    return f"{counted(publication.prompts, 'prompt')}{span}, {kept}"


def _measure_and_write(db: sqlite3.Connection, path: str, text: str) -> Publication:
    from workbench.web.server import upkeep
    from workbench.web.server.serving import stop_signals
    from workbench.web.snapshot import writing

    with stop_signals() as asked, progress_bar(STEPS["sums"]) as bar:

        def advance(step: str, done: int, total: int) -> None:
            if bar:
                bar(done, total, STEPS.get(step, "the rest"))

        upkeep.catch_up(db, should_stop=asked.is_set)  # a snapshot copies coverage and the word index's numbers
        if asked.is_set():
            raise writing.InterruptedSnapshotError("interrupted: no snapshot was written")
        return writing.write(state_dir(), path, text=text, should_stop=asked.is_set, advance=advance)


def _reveal(db: sqlite3.Connection, *, is_sure: bool) -> None:
    """Print what the readers of a snapshot with full texts could see, and ask for confirmation.

    Raises click.ClickException if the user does not confirm.
    """
    from workbench.web.snapshot.writing import revealed

    seen = revealed(db)
    span = f"from {seen.since[:10]} to {seen.until[:10]}" if seen.prompts else "none yet"
    click.echo(
        "With --text full, everyone who has the file or can open the pages can read, as stored:\n"
        f"  {seen.prompts:,} prompts as typed, {span}, without recognised secrets, and what was added to them\n"
        f"  {seen.memories:,} quoted memories\n"
        f"  {seen.projects:,} projects, {seen.folders:,} folders of this machine, {seen.sessions:,} session ids",
        err=True,
    )
    if is_sure:
        return
    if not sys.stdin.isatty():
        raise click.ClickException(
            "nothing was written: there is no terminal to ask for confirmation; add --yes to write the snapshot"
        )
    if not click.confirm("Write the snapshot?", default=False, err=True):
        raise click.ClickException("nothing was written, because you did not confirm")


def _prepare() -> None:
    """Create or migrate the database unless it already has the current schema; raises StorageError.

    If it has, it is not opened for writing here; the upkeep thread brings it up to date later.
    """
    from storage.db import database

    if not database.is_current(state_dir()):
        database.connect(state_dir()).close()


def _password(file: str | None, *, is_needed: bool) -> str:
    """Return the password for the pages, from ``file`` or else from the environment.

    If there is neither, return an empty string or, with ``is_needed``, a new random password, which is also printed.
    Raises click.ClickException if the file cannot be read or the password is too short.
    """
    from workbench.web.server.guard import SHORTEST_PASSWORD

    given = os.environ.get(PASSWORD, "")
    if file:
        try:
            with open(file, encoding="utf-8") as source:
                given = source.readline().strip()
        except (OSError, UnicodeDecodeError) as failure:
            raise click.ClickException(printable(f"{file} cannot be read: {failure}")) from failure
    if (given or file) and len(given.encode()) < SHORTEST_PASSWORD:  # also if the file is empty
        raise click.ClickException(f"the password is too short; it needs at least {SHORTEST_PASSWORD} characters")
    if not given and is_needed:
        given = secrets.token_urlsafe(PASSWORD_BYTES)
        click.echo(f"Password (any user name): {given}", err=True)
    return given


def _plugin(host: str, allowed: tuple[str, ...], password: str) -> dict[str, object]:
    """Return the configuration of the Datasette plugin.

    Readers of the pages can see it, so the password is passed in an environment variable instead.
    """
    from workbench.web.server.addresses import names_of

    plugin: dict[str, object] = {"home": True, "allowed_hosts": [*names_of(host), *allowed]}
    if password:
        os.environ[PASSWORD] = password
        plugin["password_env"] = PASSWORD
    return plugin


def _base_path(url: str) -> str:
    parts = [part for part in url.split("/") if part]
    # The path of an HTTP request is ASCII.
    if not url.startswith("/") or not url.isascii() or any(part in (".", "..") for part in parts):
        raise click.BadParameter(f"{url!r} is not a path such as /history/", param_hint="--base-url")
    return f"/{'/'.join(parts)}/" if parts else "/"


def _serve(
    path: str,
    publication: Publication | None,
    plugin: dict[str, object],
    where: tuple[str, int],
    *,
    base_url: str,
    is_opened: bool,
) -> None:
    from storage.traces import DATABASE
    from workbench.web.server import serving
    from workbench.web.server.addresses import announced, is_loopback, names_of
    from workbench.web.server.upkeep import maintained

    host, port = where
    try:
        own = serving.listening(host, port)  # first, because a port that cannot be had ends the command
        served = serving.datasette_over(
            path or f"{state_dir()}/{DATABASE}", is_immutable=bool(path), plugin=plugin, base_url=base_url
        )
        url = _address(names_of(host)[0], own) + base_url
        # The stack, because the address is announced only once the server is up, and until this block ends.
        with serving.stop_signals() as asked, contextlib.ExitStack() as stack:
            if not path:
                stack.enter_context(maintained(state_dir(), lambda line: click.echo(printable(line), err=True)))

            def is_up() -> None:
                stack.enter_context(announced(state_dir(), url))
                _print_address(url, publication, taken=port if port not in (0, own.getsockname()[1]) else 0)
                sign_in = "" if path else serving.sign_in_address(served, url)  # a snapshot is labelled without
                if sign_in:
                    click.echo(f"To label prompts in the browser, sign in once at {sign_in}", err=True)
                # Another address than this machine's own is reached without forwarding.
                forwarded = own.getsockname()[1] if is_loopback(host) else 0
                _open_browser(sign_in or url, forwarded, is_opened=is_opened)

            serving.serve(served, own, asked, is_up=is_up)
    except serving.ServingError as failure:
        raise click.ClickException(printable(failure)) from failure


def _address(host: str, own: socket.socket) -> str:
    named = f"[{host}]" if ":" in host else host
    return f"http://{named}:{own.getsockname()[1]}"


def _print_address(url: str, publication: Publication | None, *, taken: int) -> None:
    if taken:
        click.echo(f"Port {taken} is already in use, so another one was chosen.", err=True)
    click.echo(url)
    sys.stdout.flush()  # a program that started this one waits for the address
    shown = f"A snapshot: {_described(publication)}." if publication else "The live history, for this machine only."
    click.echo(f"{shown} Press Ctrl-C to stop.", err=True)


def _open_browser(url: str, port: int, *, is_opened: bool) -> None:
    """Open a browser if ``is_opened`` is true and one can be shown to the user.

    If ``port`` is not 0, first print how a user at another machine can forward that port.
    """
    from workbench.web.server import addresses

    for line in addresses.forwarding(port) if port else ():
        click.echo(line, err=True)
    if is_opened and addresses.can_open_a_browser():
        import webbrowser

        webbrowser.open(url)
    elif is_opened:
        click.echo("No browser was opened, because it would open on this machine and not on yours.", err=True)


def _write_config(folder: str, allowed: tuple[str, ...], base_url: str) -> None:
    from workbench.web.server import serving

    plugin: dict[str, object] = {
        "home": True,
        "allowed_hosts": [*(allowed or ("localhost",))],  # an empty list would allow every name
        "password_env": PASSWORD,
    }
    try:
        for path in serving.write_files(folder, plugin=plugin, base_url=base_url):
            click.echo(printable(path))
    except OSError as failure:
        raise click.ClickException(printable(failure)) from failure

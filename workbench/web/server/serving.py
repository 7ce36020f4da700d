"""Create and run a Datasette that serves the recorded prompts (the history), and write configuration files for one.

It serves either the live database, or a snapshot that was written for others.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, Any

import yaml

from storage.base import private
from workbench.web.native.description import described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from datasette.app import Datasette

DATABASE = "history"
SETTINGS = {
    "suggest_facets": False,  # otherwise Datasette tries every column: 1.4 s for each page with a million prompts
    "facet_time_limit_ms": 500,
    "sql_time_limit_ms": 2000,
    "default_page_size": 50,
    "truncate_cells_html": 400,
    "allow_download": False,
    "allow_csv_stream": True,
    "num_sql_threads": 2,  # SQL that readers write runs in other processes (native/query_processes.py)
}
HOW_MANY_PORTS = 50  # tried from the requested one on, if that is in use
GRACE_S = 3  # for which a download may continue after the server was asked to stop
START_S = 30.0
LOOK_EVERY_S = 0.02  # for the flag that uvicorn sets when it has started
END_EVERY_S = 0.1  # for a request to end; uvicorn's own loop wakes as often
METADATA, CONFIGURATION, SETTINGS_FILE = "metadata.yaml", "datasette.yaml", "settings.json"
MARK = "# Written by enricher publish --write-config; written anew by the same command."


class ServingError(Exception):
    """Raised if the history cannot be served; the user sees the message instead of a traceback."""


def datasette_over(
    path: str, *, is_immutable: bool, plugin: dict[str, object] | None = None, base_url: str = "/"
) -> Datasette:
    """Return a Datasette (0.65 or 1.0) that serves the file ``path``, and no other, as the database "history".

    ``plugin`` is the configuration of our plugin. The file is not opened for writing.
    """
    from datasette.app import Datasette

    from workbench.web.native.database import HistoryDatabase

    ours = described(DATABASE, plugin=plugin or {})
    served = Datasette(memory=False, settings={**SETTINGS, "base_url": base_url}, **ours)
    served.remove_database("_memory")
    served.add_database(HistoryDatabase(served, path=path, is_mutable=not is_immutable), name=DATABASE)
    return served


def sign_in_address(served: Datasette, url: str) -> str:
    """Return an address that works once and signs the reader in as Datasette's actor "root".

    ``url`` is the address of the home page.
    """
    return f"{url}-/auth-token?token={served._root_token}"  # noqa: SLF001 (as Datasette's own command prints it)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens at this host and port, or at one of the next ports if it is in use.

    With port 0, the system chooses one. Raises ServingError if no port can be used.
    """
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as failure:
        raise ServingError(f"{host} is no address of this machine: {failure}") from failure
    refusal: OSError | None = None
    for wanted in range(port, min(port + HOW_MANY_PORTS, 65_536)) if port else (0,):
        own = socket.socket(family, kind, protocol)
        try:
            # Otherwise a port that an ended server had is in use until its last connections time out.
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            own.bind((address[0], wanted, *address[2:]))
            own.listen(128)
        except OSError as failure:
            own.close()
            refusal = failure
        else:
            return own
    raise ServingError(f"no port from {port} on can be had at {host}: {refusal}") from refusal


class EndRequest:
    """A flag that a signal handler may set to request the end of the server.

    A ``threading.Event`` would block for ever if a second signal arrived while the handler of the first has its lock.
    """

    def __init__(self) -> None:
        self._is_asked = False

    def ask(self, _signal: int = 0, _frame: object = None) -> None:
        """Request the end of the server; this method can be used as a signal handler."""
        self._is_asked = True

    def is_set(self) -> bool:
        """Return whether the end of the server was requested."""
        return self._is_asked


@contextlib.contextmanager
def stop_signals() -> Iterator[EndRequest]:
    """Yield an event; during the ``with`` block, Ctrl-C, SIGTERM and SIGHUP set it instead of ending the process."""
    asked = EndRequest()
    # Windows has no SIGHUP.
    wanted = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, asked.ask) for number in wanted}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def serve(served: Datasette, own: socket.socket, asked_to_end: EndRequest, *, is_up: Callable[[], None]) -> None:
    """Serve on the socket ``own`` until ``asked_to_end`` is set; call ``is_up`` when the server has started.

    Raises ServingError if the server does not start.
    """
    import rich
    import uvicorn

    rich.reconfigure(quiet=True)  # Datasette prints every 404 with all local variables, which include prompts
    # In a separate thread, uvicorn leaves the signals to us; otherwise it would raise them again at its end.
    config = uvicorn.Config(
        served.app(), log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=GRACE_S
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [own]}, name="server")
    thread.start()
    try:
        _wait_for_start(server, thread, asked_to_end)
        if not asked_to_end.is_set():
            is_up()
        while thread.is_alive() and not asked_to_end.is_set():  # the server may also end by itself
            thread.join(END_EVERY_S)
    finally:
        server.should_exit = True
        thread.join()
        _close(served)
        own.close()


def _wait_for_start(server: object, thread: threading.Thread, asked_to_end: EndRequest) -> None:
    give_up_at = time.monotonic() + START_S
    while not getattr(server, "started", False) and not asked_to_end.is_set():
        if not thread.is_alive() or time.monotonic() > give_up_at:
            raise ServingError("the server did not start; the lines above say why")
        time.sleep(LOOK_EVERY_S)


def _close(served: Datasette) -> None:
    """Close Datasette's databases and end its threads for reading; Datasette 1.0 has already ended its threads."""
    if executor := getattr(served, "executor", None):
        executor.shutdown(wait=True, cancel_futures=True)
    for database in served.databases.values():
        with contextlib.suppress(sqlite3.Error):
            database.close()


class _Readable(yaml.SafeDumper):
    """A YAML dumper that writes multi-line texts, such as queries, as block literals."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # PyYAML writes no block literal with blanks at the end of a line.
    clean = "\n".join(line.rstrip() for line in text.splitlines()) if "\n" in text else text
    return dumper.represent_scalar("tag:yaml.org,2002:str", clean, style="|" if "\n" in clean else None)


_Readable.add_representer(str, _text)


def write_files(folder: str, *, plugin: dict[str, object], base_url: str) -> list[str]:
    """Write configuration files with which a plain ``datasette serve`` shows a snapshot as ``enricher publish`` does.

    Return their paths. Raises OSError if a file cannot be written; this is FileExistsError if a file that was not
    written by this function would be overwritten.
    """
    private.make_directory(os.path.abspath(folder))
    found = _contents(plugin, base_url)
    for name in found:
        _refuse_others(os.path.join(folder, name))
    for name, text in found.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return [os.path.join(folder, name) for name in found]


def _contents(plugin: dict[str, object], base_url: str) -> dict[str, str]:
    """Return a mapping from each configuration file's name to its text; Datasette's version determines the files."""
    ours = described(DATABASE, plugin=plugin)
    settings = {**SETTINGS, "base_url": base_url}
    if "config" in ours:
        return {METADATA: _yaml(ours["metadata"]), CONFIGURATION: _yaml({"settings": settings, **ours["config"]})}
    return {METADATA: _yaml(ours["metadata"]), SETTINGS_FILE: json.dumps(settings, indent=2) + "\n"}


def _yaml(value: Mapping[str, Any]) -> str:
    plain = json.loads(json.dumps(value))  # without shared objects, which YAML would write as references
    return f"{MARK}\n" + yaml.dump(plain, Dumper=_Readable, sort_keys=False, allow_unicode=True, width=110)


def _refuse_others(path: str) -> None:
    """Raise FileExistsError if the file exists and does not begin with the comment that marks our files.

    The file of settings is not checked, because JSON has no comments.
    """
    try:
        with open(path, encoding="utf-8") as file:
            first = file.readline().strip()
    except FileNotFoundError:
        return
    if first != MARK and os.path.basename(path) != SETTINGS_FILE:
        raise FileExistsError(f"{path} is there and was not written by this command; it stays as it is")

"""Add our MCP server to a client's list of servers (``install --mcp``), or remove it (``uninstall``).

Nothing else in the client's file is changed.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from enricher.hosts import servers
from enricher.install import json_edits, toml_edits
from enricher.install.files import was_created
from enricher.install.json_edits import BLANK
from enricher.install.registration import ConfigurationFile, InstallationError, edit_after, facts

if TYPE_CHECKING:
    from enricher.install.files import FileChange

PASSED_ON = ("ENRICHER_HOME", "ENRICHER_CONFIG_HOME")
"""Environment variables that our entry sets for the server, in case the client does not pass them on."""


def place(host: str, scope: str, cwd: str) -> ConfigurationFile:
    """Return the file in which the client ``host`` lists its MCP servers.

    With the scope "project", this is the file for the project that contains ``cwd``, otherwise the user's file.
    """
    file = servers.project_file(host, cwd) if scope == "project" else servers.user_file(host)
    return ConfigurationFile(host, scope, file)


def add(where: ConfigurationFile, earlier: list[FileChange]) -> FileChange:
    """Return the change that adds our server; a change of the same file in ``earlier`` is extended and returned."""
    entry = _entry(where)
    return edit_after(where, earlier, lambda text: _with_server(where, text or "", entry))


def remove(where: ConfigurationFile, earlier: list[FileChange]) -> FileChange:
    """Return the change that removes our server, or the whole file if we created it and nothing else is left.

    A change of the same file in ``earlier`` is extended and returned.
    """
    return edit_after(where, earlier, lambda text: text and _without_server(where, text))


def _entry(where: ConfigurationFile) -> dict[str, Any]:
    listing = servers.LISTINGS[where.host]
    argv, environment = ["enricher", "mcp"], {}  # a project's file is shared, so it must name no path of this machine
    if where.scope == "user":
        argv = _command()
        environment = {name: os.path.abspath(os.environ[name]) for name in PASSED_ON if os.environ.get(name)}
    started: dict[str, Any] = {"command": argv} if listing.has_argv else {"command": argv[0], "args": argv[1:]}
    named = "environment" if listing.has_argv else "env"
    return {**listing.extra, **started, **({named: environment} if environment else {})}


def _command() -> list[str]:
    """Return the command line of the server: the program ``enricher`` if it is installed, else this interpreter."""
    program = os.path.join(os.path.dirname(sys.executable), "enricher")
    if os.access(program, os.X_OK):
        return [program, "mcp"]
    # -I: the client starts the server in the project's folder, whose modules must not be imported.
    return [sys.executable, "-I", "-c", "from enricher.interfaces.cli import main; main()", "mcp"]


def _with_server(where: ConfigurationFile, text: str, entry: dict[str, Any]) -> str:
    if where.file.endswith(".toml"):
        return _with_table(where, text, entry)
    key = servers.LISTINGS[where.host].key
    if not text.strip(BLANK):
        return json.dumps({key: {servers.NAME: entry}}, indent=2) + "\n"
    present = _parsed(where, text).at(key, servers.NAME)
    if present is not None and present.value == entry:
        return text
    text = _without_json(where, text)  # an outdated entry
    return json_edits.added(text, _parsed(where, text), (key,), entry, key=servers.NAME)


def _without_server(where: ConfigurationFile, text: str) -> str | None:
    if where.file.endswith(".toml"):
        return _without_table(where, text)
    left = _without_json(where, text)
    may_go = left != text and was_created(where.file) and not os.path.islink(where.file)
    return None if may_go and not _parsed(where, left).value else left


def _without_json(where: ConfigurationFile, text: str) -> str:
    key = servers.LISTINGS[where.host].key
    if not text.strip(BLANK):
        return text
    root = _parsed(where, text)
    return json_edits.without(text, root, (key, servers.NAME)) if root.at(key, servers.NAME) else text


def _parsed(where: ConfigurationFile, text: str) -> json_edits.Node:
    kinds = {(): dict, (servers.LISTINGS[where.host].key,): dict}
    # OpenCode's module has no such constant; its file may contain comments.
    return json_edits.parse_containers(text, kinds, comments=getattr(facts(where.host), "HAS_COMMENTS", True))


def _with_table(where: ConfigurationFile, text: str, entry: dict[str, Any]) -> str:
    listed = toml_edits.read(text).get("mcp_servers", {})
    if listed.get(servers.NAME) == entry:
        return text
    text = _without_table(where, text)
    expected = toml_edits.read(text)
    expected.setdefault("mcp_servers", {})[servers.NAME] = entry
    return toml_edits.with_table(text, _block(entry), expected)


def _without_table(where: ConfigurationFile, text: str) -> str:
    expected = toml_edits.read(text)
    listed = expected.get("mcp_servers", {})
    if servers.NAME not in listed:
        return text
    entry = listed.pop(servers.NAME)
    if not isinstance(entry, dict):
        raise InstallationError(f"{where.file}: mcp_servers.{servers.NAME} is no table; remove it, then run this again")
    if not listed:
        del expected["mcp_servers"]
    return toml_edits.without_block(text, _block(entry), expected)


def _block(entry: dict[str, Any]) -> str:
    lines = [f"{name} = {_toml(value)}" for name, value in entry.items()]
    return "\n".join([f"[mcp_servers.{servers.NAME}]", *lines, ""])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + " }"
    return json.dumps(value)  # strings, lists and booleans are written as in TOML

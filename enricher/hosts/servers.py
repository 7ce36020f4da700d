"""Find the files in which each client lists its MCP servers, and check whether ``enricher mcp`` is listed there.

The hook does this only in the profile ``as-specified``, so that prompts in the default profile need not wait
until another program's configuration is read. Nothing here raises.
"""

from __future__ import annotations

import os

from enricher.home import project_root
from enricher.hosts import FALLBACK, NAMES, adapter
from storage.base import private
from storage.base.fast_stdlib import loads

NAME = "prompt-enricher"
"""The name that ``install --mcp`` gives our server; under other names its command identifies it."""
LARGEST = 16 << 20
"""Maximum bytes of a file that is read; Claude Code stores past conversations in the file with its servers."""
LARGEST_WITH_COMMENTS = 256 << 10
"""Maximum characters of a file whose comments are removed: ``_without_comments`` reads them one by one."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Listing:
    """A description of how one client lists its MCP servers: in which files, under which key, and in which format.

    If ``has_argv`` is set, each entry has a single list with the program and its arguments, and its environment
    variables are under ``environment``. ``extra`` contains further keys that an entry needs, with their values.
    """

    __slots__ = ("extra", "has_argv", "key", "project_file", "user_file")

    def __init__(
        self,
        user_file: str,
        project_file: str,
        *,
        key: str = "mcpServers",
        has_argv: bool = False,
        extra: dict[str, object] | None = None,
    ) -> None:
        self.user_file, self.project_file, self.key = user_file, project_file, key
        self.has_argv, self.extra = has_argv, extra or {}


LISTINGS = {
    "claude": Listing(".claude.json", ".mcp.json"),
    "gemini": Listing("settings.json", ".gemini/settings.json"),
    "codex": Listing("config.toml", ".codex/config.toml", key="mcp_servers"),
    "copilot": Listing("mcp-config.json", ".mcp.json", extra={"type": "local", "tools": ["*"]}),
    "cursor": Listing("mcp.json", ".cursor/mcp.json"),
    "opencode": Listing(
        "opencode.json", "opencode.json", key="mcp", has_argv=True, extra={"type": "local", "enabled": True}
    ),
}


def home_folder(host: str) -> str:
    """Return the folder in which a client keeps the user's own configuration."""
    known: Any = adapter(host)
    named = os.environ.get(known.HOME_VARIABLE) if known.HOME_VARIABLE else ""
    configuration = os.environ.get("XDG_CONFIG_HOME", "") if known.HOME_FOLDER.startswith(".config/") else ""
    if configuration and not named:
        return os.path.join(configuration, known.HOME_FOLDER.removeprefix(".config/"))
    return named or os.path.join(os.path.expanduser("~"), known.HOME_FOLDER)


def user_file(host: str) -> str:
    """Return the file in which a client lists the user's MCP servers for all projects."""
    folder = home_folder(host)
    if host == "claude" and not os.environ.get("CLAUDE_CONFIG_DIR"):
        folder = os.path.dirname(folder)  # next to that folder, unless it was moved
    return os.path.join(folder, LISTINGS[host].user_file)


def project_file(host: str, cwd: str) -> str:
    """Return the file in which a client lists the MCP servers of the project that contains ``cwd``."""
    return os.path.join(project_root(cwd), LISTINGS[host].project_file)


def has_our_server(host: str, cwd: str) -> bool:
    """Return whether the client ``host``, started in ``cwd``, can call the MCP server ``enricher mcp``."""
    host = host if host in NAMES else FALLBACK
    files = [user_file(host), *([project_file(host, cwd)] if cwd else [])]
    return any(_is_listed(file, LISTINGS[host].key, cwd) for file in files)


def is_ours(name: str, entry: object) -> bool:
    """Return whether an entry of a server list starts ``enricher mcp`` and is enabled."""
    if not isinstance(entry, dict) or entry.get("enabled") is False or entry.get("disabled") is True:
        return False
    command, arguments = entry.get("command"), entry.get("args")
    argv = [*(command if isinstance(command, list) else [command]), *(arguments if isinstance(arguments, list) else [])]
    return name == NAME or ("mcp" in argv and any("enricher" in str(word) for word in argv))


def _is_listed(path: str, key: str, cwd: str) -> bool:
    try:
        content = private.read_file(os.path.realpath(path), LARGEST + 1)  # people link such files from elsewhere
        # Most files do not mention us, and a search of the bytes is far cheaper than parsing up to 16 MB.
        if len(content) > LARGEST or b"enricher" not in content or b"mcp" not in content:
            return False
        text = content.decode("utf-8", "replace").removeprefix("\ufeff")
        if path.endswith(".toml"):
            return _is_in_toml(text, key)
        return any(is_ours(name, entry) for name, entry in _servers(_parsed(text), key, cwd))
    except (OSError, ValueError, RecursionError):  # RecursionError: too deeply nested JSON
        return False


def _parsed(text: str) -> object:
    try:
        return loads(text)
    except ValueError:
        if len(text) > LARGEST_WITH_COMMENTS:
            raise
        return loads(_without_comments(text))


def _without_comments(text: str) -> str:
    """Return JSON without the comments and trailing commas that some clients allow."""
    kept: list[str] = []
    at, is_string = 0, False
    while at < len(text):
        char = text[at]
        if not is_string and text.startswith(("//", "/*"), at):
            end = text.find("\n" if text[at + 1] == "/" else "*/", at)
            at = len(text) if end < 0 else end + (0 if text[at + 1] == "/" else len("*/"))
            continue
        if is_string and char == "\\":
            kept.append(char)
            at += 1
        elif char == '"':
            is_string = not is_string
        elif not is_string and char in "]}":  # drop a comma before it
            while kept and kept[-1] in " \t\r\n,":
                kept.pop()
        kept.append(text[at : at + 1])
        at += 1
    return "".join(kept)


def _servers(root: object, key: str, cwd: str) -> list[tuple[str, object]]:
    """Return (name, entry) for each server listed under ``key`` in ``root``, the parsed content of a file.

    Servers that the file lists only for the project that contains ``cwd`` are included.
    """
    found: list[tuple[str, object]] = []
    # Claude Code lists the servers that are added for one folder under "projects", by the folder's path.
    projects = root.get("projects") if isinstance(root, dict) else None
    here = [projects.get(folder) for folder in {cwd, project_root(cwd)}] if isinstance(projects, dict) and cwd else []
    for part in (root, *here):
        listed = part.get(key) if isinstance(part, dict) else None
        found += listed.items() if isinstance(listed, dict) else []
    return found


def _is_in_toml(text: str, key: str) -> bool:
    """Return whether a TOML text lists ``enricher mcp`` as an enabled server under ``key``.

    The text is searched line by line, which is faster than parsing.
    """
    tables: dict[str, list[str]] = {}
    table = ""
    for line in map(str.strip, text.splitlines()):
        # A table's header, unlike the line of an array, which has a comma at its end or a "=" inside.
        if line.startswith("[") and line.rstrip("]") != line and "=" not in line:
            table = line.strip("[] ").replace('"', "").replace("'", "")
        elif not line.startswith("#"):
            tables.setdefault(table, []).append(line)
    for name, lines in tables.items():
        family, _, server = name.partition(".")
        table_text = "\n".join(lines)
        is_named = server == NAME or ("enricher" in table_text and ('"mcp"' in table_text or "'mcp'" in table_text))
        is_on = not any(line.replace(" ", "").startswith("enabled=false") for line in lines)
        if family == key and server and "." not in server and is_named and is_on:
            return True
    return False

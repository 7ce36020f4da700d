"""Load the compiled rules from a small cache file; after an edit, first compile them in a child process.

A cache file has a header line, which lists the source files, and a body line, which is the rules as JSON. It is valid
as long as ``stat`` of every source and the list of built-in channels are unchanged. The hash in the header is computed
from the contents of the sources and identifies the rules. After an edit with errors, the last good body stays in use.
"""

from __future__ import annotations

import os
import sys
import time

from enricher.classify import STALE, UNSETTLED, Rules
from enricher.context import CHANNELS
from enricher.home import root_dir, state_dir
from enricher.rules.layers import Layers, find_layers, packaged_file
from storage.base import private
from storage.base.fast_stdlib import dumps, keyed_hash, loads

FORMAT = 19
"""Version of the format of compiled rules. Raise it with every change of what is compiled or of how a prompt is read.

Compiled rules with another number are never used, so those that earlier releases recorded cannot be replayed as
they are.
"""
LARGEST = 4 << 20  # bytes; the packaged rules have a third of a megabyte
UNPACKED_WITHIN_NS = 1_000_000_000
"""Maximum time that an installation is assumed to take to write its files.

A source that is newer than the compiled file by more than this has been edited after the installation.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NoRulesError(Exception):
    """Raised if no rules can be loaded, because none have been compiled and the compiler failed or took too long."""


def load(cwd: str, *, wait_ms: int = 400, base: str = "") -> tuple[Rules, Layers]:
    """Return the rules for a prompt typed in ``cwd``, or those in the file ``base``, and the layers they come from.

    After an edit, the function waits up to ``wait_ms`` for the compiler; if that is too short, it returns the last good
    version, whose ``state`` is then not "fresh". Raises NoRulesError if nothing was ever compiled.
    """
    layers = find_layers(cwd, base=base)
    cached = cache_file(layers)
    rules = _read(cached) or _read_shipped(layers)
    if rules is None and compile_in_child(layers, wait_ms=wait_ms):
        rules = _read(cached)
    if rules is None:
        rules = read_any_age(cached) or (None if base else read_any_age(shipped_file()))
        if rules is None:
            raise NoRulesError(f"no compiled rules for {layers.files()[-1]}")
        is_known = os.path.exists(cached) or not layers.configuration
        rules.state = STALE if is_known else UNSETTLED
    return rules, layers


def cache_file(layers: Layers) -> str:
    """Return the path of the cache file for the rules that are compiled from these layers."""
    # Paths need not be UTF-8.
    names = "\0".join(layers.files()).encode(errors="surrogateescape")
    return os.path.join(state_dir(), "rules", keyed_hash(b"layers", names) + ".json")


def shipped_file() -> str:
    """Return the path of the compiled form of the packaged instructions."""
    return os.path.join(root_dir(), "instructions", "compiled.json")


def stamp(path: str) -> list[int]:
    """Return values that change when the file is edited: modification time in ns, size in bytes, inode, file type.

    The list is empty if there is no such file.
    """
    try:
        found = os.stat(path)
    except OSError:
        return []
    # The upper bits of the mode: a folder or a pipe may take the file's place.
    return [found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode >> 12]


def read_any_age(path: str) -> Rules | None:
    """Return the rules in a cache file even if their source files have changed since; None if the file is not valid."""
    header, body = _split(_own_bytes(path))
    return _rules(header, body) if header else None


def read_header(path: str) -> dict[str, Any]:
    """Return the header of a cache file, which lists the source files; empty if there is no valid cache file."""
    return _split(_own_bytes(path))[0]


def _read(path: str) -> Rules | None:
    header, body = _split(_own_bytes(path))
    if not header or any(stamp(source) != was for source, was in header["sources"]):
        return None
    return _rules(header, body)


def _read_shipped(layers: Layers) -> Rules | None:
    if layers.files() != [packaged_file()]:
        return None
    path = shipped_file()
    header, body = _split(_own_bytes(path))
    made = stamp(path)
    if not header or not made:
        return None
    root = root_dir()
    for name, (_mtime, size, *_rest) in header["sources"]:
        found = stamp(f"{root}/{name}")
        if not found or found[1] != size or found[0] > made[0] + UNPACKED_WITHIN_NS:
            return None
    return _rules(header, body)


def _own_bytes(path: str) -> bytes:
    """Return the content of a cache file; empty if it cannot be read, or if another user could have written it."""
    try:
        # Installers may put links in place of a package's files; the state folder has no links of ours.
        return private.read_own_file(path, LARGEST, follow=path == shipped_file())
    except OSError:
        return b""


def _split(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and the body of a cache file; both are empty if its format or checksum is wrong."""
    first, _, body = content.partition(b"\n")
    try:
        header = loads(first.decode("ascii"))
    except (ValueError, RecursionError):
        return {}, b""
    if not isinstance(header, dict) or not {"hash", "state", "problem", "sources", "checksum"} <= header.keys():
        return {}, b""
    # A channel that is added to or taken from this package changes the default rules.
    is_current = header.get("format") == FORMAT and header.get("channels") == [*CHANNELS]
    if not is_current or header["checksum"] != _checksum(body):
        return {}, b""
    return header, body


def _rules(header: dict[str, Any], body: bytes) -> Rules | None:
    try:
        value = loads(body.decode("ascii"))
    except (ValueError, RecursionError):
        return None
    return Rules(header["hash"], value, header["state"], header["problem"]) if isinstance(value, dict) else None


def render(header: dict[str, Any], body: str) -> str:
    """Return the text of a cache file; its header is ``header`` with the format, the channels and a checksum added."""
    checksum = _checksum(f"{body}\n".encode())
    return dumps({**header, "format": FORMAT, "channels": CHANNELS, "checksum": checksum}) + f"\n{body}\n"


def _checksum(body: bytes) -> str:
    # The hash of Python's .pyc files: fast, and detects damage, not manipulation.
    from _imp import source_hash

    return source_hash(FORMAT, body).hex()


_REFRESH = """\
import gc, os, signal, sys
gc.disable()
signal.alarm(20)
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "1"
sys.path.insert(0, sys.argv.pop(1))
from enricher.rules.compiling.compiler import refresh
refresh()
"""
"""Python program that the compiler's process runs; it loads only what it needs, because a prompt may be waiting.

The alarm ends a compiler that hangs.
"""


def compile_in_child(layers: Layers, *, wait_ms: int) -> bool:
    """Compile these layers in a child process; return whether the compiler succeeded within ``wait_ms``."""
    named = (f"{layer.name}={layer.path}" for layer in (*layers.instructions, *layers.configuration))
    # ``subprocess`` would slow down the hook; with ``setsid`` the compiler outlives the hook.
    # -I: nothing from the environment or the current folder; -B: nothing is written into the package.
    argv = [sys.executable, "-I", "-B", "-c", _REFRESH, root_dir(), *named]
    # With the hook's own streams, the compiler could write into its answer, and the client would wait for both to end.
    null = [(os.POSIX_SPAWN_OPEN, at, os.devnull, os.O_RDWR, 0) for at in (0, 1, 2)]
    try:
        private.make_directory(state_dir())
        child = os.posix_spawn(sys.executable, argv, os.environ, file_actions=null, setsid=True)
    except OSError:
        return False
    until = time.monotonic() + wait_ms / 1000
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.002)  # short, as a prompt waits
    return False

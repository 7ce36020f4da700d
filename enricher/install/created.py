"""Record the configuration files that the installation created; only these may be deleted along with our entry."""

from __future__ import annotations

import json
import os

from enricher.home import state_dir
from storage.base import private


def remember(path: str) -> None:
    """Record that the installation has created this file."""
    _write(_read() | {os.path.realpath(path)})


def forget(path: str) -> None:
    """Remove the record of a deleted file."""
    known = _read()
    if os.path.realpath(path) in known:
        _write(known - {os.path.realpath(path)})


def is_ours(path: str) -> bool:
    """Return whether the installation created this file, according to its record."""
    return os.path.realpath(path) in _read()


def _file() -> str:
    return os.path.join(state_dir(), "created")


def _read() -> set[str]:
    try:
        with open(_file(), encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return set()
    return {str(path) for path in known} if isinstance(known, list) else set()


def _write(paths: set[str]) -> None:
    private.write_file(_file(), json.dumps(sorted(paths), indent=0).encode())

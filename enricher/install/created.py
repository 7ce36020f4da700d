"""Which configuration files are there only because installing made them; only those may go with our entry."""

from __future__ import annotations

import json
import os

from enricher.home import state_dir
from storage.base import private


def remember(path: str) -> None:
    """Note that installing has created this file."""
    _write(_read() | {os.path.realpath(path)})


def forget(path: str) -> None:
    """Drop the note: the file is gone."""
    known = _read()
    if os.path.realpath(path) in known:
        _write(known - {os.path.realpath(path)})


def is_ours(path: str) -> bool:
    """Say whether installing created this file; where that is not known, the person did."""
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

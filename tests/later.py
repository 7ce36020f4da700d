"""A module that a file of tests imports only when one of its tests runs: each process collects every file."""

from __future__ import annotations

import importlib
from typing import Any


class Later:
    """Stands for a module until something public of it is asked for; pytest asks every name for private attributes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)

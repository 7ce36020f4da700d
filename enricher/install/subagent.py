"""The definition of the subagent ``prompt-hydrator``: written by ``install --hydrate``, removed by ``uninstall``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from enricher.hosts import servers
from enricher.install import created, files
from enricher.install.files import Change
from enricher.install.registration import ConfigurationFile, InstallationError

if TYPE_CHECKING:
    from collections.abc import Sequence

HAVE_SUBAGENTS = ("claude",)
"""Clients that read definitions of subagents from files in this form."""
NAME = "prompt-hydrator.md"
_SHIPPED = os.path.join(os.path.dirname(__file__), NAME)


def place(host: str, scope: str, cwd: str) -> ConfigurationFile:
    """Return the file in which a client with subagents looks for the definition."""
    folder = os.path.join(cwd, ".claude") if scope == "project" else servers.home_folder(host)
    return ConfigurationFile(host, scope, os.path.join(folder, "agents", NAME))


def add(where: ConfigurationFile, _earlier: Sequence[Change]) -> Change:
    """Return the change that writes the definition; raises InstallationError if the user has one of the same name."""
    with open(_SHIPPED, encoding="utf-8") as file:
        text = file.read()
    before = _read(where)
    if before is not None and before != text and not created.is_ours(where.file):
        raise InstallationError(f"{where.file} is not ours; rename it, then run this again")
    return Change(where.file, before, text)


def remove(where: ConfigurationFile, _earlier: Sequence[Change]) -> Change:
    """Return the change that removes the definition, if the installation created it."""
    before = _read(where)
    return Change(where.file, before, None if created.is_ours(where.file) else before)


def _read(where: ConfigurationFile) -> str | None:
    try:
        return files.read_text(where.file)
    except (OSError, UnicodeDecodeError) as error:
        raise InstallationError(f"{where.file}: {error}") from None

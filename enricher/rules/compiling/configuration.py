"""Read ``config.toml`` files into flat settings; an unknown key is a warning with its line."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from enricher.hosts import NAMES
from enricher.rules.compiling.document import Problem
from enricher.settings import DEFAULTS, GATES, OF_THE_USER, OPEN_TABLES, BadValueError, Value, convert

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def read_configuration(file: str, *, is_user: bool = True) -> tuple[dict[str, Value], list[Problem]]:
    """Return the settings of one file and its problems; both are empty if the file is missing.

    The file of a project, unlike the user's own, cannot set where prompts are sent.
    """
    if os.path.exists(file) and not os.path.isfile(file):
        return {}, [Problem(file, 1, "error", "not a regular file; put the settings there as TOML")]
    try:
        text = Path(file).read_text(encoding="utf-8")
        tree = tomllib.loads(text)
    except FileNotFoundError:
        return {}, []
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return {}, [Problem(file, _line_in(str(error)), "error", f"not readable as TOML: {error}")]
    settings: dict[str, Value] = {}
    problems: list[Problem] = []
    for key, value in _flat(tree):
        line = _line_of(text, key)
        if key not in (*DEFAULTS, *GATES) and key.split(".")[0] not in OPEN_TABLES:
            problems.append(Problem(file, line, "warning", f"unknown key '{key}' is ignored; known: {_known(key)}"))
            continue
        if not is_user and key.startswith(OF_THE_USER):
            message = f"'{key}' is ignored: it decides where prompts are sent, so only your own config.toml can set it"
            problems.append(Problem(file, line, "warning", message))
            continue
        try:
            settings[key] = convert(key, value)
        except BadValueError as error:
            problems.append(Problem(file, line, "warning", f"{error}; the value below it in the layers is used"))
    return settings, problems


def unknown_names(file: str, *, channels: Sequence[str]) -> list[Problem]:
    """Return a warning for each setting that switches on or off a channel or client that does not exist."""
    known = {"channels": channels, "hosts": NAMES}
    found = []
    for key in read_configuration(file)[0]:
        table, _, name = key.partition(".")
        if table in OPEN_TABLES and name not in known[table]:
            message = f"'{key}' switches nothing; known {table}: {', '.join(known[table])}"
            found.append(Problem(file, _line_of(Path(file).read_text(encoding="utf-8"), key), "warning", message))
    return found


def _flat(tree: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _known(key: str) -> str:
    table = key.rpartition(".")[0]
    near = [known for known in DEFAULTS if known.rpartition(".")[0] == table]
    return ", ".join(near or DEFAULTS)


def _line_of(text: str, key: str) -> int:
    last = key.rpartition(".")[2]
    for number, line in enumerate(text.splitlines(), 1):
        if line.partition("=")[0].strip().strip("\"'").rpartition(".")[2] == last:
            return number
    return 1


def _line_in(message: str) -> int:
    words = message.replace(",", " ").split()
    return int(words[words.index("line") + 1]) if "line" in words else 1

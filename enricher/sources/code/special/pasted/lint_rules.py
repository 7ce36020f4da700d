"""Find where a project turns off the rule of a linter that a pasted report names.

Such a report is of a run without the project's configuration. Runs in the hook, but is imported only for a prompt with
a report.
"""

from __future__ import annotations

import os

from enricher.sources.code.facts import ONLY, Fact
from enricher.sources.code.lines import indentation, is_comment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.wording import Name
    from enricher.sources.code.lookup import Lookup

CONFIGURATIONS = (
    ".rubocop", ".eslintrc", "eslint.config.", "pyproject.toml", "ruff.toml", ".ruff.toml", "setup.cfg", "tox.ini",
    ".flake8", "mypy.ini", ".mypy.ini", ".pylintrc", "pylintrc", ".golangci.", ".stylelintrc", "stylelint.config.",
    ".shellcheckrc", ".markdownlint",
)  # fmt: skip
"""Beginnings of the names of the files in the top folder that configure linters."""
LISTS = frozenset(("ignore", "extend-ignore", "disable", "disable_error_code", "ignores"))
"""Keys whose values are the rules that are turned off in the whole project."""
OFF = ('"off"', "'off'", "0", "false", "off", "null")
FOR_SOME_FILES = ("overrides", "files:", '"files"')
"""If a configuration has one of these words, it has rules that only some files must follow."""
MOST_LINES = 60


def place_of_rule(lookup: Lookup, name: Name) -> Fact | None:
    """Return a fact about the line that turns a rule off in the whole project; None if there is none.

    Return None, too, if another line of a configuration sets the rule, and so may turn it on again.
    """
    found = [
        (path, at + 1, _is_off(lines, at, name.text))
        for path in sorted(os.listdir(lookup.root)) if path.startswith(CONFIGURATIONS)
        if name.text in (text := lookup.text(path))
        for lines in [text.split("\n")]
        for at, line in enumerate(lines) if name.text in line and not is_comment(line)
    ]  # fmt: skip
    if not found or not all(is_off for _path, _line, is_off in found):
        return None
    return Fact("rule", *found[0][:2], name.text, "turned off here, which the pasted report ignores", ONLY)


def _is_off(lines: list[str], at: int, rule: str) -> bool:
    before, _, behind = lines[at].partition(rule)
    if before.strip() not in ("", '"', "'", "-", '- "', "- '") and "=" not in before and "[" not in before:
        return False
    value = behind.lstrip("\"'").strip()
    if value.startswith(":"):
        bare = value[1:].strip(" ,")
        is_whole = not any(word in line for line in lines for word in FOR_SOME_FILES)
        return is_whole and bare.lstrip("[ ").startswith(OFF) if bare else _is_disabled_below(lines, at)
    is_apart = behind[:1] in ("", " ", ",", '"', "'", "]") and (before == "" or before[-1] in " \"'[,=-\t")
    return is_apart and _key_of_list(lines, at) in LISTS


def _is_disabled_below(lines: list[str], at: int) -> bool:
    """Return whether the entry of RuboCop or the like that begins in a line has the value "Enabled: false"."""
    depth = indentation(lines[at])
    for line in lines[at + 1 : at + MOST_LINES]:
        if line.strip() and indentation(line) <= depth:
            return False
        if line.strip().replace('"', "").lower().startswith(("enabled: false", "disabled: true")):
            return True
    return False


def _key_of_list(lines: list[str], at: int) -> str:
    """Return the key whose list contains a line: ``ignore = [``, ``disable=``, or ``disable:`` in YAML."""
    for line in reversed(lines[max(0, at - MOST_LINES) : at + 1]):
        bare = line.strip()
        key, found, _ = bare.partition("=" if "=" in bare else ":")
        if found and not bare.startswith(("-", '"', "'", "#")):
            return key.strip()
        if bare.startswith("[") and bare.endswith("]"):
            return ""
    return ""

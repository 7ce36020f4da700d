"""Find the tests that build files name, and the scripts that workflows run as checks.

Does not run in the hook.
"""

from __future__ import annotations

import re

from enricher.sources.code.indexing.ways.files import COMMAND, FILE, WORKFLOWS, Row

BUILD_FILES = frozenset("meson.build cmakelists.txt meson.options meson_options.txt".split())
_OF_MESON = re.compile(r"^[ \t]*test\(\s*'([\w.-]+)'", re.MULTILINE)
_OF_CMAKE = re.compile(r"^[ \t]*add_test\(\s*(?:NAME\s+)?([\w.-]+)", re.MULTILINE | re.IGNORECASE)
_OPTION = re.compile(r"option\(\s*'([\w-]*tests?[\w-]*)'[^()]*?\bvalue\s*:\s*false\b")
_CHECK = re.compile(r"(?:^|[/_-])(?:lint|check|verify|validate)", re.IGNORECASE)
MOST_NAMES = 300
MESON, CMAKE = "`meson test -C build {}`", "`ctest --test-dir build -R '^({a|b})$'`"


def named_tests(texts: dict[str, str]) -> list[Row]:
    """Return a row for each build file that names tests; ``texts`` maps the paths of build files to their contents."""
    options = [name for path, text in texts.items() if "option" in path for name in _OPTION.findall(text)]
    needs = f" (built with -D{options[0]}=true)" if len(options) == 1 else ""
    rows = []
    for path, text in texts.items():
        folder, _, name = path.rpartition("/")
        is_meson = name == "meson.build"
        found = (_OF_MESON if is_meson else _OF_CMAKE).finditer(text)
        named = {match[1]: text.count("\n", 0, match.start(1)) + 1 for match in found}
        said = " ".join(f"{one}={line}" for one, line in list(named.items())[:MOST_NAMES])
        if said:
            template = MESON + needs if is_meson else CMAKE
            rows.append(Row("named-tests", COMMAND, said, template, path, 0, folder))
    return rows


def named_checks(present: set[str], texts: dict[str, str]) -> list[Row]:
    """Return a row for each of the project's own scripts that a workflow runs and that is named after a check."""
    found: dict[str, Row] = {}
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1) if path.startswith(WORKFLOWS) else ():
            for word in line.split():
                script = word.strip("\"'").removeprefix("./")
                if script in present and "/" in script and _CHECK.search(script):
                    label = f"{script} — runs in CI: {path}:{number}"
                    found.setdefault(script, Row("named-check", FILE, script, label, path, number, script))
    return list(found.values())

"""Determine from a ``package.json`` which command runs a single test file.

Does not run in the hook. The script ``test`` often calls other scripts, among them a linter: a file that is appended to
it reaches only the last of them, and all the others run as well. The command is therefore that of the test runner.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.sources.code.indexing.commands import ProjectFiles

NODE_ENDS = "js jsx ts tsx mjs cjs mts cts vue svelte"
WITHOUT_TYPES = "js jsx mjs cjs vue svelte"
_LOADS_TYPES = re.compile(r"\bts-node|\btsx\b|esbuild|\bswc|ts-mocha|babel|\bjiti\b|sucrase|strip-types")
"""Packages with which Mocha runs tests in TypeScript; without one, they are compiled first."""
_PROGRAMS = {
    "vitest": "vitest run", "jest": "jest", "mocha": "mocha", "ava": "ava", "borp": "borp", "tap": "tap",
    "tape": "tape", "jasmine": "jasmine", "qunit": "qunit", "playwright": "playwright test",
}  # fmt: skip
"""Test runners that take the paths of files, with their calls."""
_WRAPPERS = frozenset("c8 nyc cross-env cross-env-shell env npx bunx dotenv dotenvx node ts-node tsx".split())
"""Programs that start the program behind them."""
_BY_NODE = re.compile(r"(?:^|\s)(node (?:--\S+ (?:(?!-)\S+ )?)*--test|tsx --test)(?!-)\b")
_TAKES_FILES = re.compile(r"^(?:react-scripts|react-app-rewired|craco|wp-scripts|vue-cli-service|tsdx|dts) test\S*")
_EXECUTING = {"pnpm": "pnpm exec", "yarn": "yarn", "bun": "bunx", "npm": "npx"}
_CALLS = re.compile(r"^(?:(?:npm|pnpm|yarn|bun)(?: run(?:-script)?)?|npm-run-all|run-[sp])((?: (?:-\S+|[\w:*-]+))+)$")
_STEPS = re.compile(r"&&|\|\|?|[;\n]")
_OF_BORP = (".borp.yaml", ".borp.yml")
_FILES = re.compile(r"^files\s*:", re.MULTILINE)
_SPEC = re.compile(r"^\s*[\"']?spec[\"']?\s*:", re.MULTILINE)
_SPEC_IN_MANIFEST = re.compile(r"\"mocha\"\s*:\s*\{[^{}]*\"spec\"")
_SCRIPTS = ("test", "test:unit", "unit")


def node_template(project: ProjectFiles, folder: str, text: str) -> list[str]:
    """Return the command that runs one test file, as a list of one; empty if ``package.json`` has no such command.

    ``text`` is the content of that file.
    """
    try:
        manifest = json.loads(text)
    except ValueError:
        return []
    scripts = _table(manifest, "scripts")
    name = next((name for name in _SCRIPTS if name in scripts), "")
    manager = project.node(folder).name
    for step in _steps(scripts, name, set()):
        if template := _of_step(step, manager):
            return _alone(project, folder, template, text)
    body = scripts.get(name, "")
    if not _STEPS.search(body) and _TAKES_FILES.match(body):
        return [f"{manager} {'' if name == 'test' else 'run '}{name} -- {{path}}"]
    needed = _table(manifest, "dependencies") | _table(manifest, "devDependencies")
    needed |= {"playwright": ""} if "@playwright/test" in needed else {}
    by_dependency = next((call for program, call in _PROGRAMS.items() if program in needed), "")
    if by_dependency:
        return _alone(project, folder, f"{_EXECUTING[manager]} {by_dependency} {{path}}", text)
    return ["bun test {path}"] if manager == "bun" else []


def ends_of(project: ProjectFiles, template: str, text: str) -> str:
    """Return the extensions of the test files that the command of a ``package.json`` runs as they are."""
    texts = [text, *(own for path, own in project.texts.items() if path.rpartition("/")[2].startswith(".mocharc."))]
    is_compiled = " mocha " in template and not any(map(_LOADS_TYPES.search, texts))
    return WITHOUT_TYPES if is_compiled else NODE_ENDS


def _alone(project: ProjectFiles, folder: str, template: str, text: str) -> list[str]:
    """Return a template as a list, unless its runner adds the files of its configuration to those of the command.

    Without these files, borp is the runner of Node itself.
    """
    below = f"{folder}/" if folder else ""
    configured = [(path.removeprefix(below), own) for path, own in project.texts.items() if path.startswith(below)]
    if " borp " in template and any(path in _OF_BORP and _FILES.search(own) for path, own in configured):
        return ["node --test {path}"]
    if " mocha " in template:
        is_set = any(path.startswith(".mocharc.") and _SPEC.search(own) for path, own in configured)
        return [] if is_set or _SPEC_IN_MANIFEST.search(text) else [template]
    return [template]


def _table(manifest: object, key: str) -> dict[str, str]:
    table = manifest.get(key) if isinstance(manifest, dict) else None
    return {name: value for name, value in table.items() if isinstance(value, str)} if isinstance(table, dict) else {}


def _steps(scripts: dict[str, str], name: str, called: set[str]) -> Iterator[str]:
    """Yield the commands of a script, with those of the scripts that it calls in the place of their calls."""
    called.add(name)
    for part in _STEPS.split(scripts.get(name, "")):
        step = part.strip()
        calls = _CALLS.match(step)
        own = [one for word in calls[1].split() for one in _meant(scripts, word)] if calls else []
        if not own:
            yield step
        for one in own:
            if one not in called:
                yield from _steps(scripts, one, called)


def _meant(scripts: dict[str, str], word: str) -> list[str]:
    """Return the scripts that an argument of ``npm run`` or ``run-s`` means: "unit", or all that "check:*" matches."""
    if "*" not in word:
        return [word] if word in scripts else []
    pattern = re.compile(re.escape(word).replace(r"\*", ".*"))
    return [name for name in scripts if pattern.fullmatch(name)]


def _of_step(step: str, manager: str) -> str:
    """Return the template by the test runner that a command calls; empty if it calls none."""
    if call := _BY_NODE.search(step):
        return f"{'' if call[1].startswith('node') else f'{_EXECUTING[manager]} '}{call[1]} {{path}}"
    if re.search(r"(?:^|\s)bun test\b", step):
        return "bun test {path}"
    words = [word.rpartition("/")[2].removesuffix(".js") for word in step.split() if "=" not in word]
    if not words or (words[0] not in _WRAPPERS and words[0] not in _PROGRAMS):
        return ""
    program = next((word for word in words if word in _PROGRAMS), "")
    return f"{_EXECUTING[manager]} {_PROGRAMS[program]} {{path}}" if program else ""

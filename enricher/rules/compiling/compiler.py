"""Compile the instructions and the ``config.toml`` of all layers into the JSON that the hook loads, and write it.

The result is written into the package when the package is built, and into a cache after an edit.
"""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enricher.classify import BROKEN, FRESH
from enricher.home import root_dir, state_dir
from enricher.hosts import NAMES
from enricher.rules.cache import FORMAT, cache_file, read_any_age, render, shipped_file, stamp
from enricher.rules.compiling.body import build_body, check_signals, class_rules, effort_thresholds
from enricher.rules.compiling.compiled import Compiled, add_undeclared, missing_parts, read_layer
from enricher.rules.compiling.document import Problem
from enricher.rules.compiling.named_files import Files, compiled_prompts, existing_prompts
from enricher.rules.layers import USER, Layer, Layers, packaged_file
from enricher.rules.sources import identity_of, store
from enricher.settings import DEFAULTS, GATES, OF_THE_USER, OPEN_TABLES, USE_LLM, BadValueError, Value, convert
from storage.base import log, private
from storage.base.fast_stdlib import dumps
from storage.state import notices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


SETTING = "Prompt Enricher:"
LAST_GOOD = "Prompt Enricher: the last good rules stay in use."
PACKAGED = "packaged"  # the lowest layer, in which every built-in channel without a rule gets a default rule


def compile_layers(
    instructions: Sequence[Layer],
    configuration: Sequence[Layer] = (),
    *,
    texts: Mapping[str, str] | None = None,
    reuses_prompts: bool = True,
) -> Compiled:
    """Return the compiled rules and settings of the layers, and all problems found; the lowest layer comes first.

    ``texts`` maps paths to texts that are read instead of the files, such as an unsaved buffer or an earlier version.
    If ``reuses_prompts`` is false, the prompts for a model are rendered again even if the package contains them.
    """
    result = Compiled(files=Files(texts))
    _read(instructions, result)
    lists = {rule.name: rule.data["words"] for rule in result.of_kind("words")}
    result.classes = list(class_rules(result))
    check_signals(result, lists)
    prompts = compiled_prompts(result.prompts, result.meanings(), result.files, result.problems, reuses=reuses_prompts)
    thresholds = effort_thresholds(result)
    # Missing parts are listed first, because they cause the errors about rules that refer to them.
    missing = missing_parts(instructions[0].path, result)
    result.broken = [*missing, *sorted(problem for problem in result.problems if problem.severity == "error")]
    result.problems += missing
    if not result.broken:
        build_body(result, lists, prompts)
        result.body["complexity"] = dumps(thresholds) if thresholds else ""
    settings, unread = _settings(configuration, result)
    result.broken += unread
    result.body |= {"settings": settings, "format": FORMAT}
    for path in result.sources[len(instructions) :]:
        result.texts.append((result.kind_of(path), path, result.files.content(path)))
    result.hash = identity_of(text for _layer, _path, text in result.texts)
    result.problems.sort()
    return result


def _read(instructions: Sequence[Layer], result: Compiled) -> None:
    """Read the layers into ``result``, and note the further files that their rules use as its sources."""
    modules: list[str] = []
    for layer in instructions:
        read_layer(layer, result)
        if layer.name == PACKAGED:
            modules += add_undeclared(result)
    result.prompts = existing_prompts(result.prompts, result.files, result.problems, whole=result.whole_files())
    result.sources += [*modules, *dict.fromkeys(result.fitted), *(one.path for one in result.prompts.values())]
    result.sources += result.workflow_files()


def _settings(configuration: Sequence[Layer], result: Compiled) -> tuple[dict[str, Value], list[Problem]]:
    """Return the merged settings of the readable configuration files, and the errors of the unreadable ones."""
    settings: dict[str, Value] = {**DEFAULTS, **result.body.get("budgets", {})}
    del settings[USE_LLM]  # its default depends on environment variables, so it is set when a prompt arrives
    unread: list[Problem] = []
    for layer in configuration:
        found, problems = read_configuration(layer.path, is_user=layer.name == USER)
        settings |= found  # a higher layer wins
        result.problems += problems
        unread += [problem for problem in problems if problem.severity == "error"]
    return settings, unread


def read_configuration(file: str, *, is_user: bool = True) -> tuple[dict[str, Value], list[Problem]]:
    """Return the settings in one ``config.toml`` and the problems found in it; both are empty if the file is missing.

    In a project's file (``is_user`` is false), settings that decide where prompts are sent are ignored.
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
    """Return a warning for each setting in ``file`` that turns on or off a channel or host that does not exist."""
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
        # The table above the line is not compared.
        if line.partition("=")[0].strip().strip("\"'").rpartition(".")[2] == last:
            return number
    return 1


def _line_in(message: str) -> int:
    words = message.replace(",", " ").split()
    # "(at line 3, column 5)" in the errors of tomllib.
    return int(words[words.index("line") + 1]) if "line" in words else 1


def build_packaged() -> Compiled:
    """Compile the packaged instructions into ``instructions/compiled.json``."""
    compiled = compile_layers([Layer("packaged", packaged_file())], reuses_prompts=False)
    if compiled.body and not compiled.broken:
        sources = [[os.path.relpath(path, root_dir()), stamp(path)] for path in compiled.sources]
        header = _header(compiled, sources) | {"layers": [layer for layer, *_ in compiled.texts]}
        _write(shipped_file(), header, compiled.body)
    return compiled


def refresh() -> None:
    """Compile the layers given on the command line as ``name=path``; runs in the process that the hook starts."""
    layers = Layers()
    for argument in sys.argv[1:]:
        name, _, path = argument.partition("=")
        kind = layers.configuration if path.endswith(".toml") else layers.instructions
        kind.append(Layer(name, path))
    refresh_layers(layers)


def refresh_layers(layers: Layers) -> None:
    """Compile ``layers`` into the cache; after an edit with errors, keep the last good rules and notify the user once.

    If the state folder has been removed in the meantime, nothing is written.
    """
    # Taken before the files are read, so that a file edited meanwhile makes the cache stale instead of wrong.
    stamps = {path: stamp(path) for path in layers.files()}
    compiled = _compiled(layers)
    if not os.path.isdir(state_dir()):  # removed meanwhile: a self-test, a demo or an uninstallation is over
        return
    named = compiled.sources[len(layers.instructions) :]
    # The files that the layers name are known only after the compilation.
    sources = [[path, stamps.get(path) or stamp(path)] for path in (*layers.files(), *named)]
    for problem in compiled.problems:
        log.append(state_dir(), stage="rules", reason=str(problem))
    target = cache_file(layers)
    # A message that waits may be about an earlier text of these files, and be no longer true.
    read = (*layers.files(), *compiled.sources)
    notices.withdraw(state_dir(), *(f"{start} {path}:" for path in read for start in (SETTING, LAST_GOOD)))
    if unset := [problem for problem in compiled.problems if problem.file.endswith(".toml")]:
        notices.add(state_dir(), f"{SETTING} {unset[0]} (see: enricher doctor)")
    if not compiled.broken:
        _write(target, _header(compiled, sources), compiled.body)
        try:
            store(state_dir(), compiled)
        except OSError as failure:  # no reason to fail: the compiled rules have been written
            log.append(state_dir(), stage="rules", reason=f"the sources of {compiled.hash} were not kept: {failure}")
        return
    # A file given by the user fails visibly, and has no earlier version to keep.
    if layers.instructions[0].name == "base":
        return
    good = read_any_age(target) or read_any_age(shipped_file())
    reason = str(compiled.broken[0])
    notices.add(state_dir(), f"{LAST_GOOD} {reason} (see: enricher check)")
    if good is not None:
        header = {"hash": good.hash, "state": BROKEN, "problem": reason, "sources": sources}
        # Of a broken config.toml, the last good settings stay: it may switch the enricher off.
        is_settled = not any(problem.file.endswith(".toml") for problem in compiled.broken)
        settings = compiled.body["settings"] if is_settled else good.body["settings"]
        _write(target, header, {**good.body, "settings": settings})


def _compiled(layers: Layers) -> Compiled:
    try:
        return compile_layers(layers.instructions, layers.configuration)
    except Exception as failure:  # reported like an error in the last file
        file = layers.files()[-1]
        problem = Problem(file, 1, "error", f"cannot be compiled: {type(failure).__name__}: {failure}")
        # The lowest layer is the packaged file, which compiles.
        settings = compile_layers(layers.instructions[:1], layers.configuration).body["settings"]
        return Compiled(body={"settings": settings}, problems=[problem], broken=[problem])


def _header(compiled: Compiled, sources: list[list[Any]]) -> dict[str, Any]:
    problem = str(compiled.problems[0]) if compiled.problems else ""
    return {"hash": compiled.hash, "state": FRESH, "problem": problem, "sources": sources}


def _write(path: str, header: dict[str, Any], body: Mapping[str, Any]) -> None:
    text = render(header, dumps(body))
    if path == shipped_file():  # in the package, whose folder and permissions are the installer's
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return
    private.make_directory(os.path.dirname(path))
    private.write_file(path, text.encode())


def main() -> None:
    """Compile the packaged instructions; print their problems and fail if they are broken."""
    compiled = build_packaged()
    for problem in compiled.problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if compiled.broken else 0)


if __name__ == "__main__":
    main()

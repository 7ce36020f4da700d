"""Compile the instructions and write the result: into the package when it is built, into a cache after an edit."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from enricher.home import root_dir, state_dir
from enricher.rules.cache import BROKEN, FRESH, cache_file, read_any_age, render, shipped_file, stamp
from enricher.rules.compiling.compiled import Compiled
from enricher.rules.compiling.compiler import compile_layers
from enricher.rules.compiling.document import Problem
from enricher.rules.layers import Layer, Layers, packaged_file
from enricher.rules.sources import store
from storage.base import log, private
from storage.base.fast_stdlib import dumps
from storage.state import notices

if TYPE_CHECKING:
    from collections.abc import Mapping


def build_packaged() -> Compiled:
    """Compile the packaged instructions into ``instructions/compiled.json``."""
    compiled = compile_layers([Layer("packaged", packaged_file())], reuses_prompts=False)
    if compiled.body and not compiled.broken:
        sources = [[os.path.relpath(path, root_dir()), stamp(path)] for path in compiled.sources]
        header = _header(compiled, sources) | {"layers": [layer for layer, *_ in compiled.texts]}
        _write(shipped_file(), header, compiled.body)
    return compiled


def refresh() -> None:
    """Compile the layers named on the command line as ``name=path``; the hook that started this process may be gone."""
    layers = Layers()
    for argument in sys.argv[1:]:
        name, _, path = argument.partition("=")
        kind = layers.configuration if path.endswith(".toml") else layers.instructions
        kind.append(Layer(name, path))
    refresh_layers(layers)


def refresh_layers(layers: Layers) -> Compiled:
    """Compile ``layers`` into the cache; after a broken edit, keep the last good rules and notify the user once.

    If the state folder has been removed meanwhile, nothing is written.
    """
    # Taken before the files are read, so that a file edited meanwhile makes the cache stale instead of wrong.
    stamps = {path: stamp(path) for path in layers.files()}
    compiled = _compiled(layers)
    if not os.path.isdir(state_dir()):  # removed meanwhile: a self-test, a demo or an uninstallation is over
        return compiled
    named = compiled.sources[len(layers.instructions) :]
    sources = [[path, stamps.get(path) or stamp(path)] for path in (*layers.files(), *named)]
    for problem in compiled.problems:
        log.append(state_dir(), stage="rules", reason=str(problem))
    target = cache_file(layers)
    if unset := [problem for problem in compiled.problems if problem.file.endswith(".toml")]:
        notices.add(state_dir(), f"Prompt Enricher: {unset[0]} (see: enricher doctor)")
    if not compiled.broken:
        _write(target, _header(compiled, sources), compiled.body)
        _store_sources(compiled)
        return compiled
    if layers.instructions[0].name == "base":
        return compiled
    good = read_any_age(target) or read_any_age(shipped_file())
    reason = str(compiled.broken[0])
    notices.add(state_dir(), f"Prompt Enricher: the last good rules stay in use. {reason} (see: enricher check)")
    if good is not None:
        header = {"hash": good.hash, "state": BROKEN, "problem": reason, "sources": sources}
        is_settled = not any(problem.file.endswith(".toml") for problem in compiled.broken)
        settings = compiled.body["settings"] if is_settled else good.body["settings"]
        _write(target, header, {**good.body, "settings": settings})
    return compiled


def _store_sources(compiled: Compiled) -> None:
    try:
        store(state_dir(), compiled)
    except OSError as failure:  # no reason to fail: the rules are written
        log.append(state_dir(), stage="rules", reason=f"the sources of {compiled.hash} were not kept: {failure}")


def _compiled(layers: Layers) -> Compiled:
    """Return the compiled layers; an unexpected exception counts as a broken edit, which keeps the last good rules."""
    try:
        return compile_layers(layers.instructions, layers.configuration)
    except Exception as failure:
        file = layers.files()[-1]
        problem = Problem(file, 1, "error", f"cannot be compiled: {type(failure).__name__}: {failure}")
        settings = compile_layers(layers.instructions[:1], layers.configuration).body["settings"]
        return Compiled(body={"settings": settings}, problems=[problem], broken=[problem])


def _header(compiled: Compiled, sources: list[list[Any]]) -> dict[str, Any]:
    problem = str(compiled.problems[0]) if compiled.problems else ""
    return {"hash": compiled.hash, "state": FRESH, "problem": problem, "sources": sources}


def _write(path: str, header: dict[str, Any], body: Mapping[str, Any]) -> None:
    text = render(header, dumps(body))
    if path == shipped_file():
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

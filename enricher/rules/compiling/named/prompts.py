"""The prompts for a model: the template files that the rules ``## Prompts`` name, and what is compiled from them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from enricher.rules.cache import read_any_age, shipped_file
from enricher.rules.compiling.document import Problem
from enricher.rules.compiling.named.files import found_path, named_file
from storage.base.fast_stdlib import keyed_hash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from enricher.rules.compiling.document import RuleBlock
    from enricher.rules.compiling.named.files import Files, NamedFile

MODES = "modes"
"""The name under which the file with the templates' modes is kept beside the templates."""


def prompt_files(rule: RuleBlock) -> Iterator[tuple[str, NamedFile]]:
    """Yield the templates that a rule names by their name, then the file with their modes."""
    for index, name in enumerate(rule.data.get("files", [])):
        yield os.path.splitext(os.path.basename(name))[0], named_file(rule, "files", index)
    if rule.data.get("modes"):
        yield MODES, named_file(rule, "modes")


def existing(
    prompts: Mapping[str, NamedFile], files: Files, problems: list[Problem], *, whole: Collection[str]
) -> dict[str, NamedFile]:
    """Return the prompt files that exist, and report the others.

    The instructions files in ``whole`` are complete: a copy of the packaged file without the files beside it gets
    the packaged ones, with one warning for all of them.
    """
    found: dict[str, NamedFile] = {}
    reported: list[Problem] = []
    for name, one in prompts.items():
        if path := found_path(one, files, reported, is_whole=one.file in whole, what="the prompt file"):
            found[name] = one._replace(path=path)
    warnings = {one.file: one for one in reversed(reported) if one.severity == "warning"}
    problems += [one for one in reported if one.severity == "error" or warnings[one.file] is one]
    return found


def compiled_prompts(
    prompts: Mapping[str, NamedFile],
    meanings: Mapping[str, str],
    files: Files,
    problems: list[Problem],
    *,
    reuses: bool,
) -> dict[str, Any]:
    """Return the prompts that the hook writes, rendered as far as they do not depend on what a user types.

    ``meanings`` are those of the task types. Rules that name no template get those of the package. Importing the
    template engine takes as long as the rest of the compilation, so with ``reuses`` a prompt that is compiled in the
    package already is taken from there.
    """
    texts = [(name, one.path, files.content(one.path)) for name, one in prompts.items()]
    of = keyed_hash(b"prompts", repr(([(name, text) for name, _path, text in texts], meanings)).encode())
    shipped = read_any_age(shipped_file())
    compiled: dict[str, Any] = shipped.packed("prompts") if reuses and shipped else {}
    if compiled and (not texts or compiled["of"] == of):
        return compiled
    from enricher.structured.templates import TemplateProblemError, read_modes, skeletons

    try:
        modes = [pair for name, path, text in texts if name == MODES for pair in read_modes(path, text).items()]
        templates = tuple(one for one in texts if one[0] != MODES)
        return {"of": of, **skeletons(templates, tuple(modes), tuple(meanings.items()))}
    except TemplateProblemError as problem:
        problems.append(Problem(problem.file, problem.line, "error", str(problem.args[0])))
        return {}

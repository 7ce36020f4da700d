"""Read instructions files, and the files that their rules name: fitted lists, templates of prompts, thresholds.

People write the instructions file. What a program fits (weights of single words, most signals, the word lists) is in
separate files of the same format, the fitted files. A rule and its lists in a fitted file are compiled as one rule.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from enricher.complexity.thresholds import compile_thresholds
from enricher.rules.cache import read_any_age, shipped_file
from enricher.rules.compiling.document import Problem, read_yaml_file
from enricher.rules.compiling.signals import forms
from enricher.rules.layers import packaged_file
from storage.base.fast_stdlib import keyed_hash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from enricher.rules.compiling.document import RuleBlock

FITTED_KEYS = ("signals", "leanings", "words", "min_confidence")
"""Keys that a rule may have in a fitted file; its meaning and examples belong in the instructions file."""
FREE_KIND = "words"  # a fitted file may have a word list without a rule in the instructions file
MODES = "modes"  # key of the file that says which templates ask for structured answers


class Files:
    """Reads files from the disk, except for those that are replaced by given texts, such as an unsaved edit."""

    __slots__ = ("_texts",)

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._texts = texts or {}

    def has(self, file: str) -> bool:
        """Return whether the file exists on the disk or among the given texts."""
        return file in self._texts or os.path.isfile(file)

    def content(self, file: str) -> str:
        """Return the text of a file, from which the hash of the rules is computed; empty if it cannot be read.

        Bytes that are not UTF-8 are replaced.
        """
        if file in self._texts:
            return self._texts[file]
        try:
            return Path(file).read_text(encoding="utf-8", errors="replace") if os.path.isfile(file) else ""
        except OSError:
            return ""

    def read(self, file: str, problems: list[Problem], what: str) -> str:
        """Return the text of a file; if it cannot be read, return an empty string and add the reason to ``problems``.

        ``what`` describes the file in the problem.
        """
        if file in self._texts:
            return self._texts[file]
        if os.path.exists(file) and not os.path.isfile(file):  # a pipe, for example, whose text might never end
            reason = "is not a regular file"
        else:
            try:
                return Path(file).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                reason = "cannot be read: it is not UTF-8 text"
            except OSError as error:
                reason = f"cannot be read: {error.strerror}"
        problems.append(Problem(file, 1, "error", f"{what} {reason}"))
        return ""


class NamedFile(NamedTuple):
    """The path of a file that a rule names, and the file and line where the rule names it."""

    path: str
    file: str
    line: int


def named_file(rule: RuleBlock, key: str, *index: int) -> NamedFile:
    """Return the file, relative to its own, that a rule names by the value of ``key`` or by an item of this list."""
    value = rule.data[key]
    name = str(value[index[0]] if index else value)
    return NamedFile(os.path.normpath(os.path.join(os.path.dirname(rule.file), name)), *rule.place_of(key, *index))


def found_path(named: NamedFile, files: Files, problems: list[Problem], *, is_whole: bool, what: str) -> str:
    """Return the path of the file that a rule names; if it does not exist, add an error and return an empty string.

    An instructions file that is complete (``is_whole``) may be a copy of the packaged one without the files that it
    names: then the packaged file is used. ``what`` describes the file in the error.
    """
    if files.has(named.path):
        return named.path
    beside = os.path.relpath(named.path, os.path.dirname(named.file))
    packaged = os.path.join(os.path.dirname(packaged_file()), beside)
    if is_whole and files.has(packaged):
        message = f"there is no {beside} beside this file; the packaged one is used"
        problems.append(Problem(named.file, named.line, "warning", message))
        return packaged
    message = f"{what} {named.path} does not exist; put it there, or correct the path"
    problems.append(Problem(named.file, named.line, "error", message))
    return ""


def fitted_files(rules: Sequence[RuleBlock]) -> list[NamedFile]:
    """Return the fitted files, which are named by the rules ``## Fitted``."""
    return [
        named_file(rule, "files", index)
        for rule in rules
        if rule.kind == "fitted"
        for index in range(len(rule.data.get("files", [])))
    ]


def refuse_other_keys(rules: Sequence[RuleBlock]) -> Iterator[Problem]:
    """Yield a problem for each key in a fitted file that belongs in the instructions file."""
    for rule in rules:
        for key in rule.data:
            if key not in FITTED_KEYS:
                message = f"a fitted file holds {', '.join(FITTED_KEYS)} only; write '{key}' into the instructions file"
                yield Problem(rule.file, rule.line_of(key), "error", message)


def join_fitted(
    rules: Sequence[RuleBlock], fitted: Sequence[RuleBlock], problems: list[Problem]
) -> Iterator[RuleBlock]:
    """Yield ``rules``, each with its lists from fitted files appended, then word lists that only fitted files have."""
    parts: dict[str, RuleBlock] = {}
    for part in fitted:
        if part.id in parts:
            first = parts[part.id]
            message = f"rule '{part.id}' is in two fitted files; the first is {first.file}:{first.line}"
            problems.append(Problem(part.file, part.line, "error", message))
        parts.setdefault(part.id, part)
    for rule in rules:
        is_joined = rule.id in parts and not rule.data.get("disabled")
        yield _with_fitted(rule, parts[rule.id], problems) if is_joined else rule
    known = {rule.id for rule in rules}
    for part in parts.values():
        if part.id in known:
            continue
        if part.kind == FREE_KIND:
            yield part
        else:
            message = f"the instructions file has no rule '{part.id}', so these lists have no effect; write it there"
            problems.append(Problem(part.file, part.line, "warning", f"{message}, or remove them here"))


def _with_fitted(rule: RuleBlock, part: RuleBlock, problems: list[Problem]) -> RuleBlock:
    data: dict[str, Any] = dict(rule.data)
    for key, value in part.data.items():
        if isinstance(value, list):
            data[key] = [*data.get(key, []), *value]
        elif key in data:
            message = f"'{key}' is also in {rule.file}:{rule.line_of(key)}; keep one of them"
            problems.append(Problem(*part.place_of(key), "error", message))
        else:
            data[key] = value
    return replace(rule, data=data, fitted=part)


def prompt_files(rule: RuleBlock) -> Iterator[tuple[str, NamedFile]]:
    """Yield (name, file) of each template that a rule names, and (MODES, file) if it names a file with their modes.

    The mode of a template says whether it asks for a structured answer.
    """
    for index, name in enumerate(rule.data.get("files", [])):
        yield os.path.splitext(os.path.basename(name))[0], named_file(rule, "files", index)
    if rule.data.get("modes"):
        yield MODES, named_file(rule, "modes")


def existing_prompts(
    prompts: Mapping[str, NamedFile], files: Files, problems: list[Problem], *, whole: Collection[str]
) -> dict[str, NamedFile]:
    """Return the prompt files that exist, and add a problem for each of those that do not.

    Instead of those that ``whole`` instructions files name, the packaged ones are used, with one warning for all.
    """
    found: dict[str, NamedFile] = {}
    reported: list[Problem] = []
    for name, one in prompts.items():
        if path := found_path(one, files, reported, is_whole=one.file in whole, what="the prompt file"):
            found[name] = one._replace(path=path)
    warnings = {one.file: one for one in reversed(reported) if one.severity == "warning"}  # the first of each file
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
    """Return the prompts for a language model, rendered except for the parts that depend on what a user types.

    If ``prompts`` has no templates, the packaged ones are used. If ``reuses`` is true, prompts that the package already
    contains in rendered form are not rendered again.
    """
    texts = [(name, one.path, files.content(one.path)) for name, one in prompts.items()]
    # Paths are not part of the hash: a copy of the packaged files gives the same prompts.
    of = keyed_hash(b"prompts", repr(([(name, text) for name, _path, text in texts], meanings)).encode())
    shipped = read_any_age(shipped_file())
    compiled: dict[str, Any] = shipped.packed("prompts") if reuses and shipped else {}
    if compiled and (not texts or compiled["of"] == of):
        return compiled
    # Importing the template engine takes as long as the rest of the compilation.
    from enricher.structured.templates import TemplateProblemError, read_modes, skeletons

    try:
        modes = [pair for name, path, text in texts if name == MODES for pair in read_modes(path, text).items()]
        templates = tuple(one for one in texts if one[0] != MODES)
        return {"of": of, **skeletons(templates, tuple(modes), tuple(meanings.items()))}
    except TemplateProblemError as problem:
        problems.append(Problem(problem.file, problem.line, "error", str(problem.args[0])))
        return {}


def read_thresholds(
    rule: RuleBlock, files: Files, problems: list[Problem], *, is_whole: bool
) -> tuple[str, dict[str, Any]]:
    """Return the path of the file that a rule ``## Complexity`` names, and its content, empty if faulty."""
    named = named_file(rule, "thresholds")
    found = found_path(named, files, problems, is_whole=is_whole, what="the file of thresholds")
    if not found:
        return named.path, {}
    known = len(problems)
    text = files.read(found, problems, f"the file of thresholds (named at {named.file}:{named.line})")
    if len(problems) > known:
        return found, {}
    body, more = compiled_thresholds(found, text)
    problems += more
    return found, body


def compiled_thresholds(file: str, text: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return the compiled content of a file of thresholds, empty if it has mistakes, and a problem for each."""
    data, lines, problems = read_yaml_file(file, text)
    if data is None or problems:
        return {}, problems
    body, mistakes = compile_thresholds(data, forms=forms)
    for where, message in mistakes:
        # The nearest value that is written: a missing key has no line of its own.
        line = next(lines[where[:end]] for end in range(len(where), -1, -1) if where[:end] in lines)
        problems.append(Problem(file, line, "error", message))
    return body, problems

"""Find rules that can never take effect, such as those with a misspelt name or an unreachable threshold.

Each problem has the line to correct. ``enricher check`` uses this; it never runs while a prompt is answered.
"""

from __future__ import annotations

import os
import shutil
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

from enricher.classify.reading import words_of
from enricher.prompt.wording.structure import survey
from enricher.rules.compiling.body import FACETS
from enricher.rules.compiling.compiled import NAMED_FILES
from enricher.rules.compiling.document import Problem
from enricher.rules.compiling.guardrails import DEFAULT_FILES
from enricher.rules.compiling.signals import CONTRACTIONS, LATE, LEAST_WEIGHT, LISTS, MARKERS, is_contained, tokens
from enricher.rules.compiling.workflows import PLACEHOLDER
from enricher.rules.layers import packaged_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enricher.rules.compiling.compiled import Compiled
    from enricher.rules.compiling.document import RuleBlock

MOST_NAMED = 12  # maximum number of guardrails that one message lists


def unused_rules(compiled: Compiled) -> Iterator[Problem]:
    """Yield a problem for each rule, or part of a rule, that can never take effect; the rules must have no errors.

    Packaged rules are not reported if only another layer makes them ineffective, for example by disabling a class.
    """
    ours = os.path.dirname(packaged_file()) + os.sep
    is_packaged = compiled.sources[0] == packaged_file() and all(
        layer in NAMED_FILES for layer, *_ in compiled.texts[1:]
    )
    for check in (
        _without_base, _replaced_unawares, _disabled_with_more, _classes, _facets, _word_lists, _words_never_read,
        _late_features, _guardrails, _untriggered_guardrails, _catalogues, _approaches, _programs,
    ):  # fmt: skip
        for problem in check(compiled):
            if is_packaged or not problem.file.startswith(ours):
                yield problem


def _warning(rule: RuleBlock, message: str, *path: str | int) -> Problem:
    match path:
        case (str(key), int(index)):
            return Problem(*rule.place_of(key, index), "warning", message)
    return Problem(rule.file, rule.line_of(*path) if path else rule.line, "warning", message)


def _without_base(compiled: Compiled) -> Iterator[Problem]:
    linked = compiled.guardrails
    for rule in compiled.baseless:
        if rule.kind == "guardrail" and linked.id_of(rule.name) in linked.catalogue:
            continue
        hint = _did_you_mean(rule.name, _names_of(rule.kind, compiled, without=rule))
        if rule.data.get("disabled") and rule.kind == "guardrail" and rule.name:
            yield _warning(rule, f"guardrail '{rule.name}' is in no catalogue, so this disables nothing{hint}")
        elif rule.data.get("disabled"):
            message = f"this disables nothing: no lower layer has a rule '{_heading(rule)}'{hint}"
            yield _warning(rule, message)
        else:
            message = f"this extends nothing: no lower layer has a rule '{_heading(rule)}'{hint}; or leave out 'extend'"
            yield Problem(rule.file, rule.line, "error", message)


def _replaced_unawares(compiled: Compiled) -> Iterator[Problem]:
    """Yield a problem for each class that has lost most of its signals to a layer that was perhaps to add some."""
    for rule, below in compiled.replacing:
        own, lost = len(rule.data.get("signals", [])), len(below.data.get("signals", []))
        if rule.kind in FACETS and "extend" not in rule.data and 2 * own < lost:
            # Without the number of its own signals: a proposal that adds one would seem to bring a new problem.
            message = f"this takes the place of {lost} signals that the class has; write 'extend: true' to keep them"
            yield _warning(rule, f"{message}, or 'extend: false' if they shall go")


def _heading(rule: RuleBlock) -> str:
    kind = rule.kind.replace("_", " ").capitalize()
    return f"{kind}: {rule.name}" if rule.name else kind


def _names_of(kind: str, compiled: Compiled, *, without: RuleBlock) -> list[str]:
    known = [rule.name for rule in compiled.rules.values() if rule.kind == kind and rule is not without]
    return [*known, *compiled.guardrails.catalogue, *compiled.guardrails.ids] if kind == "guardrail" else known


def _did_you_mean(name: str, known: Sequence[str]) -> str:
    spelt = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), spelt, n=1)
    return f"; did you mean '{spelt[near[0]]}'?" if near else ""


def _disabled_with_more(compiled: Compiled) -> Iterator[Problem]:
    for rule in compiled.disabled.values():
        if more := [key for key in rule.data if key != "disabled"]:
            yield _warning(rule, f"'{more[0]}' has no effect, because the rule is disabled", more[0])


def _classes(compiled: Compiled) -> Iterator[Problem]:
    for rule in compiled.of_kind(*FACETS):
        leanings = rule.data.get("leanings", {})
        if not rule.data.get("signals") and not any(
            words and int(strength) > 0 for strength, words in leanings.items()
        ):
            yield _warning(rule, "this class has no signals, so no prompt is ever classified as it; give it signals")


def _facets(compiled: Compiled) -> Iterator[Problem]:
    for facet in FACETS:
        settings = compiled.rules.get(facet)
        if settings is None:
            continue
        known = [rule.name for rule in compiled.of_kind(facet)]
        silent = settings.data.get("silent", [])
        for index, name in enumerate(silent):
            if name not in known:
                said_by = settings
                while said_by.below and ("silent",) not in said_by.lines:
                    said_by = said_by.below
                message = f"silent: no rule defines '{name}'{_did_you_mean(name, known)}"
                yield Problem(said_by.file, said_by.line_of("silent", index), "warning", message)
        if "max_silent" in settings.data and not silent:
            yield _warning(settings, "max_silent has no effect without silent classes", "max_silent")


def _word_lists(compiled: Compiled) -> Iterator[Problem]:
    used = {*LISTS, *(name for rule in compiled.classes for signal in rule.signals for name in _lists_of(signal))}
    for rule in compiled.of_kind("words"):
        if rule.name not in used:
            yield _warning(
                rule, f"no signal uses this word list; refer to it by 'words: {rule.name}' or '[{rule.name}]'"
            )


def _lists_of(signal: dict[str, Any]) -> list[str]:
    guards = [*signal.get("unless", []), *signal.get("with", [])]
    named = [guard.partition("@")[0][1:-1] for guard in guards if guard.startswith("[")]
    return [signal["words"], *named] if "words" in signal else named


def _words_never_read(compiled: Compiled) -> Iterator[Problem]:
    """Yield a problem for each phrase that never matches, because prompts split one of its words (``snake_case``)."""
    for rule in compiled.of_kind("words"):
        for index, wording in enumerate(rule.data["words"]):
            if reason := _never_read(wording):
                yield _warning(rule, reason, "words", index)
    for rule in compiled.of_kind(*FACETS, "guardrail", "approach"):
        for index, signal in enumerate(rule.data.get("signals", [])):
            guards = [one for one in (*signal.get("unless", []), *signal.get("with", [])) if one[0] not in "[<"]
            for wording in [signal["phrase"], *guards] if "phrase" in signal else [*signal.get("any", []), *guards]:
                if reason := _never_read(wording):
                    yield _warning(rule, reason, "signals", index)
        for strength, words in rule.data.get("leanings", {}).items():
            for index, word in enumerate(words):
                if reason := _never_read(word.partition("@")[0]):
                    yield Problem(*rule.place_of("leanings", strength, index), "warning", reason)


@cache
def _never_read(wording: str) -> str:
    if is_contained(wording):
        return ""
    for word in tokens(wording):
        if word == "…" or word in MARKERS.values():
            continue
        words = _read_as(word)
        if word not in words:
            found = " ".join(map(_readable, words))
            return f"'{wording}' never matches: a prompt's '{word}' is read as '{found}'"
    return ""


@cache
def _read_as(word: str) -> list[str]:
    # Between two words that are read as they are.
    return words_of(survey(f"the {word} there").masked, CONTRACTIONS).words[1:-1]


def _readable(word: str) -> str:
    return next((written for written, sign in MARKERS.items() if sign == word), word)


def _late_features(compiled: Compiled) -> Iterator[Problem]:
    known = [rule.name for rule in compiled.of_kind("task_type")]
    for rule in compiled.of_kind(*FACETS, "guardrail", "approach"):
        for index, signal in enumerate(rule.data.get("signals", [])):
            feature = signal.get("feature", "")
            if not feature.startswith(LATE):
                continue
            if rule.kind == "task_type":
                message = f"signal can never count: '{feature}' holds only once the task type is chosen"
                yield _warning(rule, message, "signals", index)
            elif (name := feature.removeprefix(LATE)) not in known:
                message = f"signal can never fire: no rule defines the task type '{name}'{_did_you_mean(name, known)}"
                yield _warning(rule, message, "signals", index)


def _guardrails(compiled: Compiled) -> Iterator[Problem]:
    settings, linked = compiled.body["guardrails"], compiled.guardrails
    shown = _shown_task_types(compiled)
    for identity, _title, task_types, always, own_threshold in settings["rules"]:
        rule = linked.rules.get(identity)
        most = _most_points(rule) + (settings["task_type_weight"] if shown.intersection(task_types) else 0)
        needed = own_threshold or settings["min_score"]
        if always or most >= needed:
            continue
        message = f"guardrail {identity} can never be shown: {_too_little(most, needed)}"
        if rule:
            yield _warning(rule, message)
        for row in linked.shorthands:
            if not rule and row.guardrail == identity and row.task_types:
                yield Problem(row.file, row.line, "warning", message)


def _approaches(compiled: Compiled) -> Iterator[Problem]:
    needed = compiled.body["approaches"]["min_score"]
    shown = _shown_task_types(compiled)
    for rule in compiled.of_kind("approach"):
        weights = [weight for kind, weight in rule.data.get("task_types", {}).items() if kind in shown]
        most = _most_points(rule) + max(weights, default=0)
        if most < needed:
            yield _warning(rule, f"this approach can never be suggested: {_too_little(most, needed)}")
        for fact in dict.fromkeys(PLACEHOLDER.findall(rule.data["say"])):
            if fact not in rule.data.get("needs", []):
                message = f"'{{{fact}}}' is printed as written for a prompt without a {fact}; add it to 'needs'"
                yield _warning(rule, message, "say")


def _too_little(most: int, needed: int) -> str:
    if not most:
        return "nothing calls for it; give it signals or task types"
    return f"its signals and task types add up to {most}, but min_score is {needed}; raise a weight"


def _most_points(rule: RuleBlock | None) -> int:
    signals = rule.data.get("signals", []) if rule else []
    return sum(signal.get("weight", LEAST_WEIGHT) for signal in signals)


def _shown_task_types(compiled: Compiled) -> set[str]:
    return {rule.name for rule in compiled.of_kind("task_type")}.difference(compiled.body["never_show"])


def _untriggered_guardrails(compiled: Compiled) -> Iterator[Problem]:
    """Yield, for each catalogue, one problem that lists the guardrails that no signal or task type can trigger."""
    linked = compiled.guardrails
    disabled = {linked.id_of(rule.name) for rule in compiled.disabled.values() if rule.kind == "guardrail"}
    called = {row[0] for row in linked.rows} | disabled
    by_file: dict[str, list[str]] = {}
    for one in linked.catalogue.values():
        if one.id not in called:
            by_file.setdefault(one.file, []).append(one.id)
    for file, names in by_file.items():
        more = ", …" if len(names) > MOST_NAMED else ""
        advice = f"write a rule such as '## Guardrail: {names[0]}' with signals or task_types"
        message = f"nothing calls for {', '.join(names[:MOST_NAMED])}{more}; {advice}"
        yield Problem(file, linked.catalogue[names[0]].line, "warning", message)


def _catalogues(compiled: Compiled) -> Iterator[Problem]:
    rule = compiled.rules.get("catalogues")
    while rule:
        if not any((kind,) in rule.lines for kind in DEFAULT_FILES):
            yield _warning(rule, "this names no file; write 'guardrails: FILE' or 'names: FILE'")
        rule = rule.below


def _programs(compiled: Compiled) -> Iterator[Problem]:
    for rule in compiled.of_kind("channel"):
        program = next(iter(rule.data.get("command", [])), "")
        is_findable = os.path.isabs(program) or os.sep not in program  # a relative path depends on the prompt's folder
        if program and is_findable and not shutil.which(program):
            yield _warning(rule, f"the program '{program}' is not there or not executable", "command", 0)

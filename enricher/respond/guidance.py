"""Choose the guardrails, the approach and the workflow that fit a prompt, by their scores.

A guardrail is a rule that the agent should follow; an approach is a suggestion of how to begin; a workflow is a kind of
procedure for which plans are written. A guardrail or approach gets points if the prompt has one of its task types, and
for each of its own signals in the prompt. If its score is below the ``min_score`` of the rules, it is omitted, and
recorded as an ``OmittedGuidance``, which the command ``explain`` shows.
"""

from __future__ import annotations

from enricher.prompt import GENERATED_CUES, MENTIONS_OF_TESTS
from enricher.prompt.text import ELLIPSIS, harmless, has_cue, without_last_word
from enricher.settings import AS_SPECIFIED, is_as_specified

NOT_ENGLISH = "non_english"
SAID_BEFORE = "said before in this session"
LONGEST_FACT = 120
MORE_LIKELY_THAN_NOT = 0.5
PAST, EDITS, AFTER_EDITS, NO_EDITS = "past", "edits", "after-edits", "no-edits"
"""Conditions of a guardrail: the session has earlier prompts; the agent has edited files, or the session is new; the
agent has edited files; it has edited none."""
MOST_QUOTED, LONGEST_QUOTED = 6, 48  # words and characters of the prompt, quoted in the sentence of a guardrail
FEWEST_QUOTED = 3  # words: of a long clause that ends with fewer, the words before them are quoted, too
ENDS = (". ", ", ", "? ", "! ", "?", "!", "\n", "。", "\uff1f", "\uff01", "\uff0c")
QUESTION_ENDS = ("? ", "?\n", "\uff1f")
SENTENCE_ENDS = tuple(sign for sign in ENDS if sign not in (", ", "\uff0c"))
EDGES = " .;:-"
REFUSALS = ("no ", "no,", "not ", "nope", "nein", "nicht ", "non", "pas ", "não", "нет", "не ", "不", "いや")
IN_BRACKETS = {ord("("): "[", ord(")"): "]"}  # a guardrail is itself printed in parentheses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from enricher.classify import Classification, Evidence
    from enricher.settings import Value


class Scored:
    """A guardrail or approach with its score.

    ``text`` is the title of the guardrail or the text of the approach. ``sentence`` is the guardrail's sentence about
    this prompt, which is shown instead of its title. ``ref`` is the reference under which the session records that it
    was shown.
    """

    __slots__ = ("id", "ref", "score", "sentence", "text")

    def __init__(self, identity: str, text: str, score: int, *, say: str = "", ref: str = "") -> None:
        self.id = identity
        self.text, self.score = text, score
        self.sentence = say
        self.ref = ref or identity


class OmittedGuidance:
    """A line that the text omits, such as a guardrail, and the reason, such as a score lower than ``needed``."""

    __slots__ = ("line", "needed", "reason", "score")

    def __init__(self, line: str, reason: str, *, score: float = 0, needed: float = 0) -> None:
        self.line, self.reason, self.score, self.needed = line, reason, score, needed


def silence_reason(
    classification: Classification, body: Mapping[str, Any], settings: Mapping[str, Value], prompt: str
) -> str:
    """Return the reason why a prompt gets no added text because it is small talk; empty if text may be added.

    Small talk may still get text in four cases: its words trigger a guardrail with a sentence; its task type is
    uncertain and it requests an action such as a commit, or tests ("ok now a test for it"), or says of a file that it
    is generated; only its first word seems to be small talk ("ok. now the form: …", "not that form"); or it is not in
    English (the signals are for English, and may mistake a question in another language for small talk).
    """
    if classification.task_type not in body["never_show"] or is_as_specified(settings):
        return ""
    if NOT_ENGLISH in classification.features:
        return ""
    if _any_is_triggered(body["guardrails"], classification.scores.get("guardrail", {})):
        return ""
    if _opens_an_order(classification, prompt):
        return ""
    # A single word requests nothing but an entry: "changelog".
    if classification.uncertain and (" " in prompt or not prompt.isascii() or "change" in prompt.lower()):
        from enricher.prompt.wording.actions import asked_actions

        says_generated = has_cue(f" {prompt.lower()}", GENERATED_CUES) and "file" in classification.features
        if says_generated or asked_actions(prompt) or _asks_for_tests(prompt):
            return ""
    return f"{classification.task_type} gets nothing"


def _asks_for_tests(prompt: str) -> bool:
    if not any(word in prompt.lower() for word in MENTIONS_OF_TESTS):
        return False
    from enricher.prompt.conversation.wanted_tests import wanted

    return bool(wanted(prompt))


def _opens_an_order(classification: Classification, prompt: str) -> bool:
    """Return whether an approval or a refusal also names something, and is probably more than small talk."""
    is_refusal = prompt.lower().startswith(REFUSALS)
    if not (is_refusal or "approval" in classification.features) or classification.confidence >= MORE_LIKELY_THAN_NOT:
        return False
    from enricher.prompt.conversation.followup import NAMED

    return not NAMED.isdisjoint(classification.features)


def select_guardrails(
    rules: Mapping[str, Any],
    *,
    task_type: str,
    signal_scores: Mapping[str, int],
    injected: Collection[str],
    has_past: bool,
    has_edits: bool,
    are_runs_refused: bool,
    is_offered: bool,
    is_as_specified: bool,
) -> tuple[list[Scored], list[OmittedGuidance]]:
    """Return the guardrails to show, most relevant first, and the omitted ones.

    ``task_type`` is empty if it is too uncertain to be shown; ``injected`` lists what the session has been shown. At
    most one guardrail with a sentence about the prompt is shown. With ``is_as_specified``, the guardrails of the task
    type come first, whatever their score is, and all are shown by their titles.
    """
    chosen: list[Scored] = []
    misses: list[OmittedGuidance] = []
    of_class = {one[0] for one in rules["rules"] if task_type in one[2]} if is_as_specified else set()
    for identity, title, task_types, always, own_threshold in rules["rules"]:
        if not is_as_specified and identity in rules[AS_SPECIFIED]:
            continue
        needed = own_threshold or rules["min_score"]
        score = signal_scores.get(identity, 0) + (rules["task_type_weight"] if task_type in task_types else 0)
        say, needs, times = rules["sentences"].get(identity, ("", "", 1))
        if is_as_specified:
            say, times = "", 1
        ref = _next_time(identity, times, injected)
        if always or identity in of_class:
            chosen.append(Scored(identity, title, max(score, needed)))
        elif score < needed:
            if score:
                misses.append(OmittedGuidance(f"guardrail {identity}", "score", score=score, needed=needed))
        elif say and is_offered:
            misses.append(OmittedGuidance(f"guardrail {identity}", "it is an option of the last answer", score=score))
        elif say and are_runs_refused and identity in rules["asking_for_run"]:
            misses.append(OmittedGuidance(f"guardrail {identity}", "the user wants nothing to be run", score=score))
        elif reason := _unmet(needs, has_past=has_past, has_edits=has_edits) or ("" if ref else SAID_BEFORE):
            misses.append(OmittedGuidance(f"guardrail {identity}", reason, score=score))
        else:
            chosen.append(Scored(identity, title, score, say=say, ref=ref))
    chosen.sort(key=lambda one: (one.id not in of_class, -one.score))
    shown, others = _fitting(chosen, rules["most"])
    return shown, misses + others


def _unmet(needs: str, *, has_past: bool, has_edits: bool) -> str:
    if needs == PAST and not has_past:
        return "nothing was said before"
    if needs == NO_EDITS:
        return "the conversation shows the edits" if has_edits else ""
    if has_edits or needs not in (EDITS, AFTER_EDITS) or (needs == EDITS and not has_past):
        return ""
    return "nothing was edited before"


def _fitting(chosen: list[Scored], most: int) -> tuple[list[Scored], list[OmittedGuidance]]:
    """Return up to ``most`` guardrails, at most one of them with a sentence about the prompt, and those omitted."""
    with_sentence = [one for one in chosen if one.sentence][1:]
    left = [one for one in chosen if one not in with_sentence]
    misses = [OmittedGuidance(f"guardrail {one.id}", "another one is said") for one in with_sentence]
    misses += [OmittedGuidance(f"guardrail {one.id}", "more relevant ones fill the line") for one in left[most:]]
    return left[:most], misses


def _any_is_triggered(rules: Mapping[str, Any], signal_scores: Mapping[str, int]) -> bool:
    """Return whether the prompt's words, regardless of its task type, trigger a guardrail that has a sentence."""
    sentences = rules["sentences"]
    return any(
        identity in sentences and signal_scores.get(identity, 0) >= (threshold or rules["min_score"])
        for identity, _title, _task_types, _always, threshold in rules["rules"]
    )


def _next_time(identity: str, times: int, injected: Collection[str]) -> str:
    # It is empty if it was shown as often as a session allows.
    names = [identity, *(f"{identity} {time}" for time in range(2, times + 1))]
    return next((name for name in names if f"guardrail:{name}" not in injected), "")


def trigger_words(identity: str, evidence: Iterable[Evidence], prompt: str) -> str:
    """Return the words of the prompt that triggered a guardrail, with the rest of their clause if that is short.

    If it was triggered by the form of the prompt alone, these are the words of its first question.
    """
    own = [one for one in evidence if one.facet == "guardrail" and one.name == identity]
    words = [one for one in own if one.signal[:1] != "<"]
    if not words:
        return _quoted(prompt, _first_question(prompt)) if own else ""
    best = max(words, key=lambda one: (one.weight, -one.start))
    # The clause around the words: from the last punctuation mark before them to the first one after them.
    last = min([at for sign in ENDS if (at := prompt.find(sign, best.end)) >= 0] or [len(prompt)])
    return _quoted(prompt, (_after_last(ENDS, prompt, best.start), last), (best.start, best.end))


def _first_question(prompt: str) -> tuple[int, int]:
    # A prompt without a question mark ("is it ready to merge") is a question from its beginning.
    marks = [at for sign in QUESTION_ENDS if (at := prompt.find(sign)) > 0] or [prompt.rfind("?")]
    if min(marks) < 0:
        return 0, min([at for sign in SENTENCE_ENDS if (at := prompt.find(sign)) >= 0] or [len(prompt)])
    return _after_last(SENTENCE_ENDS, prompt, min(marks)), min(marks)


def _after_last(signs: Iterable[str], prompt: str, before: int) -> int:
    return max([at + len(sign) for sign in signs if (at := prompt.rfind(sign, 0, before)) >= 0] or [0])


def _quoted(prompt: str, clause: tuple[int, int], words: tuple[int, int] = (0, 0)) -> str:
    """Return a clause of the prompt; if it is long, only its words from ``words`` on, or a few of its first."""
    begin, last = clause
    start, end = words if words[1] else (begin, begin)
    sentence, found = prompt[begin:last].strip(EDGES), prompt[start:last].strip(EDGES)
    if len(sentence) > LONGEST_QUOTED or len(sentence.split()) > MOST_QUOTED:
        most = max(MOST_QUOTED, len(prompt[start:end].split()))
        if len(found.split()) < FEWEST_QUOTED and len(sentence.split()) > MOST_QUOTED:
            sentence = f"{ELLIPSIS} {' '.join(sentence.split()[-MOST_QUOTED:])}"
        else:
            sentence = " ".join(found.split()[:most])
            if len(sentence) > LONGEST_QUOTED:
                sentence = without_last_word(sentence[: max(LONGEST_QUOTED, end - start)])
            sentence += "" if found.split() == sentence.split() else f" {ELLIPSIS}"
    return harmless(sentence, longest=LONGEST_FACT).replace('"', "'").translate(IN_BRACKETS)


def suggest_approach(
    rules: Mapping[str, Any],
    facts: Mapping[str, str],
    *,
    task_type: str,
    signal_scores: Mapping[str, int],
    injected: Collection[str],
    is_as_specified: bool,
) -> tuple[Scored | None, list[OmittedGuidance]]:
    """Return the first approach that fits the prompt, or None, and the approaches that were omitted before it.

    One fits if its score is sufficient, if ``facts`` has all facts that its text quotes, and if this session has not
    shown it yet.
    """
    misses: list[OmittedGuidance] = []
    rows = [*rules["rules"], *rules[AS_SPECIFIED]] if is_as_specified else rules["rules"]
    for name, say, needs, task_types in rows:
        score = signal_scores.get(name, 0) + task_types.get(task_type, 0)
        missing = [fact for fact in needs if fact not in facts]
        if score < rules["min_score"] or missing:
            if score:
                reason = f"the prompt has no {missing[0]}" if missing else "score"
                misses.append(OmittedGuidance(f"approach {name}", reason, score=score, needed=rules["min_score"]))
        elif f"approach:{name}" in injected:
            misses.append(OmittedGuidance(f"approach {name}", SAID_BEFORE, score=score))
        else:
            return Scored(name, _fill(say, facts), score), misses
    return None, misses


def choose_workflow(
    rules: Mapping[str, Any], *, signal_scores: Mapping[str, int], shares: Mapping[str, float]
) -> tuple[str, str]:
    """Return the name of the workflow that fits a prompt (empty if none is certain), and the reason in words.

    A workflow gets the points of its own signals (``signal_scores``) and, for each of its task types, its weight for
    the type multiplied by the probability that the prompt has this type (``shares``).
    """
    ranked = [
        (signal_scores.get(name, 0) + sum(weight * shares.get(kind, 0.0) for kind, weight in types.items()), name)
        for name, types in rules["rules"]
    ]
    ranked.sort(key=lambda one: -one[0])
    if not ranked:
        return "", ""
    (points, name), (next_points, next_name) = ranked[0], ranked[1] if len(ranked) > 1 else (0.0, "none")
    types = dict(rules["rules"])[name]
    parts = [f"signals {signal_scores[name]}"] if signal_scores.get(name) else []
    parts += [f"{kind} {weight * shares[kind]:.1f}" for kind, weight in types.items() if shares.get(kind, 0.0) > 0.1]
    reason = f"{name} {points:.1f} ({', '.join(parts) or 'no evidence'}); next {next_name} {next_points:.1f}"
    if points < rules["min_score"]:
        return "", f"uncertain: {reason}; {rules['min_score']:g} are needed"
    if points - next_points < rules["min_lead"]:
        return "", f"uncertain: {reason}; a lead of {rules['min_lead']:g} is needed"
    return name, reason


def shares_of(scores: Mapping[str, int], facets: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the probability of each task type: its odds double with every ``points_that_double`` points."""
    double = next((facet["points_that_double"] for facet in facets if facet["name"] == "task_type"), 0.0)
    if not scores or not double:
        return {}
    best = max(scores.values())
    odds = {name: 2.0 ** ((score - best) / double) for name, score in scores.items()}
    total = sum(odds.values())
    return {name: one / total for name, one in odds.items()}


def _fill(say: str, facts: Mapping[str, str]) -> str:
    for name, value in facts.items():
        say = say.replace("{" + name + "}", harmless(value, longest=LONGEST_FACT))
    return say

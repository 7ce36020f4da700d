"""Estimate the effort that a prompt asks for: a score of 0 to 100, the size, and whether to split the task.

The same prompt and thresholds always give the same estimate. The thresholds are the compiled form of
``instructions/complexity_thresholds.yaml`` (``enricher.complexity.thresholds``). The method is specified in seed 002.
The score is a guess that correlates only weakly with the files that agents touched (docs/complexity.md), so it is used
for suggestions only.
"""

from __future__ import annotations

from enricher.classify.verdict import scanned_part
from enricher.complexity.parts import CycleError, Part, find_parts, levels
from enricher.prompt.text import harmless
from enricher.prompt.wording import structure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Thresholds = Mapping[str, Any]

LOWEST, HIGHEST = 0, 100
MOST_FILES = 10_000
"""Upper limit for a number of files that is read from a prompt."""
FILES = structure.FILE + structure.DOC_FILE + structure.AGENT_FILE + structure.TEST_FILE
MARKERS = str.maketrans(
    dict.fromkeys("\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008.,;:!?()[]{}\"'`*/\\<>|=+\n\t-", " ")
)
NOT_ASKED = "no model was asked"
LEAST_SURE, MOST_SURE = 0.05, 0.95
"""Limits of the confidence in a suggestion: an estimate from words is never certain, and never worthless."""
LONGEST_PART, MOST_QUOTED = 60, 6
FEWEST_INDEPENDENT = 2
SAFETY = "safe for independent files only, with one owner for each file; otherwise one after the other"


class Estimate:
    """The effort that a prompt asks for, and the parts that it lists.

    ``heuristic`` is a score computed from the prompt's words, ``model`` that of a language model (if it is None,
    ``reason`` says why), and ``score`` combines the two; all three are from 0 to 100. ``confidence`` (0 to 1) is the
    confidence in ``should_split``. ``groups`` lists groups of parts, to be done one after the other; each contains the
    numbers of parts that could be done at the same time. If parts wait for each other in a circle, ``cycle`` lists
    them and ``groups`` is empty. ``factors`` maps each cause of the heuristic score to its points, its weight, or the
    words found for it.
    """

    __slots__ = (
        "category", "confidence", "cycle", "factors", "files", "groups", "heuristic", "lines", "minutes", "model",
        "parts", "rationale", "reason", "score", "should_split", "task_id", "tokens",
    )  # fmt: skip

    def __init__(self, task_id: str = "") -> None:
        self.task_id = task_id
        self.score = self.heuristic = 0.0
        self.model: float | None = None
        self.reason = NOT_ASKED
        self.tokens = self.lines = self.files = self.minutes = 0
        self.category = ""
        self.should_split = False
        self.confidence = 0.0
        self.rationale = ""
        self.parts: list[Part] = []
        self.groups: list[list[int]] = []
        self.cycle: list[int] = []
        self.factors: dict[str, Any] = {}

    @property
    def independent(self) -> list[Part]:
        """Return the parts of the largest group: parts that could all be done at the same time."""
        group = max(self.groups, key=len, default=[])
        return [part for part in self.parts if part.number in group]

    def row(self) -> tuple[Any, ...]:
        """Return the values for the table ``complexity_estimates``, in the order of its columns in ``storage.traces``.

        They contain no words of the prompt except words that the thresholds list.
        """
        return (
            self.tokens, self.lines, self.files, self.minutes, self.score, self.heuristic, self.model, self.category,
            self.should_split, self.rationale, self.factors, self.confidence,
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON value, as the option ``--json`` of the commands prints it."""
        parts = [{"number": one.number, "text": one.text, "needs": one.needs} for one in self.parts]
        names = ("score", "heuristic", "model", "reason", "category", "tokens", "lines", "files", "minutes",
                 "should_split", "confidence", "rationale", "groups", "cycle", "factors")  # fmt: skip
        return {**{name: getattr(self, name) for name in names}, "parts": parts}


def estimate(
    prompt: str,
    thresholds: Thresholds,
    *,
    task_type: str = "",
    task_id: str = "",
    model_score: object = None,
    ask: Callable[[str], object] | None = None,
) -> Estimate:
    """Estimate the effort that a prompt asks for.

    ``task_type`` is empty if it is uncertain. ``model_score`` is an answer that a language model has already given;
    without one, ``ask`` is called with the prompt to get an answer. If the answer is a number from 0 to 100, or a
    mapping with such a number as ``complexity``, it is combined with the heuristic score. If it is anything else, or if
    ``ask`` raises an exception, only the heuristic score is used, and the estimate's ``reason`` says why.
    """
    result = Estimate(task_id)
    _measure(result, scanned_part(prompt), thresholds, task_type=task_type)
    sizes = thresholds["sizes"]
    result.tokens = len(prompt) // sizes["characters_per_token"] + int(result.lines * sizes["tokens_per_line"])
    if ask is not None and model_score is None:  # a replay passes the recorded score and queries no model
        try:
            model_score = ask(prompt)
        except Exception as failure:
            result.reason = f"the model failed: {type(failure).__name__}: {failure}"
        else:
            # None would mean that no model was asked; an empty text is reported as an answer that is no number.
            model_score = "" if model_score is None else model_score
    if model_score is not None:
        result.model, result.reason = _read_score(model_score)
    _combine(result, thresholds)
    _suggest(result, thresholds)
    return result


def _measure(result: Estimate, prompt: str, thresholds: Thresholds, *, task_type: str) -> None:
    """Set the heuristic score, the sizes and the parts of ``result``; text pasted into the prompt is ignored."""
    masked = structure.survey(prompt).masked
    words = masked.lower().translate(MARKERS).split()
    text = f" {' '.join(words)} "
    verbs = thresholds["verbs"]
    result.parts = find_parts(prompt, masked, verbs["words"])
    _group(result)
    factors: dict[str, Any] = result.factors
    result.files = max(1, _named_files(prompt, masked), *_counts(words, text, thresholds["files"]))
    factors["base"] = thresholds["base"]
    points, result.lines = 0.0, thresholds["sizes"]["lines"]
    for name, group in thresholds["keywords"].items():
        if found := _found(words, text, group):
            factors[name] = found
            points += group["points"] * len(found)
            result.lines += group["lines"] * len(found)
    factors["file_weight"] = _step(result.files, thresholds["files"]["weights"])["weight"]
    factors["kind_weight"] = max(
        (kind["weight"] for kind in thresholds["kinds"].values() if _found(words, text, kind)), default=1
    )
    # Files and kind weigh the keywords alone; the task type below weighs everything.
    points = points * factors["file_weight"] * factors["kind_weight"]
    count = len(_found(words, text, verbs))
    factors["verbs"] = verbs["points"] * max(0, count - verbs["free"])
    factors["items"] = thresholds["items"]["points"] * max(0, len(result.parts) - thresholds["items"]["free"])
    waits = sum(len(part.needs) for part in result.parts)
    factors["dependencies"] = _step(waits, thresholds["dependencies"])["points"] if waits else 0
    points += factors["base"] + factors["verbs"] + factors["items"] + factors["dependencies"]
    types = thresholds["task_types"]
    factors["task_type_weight"] = types.get(task_type, types["default"])
    result.heuristic = _bounded(points * factors["task_type_weight"])
    sizes = thresholds["sizes"]
    result.minutes = max(sizes["least_minutes"], round(result.lines / sizes["lines_per_minute"]))


def _group(result: Estimate) -> None:
    try:
        result.groups = levels({part.number: part.needs for part in result.parts})
    except CycleError as failure:
        result.cycle = failure.cycle


def _found(words: Iterable[str], text: str, group: Thresholds) -> list[str]:
    """Return the words and phrases of ``group`` that the prompt contains, each only once and in its base form.

    ``words`` are the words of the prompt, and ``text`` is the same words joined by spaces.
    """
    forms = group["words"]
    single = dict.fromkeys(forms[word] for word in words if word in forms)
    return [*single, *(phrase for phrase in group["phrases"] if f" {phrase} " in text)]


def _named_files(prompt: str, masked: str) -> int:
    """Return the number of different files that the prompt names.

    In ``masked``, a copy of the prompt with the same offsets, a marker stands at the beginning of each file name.
    """
    names: set[str] = set()
    for marker in FILES:
        at = masked.find(marker)
        while at >= 0:
            # "src/app.py:15" names the same file as "src/app.py".
            names.add(prompt[at:].split(None, 1)[0].strip(".,;:!?()[]\"'`").partition(":")[0])
            at = masked.find(marker, at + 1)
    return len(names)


def _counts(words: list[str], text: str, files: Thresholds) -> list[int]:
    """Return the number of files assumed for words such as "everywhere", then each number that is stated ("40 files").

    The assumed number is 0 if the prompt contains no such word. ``files`` is the section of the thresholds with the
    words to look for.
    """
    found = [files["wide"]["count"]] if _found(words, text, files["wide"]) else [0]
    for at, word in enumerate(words):
        # "40 source files": one word may be between the number and what it counts.
        if word.isascii() and word.isdigit() and any(one in files["counted"] for one in words[at + 1 : at + 3]):
            found.append(min(int(word[:6]), MOST_FILES))  # int() raises ValueError for thousands of digits
    return found


def _step(value: float, steps: Iterable[Thresholds]) -> Any:
    """Return the first step of a scale whose limit ``up_to`` is at least ``value``; the last step has no limit."""
    return next(step for step in steps if step["up_to"] is None or value <= step["up_to"])


def _bounded(score: float) -> float:
    return round(max(LOWEST, min(HIGHEST, score)), 1)


def _read_score(answer: object) -> tuple[float | None, str]:
    """Return the score (0 to 100) in a model's answer and an empty string, or None and why the answer has no score."""
    if isinstance(answer, dict):
        answer = answer.get("complexity", answer.get("complexity_score"))
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return None, f"the model's answer is no number: {str(answer)[:40]!r}"
    if not LOWEST <= answer <= HIGHEST:
        return None, f"the model's score {answer:g} is not between {LOWEST} and {HIGHEST}"
    return float(answer), ""


def _combine(result: Estimate, thresholds: Thresholds) -> None:
    """Set the final score (the heuristic score, or its weighted mean with the model's score) and its category."""
    result.score = result.heuristic
    if result.model is not None:
        own, others = thresholds["mix"]["heuristic"], thresholds["mix"]["model"]
        result.score = _bounded((own * result.heuristic + others * result.model) / (own + others))
    result.category = _step(result.score, thresholds["categories"])["name"]


def _suggest(result: Estimate, thresholds: Thresholds) -> None:
    """Set whether to suggest splitting the task, the confidence in this decision, and its rationale."""
    limits = thresholds["decomposition"]
    values = {"score": result.score, "lines": result.lines, "files": result.files, "tokens": result.tokens}
    reached = [f"{name} {value:g} reaches {limits[name]:g}" for name, value in values.items() if value >= limits[name]]
    has_parts = len(result.parts) >= limits["least_parts"]
    steps = limits["confidence"]
    sure = steps["base"] + steps["each"] * len(reached) + (steps["parts"] if has_parts else 0)
    result.should_split = bool(reached)
    # The confidence is in the decision, so what speaks for splitting lowers that in not splitting.
    result.confidence = round(max(LEAST_SURE, min(MOST_SURE, sure if reached else 1 - sure)), 2)
    reasons = reached or [f"score {result.score:g}, {result.lines} lines, {result.files} files: below every threshold"]
    if result.parts:
        reasons.append(f"{len(result.parts)} listed parts")
    if result.cycle:
        reasons.append(f"parts wait for each other: {' -> '.join(map(str, result.cycle))}")
    result.rationale = "; ".join(reasons)


def suggestion(estimate: Estimate) -> str:
    """Return the sentence that suggests to the agent to split the task; empty if the estimate is below all thresholds.

    If at least two parts of the task are independent, the sentence says that these could be done in parallel.
    """
    parts = estimate.independent
    grounds = f"confidence {estimate.confidence:.2f}: {estimate.rationale}"
    if not estimate.should_split:
        return ""
    if len(parts) >= FEWEST_INDEPENDENT:
        quoted = "; ".join(f"{one.number} '{harmless(one.text, longest=LONGEST_PART)}'" for one in parts[:MOST_QUOTED])
        more = f"; {len(parts) - MOST_QUOTED} more" if len(parts) > MOST_QUOTED else ""
        how = f"this could be done in {len(parts)} independent parts ({quoted}{more})"
        choice = f"decide whether to parallelise, and give the reason; {SAFETY}"
    else:
        how = "this could be split into smaller tasks"
        choice = f"decide whether to split it, and give the reason; parallel work is {SAFETY}"
    return f"Suggested: {how} ({grounds}) \u2014 {choice}."

"""Parse a text that was added to a prompt, and list where it breaks the documented form or the limits.

The form is that of ``enricher.respond.render``: a title, then at most one line of each label in fixed order; in the
profile ``as-specified``, blank lines separate them. A text is a success only if it can be parsed and names only task
types and guardrails that the rules define; an empty text is a success, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from enricher.prompt.text import estimate_tokens
from enricher.respond.render import (
    BACKGROUND_TITLE,
    CONTEXT_LABEL,
    HARD_CAP_TOKENS,
    MOST_CHARACTERS,
    PLAIN_CONTEXT_LABEL,
    TITLE,
)
from enricher.settings import is_as_specified

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from enricher.classify import Rules

# A title may contain parentheses and commas, so that it ends only before another "ID (" or at the end of the line.
GUARDRAIL = re.compile(r"(\S+) \((?:.+?)\)(?:, (?=\S+ \()|$)")
LABELS = {
    "classification": re.compile(r"\*\*Classification\*\*: (?P<said>\S.*)"),
    "context": re.compile(f"(?:{re.escape(CONTEXT_LABEL)}|{re.escape(PLAIN_CONTEXT_LABEL)})(?P<said>)"),
    "item": re.compile(r"- (?P<said>.*\S.*)"),
    "reminder": re.compile(r"\*\*Reminder\*\*: (?P<said>\S.*)"),
    "resources": re.compile(r"\*\*Suggested Resources\*\*: (?P<said>\S.*)"),
    "guardrails": re.compile(r"\*\*Applicable Guardrails\*\*: (?P<said>\S+ \(.+\)|none)"),
    "approach": re.compile(r"\*\*Suggested Approach\*\*: (?P<said>\S.*)"),
    "partial": re.compile(r"_Partial: (?P<said>\S.*)_"),
}
"""A pattern for each kind of line, by label, in the order in which the lines occur in a text."""


class FormError(ValueError):
    """Raised if a line of a text breaks the documented form; ``line`` is its number, counted from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line


@dataclass(frozen=True, slots=True)
class ParsedText:
    """The parsed content of an added text; ``guardrails`` are the ids of the guardrails that it names."""

    task_type: str = ""
    items: tuple[str, ...] = ()
    guardrails: tuple[str, ...] = ()
    approach: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """The names of task types and guardrails that the rules allow in a text.

    ``always`` are the guardrails that may be repeated in a session.
    """

    task_types: frozenset[str]
    guardrails: frozenset[str]
    always: frozenset[str] = frozenset()

    @staticmethod
    def of(rules: Rules) -> Terms:
        """Return the names of task types and guardrails that compiled rules define."""
        known = rules.body["guardrails"]["rules"]
        task_types = (name for facet, name in rules.table.classes if facet == "task_type")
        return Terms(
            frozenset(task_types),
            frozenset(one[0] for one in known),
            frozenset(one[0] for one in known if one[3]),
        )


@dataclass(frozen=True, slots=True)
class TextCheck:
    """The result of checking an added text.

    ``fault`` says why the text counts as failed, and is empty if it does not; ``violations`` has a name for each
    breach.
    """

    fault: str = ""
    violations: tuple[str, ...] = ()


def parse(text: str) -> ParsedText:
    """Return the content of an added text, which may be empty; raises FormError if it breaks the documented form."""
    if not text:
        return ParsedText()
    title, *lines = text.split("\n")
    if title not in (TITLE, BACKGROUND_TITLE):
        raise FormError(1, f"the title is not {TITLE!r}")
    found: list[tuple[str, str]] = []
    is_spaced = bool(lines) and not lines[0]  # the profile as-specified
    for number, line in enumerate(lines, 2):
        if line or not is_spaced:
            found.append(_labelled(line, number, after=found[-1][0] if found else ""))
    if not found:
        raise FormError(1, "nothing follows the title")
    if found[-1][0] == "context":
        raise FormError(len(lines) + 1, "the context holds no item")
    values = {label: value for label, value in found if label != "item"}
    guardrails = tuple(GUARDRAIL.findall(values.get("guardrails", "")))
    items = tuple(value for label, value in found if label == "item")
    return ParsedText(values.get("classification", ""), items, guardrails, values.get("approach", ""))


def _labelled(line: str, number: int, *, after: str) -> tuple[str, str]:
    order = list(LABELS)
    for label, form in LABELS.items():
        if match := form.fullmatch(line):
            # Only items are repeated, and they follow the line "context" or another item.
            is_next = not after or order.index(label) > order.index(after) or label == after == "item"
            if not is_next or (label == "item" and after not in ("context", "item")):
                raise FormError(number, f"{label} is in the wrong place")
            if after == "context" and label != "item":
                raise FormError(number, "the context holds no item")
            return label, match["said"]
    raise FormError(number, f"{line[:60]!r} is none of the documented lines")


def read(
    text: str, *, terms: Terms, tokens: int, already_shown: Collection[str], names: Collection[str] | None = None
) -> TextCheck:
    """Check an added text, and return what is wrong with it.

    ``tokens`` is the maximum number of tokens as ``estimate_tokens`` counts them, ``terms`` are the names that the text
    may use. ``already_shown`` is what the session was shown before, as ``kind:reference``; ``names`` is what this text
    shows, by default what ``references`` finds in it. These breaches are possible:

    - ``form``: the text cannot be parsed
    - ``budget``: it has more tokens than the maximum, or more characters than a client accepts
    - ``unknown class``, ``unknown guardrail``: no rule defines a name in it
    - ``repeated``: it shows something that the session was shown before, unless the rules allow that
    """
    over = ["budget"] if text and (estimate_tokens(text) > tokens or len(text) > MOST_CHARACTERS) else []
    try:
        parsed = parse(text)
    except FormError as error:
        return TextCheck(str(error), ("form", *over))
    unknown = [f"class {parsed.task_type}"] if parsed.task_type and parsed.task_type not in terms.task_types else []
    strangers = [one for one in parsed.guardrails if one not in terms.guardrails]
    faults = [*unknown, *(f"guardrail {one}" for one in strangers)]
    new = references(parsed) if names is None else names
    again = [one for one in new if one in already_shown and one.removeprefix("guardrail:") not in terms.always]
    breaches = [*over, *["unknown class" for _ in unknown], *["unknown guardrail" for _ in strangers]]
    fault = f"no rule defines {', '.join(faults)}" if faults else ""
    return TextCheck(fault, (*breaches, *("repeated" for _ in again)))


def references(parsed: ParsedText) -> list[str]:
    """Return the guardrails and the approach that a text shows, as ``guardrail:ID`` and ``approach:TEXT``."""
    return [f"guardrail:{one}" for one in parsed.guardrails] + (
        [f"approach:{parsed.approach}"] if parsed.approach else []
    )


def allowance(settings: Mapping[str, Any], *, spent: int) -> int:
    """Return the maximum number of tokens that the text added to a prompt may have.

    It is the smallest of three numbers: the prompt's budget, what is left of the session's budget after ``spent``
    tokens, and a hard cap. In the profile ``as-specified``, the session has no budget, and a search intent has tokens
    of its own.
    """
    if is_as_specified(settings):
        return min(int(settings["budgets.tokens"]) + int(settings["search_intent.max_tokens"]), HARD_CAP_TOKENS)
    left = int(settings["budgets.session_tokens"]) - spent
    return max(0, min(int(settings["budgets.tokens"]), left, HARD_CAP_TOKENS))

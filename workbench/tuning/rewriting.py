"""Edit one signal, number or list in the text of an instructions file, and leave every other byte as it is.

Every edited text is parsed again, and returned only if no value except the edited one differs from the old text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from enricher.rules.compiling.document import read_document
from enricher.rules.own_layer.entries import Entry, with_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from enricher.rules.compiling.document import Document, RuleBlock

    Signals = list[dict[str, Any]]

WEIGHT = re.compile(r"\bweight:\s*\d+")
CLOSING = re.compile(r"\}(\s*(?:#.*)?\r?)$")  # the brace that ends a signal in one line, and a comment after it
ITEM = re.compile(r"\s*- ")


class Rewriter:
    """The text of one instructions file; methods return an edited copy, or None if the text's layout prevents it."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self._document = read_document(path, text)
        self._blocks = {block.id: block for block in self._document.rules}

    def with_weight(self, rule: str, index: int, weight: int) -> str | None:
        """Return the text with another weight for the signal ``index`` of a rule; the weight 0 removes the signal.

        Return None if the layout prevents the edit.
        """
        if not weight:
            return self._without(rule, index)

        def write(lines: list[str], start: int, end: int) -> list[str] | None:
            at = [number for number in range(start, end) if WEIGHT.search(lines[number])]
            # A phrase may contain "weight: 3", and several signals may share a line.
            if len(at) == 1 and len(WEIGHT.findall(lines[at[0]])) == 1:
                return [*lines[: at[0]], WEIGHT.sub(f"weight: {weight}", lines[at[0]]), *lines[at[0] + 1 :]]
            if at or not CLOSING.search(lines[end - 1]):
                return None
            return [*lines[: end - 1], CLOSING.sub(rf", weight: {weight}}}\1", lines[end - 1]), *lines[end:]]

        def change(signals: Signals) -> Signals:
            return [*signals[:index], {**signals[index], "weight": weight}, *signals[index + 1 :]]

        return self._rewritten(rule, index, write, change)

    def _without(self, rule: str, index: int) -> str | None:
        """Return the text without a rule's signal at ``index``; None if the signal does not occupy lines of its own."""
        return self._rewritten(
            rule,
            index,
            lambda lines, start, end: [*lines[:start], *lines[end:]] if ITEM.match(lines[start]) else None,
            lambda signals: [*signals[:index], *signals[index + 1 :]],
        )

    def with_signal(self, rule: str, signal: Mapping[str, Any]) -> str | None:
        """Return the text with a signal added at the end of a rule; None if its signals are not listed line by line."""
        block = self._blocks.get(rule)
        if block is not None and block.data and "signals" not in block.data:
            return self._with_first_signal(block, signal)

        def write(lines: list[str], start: int, end: int) -> list[str] | None:
            item = ITEM.match(lines[start])
            if item is None:
                return None
            return [*lines[:end], f"{item[0]}{signal_text(signal)}{_ending(lines[start])}", *lines[end:]]

        return self._rewritten(rule, -1, write, lambda signals: [*signals, dict(signal)])

    def _with_first_signal(self, block: RuleBlock, signal: Mapping[str, Any]) -> str | None:
        lines = self.text.split("\n")
        at = block.line_of() - 1
        ending = _ending(lines[at])
        lines[at:at] = [f"signals:{ending}", f"  - {signal_text(signal)}{ending}"]
        return self._verified(lines, block, {**block.data, "signals": [dict(signal)]})

    def with_value(self, rule: str, key: str, value: float) -> str | None:
        """Return the text with ``key`` of a rule set to a number; None if the rule's layout prevents that."""
        block = self._blocks[rule]
        if not block.data:
            return None
        lines = self.text.split("\n")
        at = block.line_of(*((key,) if key in block.data else ())) - 1
        if key in block.data:
            lines[at] = re.sub(rf"\b{key}:\s*[\d.]+", f"{key}: {value:g}", lines[at], count=1)
        elif lines[at].lstrip().startswith("{"):
            lines[at] = lines[at].replace("{", f"{{{key}: {value:g}, ", 1)
        else:
            lines.insert(at, f"{key}: {value:g}{_ending(lines[at])}")
        return self._verified(lines, block, {**block.data, key: value})

    def with_section(self, part: str, heading: str, rule: str, line: str) -> str:
        """Return the text with a new section, titled ``heading``, in the part of the file named ``part``.

        The section extends the rule with the id ``rule``, which a lower layer defines; it contains the YAML ``line``.
        """
        section = f"## {heading}\n\n```yaml\nextend: true\n{line}\n```"
        return with_entries(self.text, [Entry(part, section, rule)])

    def has_rule(self, rule: str) -> bool:
        """Return whether the text has a block for the rule with this id."""
        return rule in self._blocks

    def line_of(self, rule: str, index: int) -> int:
        """Return the line number of a rule's signal, or of the rule itself if it has no signals.

        Lines are counted from 1; the index -1 means the last signal.
        """
        block = self._blocks[rule]
        signals = block.data.get("signals")
        return block.line_of("signals", index % len(signals)) if signals else block.line

    def _rewritten(
        self,
        rule: str,
        index: int,
        write: Callable[[list[str], int, int], list[str] | None],
        change: Callable[[Signals], Signals],
    ) -> str | None:
        block = self._blocks.get(rule)
        signals: Signals = block.data.get("signals", []) if block else []
        if block is None or not signals:
            return None
        lines = self.text.split("\n")
        start = block.line_of("signals", index % len(signals)) - 1
        written = write(lines, start, _end(lines, start))
        return None if written is None else self._verified(written, block, {**block.data, "signals": change(signals)})

    def _verified(self, lines: list[str], block: RuleBlock, data: dict[str, Any]) -> str | None:
        """Return the edited text; None unless it is valid, and only changes the rule in ``block`` to have ``data``."""
        text = "\n".join(lines)
        after = read_document(self.path, text)
        wanted = {**_rule_values(self._document), block.id: data}
        return text if not after.problems and _rule_values(after) == wanted else None


def changed_line(before: str, after: str) -> int:
    """Return the number (from 1) of the first line of ``after`` that differs from ``before``.

    If lines were only added at the end, return the number of the last line.
    """
    pairs = enumerate(zip(before.split("\n"), after.split("\n"), strict=False), 1)
    return next((at for at, (old, new) in pairs if old != new), len(after.splitlines()))


def signal_text(signal: Mapping[str, Any]) -> str:
    """Return a signal as one line of YAML, in the syntax of instructions files."""
    return f"{{{', '.join(f'{key}: {json.dumps(value, ensure_ascii=False)}' for key, value in signal.items())}}}"


def _rule_values(document: Document) -> dict[str, dict[str, Any]]:
    return {block.id: block.data for block in document.rules}


def _end(lines: list[str], start: int) -> int:
    """Return the index after the last line of the list item that begins at ``start``; its other lines are indented."""
    end = start + 1
    while end < len(lines) and lines[end].strip() and _indent(lines[end]) > _indent(lines[start]):
        end += 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _ending(line: str) -> str:
    """Return the end of a new line after ``line``: the carriage return of a Windows line ending, or nothing."""
    return "\r" if line.endswith("\r") else ""

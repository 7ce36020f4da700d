"""Find rows of the Coverage screen by words of a rule: its class, its name, its file, or any of its wordings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.coverage.coverage import CoverageRow
    from workbench.tui.widgets.lists.figures import TableRow


class RuleSearch:
    """A search for rows of a table of rules; it reads each instructions file once.

    The table abbreviates the wordings of a signal, so the search also looks at the line in which the rule is written.
    """

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def matches(self, rows: Sequence[TableRow], rules: Mapping[str, CoverageRow], wanted: str) -> list[int]:
        """Return the positions of the rows that contain all words of ``wanted``, ignoring case.

        Rules whose name is ``wanted`` come before their signals and all other rows. ``rules`` are the rules that the
        rows show, by the keys of the rows.
        """
        words = wanted.casefold().split()
        if not words:
            return []
        texts = (self._text(row, rules.get(row.key)).casefold() for row in rows)
        found = [place for place, text in enumerate(texts) if all(word in text for word in words)]
        return sorted(found, key=lambda place: not _is_called(rules.get(rows[place].key), " ".join(words)))

    def _text(self, row: TableRow, rule: CoverageRow | None) -> str:
        if rule is None:
            return " ".join(row.cells)
        own = f"{rule.kind} {rule.rule} {rule.name} {rule.label} {Path(rule.file).name}:{rule.line}"
        return f"{own} {self._line(rule.file, rule.line)}"

    def _line(self, file: str, line: int) -> str:
        if file not in self._lines:
            try:
                self._lines[file] = Path(file).read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError):
                self._lines[file] = []
        lines = self._lines[file]
        return lines[line - 1] if 0 < line <= len(lines) else ""


def _is_called(rule: CoverageRow | None, wanted: str) -> bool:
    return rule is not None and rule.kind != "signal" and wanted in (rule.name.casefold(), rule.label.casefold())


def next_match(matches: Sequence[int], here: int, step: int) -> int:
    """Return which of the ``matches`` (positions in the table) to go to from the position ``here``, as an index.

    ``step`` 1 means the next match, -1 the previous one. The search continues at the other end of the matches.
    """
    if here in matches:
        return (matches.index(here) + step) % len(matches)
    if step < 0:
        return next((place for place in reversed(range(len(matches))) if matches[place] < here), len(matches) - 1)
    return next((place for place, at in enumerate(matches) if at > here), 0)

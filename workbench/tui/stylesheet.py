"""The app's stylesheet: parsed once for each theme.

Textual parses all CSS again at the start, whenever a screen is opened for the first time and with every change of
the theme; that takes longer than anything else a new screen needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.css.stylesheet import Stylesheet

if TYPE_CHECKING:
    from textual.css.model import RuleSet
    from textual.css.types import CSSLocation

_parsed: dict[object, list[RuleSet]] = {}
"""Parsed CSS rules by the variables of the theme and the text of the CSS; Textual never changes them after parsing."""


class ParsedOnce(Stylesheet):
    """A stylesheet that remembers what it parsed."""

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        self.parse()

    def _parse_rules(
        self,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        key = (frozenset(self._variables.items()), css, read_from, is_default_rules, tie_breaker, scope)
        if key not in _parsed:
            _parsed[key] = super()._parse_rules(css, read_from, is_default_rules, tie_breaker, scope)
        return _parsed[key]

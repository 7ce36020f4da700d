"""The app's three themes (dark, light and high contrast), and a stylesheet that parses CSS only once for each theme.

Screens use only colours that are variables of a theme. Muted text has a fixed colour, because Textual would compute one
from the background at 60 % opacity, which lists that draw their own lines cannot use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.css.stylesheet import Stylesheet
from textual.theme import Theme

if TYPE_CHECKING:
    from textual.css.model import RuleSet
    from textual.css.types import CSSLocation

DARK = Theme(
    name="enricher-dark",
    primary="#7aa2c8",
    secondary="#8f9fb5",
    accent="#e0af68",
    warning="#e0af68",
    error="#e57c7c",
    success="#8fbc8f",
    foreground="#d6dae0",
    background="#15181d",
    surface="#1b1f26",
    panel="#262c36",
    dark=True,
    variables={
        "footer-key-foreground": "#e0af68",
        "footer-background": "#1b1f26",
        "text-muted": "#8f98a8",
        "text-disabled": "#6b7482",
        "block-cursor-background": "#34507a",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "bold",
        "input-selection-background": "#34507a",
    },
)
LIGHT = Theme(
    name="enricher-light",
    primary="#2b5c8a",
    secondary="#5a6675",
    accent="#9a5b00",
    warning="#9a5b00",
    error="#b3261e",
    success="#2e6b34",
    foreground="#20242a",
    background="#fbfaf7",
    surface="#f3f1ec",
    panel="#e4e1d9",
    dark=False,
    variables={
        "footer-key-foreground": "#9a5b00",
        "footer-background": "#e4e1d9",
        "text-muted": "#646b76",
        "text-disabled": "#8a8f98",
        "block-cursor-background": "#2b5c8a",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-text-style": "bold",
    },
)
CONTRAST = Theme(
    name="enricher-contrast",
    primary="#ffff00",
    secondary="#00ffff",
    accent="#ffff00",
    warning="#ffff00",
    error="#ff8080",
    success="#80ff80",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#202020",
    dark=True,
    text_alpha=1.0,
    variables={
        "footer-key-foreground": "#ffff00",
        "footer-background": "#000000",
        "block-cursor-background": "#ffff00",
        "block-cursor-foreground": "#000000",
        "block-cursor-text-style": "bold",
        "text-muted": "#e0e0e0",
        "text-disabled": "#c0c0c0",
        "border": "#ffffff",
        "border-blurred": "#c0c0c0",
    },
)
THEMES = (DARK, LIGHT, CONTRAST)

_parsed: dict[object, list[RuleSet]] = {}
"""The parsed rules for each CSS text and the theme's variables; Textual does not change rules after parsing."""


class ParsedOnce(Stylesheet):
    """A stylesheet that caches the CSS that it has parsed.

    Textual parses all CSS again at the start, whenever a screen is opened for the first time, and with every change of
    the theme; that takes longer than anything else that a new screen needs.
    """

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:  # otherwise Textual would clear its caches for nothing
            super().set_variables(variables)

    def reparse(self) -> None:
        self.parse()  # Textual would parse in a new Stylesheet, which lacks this class's cache

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

"""Render untrusted Markdown as HTML that runs no script and fetches nothing.

HTML in it is shown as text, pictures as their alternative text, headings as bold lines; only http and https
links remain links.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

LONGEST = 2_000
SCHEMES = ("http://", "https://")
BESIDE_LINKS = "nofollow noopener noreferrer"


def rendered(text: str, *, limit: int = LONGEST) -> Markup:
    """Return the first ``limit`` characters of a Markdown text as HTML, with the number of characters left out."""
    whole = _parser().render(text[:limit])
    left = len(text) - limit
    more = Markup("<p><small>and {} more characters</small></p>").format(f"{left:,}") if left > 0 else ""
    return Markup('<div class="markdown">{}{}</div>').format(Markup(whole), more)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False})
    parser.validateLink = _is_of_the_web  # type: ignore[assignment, method-assign]
    parser.add_render_rule("heading_open", _bold)
    parser.add_render_rule("heading_close", _bold)
    parser.add_render_rule("image", _words_of_a_picture)
    parser.add_render_rule("link_open", _link)
    return parser


def _is_of_the_web(address: str) -> bool:
    return address.strip().lower().startswith(SCHEMES)


def _bold(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    return "<p><strong>" if tokens[at].nesting == 1 else "</strong></p>\n"


def _words_of_a_picture(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    return str(escape(f"[picture: {tokens[at].content}]"))


def _link(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].attrSet("rel", BESIDE_LINKS)
    return renderer.renderToken(tokens, at, options, env)

"""Render the cells of Datasette's tables and query results for people; JSON and CSV keep the stored values.

Values from the database are escaped when they are inserted into the HTML below. In Markdown texts, HTML is shown as
text, a picture as its alternative text, and a heading as a bold line; only http and https links remain links. The
functions for cells return None if Datasette is to render the cell.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from datasette.utils import tilde_encode
from markupsafe import Markup, escape

from storage import traces
from workbench.web import evidence
from workbench.web.page import VERDICT_LOOKS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

    from workbench.web.reading.history import History

    Cell = Callable[[History, object], Markup | None]


LINK = Markup('<a href="{}">{}</a>')
CODE_LINK = Markup('<a href="{}"><code>{}</code></a>')
STATUS = Markup('<span class="status {}">{}</span>')
SHARE = Markup('<span class="share"><svg aria-hidden="true"><rect width="{}%" height="100%"></rect></svg>{} %</span>')
DIGITS_OF_A_VERSION = 12  # of a hash; enough to find the version
LOOKS = {
    **VERDICT_LOOKS,
    **dict.fromkeys(("timeout", "wrong"), "bad"),
    **dict.fromkeys(("class", "untrusted"), "warn"),
    **dict.fromkeys(("empty", "off"), "quiet"),
}
OF_TRACES = ("traces", "what_people_said", "which_prompts_failed")  # the table, and views of it
MOST_WORDS = 20
LONGEST = 2_000
SCHEMES = ("http://", "https://")
LINK_RELATION = "nofollow noopener noreferrer"


def shown(history: History, value: object, *, column: str, table: str | None, row: sqlite3.Row) -> Markup | None:
    """Return the HTML for a cell, or None if Datasette is to render it; ``table`` is None for the result of a query."""
    if isinstance(value, dict):  # Datasette has added the label of the row to which this foreign key refers
        value = value["value"]
    if value is None or value == "":
        return None
    # A view without its column id has nothing to link to. A sqlite3.Row is no mapping, so "in" alone would not do.
    if column == "at" and table in OF_TRACES and "id" in row.keys():  # noqa: SIM118
        return LINK.format(_trace(history, row["id"]), value)
    if column == "id":
        return _identity(history, value, table=table, row=row)
    if column.endswith("_ms") and isinstance(value, int | float):
        return Markup("{} ms").format(f"{value:,.1f}")
    if column.endswith("percent") and isinstance(value, int | float):
        return SHARE.format(max(0.0, min(value, 100.0)), f"{value:,.1f}")
    if column == "content" and table not in ("memories", None):
        return None
    # The table content_vectors has hashes, too, but of memories.
    if column == "hash" and table not in ("instructions_versions", "instructions_sources"):
        return None
    cell = BY_COLUMN.get(column)
    return cell(history, value) if cell else None


def _identity(history: History, value: object, *, table: str | None, row: sqlite3.Row) -> Markup | None:
    if table in OF_TRACES or (table is None and "prompt" in row.keys()):  # noqa: SIM118  # sqlite3.Row is no mapping
        return _trace_link(history, value)
    return _replay_link(history, value) if table == "replays" else None


def _trace(history: History, value: object) -> str:
    return history.path(f"trace/{tilde_encode(str(value))}")


def _trace_link(history: History, value: object) -> Markup:
    return CODE_LINK.format(_trace(history, value), value)


def _replay_link(history: History, value: object) -> Markup:
    return CODE_LINK.format(history.path(f"compare/{tilde_encode(str(value))}"), value)


def _version_link(history: History, value: object) -> Markup:
    return CODE_LINK.format(history.path(f"instructions/{tilde_encode(str(value))}"), str(value)[:DIGITS_OF_A_VERSION])


def _status(_history: History, value: object) -> Markup | None:
    if value not in traces.STATUSES and value not in LOOKS:
        return None
    return STATUS.format(LOOKS.get(str(value), value), value)


def _words(_history: History, value: object) -> Markup | None:
    """Return the words of a JSON list as plain text, separated by commas; None if the value is not such a list."""
    try:
        words = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return None
    more = f" and {len(words) - MOST_WORDS:,} more" if len(words) > MOST_WORDS else ""
    return Markup("{}{}").format(", ".join(words[:MOST_WORDS]), more)


BY_COLUMN: dict[str, Cell] = {
    "trace_id": _trace_link,
    "session_id": lambda history, value: CODE_LINK.format(history.session(str(value)), value),
    "replay_id": _replay_link,
    **dict.fromkeys(("rules_hash", "base_hash", "candidate_hash", "hash"), _version_link),
    **dict.fromkeys(("status", "verdict"), _status),
    "evidence": lambda _history, value: evidence.cell(value),
    **dict.fromkeys(("topics", "kinds", "tags"), _words),
    **dict.fromkeys(
        ("content", "output_text"), lambda _history, value: rendered(value) if isinstance(value, str) else None
    ),
}


def rendered(text: str, *, limit: int = LONGEST) -> Markup:
    """Return the first ``limit`` characters of a Markdown text as HTML, with a note on how many characters follow."""
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
    parser.add_render_rule("image", _image_text)
    parser.add_render_rule("link_open", _link)
    return parser


def _is_of_the_web(address: str) -> bool:
    return address.strip().lower().startswith(SCHEMES)


def _bold(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    return "<p><strong>" if tokens[at].nesting == 1 else "</strong></p>\n"


def _image_text(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: Any, _env: Any) -> str:
    return str(escape(f"[picture: {tokens[at].content}]"))


def _link(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    tokens[at].attrSet("rel", LINK_RELATION)
    return renderer.renderToken(tokens, at, options, env)

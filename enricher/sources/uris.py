"""Build and parse the URIs of memories, such as ``enricher://memory/…`` or ``enricher://search/…``.

The MCP server offers memories under these URIs, and the hook writes them into traces. To keep the hook fast, this
module imports no others. ``subcog://`` is accepted as well. Everything after the first slash is one value, in which
``/``, ``?``, ``#`` and ``+`` have no special meaning.
"""

from __future__ import annotations

SCHEME = "enricher"
SCHEMES = (SCHEME, "subcog")
SEARCH, TOPICS, TOPIC, MEMORY = "search", "topics", "topic", "memory"
MOST_SUGGESTED = 4
"""Maximum number of suggested URIs: searches, and the list of topics (seed 001, task 6.3)."""
LONGEST_TEXT = 1000

TOPICS_URI = f"{SCHEME}://topics"
TEMPLATES = (f"{SCHEME}://search/{{query}}", f"{SCHEME}://topics/{{topic}}", f"{SCHEME}://memory/{{id}}")

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
"""Characters that are not encoded, as in ``urllib.parse.quote``, which the hook does not load."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class UriError(ValueError):
    """Raised if a text is not the URI of a memory, a search or topics; the message lists the valid forms."""


def parse_uri(address: str) -> tuple[str, str]:
    """Return the kind of the URI ``address`` (search, topics, topic or memory) and its decoded text; raises UriError.

    The text is the query of a search, the name of a topic or the id of a memory, and empty for the list of topics.
    """
    from urllib.parse import unquote_to_bytes

    scheme, found, rest = address.strip().partition("://")
    if not found or scheme.lower() not in SCHEMES:
        raise UriError(f"{address[:200]!r} does not begin with {SCHEME}://; {_known()}")
    family, _, encoded = rest.partition("/")
    # Encode first, because an address may contain characters that UTF-8 cannot encode (lone surrogates).
    text = unquote_to_bytes(encoded.encode(errors="replace")).decode(errors="replace").strip()
    if family in (TOPICS, SEARCH, MEMORY) and len(text) > LONGEST_TEXT:
        raise UriError(f"the text of the address has {len(text)} characters; at most {LONGEST_TEXT} are read")
    if family == TOPICS:
        return (TOPIC, text) if text else (TOPICS, "")
    if family not in (SEARCH, MEMORY):
        raise UriError(f"{address[:200]!r} is not a known URI; {_known()}")
    if not text:
        raise UriError(f"{address[:200]!r} lacks a text at its end; {_known()}")
    return family, text


def search_uri(query: str) -> str:
    """Return the URI of a search for memories."""
    return f"{SCHEME}://search/{encode(query)}"


def topic_uri(topic: str) -> str:
    """Return the URI of one topic's memories."""
    return f"{SCHEME}://topics/{encode(topic)}"


def memory_uri(identity: str) -> str:
    """Return the URI of one memory."""
    return f"{SCHEME}://memory/{encode(identity)}"


def suggested(topics: Iterable[str]) -> list[str]:
    """Return the URIs to suggest: a search for each of the first three topics, and last the list of topics."""
    searches = dict.fromkeys(search_uri(topic.strip()) for topic in topics if topic.strip())
    return [*list(searches)[: MOST_SUGGESTED - 1], TOPICS_URI]


def encode(text: str) -> str:
    """Return ``text`` as UTF-8, with all bytes percent-encoded except letters, digits and ``-._~``."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text.encode(errors="replace"))


def _known() -> str:
    return f"there are {TOPICS_URI}, {', '.join(TEMPLATES)}"

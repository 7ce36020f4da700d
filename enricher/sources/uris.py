"""Build and parse the URIs of memories, such as ``enricher://memory/…`` or ``enricher://search/…``.

The MCP server offers memories under these URIs. The hook writes them into traces; to keep it fast, this module imports
nothing else. ``subcog://`` is accepted as well. All that follows the first slash is one value, in which ``/``, ``?``,
``#`` and ``+`` have no special meaning.
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

# ``urllib.parse`` does the same, but the hook does not load it.
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_HEX = "0123456789abcdefABCDEF"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class UriError(ValueError):
    """Raised if a text is not the URI of a memory, a search or topics; the message lists the valid forms."""


class Uri:
    """A parsed URI of the given ``kind``: search, topics, topic or memory.

    ``text`` is the query of a search, the name of a topic or the id of a memory, and empty for the list of topics.
    """

    __slots__ = ("kind", "text")

    def __init__(self, kind: str, text: str = "") -> None:
        self.kind = kind
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Uri) and (self.kind, self.text) == (other.kind, other.text)

    def __hash__(self) -> int:
        return hash((self.kind, self.text))

    def __repr__(self) -> str:
        return f"Uri({self.kind!r}, {self.text!r})"

    def __str__(self) -> str:
        if self.kind == TOPICS:
            return TOPICS_URI
        return {SEARCH: search_uri, TOPIC: topic_uri, MEMORY: memory_uri}[self.kind](self.text)


def parse_uri(address: str) -> Uri:
    """Return the parsed and decoded URI ``address``; raises UriError."""
    scheme, found, rest = address.strip().partition("://")
    if not found or scheme.lower() not in SCHEMES:
        raise UriError(f"{address[:200]!r} does not begin with {SCHEME}://; {_known()}")
    family, _, encoded = rest.partition("/")
    text = decode(encoded).strip()
    if family == TOPICS:
        return Uri(TOPIC, _bounded(text)) if text else Uri(TOPICS)
    if family not in (SEARCH, MEMORY):
        raise UriError(f"{address[:200]!r} is no resource; {_known()}")
    if not text:
        raise UriError(f"{address[:200]!r} ends where its text should be; {_known()}")
    return Uri(family, _bounded(text))


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


def decode(encoded: str) -> str:
    """Return ``encoded`` with its percent sequences decoded as UTF-8; a "%" without two hex digits stays as it is."""
    first, *rest = encoded.split("%")
    found = bytearray(first.encode(errors="replace"))
    for part in rest:
        if len(part) > 1 and part[0] in _HEX and part[1] in _HEX:
            found.append(int(part[:2], 16))
            found += part[2:].encode(errors="replace")
        else:
            found += f"%{part}".encode(errors="replace")
    return found.decode(errors="replace")


def _bounded(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise UriError(f"the text of the address has {len(text)} characters; at most {LONGEST_TEXT} are read")
    return text


def _known() -> str:
    return f"there are {TOPICS_URI}, {', '.join(TEMPLATES)}"

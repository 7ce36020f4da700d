"""Write what is added to a prompt as a JSON object with four keys: the format ``pipeline`` of the specification.

The usual text consists of short lines with up to 450 tokens in total. The text in this format has a block for the
results of each channel, the most important channel first, and up to 2,000 tokens in total.
"""

from __future__ import annotations

from enricher.prompt.text import ELLIPSIS, estimate_tokens, harmless
from enricher.respond.render import cut

ENRICHMENT, PIPELINE, HYDRATION = "enrichment", "pipeline", "hydration"
NAMES = (ENRICHMENT, PIPELINE, HYDRATION)
TITLE = "## Enrichments"
BETWEEN = "\n\n"
CAP_TOKENS = 2000
CAP_BYTES = 9400  # below the smallest limit of any client (``enricher.respond.render.MAX_BYTES``)
LONGEST_LINE = CAP_BYTES  # no effective limit: a block is cut or omitted as a whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.respond import Enrichment, RankedItem


def answer(text: str, tokens: int, count: int) -> dict[str, object]:
    """Return the JSON object to print for ``text``, to which ``count`` channels contributed."""
    return {
        "success": bool(text),
        "enrichment_context": text,
        "tokens_used": tokens if text else 0,
        "enrichment_count": count if text else 0,
    }


def kept_channels(result: Enrichment) -> int:
    """Return the number of channels that contributed at least one item to the text."""
    return len({item.channel for item in result.items if item.kept})


def write(result: Enrichment) -> None:
    """Set the text of ``result``: a block for each channel, the most important channel first.

    If the first block does not fit, it is cut; any other block that does not fit is omitted.
    """
    blocks: list[str] = []
    left, left_bytes = CAP_TOKENS, CAP_BYTES - len(TITLE)
    for items in _by_channel(result.items):
        block = _fitted("\n".join(_shown(item) for item in items), left, left_bytes, may_cut=not blocks)
        for item in items:
            item.kept, item.why = bool(block), "" if block else "no room"
        if block:
            blocks.append(block)
            left -= estimate_tokens(block)
            left_bytes -= len((BETWEEN + block).encode())
    result.text = BETWEEN.join([TITLE, *blocks]) if blocks else ""
    result.tokens = CAP_TOKENS - left


def _by_channel(items: list[RankedItem]) -> list[list[RankedItem]]:
    groups: dict[str, list[RankedItem]] = {}
    for item in items:
        if not item.why:
            groups.setdefault(item.channel, []).append(item)
    return list(groups.values())


def _fitted(block: str, tokens: int, most_bytes: int, *, may_cut: bool) -> str:
    if estimate_tokens(block) <= tokens and len((BETWEEN + block).encode()) <= most_bytes:
        return block
    if not may_cut:
        return ""
    whole = cut(block, tokens=tokens).encode()
    if len(whole) <= most_bytes - len(BETWEEN):
        return whole.decode()
    return whole[: most_bytes - len(BETWEEN) - len(ELLIPSIS.encode())].decode(errors="ignore").rstrip() + ELLIPSIS


def _shown(item: RankedItem) -> str:
    source = harmless(item.label, longest=LONGEST_LINE)
    if not item.text:
        return f"- {source}"
    text = "\n".join(map(_line, item.text.strip().splitlines()))
    return f"{text}\nSource: {source}" if source else text


def _line(line: str) -> str:
    """Return a sanitized line of a channel's Markdown; a heading is demoted, so that it is below our own headings."""
    clean = harmless(line, longest=LONGEST_LINE)
    indent = " " * min(len(line) - len(line.lstrip(" ")), 12)
    if clean.startswith("#") and not clean.startswith("###"):
        clean = f"### {clean.lstrip('# ')}"
    return f"{indent}{clean}" if clean else ""

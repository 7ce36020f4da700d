"""Write the chosen lines as the text that is added to a prompt, within the token budgets.

The labels have a fixed order, and facts are quoted. Whatever comes from channels and prompts is treated as data: its
control characters are removed, its angle brackets cannot form a client's tags, and its length is limited.
"""

from __future__ import annotations

from enricher.prompt.text import ELLIPSIS, LONGEST_LABEL, LOOK_ALIKES, estimate_tokens, harmless, without_last_word

TITLE = "## Prompt Enrichment"
BACKGROUND_TITLE = "## Prompt Enrichment (background to the request above, no request of its own)"
"""Title for clients that add the text as the last message, which the model could mistake for the task."""
CONTEXT_LABEL = "**Relevant Context** (search results, quoted; may be outdated):"
PLAIN_CONTEXT_LABEL = "**Relevant Context**:"
MOST_CHARACTERS = MAX_BYTES = 9500  # Claude Code cuts at 10,000 characters, Codex at 10,000 bytes
HARD_CAP_TOKENS = 2000  # maximum tokens of the text (ruling R12); no setting can raise it
LONGEST_ITEM = 300  # maximum characters of one item's text
MOST_ITEMS = 15
LEAST_IMPORTANT_FIRST = ("resources", "reminder", "has_no_guardrails", "guardrails", "approach", "partial")
"""Fields of ``TextLines`` in the order in which a text that is too long omits them; the task type is omitted last."""
FEWEST_SHOWN_TOKENS = 8  # minimum tokens for an item; if fewer are left, it is omitted instead of cut to a few words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.respond.guidance import Scored


class Item:
    """One fact to show: its source (``label``) and its text (empty if the label suffices).

    ``tokens`` is the maximum for all items of its ``channel`` together.
    """

    __slots__ = ("channel", "label", "text", "tokens")

    def __init__(self, label: str, text: str, *, channel: str = "", tokens: int = HARD_CAP_TOKENS) -> None:
        self.label, self.text, self.channel, self.tokens = label, text, channel, tokens


class TextLines:
    """The lines of the text that is added to a prompt; a line whose field is empty is left out.

    ``is_as_specified`` selects the labels and the layout of the original specification (seed 000), which has a blank
    line between the sections. ``is_bare`` means that the client adds the text as a separate message after the prompt,
    so that its title has to explain what it is.
    """

    __slots__ = (
        "approach", "classification", "guardrails", "has_no_guardrails", "is_as_specified", "is_bare", "items",
        "partial", "reminder", "resources",
    )  # fmt: skip

    def __init__(self, *, is_as_specified: bool = False, is_bare: bool = False) -> None:
        self.is_as_specified, self.is_bare = is_as_specified, is_bare
        self.has_no_guardrails = False
        self.reminder = ""
        self.resources: list[str] = []
        self.classification = ""
        self.items: list[Item] = []
        self.guardrails: list[Scored] = []
        self.approach = ""
        self.partial: list[str] = []


def finish(text: str) -> str:
    """Make a text safe for every client: without lone surrogates and tags, and short enough not to be truncated.

    Every text for an agent passes through this function; applying it twice is the same as applying it once.
    """
    return _shortened(_without_tags(_well_formed(text)))


def _well_formed(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _without_tags(text: str) -> str:
    if "<" not in text:
        return text
    first, *rest = text.split("<")
    return first + "".join(_without_tag(part) for part in rest)


def _without_tag(behind: str) -> str:
    # Clients mark their own messages to the model with tags, which a quoted text must not be able to imitate.
    if not (behind[:1].isalpha() or behind[:1] in ("/", "!", "?")):
        return "<" + behind
    return LOOK_ALIKES[0] + behind.replace(">", LOOK_ALIKES[1], 1)


def _shortened(text: str) -> str:
    raw = text.encode()
    if len(raw) <= MAX_BYTES:
        return text
    kept = raw[:MAX_BYTES].decode(errors="ignore")
    line_end = kept.rfind("\n")
    return kept[:line_end] if line_end > 0 else kept


def cut(text: str, *, tokens: int) -> str:
    """Return ``text``; if it is estimated at more than ``tokens``, cut it after a word and add an ellipsis."""
    if estimate_tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle] + ELLIPSIS) <= tokens else (low, middle - 1)
    kept = without_last_word(text[:low])
    return kept.rstrip() + ELLIPSIS if kept.strip() else ""


def render(lines: TextLines, *, tokens: int, most: int = MOST_ITEMS) -> tuple[str, TextLines, list[bool]]:
    """Return the text, the lines that fit into it, and for each item whether the text contains it.

    Lines other than items are short and never cut: if one does not fit, it is omitted. At most ``most`` items, the most
    important first, fill the remaining tokens; the last one is cut to fit.
    """
    tokens = min(tokens, HARD_CAP_TOKENS)
    while not _fits(_joined(lines, []), tokens):
        lines = _without_one(lines)
    left = tokens - estimate_tokens(_joined(lines, ["-"]))
    bullets = _fit(lines.items, tokens=left, most=most)
    # The estimated tokens of each part are rounded down, so that their sum may be too low.
    while not _fits(_joined(lines, bullets), tokens):
        left -= 1
        bullets = _fit(lines.items, tokens=left, most=most)
    return _joined(lines, bullets), lines, [bool(bullet) for bullet in bullets]


def _joined(lines: TextLines, bullets: list[str]) -> str:
    parts = [f"**Classification**: {lines.classification}"] if lines.classification else []
    if any(bullets):
        label = PLAIN_CONTEXT_LABEL if lines.is_as_specified else CONTEXT_LABEL
        parts.append("\n".join([label, *filter(None, bullets)]))
    parts += _guidance(lines)
    title = BACKGROUND_TITLE if lines.is_bare and not lines.is_as_specified else TITLE
    return ("\n\n" if lines.is_as_specified else "\n").join([title, *parts]) if parts else ""


def _fits(text: str, tokens: int) -> bool:
    return not text or (estimate_tokens(text) <= tokens and len(text) <= MOST_CHARACTERS)


def _without_one(lines: TextLines) -> TextLines:
    shorter = TextLines()
    for name in TextLines.__slots__:
        setattr(shorter, name, getattr(lines, name))
    omitted = next((name for name in LEAST_IMPORTANT_FIRST if getattr(lines, name)), "classification")
    value = getattr(lines, omitted)
    setattr(shorter, omitted, value[:-1] if omitted == "guardrails" else type(value)())
    return shorter


def _guidance(lines: TextLines) -> list[str]:
    tail = []
    if lines.reminder:
        tail.append(f"**Reminder**: {lines.reminder}")
    if lines.resources:
        tail.append(f"**Suggested Resources**: {', '.join(lines.resources)}")
    if lines.has_no_guardrails:
        tail.append("**Applicable Guardrails**: none")
    if lines.guardrails:
        tail.append(
            "**Applicable Guardrails**: "
            + ", ".join(f"{one.id} ({one.sentence or one.text})" for one in lines.guardrails)
        )
    if lines.approach:
        tail.append(f"**Suggested Approach**: {lines.approach}")
    if lines.partial:
        tail.append(f"_Partial: {', '.join(lines.partial)}_")
    return tail


def _fit(items: Iterable[Item], *, tokens: int, most: int) -> list[str]:
    """Return a bullet (a line of text) for each item, cut to the tokens left; it is empty if too few are left."""
    bullets: list[str] = []
    used: dict[str, int] = {}
    for item in items:
        room = min(tokens, item.tokens - used.get(item.channel, 0)) if most else 0
        bullet = _bullet(item, tokens=room) if room >= FEWEST_SHOWN_TOKENS else ""
        if bullet:
            most -= 1
            cost = estimate_tokens(bullet)
            used[item.channel] = used.get(item.channel, 0) + cost
            tokens -= cost
        bullets.append(bullet)
    return bullets


def _bullet(item: Item, *, tokens: int) -> str:
    source = cut(harmless(item.label, longest=LONGEST_LABEL), tokens=tokens - 2)
    if not item.text:
        return f"- {source}" if source else ""
    lead = f"- {source}: " if source else "- "
    # A quotation mark inside would end the quotation, and the rest would look like a sentence by the hook.
    text = harmless(item.text, longest=LONGEST_ITEM).replace('"', "'")
    quoted = cut(text, tokens=tokens - estimate_tokens(lead))
    return f'{lead}"{quoted}"' if quoted else ""

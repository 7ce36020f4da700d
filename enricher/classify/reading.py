"""Split a prompt into words and sentences, and find the order (the verb in the imperative) in each sentence.

Pasted parts of the prompt have already been masked. The order of a sentence is its first word after openers ("ok, now")
and requests ("can you", "i want you to"), if it is such a verb. A clause after a comma, a colon or "then" may contain
a further order. The lists of openers and requests come from the instructions file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from enricher.classify.table import Table

STOPS = frozenset(".?!¶")
MARKS = frozenset(".?!¶,:")
"""Tokens that are punctuation, not words; ¶ stands for a line break."""

FIRST_MARKER = "\ue000"
"""The markers for masked text (``enricher.prompt.wording.structure``) sort after this character, words before it."""
LENGTHS = (("no_words", 0), ("tiny", 3), ("short", 8), ("medium", 25), ("long", 80))
"""Features that describe the length of a prompt, each with its maximum of words; a longer one is ``very_long``."""
FOREIGN_SHARE, ENGLISH_SHARE, LEAST_FOREIGN_WORDS = 3, 8, 4
"""A prompt is not English if one word in three is not ASCII, or fewer than one word in eight is a common English one.

The second test is only made for prompts of more than four words.
"""
MOST_OPENERS = 10
# Replaced in this order: ".)" ends a sentence, which ")" alone does not.
_SPACED = (
    ("…", " . "), ("..", " . "), ("\r", " "), ("\n", " ¶ "), (". ", " . "), (".)", " . "), ("?", " ? "), ("!", " ! "),
    (",", " , "), (": ", " : "), (";", " . "), ("(", " "), (")", " "), ("[", " "), ("]", " "), ("*", " "), ("_", " "),
    ('"', " "), ("“", " "), ("”", " "), ("`", " "), (" - ", " , "), ("\u2013", " , "), ("—", " , "), (" / ", " "),
    ("~", " "), ("|", " "), ("<", " "), (">", " "), ("=", " "),
    ("#", " "),
)  # fmt: skip

_SPACED_ABROAD = (
    ("。", " . "), ("\uff0c", " , "), ("、", " , "), ("\uff1f", " ? "), ("\uff01", " ! "), ("\uff1a", " : "),
    ("¿", " "), ("¡", " "), ("«", " "), ("»", " "), ("「", " "), ("」", " "),
)  # fmt: skip
_FIRST_IDEOGRAPH, _LAST_IDEOGRAPH = "\u3041", "\u9fff"
"""Kana and Chinese characters: written without spaces, so each counts as a word."""


class Reading:
    """The words of a prompt, with the sentence number of each word and the positions of orders (imperatives).

    ``leads`` maps each position where an order can be to its sentence number: the first word of a sentence after
    openers and requests, and the orders of further clauses. ``quiet`` contains the positions of the words in a
    prohibition. ``origin[i]`` is the index of the chunk from which word ``i`` comes, because a contraction is one chunk
    but several words; ``origin`` is None if there is no contraction.
    """

    __slots__ = ("chunks", "leads", "openers", "order", "origin", "quiet", "sentences", "start", "words")

    def __init__(self, chunks: list[str], words: list[str], origin: list[int] | None) -> None:
        self.chunks, self.words, self.origin = chunks, words, origin
        self.sentences: list[int] = []
        self.leads: dict[int, int] = {}
        self.openers: set[int] = set()
        self.quiet: set[int] = set()
        self.start = 0
        self.order: list[int] = []


def lowered(text: str) -> str:
    """Return ``text`` in lower case, keeping all offsets."""
    low = text.lower()
    if len(low) == len(text):
        return low
    # A few letters, such as the Turkish dotted I, become two in lower case, which would shift all later offsets.
    return "".join(part if len(part := char.lower()) == 1 else char for char in text)


def spaced_foreign_text(text: str) -> str:
    """Return ``text`` with spaces around each ideograph and non-English punctuation mark, for splitting into words."""
    for sign, spaced in _SPACED_ABROAD:
        if sign in text:
            text = text.replace(sign, spaced)
    if any(_FIRST_IDEOGRAPH <= char <= _LAST_IDEOGRAPH for char in set(text)):
        text = "".join([f" {char} " if _FIRST_IDEOGRAPH <= char <= _LAST_IDEOGRAPH else char for char in text])
    return text


def read(masked: str, table: Table) -> Reading:
    """Return the words of the masked prompt, the sentence of each, and the positions of orders (imperatives)."""
    reading = words_of(masked, table.contractions)
    _positions(reading, table)
    return reading


def words_of(masked: str, contractions: dict[str, list[str]]) -> Reading:
    """Return the words of the masked prompt, without looking for sentences and orders."""
    text = lowered(masked).replace("\u2019", "'")
    for sign, spaced in _SPACED:
        if sign in text:
            text = text.replace(sign, spaced)
    if not text.isascii():
        text = spaced_foreign_text(text)
    chunks = text.split()
    for at, chunk in enumerate(chunks):
        # Marks of a quotation, a list or a path go, those inside a word stay: "don't", "re-run", "src/app.py".
        if chunk[0] in "'-\\" or chunk[-1] in ".'-:\\/":
            bare = chunk.strip("'-\\:/") or chunk
            chunks[at] = bare.rstrip(".") or "."
    if not contractions.keys() & set(chunks):
        return Reading(chunks, chunks, None)
    words: list[str] = []
    origin: list[int] = []
    for at, chunk in enumerate(chunks):
        parts = contractions.get(chunk)
        if parts:
            words += parts
            origin += [at] * len(parts)
        else:
            words.append(chunk)
            origin.append(at)
    return Reading(chunks, words, origin)


def _positions(reading: Reading, table: Table) -> None:
    words, openers, orders = reading.words, table.openers, table.orders
    sentence, last = 0, len(words)
    fresh = True
    clause = False
    for at, word in enumerate(words):
        if word in STOPS:
            if not fresh:
                sentence += 1
            reading.sentences.append(sentence)
            fresh = True
            continue
        reading.sentences.append(sentence)
        if fresh and word not in MARKS:
            lead = _lead(reading, at, table)
            # The start of the prompt is the first word after openers alone: requests such as "can you" count.
            if sentence == 0 and not reading.leads:
                reading.start = _after_openers(words, at, openers)
            if lead < last:
                reading.leads[lead] = sentence
            fresh = False
        elif clause and not fresh:
            lead = _lead(reading, at, table)
            if lead < last and words[lead] in orders:
                reading.leads.setdefault(lead, sentence)
        if word == "before" and at not in reading.quiet:  # "run the tests before you commit" does not ask for a commit
            _mark_negated(reading, at + 1)
        clause = word == "," or word == "then" or word == ":"
    reading.order = sorted(at for at in reading.leads if words[at] in orders and at not in reading.quiet)


def _after_openers(words: list[str], at: int, openers: Collection[str]) -> int:
    end = min(len(words), at + MOST_OPENERS)
    while at < end and (
        # Below \uf000 are the markers of masked text; full-width letters and emojis are above.
        words[at] in openers or words[at] == "," or words[at].isdigit() or FIRST_MARKER < words[at] < "\uf000"
    ):
        at += 1
    return at


def _lead(reading: Reading, at: int, table: Table) -> int:
    """Return the position of the first word after the openers and requests that begin at ``at``.

    Returns ``len(words)`` if there is no such word, or if a prohibition ("do not …") begins with it.
    """
    words, openers, requests = reading.words, table.openers, table.requests
    begin = at
    for _ in range(3):  # "ok, can you please go ahead and …": requests may follow each other
        at = _after_openers(words, at, openers)
        if at >= len(words):
            break
        length = 0
        for rest in requests.get(words[at], ()):
            size = len(rest) + 1
            if size > length and words[at + 1 : at + size] == rest:
                length = size
        if not length:
            break
        at += length
    reading.openers.update(range(begin, min(at, len(words))))
    if words[at : at + 2] == ["do", "not"]:
        _mark_negated(reading, at + 2)
        return len(words)
    return at


def _mark_negated(reading: Reading, at: int) -> None:
    """Mark the words from ``at`` to the end of the clause as prohibited: "do not change it" requests no change."""
    words = reading.words
    while at < len(words) and words[at] not in STOPS and words[at] not in (",", "but", "just", "only", "instead"):
        reading.quiet.add(at)
        at += 1


def add_shape(features: dict[str, tuple[int, int]], reading: Reading, masked: str, *, table: Table) -> None:
    """Add features that depend on the whole prompt, such as its length or the position of orders, to ``features``."""
    words = reading.words
    own = [word for word in words if word not in MARKS and word[0] < FIRST_MARKER]
    everything = (0, len(masked))
    names = ["always"]
    if "?" in words:
        names.append("question_mark")
        last = len(words) - 1
        while last and words[last] == "¶":  # line breaks after the question mark
            last -= 1
        if words[last] == "?":
            names.append("ends_with_question")
    names.append(next((name for name, most in LENGTHS if len(own) <= most), "very_long"))
    if reading.order:
        names.append("order")
        if reading.order[0] == reading.start:
            names.append("imperative")
        if len(reading.order) > 1:
            names.append("several_orders")
        if reading.sentences[reading.order[-1]] == reading.sentences[-1]:
            names.append("order_last")
    if reading.leads and min(reading.leads) > reading.start:
        names.append("polite_request")
    if reading.quiet:
        names.append("prohibition")
    if words and words[0] in table.approvals:
        names.append("approval")
    if reading.sentences and reading.sentences[-1]:
        names.append("several_sentences")
    if _is_foreign(own, table.english):
        names.append("non_english")
    for name in names:
        features[name] = everything


def _is_foreign(own: list[str], english: Collection[str]) -> bool:
    strange = sum(1 for word in own if not word.isascii())
    if own and strange * FOREIGN_SHARE >= len(own):
        return True
    return len(own) > LEAST_FOREIGN_WORDS and sum(1 for word in own if word in english) * ENGLISH_SHARE < len(own)

"""Redact secrets in a prompt before anything else processes it.

Secrets are found without regular expressions, so that no pattern engine is loaded; an
ordinary prompt costs a dozen substring searches. Searches run on an ASCII copy of the
text with the same offsets; each step reads a bounded span, so the time is linear in the
length of the text.

Redacting too much is preferred to missing a secret: the former removes a word from the
recorded prompt, the latter keeps a password on disk.
"""

from __future__ import annotations

from enricher.prompt.redaction.screen import LETTERS, Screen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from enricher.prompt.redaction.screen import Span

WORDS = (b"pass", b"secret", b"token", b"key", b"auth", b"pwd", b"bearer", b"credential")
# Short names of secrets, which count only as whole words, each with the text to search for. The module ``sentences``
# has the names in other languages.
WHOLE_WORDS = {
    b"sessionid": b"sessionid",
    b"phpsessid": b"phpsessid",
    b"jsessionid": b"jsessionid",
    b"session": b"session=",  # the word alone rarely precedes a secret; likewise "sid" and "code"
    b"sid": b".sid=",
    b"cookie": b"cookie",
    b"signature": b"signature",
    b"sig": b"sig",
    b"pat": b"pat",
    b"code": b"code=",
}
# First words of those names in the module ``sentences`` that contain none of WORDS.
OTHER_NAMES = frozenset(
    b"""pw kennwort wachtwoord mot contrasena senha palavra parola kata sandi sifre sifrem
    mat haslo heslo nenosiri salasana identified creds login jeton gettone clave chave chiave klucz kunci
    anahtar anahtari sleutel schluessel ufunguo susi""".split()
)
_DIGITS_AND_SIGNS = b"0123456789#$@!%^*+&~"
USER_MARKS = (b" -u ", b" --user ")
BLOCKS = (b"<private", b"private key", b"private-lines:")
_SHORTEST_VALUE = 6
_SHORT_PROMPT = 2_000
# Every text seen so far needed at most two passes, and a third that finds nothing; adversarial texts may need more.
_MOST_PASSES = 6
# Characters that are read beyond a cut: more than any secret has, except key blocks, which are searched everywhere.
_MARGIN = 4096
_LONGEST_MARK = 48  # maximum length of the line by which ``_cap`` replaces what it omits


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with each secret replaced by ``[redacted:<kind>]``, and the kinds found, sorted."""
    kinds: set[str] = set()
    for _ in range(_MOST_PASSES):
        spans = _spans(text)
        if not spans:
            break
        text = _replace(text, spans, kinds)
    return text, tuple(sorted(kinds))


def without_secrets(text: str) -> str:
    """Return the text without its secrets, but with the line breaks in them, so that line numbers stay the same."""
    for _ in range(_MOST_PASSES):
        spans = _spans(text)
        if not spans:
            break
        for start, end, _, _ in reversed(spans):
            text = text[:start] + "\n" * text.count("\n", start, end) + text[end:]
    return text


def found_in(text: str) -> list[str]:
    """Return the secrets that a single redaction pass finds in the text."""
    return [text[start:end] for start, end, _, _ in _spans(text)]


def redact_and_cap(text: str, limit: int = 65_536) -> tuple[str, tuple[str, ...], int]:
    """Redact a text and shorten it; return it with the kinds of secrets found and the length of the original text.

    At most ``limit`` characters remain (three quarters head, the rest tail). A huge text is searched completely only
    for private keys and ``<private>`` blocks; other secrets are sought in the head and tail. No secret is cut in two.
    """
    kinds: set[str] = set()
    # Four margins: the head and the tail each need one for the mark of the cut, and one for a secret across the cut.
    is_huge = len(text) > limit + 4 * _MARGIN
    shortened, left_out = _keep_ends(text, limit, kinds) if is_huge else (text, 0)
    redacted, found = redact(shortened)
    capped = _cap(redacted, limit, left_out) if left_out or len(redacted) > limit else redacted
    return capped, tuple(sorted(kinds.union(found))), len(text)


def _spans(text: str) -> list[Span]:
    screen = Screen(text)
    low = screen.low
    spans: list[Span] = []
    # A module of detectors is loaded only if they may find something.
    if _may_hold_a_value(low):
        screen.vocabulary = set(low.translate(LETTERS).split())
    words = [word for word in WORDS if word in low]
    names = [WHOLE_WORDS[word] for word in WHOLE_WORDS.keys() & screen.vocabulary]
    if words or names:
        from enricher.prompt.redaction.assignments import assigned_secrets

        spans += assigned_secrets(screen, words + sorted(names))
    if screen.vocabulary and (words or not text.isascii() or not OTHER_NAMES.isdisjoint(screen.vocabulary)):
        from enricher.prompt.redaction.sentences import secrets_in_sentences

        spans += secrets_in_sentences(screen)
    if b" -" in low:
        spans += _options(screen)
    if screen.long or b"$" in low or b"{" in low:
        from enricher.prompt.redaction.shapes import token_spans

        spans += token_spans(screen)
    if b"://" in low:
        from enricher.prompt.redaction.shapes import url_secrets

        spans += url_secrets(screen)
    if b"private" in low and (blocks := [block for block in BLOCKS if block in low]):
        from enricher.prompt.redaction.blocks import block_spans

        spans += block_spans(screen.raw, low, blocks)
    return _merge(spans)


def _may_hold_a_value(low: bytes) -> bool:
    """Return whether any word could be a secret, because it is long enough and has a digit or a special character.

    Few prompts have such a word, so most of them are spared some searches. For a long text, the answer is True as soon
    as it has any digit or special character.
    """
    if len(low.translate(None, _DIGITS_AND_SIGNS)) == len(low):
        return False
    if len(low) > _SHORT_PROMPT:
        return True  # usually true for long texts, and checking costs as much as it would save
    words = low.replace(b"?", b" ").split()
    return any(
        len(word) >= _SHORTEST_VALUE and len(word.translate(None, _DIGITS_AND_SIGNS)) < len(word) for word in words
    )


def _options(screen: Screen) -> list[Span]:
    has_password = b" -p" in screen.low or b"--password-stdin" in screen.low
    users = [mark for mark in USER_MARKS if mark in screen.low]
    if not has_password and not users:
        return []
    from enricher.prompt.redaction.options import option_passwords, piped_passwords, user_options

    spans = option_passwords(screen) + piped_passwords(screen) if has_password else []
    for mark in users:
        spans += user_options(screen, mark)
    return spans


def _merge(spans: list[Span]) -> list[Span]:
    """Join overlapping spans into one.

    The joined span gets the kind of the span that starts first; if several start there, the one with the lowest rank.
    """
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span[0] < merged[-1][1]:
            start, end, rank, kind = merged[-1]
            if span[0] == start:  # else the earlier span gives the kind
                rank, kind = min((rank, kind), (span[2], span[3]))
            merged[-1] = (start, max(end, span[1]), rank, kind)
        else:
            merged.append(span)
    return merged


def _replace(text: str, spans: Iterable[Span], kinds: set[str]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, _, kind in spans:
        pieces += (text[position:start], "[redacted:", kind, "]")
        kinds.add(kind)
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _keep_ends(text: str, limit: int, kinds: set[str]) -> tuple[str, int]:
    """Return the redacted head and tail of a huge text, and the number of characters between them that are left out.

    Head and tail are each ``limit`` characters long, plus a margin for later cuts.
    """
    from enricher.prompt.redaction.blocks import block_spans

    raw = text.encode("ascii", "replace")
    text = _replace(text, _merge(block_spans(raw, raw.lower(), list(BLOCKS))), kinds)
    head_end, tail_start = limit + _MARGIN, len(text) - limit - _MARGIN
    if head_end >= tail_start:
        return text, 0
    head = _replace_between(text[: head_end + _MARGIN], 0, head_end, kinds)
    tail = _replace_between(text[tail_start - _MARGIN :], _MARGIN, len(text), kinds)
    return f"{head}\n{tail}", tail_start - head_end


def _replace_between(text: str, start: int, end: int, kinds: set[str]) -> str:
    """Return the text from ``start`` to ``end``, redacted; a secret that one of the two would cut is left out entirely.

    The kinds of the secrets are added to ``kinds``.
    """
    spans = _spans(text)
    start = next((stop for begin, stop, _, _ in spans if begin < start < stop), start)
    end = next((begin for begin, stop, _, _ in spans if begin < end < stop), end)
    inside = [span for span in spans if start <= span[0] and span[1] <= end]
    moved = [(begin - start, stop - start, rank, kind) for begin, stop, rank, kind in inside]
    return _replace(text[start:end], moved, kinds)


def _cap(text: str, limit: int, left_out: int) -> str:
    """Shorten a redacted text to its head and tail, cutting between words and never inside a replacement."""
    slack = min(256, limit // 8)
    room = limit - slack - _LONGEST_MARK
    head_end = _cut(text, room * 3 // 4, slack)
    tail_start = _cut(text, len(text) - room // 4, slack)
    left_out += tail_start - head_end
    return f"{text[:head_end]}\n[... {left_out} characters left out ...]\n{text[tail_start:]}"


def _cut(text: str, position: int, slack: int) -> int:
    """Return the last position between two words in the ``slack`` characters before ``position``.

    If there is none, return ``position``, or the beginning of the replacement (``[redacted:…]``) that contains it.
    """
    nearby = text[position - slack : position]
    blank = max(nearby.rfind(" "), nearby.rfind("\n"))
    if blank >= 0:
        return position - slack + blank
    replaced = nearby.rfind("[redacted:")
    return position if replaced < 0 or "]" in nearby[replaced:] else position - slack + replaced

"""Find secrets that span several lines: private keys and blocks marked as private, even if they are cut off.

Such secrets may have any length, so even the largest text is searched completely; each detector reads it once.
"""

from __future__ import annotations

from enricher.prompt.text import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.redaction.screen import Span

_BASE64 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/=_-"
_RANK = 0
_MOST_PUTTY_LINES = 200
_LONGEST_PUTTY_LINE = 256


def block_spans(raw: bytes, low: bytes, blocks: list[bytes]) -> list[Span]:
    """Return the spans of private keys and ``<private>`` blocks; ``blocks`` are the markers that the text contains."""
    spans: list[Span] = []
    if b"<private" in blocks:
        spans += _private_blocks(low)
    if b"private key" in blocks:
        spans += _key_blocks(raw)
    if b"private-lines:" in blocks:
        spans += _putty_keys(raw, low)
    return spans


def _private_blocks(low: bytes) -> list[Span]:
    """Return the spans of ``<private>`` blocks with their tags; a block without an end tag ends with the text."""
    spans: list[Span] = []
    depth, begin = 0, 0
    for name in places(low, b"private"):
        behind = low[name + 7 : name + 8]
        if low[name - 1 : name] == b"<" and behind in {b">", b" ", b"\n", b"\t"}:
            begin = begin if depth else name - 1
            depth += 1
        elif depth and behind == b">" and low[name - 2 : name] == b"</":
            depth -= 1
            if not depth:
                spans.append((begin, name + 8, _RANK, "private"))
    return [*spans, (begin, len(low), _RANK, "private")] if depth else spans


def _key_blocks(raw: bytes) -> list[Span]:
    """Return the spans of private keys from BEGIN to END.

    If the BEGIN or the END line is missing, the span covers the other one and the lines next to it that may be part of
    a key.
    """
    spans: list[Span] = []
    begin, done = -1, 0
    for name in places(raw, b"PRIVATE KEY"):
        line = raw[max(done, name - 40) : name]  # 40 is more than the length of "---- BEGIN SSH2 ENCRYPTED "
        opens, closes = line.rfind(b"BEGIN "), line.rfind(b"END ")
        if opens > closes:
            spans += _open_key(raw, begin, name)
            begin = name - len(line) + len(line[:opens].rstrip(b"- "))
        elif closes >= 0:
            start = begin if begin >= 0 else _key_start(raw, done, name - len(line) + closes)
            done = _dashes_end(raw, name)
            spans.append((start, done, _RANK, "private_key"))
            begin = -1
    return spans + _open_key(raw, begin, len(raw))


def _putty_keys(raw: bytes, low: bytes) -> list[Span]:
    """Return the spans of the private lines in PuTTY's key files, including the checksum below them."""
    spans: list[Span] = []
    hit = low.find(b"private-lines:")
    while hit >= 0:
        digits = raw[hit + 14 : hit + 24].lstrip(b" ")
        count = digits[: len(digits) - len(digits.lstrip(b"0123456789"))]
        begin = position = raw.find(count, hit) + len(count) if count else hit + 14
        # In JSON or in code, the line breaks of a key are escaped.
        line_end = b"\\n" if raw.startswith(b"\\n", begin) else b"\n"
        for _ in range(min(int(count or 0), _MOST_PUTTY_LINES) + 1):
            start = raw.find(line_end, position, position + _LONGEST_PUTTY_LINE)
            if start < 0:
                break
            stop = raw.find(line_end, start + len(line_end), start + _LONGEST_PUTTY_LINE)
            stop = min(len(raw), start + _LONGEST_PUTTY_LINE) if stop < 0 else stop
            real_end = raw.find(b"\n", start + len(line_end), stop)
            stop = real_end if real_end >= 0 else stop
            line = raw[start + len(line_end) : stop].strip(b" \t\r>|")
            if not line or (line.translate(None, _BASE64) and not line.startswith(b"Private-MAC:")):
                break
            position = stop
        if position > begin:
            spans.append((begin, position, _RANK, "private_key"))
        hit = low.find(b"private-lines:", max(position, hit + 14))
    return spans


def _dashes_end(raw: bytes, name: int) -> int:
    end = name + 11 + (6 if raw.startswith(b" BLOCK", name + 11) else 0)  # PGP writes "PRIVATE KEY BLOCK"
    tail = raw[end : end + 8]
    dashes = tail.lstrip(b" ").lstrip(b"-")
    return end + len(tail) - len(dashes) if b"-" in tail[: len(tail) - len(dashes)] else end


def _open_key(raw: bytes, begin: int, limit: int) -> list[Span]:
    """Return the span of a key that has a BEGIN line at ``begin``, but no END line before ``limit``.

    The list is empty if no line of a key follows, or if ``begin`` is negative.
    """
    if begin < 0:
        return []
    start = _dashes_end(raw, raw.find(b"PRIVATE KEY", begin))
    end, position = 0, start
    while position < limit:
        stop = raw.find(b"\n", position, limit)
        stop = limit if stop < 0 else stop
        if not _looks_like_key(raw[position:stop], is_next=not end and position > start):
            break
        end = stop if raw[position:stop].strip() else end
        position = stop + 1
    return [(begin, end, _RANK, "private_key")] if end else []


def _key_start(raw: bytes, limit: int, end: int) -> int:
    """Return where the lines of a key that has no BEGIN line start, searching back from its END line."""
    start = end - (len(raw[limit:end][-8:]) - len(raw[limit:end][-8:].rstrip(b"- ")))
    position = start
    while position > limit:
        line = raw.rfind(b"\n", limit, position - 1) + 1 or limit  # rfind() + 1 is 0 without a line break
        if not _looks_like_key(raw[line:position]):
            break
        start = position = line
    return start


def _looks_like_key(line: bytes, *, is_next: bool = False) -> bool:
    """Return whether a line can be part of a key: base64, a header, or empty.

    With ``is_next`` (right below the BEGIN line), a short word counts as base64, too.
    """
    words = line.strip(b" \t\r\n>|#*+").replace(b"\\n", b" ").strip(b"\"'`,; ").split()
    if not words:
        return True
    if words[0] in _KEY_HEADERS:
        return len(line) < 120
    is_long = max(map(len, words)) >= 12 or (len(words) == 1 and (is_next or words[0][-1:] == b"="))
    return is_long and all(is_next or len(word) >= 4 for word in words) and not b"".join(words).translate(None, _BASE64)


_KEY_HEADERS = frozenset((b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:", b"Subject:", b"Charset:", b"Hash:"))

"""Read the value that a text assigns to the name of a secret: behind "=" or ":", in quotes, or behind "is".

At most ``_LONGEST_VALUE`` characters behind each name are read. This module is loaded only for a text with such a name.
"""

from __future__ import annotations

from enricher.prompt.redaction.values import (
    ANYTHING,
    MIXED,
    SHORTEST_RANDOM,
    SecretCandidate,
    alternates,
    cut_at_next_name,
    is_key_shaped,
    is_random,
    is_secret,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.redaction.screen import Screen, Span

_RANK = 1
_LONGEST_TAG = 64

_LONGEST_VALUE = 1024
_LONGEST_WORD = 256
_SHORTEST_COOKIE = 12
_QUOTES = "\"'`"
_BLANKS = " \t"
_TRAILING = ",;.)]}>:*"
_NAMES_BEFORE_VALUE = ("password ", "passwd ", "pwd ", "passphrase ", "passcode ", "bearer ", "requirepass ")
_SIGNS = "=:\uff1d\uff1a"
_ARROWS = frozenset("=>")
_MOST_LINE_ENDS = 2  # one empty line may be between a name and its value
_COMMANDS_THAT_SET = ("env", "arg", "setenv", "setx", "-x", "-gx", "-ux")
_HEADER_SIGNS = frozenset(":=,\uff1a")
_STRING_PREFIXES = frozenset("rbfuRBFU@")
_AFTER_QUOTE = frozenset((",", "}", "]", ")", ":", ""))
_LINE_ENDS = frozenset("\n\r,;&)")
_DIVIDERS = frozenset(",;&")
_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<"}


def value_span(screen: Screen, start: int, end: int, kind: str, proof: int) -> Span | None:
    """Return the span of the secret that is assigned to the name between ``start`` and ``end``; None if there is none.

    ``kind`` is the kind of secret that the name means, and ``proof`` how much the value must look like a secret.
    """
    if kind == "cookie":
        return _cookie(screen.text, end)
    value = _authorization(screen.text, end) if kind == "authorization" else _value(screen.text, start, end)
    if value is None or not is_secret(value, kind, max(proof, value.proof)):
        value = _nearby(screen, end)
    return (value.start, _extended(screen, value), _RANK, kind) if value else None


def _value(text: str, start: int, end: int) -> SecretCandidate | None:
    """Return the value assigned to the name between ``start`` and ``end``, None if there is none."""
    closed = _behind_quote(text, end)
    sign = _behind_blanks(text, closed + 2 if text.startswith("**", closed) else closed)  # "**Password**: …"
    mark = text[sign : sign + 1]
    if mark in _SIGNS and mark:
        return _assigned(text, start, sign, is_tight=sign == end)
    if text.startswith(("->", "=>", "\u2192", "\u21d2"), sign):
        return _with_proof(_read(text, _behind_blanks(text, sign + (1 if mark > ">" else 2))))
    if mark == "(" and sign == end:  # with_password("…")
        return _with_proof(_read_quoted_only(text, sign + 1))
    if mark == "," and closed > end:  # set("password", "…")
        return _with_proof(_read_quoted_only(text, sign + 1))
    if mark == ">" and text[start - 1 : start] == "<":  # <password>…</password>
        return _up_to(text, sign + 1, "<")
    if closed > end and text.startswith("value=", sign):  # <input name="password" value="…">
        return _read_quoted_only(text, sign + 6)
    # <password type="plain">…</password>
    if text[start - 1 : start] == "<" and (inner := text.find(">", sign, sign + _LONGEST_TAG)) >= 0:
        return _up_to(text, inner + 1, "<")
    if mark == "\n" and text[start:end].isupper():
        return _value_of_pair(text, sign)
    if sign == end:
        return None
    return _value_in_sentence(text, start, sign)


def _value_of_pair(text: str, line_end: int) -> SecretCandidate | None:
    """Return the value from a line ``value: …`` below a line ``name: …``, as in Kubernetes and compose files.

    Return None if there is no such line after ``line_end``, the end of the first line.
    """
    begin = _behind_blanks(text, line_end + 1)
    return _read(text, _behind_blanks(text, begin + 6)) if text[begin : begin + 6].lower() == "value:" else None


def _assigned(text: str, start: int, sign: int, *, is_tight: bool) -> SecretCandidate | None:
    behind = sign + 1
    if text.startswith("::", sign):  # a path in C++ or Rust: "secret::Key"
        return None
    while text[behind : behind + 1] in _ARROWS and behind < sign + 3:
        behind += 1
    begin = _behind_blanks(text, behind + 2 if text.startswith("**", behind) else behind)
    if text[begin : begin + 1] in {"\n", "\r"}:
        return _below(text, begin)
    if text.startswith(("->", "=>", "\u2192"), begin):
        return _with_proof(_read(text, _behind_blanks(text, begin + (1 if text[begin] == "\u2192" else 2))))
    name = text[start:sign]
    is_tight = is_tight and begin == behind and text[sign] == "="
    is_shell = is_tight and (name.upper() == name or name[:2] == "--" or _fills_line(text, start, begin))
    value = _read(text, begin, is_shell=is_shell)
    # "token = read_token" is code, in which the value is a variable.
    if value and not is_tight and text[sign] == "=" and not value.is_quoted and value.text.isidentifier():
        value.proof = MIXED
    if value and not value.is_quoted and text[sign] == ":":
        return _behind_annotation(text, value) or value
    return value


def _below(text: str, line_end: int) -> SecretCandidate | None:
    """Return the value on the next non-empty line after ``line_end``; None if the line contains more than a value.

    The value may be quoted, or in a code block or a list item.
    """
    rest = text[line_end : line_end + 64]
    begin = line_end + len(rest) - len(rest.lstrip(" \t\r\n"))
    if rest.count("\n", 0, begin - line_end) > _MOST_LINE_ENDS:
        return None
    if text.startswith("```", begin):
        begin = text.find("\n", begin, begin + 16) + 1
    elif text[begin : begin + 2] in {"- ", "* ", "> "}:
        begin = _behind_blanks(text, begin + 1)
    value = _with_proof(_read(text, begin)) if begin else None
    return value if value and (value.is_alone or value.is_quoted) else None


def _fills_line(text: str, start: int, begin: int) -> bool:
    """Return whether a line has only the name at ``start`` and its one-word value at ``begin``, as in env files."""
    line = text[begin : begin + _LONGEST_VALUE].partition("\n")[0].rstrip()
    return text[max(0, start - 1) : start] in {"", "\n"} and not line.endswith((",", ")", ";")) and " " not in line


def _behind_annotation(text: str, value: SecretCandidate) -> SecretCandidate | None:
    """Return the value from an assignment with a type annotation, ``password: str = "…"``; else None."""
    line = text[value.end : value.end + 80].partition("\n")[0]
    before, sign, _ = line.partition(" = ")
    if not sign or len(before) > 32 or "," in before:
        return None
    return _read(text, value.end + len(before) + 3)


def _value_in_sentence(text: str, start: int, begin: int) -> SecretCandidate | None:
    """Return a value after a name without "=" or ":", as in "password is x", ``--token x`` or ``secret "x"``.

    ``start`` is the position of the name, ``begin`` that of what follows it. Return None if there is no value.
    """
    if text[begin : begin + 1] in _QUOTES or text.startswith('\\"', begin):
        return _with_proof(_read_quoted_only(text, begin))
    verb = text[begin : begin + 4].lower()
    is_stated = verb in {"is: ", "was ", "are "} or verb[:3] in {"is ", "is:", "is\t", "to "}
    if is_stated:
        begin = _behind_blanks(text, begin + (4 if verb == "was " or verb == "are " else 3))
        if text[begin : begin + 1] == "\n":
            return _below(text, begin)
    value = _as_literal(_read(text, begin))
    if value is None:
        return None
    is_flag = text.startswith("-", start) or (value.is_alone and _is_set_by_a_command(text, start, begin))
    value.proof = ANYTHING if is_flag else MIXED
    named = text[start:begin].lower()
    return value if is_flag or is_stated or named.startswith(_NAMES_BEFORE_VALUE) else None


def _is_set_by_a_command(text: str, start: int, begin: int) -> bool:
    """Return whether a command word such as Dockerfile's ``ENV`` or ``setx`` assigns the value."""
    before = text[max(0, start - 16) : start].rpartition("\n")[2].lower().split()
    return bool(before) and before[-1] in _COMMANDS_THAT_SET and text[start:begin].isupper()


def _authorization(text: str, end: int) -> SecretCandidate | None:
    """Return the credentials of an Authorization header, without a scheme such as Bearer; None if there are none."""
    sign = _behind_blanks(text, _behind_quote(text, end))
    if text[sign : sign + 1] not in _HEADER_SIGNS:
        return None
    begin = _behind_blanks(text, sign + 1)
    begin += len(text[begin : begin + 3]) - len(text[begin : begin + 3].lstrip("\\\"'`"))
    word = text[begin : begin + 32].split(None, 1)[:1]
    if word and word[0].isalnum() and text[begin + len(word[0]) : begin + len(word[0]) + 1] in {" ", "\t"}:
        return _as_literal(_read(text, _behind_blanks(text, begin + len(word[0]))))
    return _with_proof(_read(text, begin))


def _cookie(text: str, end: int) -> Span | None:
    """Return the span of the first value in a Cookie header that looks random; None if there is none."""
    sign = _behind_blanks(text, _behind_quote(text, end))
    if text[sign : sign + 1] not in _HEADER_SIGNS:
        return None
    line = text[sign + 1 : sign + 1 + _LONGEST_VALUE].partition("\n")[0]
    position = 0
    for pair in line.split(";"):
        name, equals, value = pair.partition("=")
        bare = value.split(None, 1)[0].rstrip("\"'`") if value.strip() else ""
        if equals and len(bare) >= _SHORTEST_COOKIE and alternates(bare):
            start = sign + 1 + position + len(name) + 1 + value.index(bare)
            return start, start + len(bare), _RANK, "cookie"
        position += len(pair) + 1
    return None


def _with_proof(value: SecretCandidate | None) -> SecretCandidate | None:
    """Return ``value`` after noting that it counts as a secret only if it has letters and digits.

    This is for contexts that do not show by themselves that a value is a secret.
    """
    if value:
        value.proof = MIXED
    return value


def _as_literal(value: SecretCandidate | None) -> SecretCandidate | None:
    if value:
        value.is_literal = True
    return value


def _nearby(screen: Screen, end: int) -> SecretCandidate | None:
    """Return a long random word that follows the name in the same line, possibly after other words; else None."""
    if screen.text[end : end + 1] != " ":
        return None
    following = screen.text[end + 1 : end + 48].split(None, 1)[:1]
    if following and is_key_shaped(bare := following[0].strip("\"'`,;.")):
        return SecretCandidate(screen.text.index(bare, end), bare)
    if not screen.has_random:
        return None
    line = screen.text[end : end + 96].partition("\n")[0]
    position = 0
    for word in line.split():
        position = line.index(word, position)
        bare = word.strip("\"'`,;.()[]<>:=")
        if len(bare) >= SHORTEST_RANDOM and is_random(bare) and position + len(word) < 96:
            return SecretCandidate(end + position + word.index(bare), bare)
        position += len(word)
    return None


def _read(text: str, begin: int, *, is_shell: bool = False) -> SecretCandidate | None:
    """Return the quoted text at ``begin``, or the word there without surrounding punctuation; None if there is none.

    With ``is_shell``, the text is read as in a shell: quotation marks may be part of a word.
    """
    opening = text[begin : begin + 2]
    if opening[1:] in _QUOTES and opening[:1] in _STRING_PREFIXES and len(opening) == 2:
        begin += 1
    if text[begin : begin + 1] in _QUOTES or text.startswith(('\\"', "\\'"), begin):
        quoted = _read_quoted_only(text, begin)
        return _as_literal(quoted) if is_shell else quoted
    words = text[begin : begin + _LONGEST_WORD].split(None, 1)
    if not words or text[begin : begin + 1].isspace():
        return None
    word = words[0] if is_shell else _cut_at_quote(words[0])
    word = cut_at_next_name(word)
    word = word.rstrip("\"'`") if is_shell else _trim(word)
    value = SecretCandidate(begin, word, is_literal=is_shell)
    rest = text[value.end : value.end + 40].lstrip(_TRAILING)
    following = rest.split(None, 1)[:1]
    value.is_alone = not rest.strip() or rest.lstrip(_BLANKS)[:1] in _LINE_ENDS or following[0][-1:] in _SIGNS
    value.is_alone = value.is_alone or text[value.end : value.end + 1] in _DIVIDERS or "=" in following[0]
    return value


def _read_quoted_only(text: str, begin: int) -> SecretCandidate | None:
    begin = _behind_blanks(text, begin)
    if text[begin : begin + 1] == "\\":
        begin += 1
    quote = text[begin : begin + 1]
    if not quote or quote not in _QUOTES:
        return None
    begin += 3 if text.startswith(quote * 3, begin) else 1  # Python's """…"""
    value = _up_to(text, begin, quote)
    if value:
        value.is_quoted = True
    return value


def _up_to(text: str, begin: int, stop: str) -> SecretCandidate | None:
    """Return the text before ``stop`` in this line, or the rest of the line if it has no ``stop``; None if empty."""
    line = text[begin : begin + _LONGEST_VALUE].partition("\n")[0]
    end = line.find(stop)
    # A backslash before the quote belongs to the value, unless the whole string is inside another one.
    while end > 0 and line[end - 1] == "\\" and stop in line[end + 1 :] and line[end + 1 : end + 2] not in _AFTER_QUOTE:
        end = line.find(stop, end + 1)
    inner = (line[:end] if end >= 0 else line).rstrip("\\\r")
    return SecretCandidate(begin, inner) if inner else None


def _cut_at_quote(word: str) -> str:
    return min((word.partition(quote)[0] for quote in _QUOTES), key=len)


def _trim(word: str) -> str:
    """Remove the punctuation that belongs to the sentence or the code around a value."""
    trimmed = word.rstrip(",;.:*")
    while trimmed[-1:] in _CLOSERS and trimmed[-1:] and _CLOSERS[trimmed[-1]] not in trimmed:
        trimmed = trimmed[:-1].rstrip(",;.:*")
    return trimmed


def _behind_quote(text: str, position: int) -> int:
    """Return the position after the characters that close a quoted name, such as a quote and a bracket."""
    start = position
    if text[position : position + 1] == "\\":
        position += 1
    if text[position : position + 1] not in _QUOTES or position >= len(text):
        return start
    position += 1
    return position + 1 if text[position : position + 1] in {"]", ")"} else position


def _behind_blanks(text: str, position: int) -> int:
    blanks = text[position : position + 48]
    return position + len(blanks) - len(blanks.lstrip(_BLANKS))


def _extended(screen: Screen, value: SecretCandidate) -> int:
    """Return the true end of a value, of which only the beginning may have been read."""
    # 8: a word that was cut off may have lost punctuation at its end, too.
    if len(value.text) < (_LONGEST_VALUE if value.is_quoted else _LONGEST_WORD) - 8:
        return value.end
    stops = [screen.raw.find(stop, value.end, value.end + 65_536) for stop in (b" ", b"\n", b'"', b"'", b"&")]
    return min((stop for stop in stops if stop >= 0), default=min(len(screen.text), value.end + 65_536))

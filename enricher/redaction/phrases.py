"""Passwords that people say in a sentence of their own language, or hand to a program as its ``-p`` option.

``pw: …``, ``Passwort ist …``, ``mysql -p…``, ``sshpass -p …``. A word said has to hold
a digit or a sign, since "password is wrong" is what people say most; behind ``-p`` of a
program that takes its password there, anything is one.
"""

from __future__ import annotations

from enricher.redaction.assignments import cut_at_next_name
from enricher.redaction.values import Value, is_literal_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.redaction import Screen, Span

_NAMES = (b"passwor", b"pw", b"kennwort", b"mot de passe", b"contrase", b"senha")
_SPELLINGS = (
    *("password", "passwort", "pw", "kennwort", "mot de passe", "contrase\u00f1a", "contrasen\u0303a"),
    *("contrasena", "senha"),
)
_WHOLE_WORDS = (b"pw", b"senha")
_VERBS = (" ist ", " lautet ", " est ", " es ", " \u00e8 ", " \u00e9 ", " e' ", " is ")
_BLANKS = " \t\u00a0\u202f"
_QUOTES = "\"'`"
_SIGNS = ":=\uff1a\uff1d"
_LONGEST_VALUE = 256
_FURTHEST_VERB = 48
_LONGEST_COMMAND = 256
_RANK = 1
_ATTACHED = ("mysql", "mariadb", "mycli")
_SEPARATE = ("sshpass", "mongo")
_OPTION_WORDS = frozenset(("ort", "assword", "rotocol", "ipe", "lugin-dir", "rint-defaults"))
_REFERENCES = ("$", "<", "{", "%", "[redacted:")


def phrase_spans(screen: Screen) -> list[Span]:
    """Return the passwords that are said in a sentence or given as an option."""
    spans: list[Span] = []
    for name in _NAMES:
        hit = screen.low.find(name)
        while hit >= 0:
            span = _said(screen, hit, name)
            spans += span
            hit = screen.low.find(name, span[0][1] if span else hit + len(name))
    return spans + _options(screen)


def _said(screen: Screen, hit: int, name: bytes) -> list[Span]:
    text = screen.text
    nearby = text[hit : hit + 16].lower()
    word = next((spelling for spelling in _SPELLINGS if nearby.startswith(spelling)), "")
    end = hit + len(word)
    if not word or text[end : end + 1].isalnum() or (name in _WHOLE_WORDS and hit and text[hit - 1].isalnum()):
        return []
    begin = _value_start(text, end, is_assigned=name != b"passwor")
    value = _read(text, begin) if begin else None
    if value is None or not is_literal_password(value) or (name == b"pw" and value.text.isdigit()):
        return []
    return [(value.start, value.end, _RANK, "password")]


def _value_start(text: str, end: int, *, is_assigned: bool) -> int:
    """Return where the value begins behind a verb or, if asked for, a sign; 0 where none of them follows."""
    line = text[end : end + _FURTHEST_VERB].partition("\n")[0]
    rest = line.lstrip(_BLANKS + _QUOTES + "*")
    if rest[:1] in _SIGNS and rest and is_assigned:
        return _behind_blanks(text, end + len(line) - len(rest) + 1)
    clause = min((line.partition(stop)[0] for stop in (".", ",", ";", "?", "!", ":", "=")), key=len).lower()
    found = [(clause.index(verb), len(verb)) for verb in _VERBS if verb in clause]
    # A text whose letters change their number in lower case cannot be measured in it.
    if not found or len(clause) > len(line):
        return 0
    at, size = min(found)
    return _behind_blanks(text, end + at + size)


def _behind_blanks(text: str, position: int) -> int:
    blanks = text[position : position + 16]
    return position + len(blanks) - len(blanks.lstrip(_BLANKS + "*"))


def _read(text: str, begin: int) -> Value | None:
    """Return the word, or what stands between quotes in this line."""
    line = text[begin : begin + _LONGEST_VALUE].partition("\n")[0]
    quote = line[:1]
    if quote and quote in _QUOTES:
        inner, closing, _ = line[1:].partition(quote)
        value = Value(begin + 1, inner) if closing and inner else None
        if value:
            value.is_quoted = True
        return value
    word = (line.split(None, 1) or [""])[0]
    word = cut_at_next_name(word).rstrip("\"'`,;.:*)]}")
    return Value(begin, word) if word and not line[:1].isspace() else None


def _options(screen: Screen) -> list[Span]:
    spans: list[Span] = []
    hit = screen.low.find(b" -p")
    while hit >= 0:
        span = _option(screen.text, hit)
        spans += span
        hit = screen.low.find(b" -p", span[0][1] if span else hit + 3)
    return spans


def _option(text: str, hit: int) -> list[Span]:
    words = _command(text[max(0, hit - _LONGEST_COMMAND) : hit])
    begin = hit + 3
    if text[begin : begin + 1] in {" ", "="} and _runs(words, _SEPARATE):
        begin = _behind_blanks(text, begin + 1)
    elif not _runs(words, _ATTACHED + _SEPARATE):
        return []
    value = _read(text, begin)
    return [(value.start, value.end, _RANK, "password")] if value and _is_option_value(value.text, words) else []


def _command(before: str) -> list[str]:
    for divider in "\n|;&`":
        before = before.rpartition(divider)[2]
    return before.lower().split()


def _runs(words: list[str], programs: tuple[str, ...]) -> bool:
    return any(word.rpartition("/")[2].strip("\"'(").startswith(programs) for word in words)


def _is_option_value(text: str, words: list[str]) -> bool:
    # "docker run --name mysql -p3306:3306" opens a port.
    is_port = not text.strip("0123456789:.") and (":" in text or "run" in words)
    return not is_port and text.lower() not in _OPTION_WORDS and not text.startswith(_REFERENCES)

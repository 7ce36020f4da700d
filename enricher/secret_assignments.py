"""Secrets that are called by their name: ``password=``, ``"api_key":``, ``Authorization: Bearer``, "password is".

The stronger the name, the less the value has to prove: behind ``password`` a
plain word will do, behind any other ``…key`` only long and random text counts.
References, placeholders and types (``${TOKEN}``, ``<your-key>``, ``str``) are no
secrets. Each hit looks at most at the next ``_LONGEST_VALUE`` characters.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.redact import Screen, Span

_LONGEST_NAME = 64
_LONGEST_VALUE = 1024
_RANK = 1

# How much a value must prove.
_ANYTHING, _MIXED, _RANDOM = 0, 1, 2

_PASSWORDS = (b"password", b"passwd", b"pwd", b"passwort", b"passphrase", b"passcode", b"motdepasse")
_SECRETS = (b"secret", b"secretkey", b"clientsecret")
_KEYS = (
    *(b"apikey", b"accesskey", b"authkey", b"accountkey", b"privatekey", b"encryptionkey", b"signingkey"),
    *(b"masterkey", b"clientkey", b"servicekey", b"dbkey", b"databasekey", b"subscriptionkey", b"sharedkey"),
)
_KEY_ADJECTIVES = (b"api ", b"access ", b"secret ", b"private ", b"auth ", b"account ", b"encryption ", b"signing ")

_QUOTES = "\"'`"
_BLANKS = " \t"
_TRAILING = ",;.)]}>:*"
_NO_VALUES = frozenset(
    """
    str string int integer number float bool boolean bytes text char varchar object any unknown void never optional
    required missing invalid expired empty unset default none null nil undefined true false yes no on off not the a an
    this that it is are was must should can will and or for from in of to with by if when
    password passwd pwd passphrase secret token key api_key apikey auth credential credentials bearer basic
    changeme change_me change-me placeholder example dummy redacted todo tbd hidden masked foo bar baz
    input prompt getpass field reset forgot login inherit plaintext hash hashed encrypted encoded
    oauth2 base64 sha256 sha512 sha1 md5 argon2 argon2id argon2i pbkdf2 bcrypt scrypt utf8 rs256 hs256 es256 ed25519
    """.split()
)
_SHORT_PASSWORDS = frozenset((b"dbpass", b"userpass", b"rootpass", b"adminpass", b"mypass", b"smtppass"))
_BY_WORD = (
    *((b"pass", "password"), (b"pwd", "password"), (b"secret", "secret"), (b"token", "token"), (b"bearer", "token")),
    *((b"credential", "credential"), (b"auth", "credential"), (b"key", "key")),
)
_SAID_WITHOUT_VERB = ("password ", "passwd ", "pwd ", "passphrase ", "passcode ", "bearer ")
_LEAST_MIXED = {"password": 6, "key": 16}
_SIGNS = "=:\uff1d\uff1a"
_ARROWS = frozenset("=>")
_HEADER_SIGNS = frozenset(":=,\uff1a")
_STRING_PREFIXES = frozenset("rbfuRBFU@")
_AFTER_QUOTE = frozenset((",", "}", "]", ")", ":", ""))
_LINE_ENDS = frozenset("\n\r,;&)")
_DIVIDERS = frozenset(",;&")
_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<"}
_TEMPLATE_OPENERS = frozenset("${<%[#")
_TEMPLATE_CLOSERS = frozenset("}>%])")
_NAMES_IN_VALUES = ("password", "passwd", "secret", "token", "apikey", "api_key", "api-key", "credential")
_ROOTS = ("process.env", "os.environ", "os.getenv", "env.", "import.meta", "self.", "this.", "config.", "settings.")


class _Value:
    """A candidate: where it stands, how it is written, and what its setting asks it to prove."""

    __slots__ = ("end", "is_alone", "is_literal", "is_quoted", "proof", "start", "text")

    def __init__(self, start: int, text: str, *, proof: int = _ANYTHING, is_literal: bool = False) -> None:
        self.start = start
        self.end = start + len(text)
        self.text = text
        self.proof = proof
        # Literal: no place for a variable, such as an env file or a sentence.
        self.is_literal = is_literal
        self.is_quoted = False
        self.is_alone = False


def assigned_secrets(screen: Screen, words: list[bytes]) -> list[Span]:
    """Return the values assigned to names that contain one of ``words``, all known to occur."""
    spans: list[Span] = []
    screen.has_random = any(map(_may_be_random, screen.long))
    runs, low, text = screen.runs, screen.low, screen.text
    for word in words:
        hit = low.find(word)
        while hit >= 0:
            end = runs.find(b" ", hit, hit + _LONGEST_NAME)
            position = end if end >= 0 else hit + len(word)
            if end >= 0 and text[end] in _MAY_FOLLOW:
                span = _named(screen, hit, end)
                if span:
                    spans.append(span)
                    position = span[1]
            hit = low.find(word, position)
    return spans


def _named(screen: Screen, hit: int, end: int) -> Span | None:
    """Judge what is said about the name that holds ``hit`` and ends at ``end``."""
    start = screen.runs.rfind(b" ", max(0, hit - _LONGEST_NAME), hit) + 1 or max(0, hit - _LONGEST_NAME)
    kind, proof = _meaning(screen, start, end)
    if not kind:
        return None
    value = _authorization(screen.text, end) if kind == "authorization" else _value(screen.text, start, end)
    if value is None or not _is_secret(value, kind, max(proof, value.proof)):
        value = _nearby(screen, end)
    return (value.start, _run_on(screen, value), _RANK, kind) if value else None


_MAY_FOLLOW = frozenset("=: \t\"'`\\>\uff1a\uff1d*-,")


def _meaning(screen: Screen, start: int, end: int) -> tuple[str, int]:
    """Return what kind of secret a name promises, and how much its value must prove."""
    low = screen.low
    name = low[start:end]
    squeezed = name.translate(None, b"_-").rstrip(b"0123456789")
    if squeezed.endswith(_PASSWORDS):
        return "password", _ANYTHING
    if squeezed == b"pass" or name.endswith((b"_pass", b"-pass")) or squeezed in _SHORT_PASSWORDS:
        return "password", _MIXED
    if squeezed.endswith(_SECRETS):
        return "secret", _ANYTHING
    if squeezed.endswith(b"token"):
        return "token", _MIXED
    if squeezed.endswith(b"authorization"):
        return "authorization", _ANYTHING
    if squeezed.endswith(_KEYS) or (squeezed == b"key" and low[max(0, start - 12) : start].endswith(_KEY_ADJECTIVES)):
        return ("api_key" if b"api" in low[max(0, start - 4) : end] else "secret_key"), _ANYTHING
    if b"public" in name:
        return "", _RANDOM
    if squeezed == b"bearer":
        return "token", _MIXED
    if name.endswith(b"_key") and screen.raw[start:end].isupper():
        return "key", _MIXED
    return next(kind for word, kind in _BY_WORD if word in name), _RANDOM


def _value(text: str, start: int, end: int) -> _Value | None:
    """Return what is assigned to the name between ``start`` and ``end``, None where nothing is."""
    closed = _behind_quote(text, end)
    sign = _behind_blanks(text, closed + 2 if text.startswith("**", closed) else closed)
    mark = text[sign : sign + 1]
    if mark in _SIGNS and mark:
        return _assigned(text, start, sign, is_tight=sign == end)
    if text.startswith("->", sign):
        return _read(text, sign + 2)
    if mark == "," and closed > end:
        return _read_quoted_only(text, sign + 1)
    if mark == ">" and text[start - 1 : start] == "<":
        return _up_to(text, sign + 1, "<")
    if sign == end:
        return None
    return _said(text, start, sign)


def _assigned(text: str, start: int, sign: int, *, is_tight: bool) -> _Value | None:
    behind = sign + 1
    if text.startswith("::", sign):
        return None
    while text[behind : behind + 1] in _ARROWS and behind < sign + 3:
        behind += 1
    begin = _behind_blanks(text, behind + 2 if text.startswith("**", behind) else behind)
    if text[begin : begin + 1] == "\n":
        value = _read(text, _behind_blanks(text, begin + 1))
        if value:
            value.proof = _MIXED
        return value if value and value.is_alone else None
    name = text[start:sign]
    is_shell = is_tight and begin == behind and text[sign] == "=" and (name.upper() == name or name[:2] == "--")
    value = _read(text, begin, is_shell=is_shell)
    if value and not is_tight and text[sign] == "=" and not value.is_quoted and value.text.isidentifier():
        value.proof = _MIXED
    if value and not value.is_quoted and text[sign] == ":":
        return _behind_annotation(text, value) or value
    return value


def _behind_annotation(text: str, value: _Value) -> _Value | None:
    """Return the default behind a type, as in ``password: str = "…"``."""
    line = text[value.end : value.end + 80].partition("\n")[0]
    before, sign, _ = line.partition(" = ")
    if not sign or len(before) > 32 or "," in before:
        return None
    return _read(text, value.end + len(before) + 3)


def _said(text: str, start: int, begin: int) -> _Value | None:
    """Return what a sentence or a command line gives as value: "password is x", ``--token x``, ``secret "x"``."""
    if text[begin : begin + 1] in _QUOTES or text.startswith('\\"', begin):
        return _read_quoted_only(text, begin)
    verb = text[begin : begin + 4].lower()
    is_told = verb in {"is: ", "was ", "are "} or verb[:3] in {"is ", "is:", "is\t", "to "}
    if is_told:
        begin = _behind_blanks(text, begin + (4 if verb == "was " or verb == "are " else 3))
    value = _as_literal(_read(text, begin))
    if value is None:
        return None
    is_flag = text.startswith("-", start)
    value.proof = _ANYTHING if is_flag else _MIXED
    named = text[start:begin].lower()
    return value if is_flag or is_told or named.startswith(_SAID_WITHOUT_VERB) else None


def _authorization(text: str, end: int) -> _Value | None:
    """Return the credentials of an Authorization header, without their scheme."""
    sign = _behind_blanks(text, _behind_quote(text, end))
    if text[sign : sign + 1] not in _HEADER_SIGNS:
        return None
    begin = _behind_blanks(text, sign + 1)
    begin += len(text[begin : begin + 3]) - len(text[begin : begin + 3].lstrip("\\\"'`"))
    word = text[begin : begin + 32].split(None, 1)[:1]
    if word and word[0].isalnum() and text[begin + len(word[0]) : begin + len(word[0]) + 1] in _BLANKS:
        return _as_literal(_read(text, _behind_blanks(text, begin + len(word[0]))))
    value = _read(text, begin)
    if value:
        value.proof = _MIXED
    return value


def _as_literal(value: _Value | None) -> _Value | None:
    if value:
        value.is_literal = True
    return value


def _nearby(screen: Screen, end: int) -> _Value | None:
    """Return a long random word that follows a name in the same line, a few words on."""
    if not screen.has_random or screen.text[end : end + 1] != " ":
        return None
    line = screen.text[end : end + 96].partition("\n")[0]
    position = 0
    for word in line.split():
        position = line.index(word, position)
        bare = word.strip("\"'`,;.()[]<>:=")
        if len(bare) >= 20 and _is_random(bare) and position + len(word) < 96:
            return _Value(end + position + word.index(bare), bare)
        position += len(word)
    return None


def _read(text: str, begin: int, *, is_shell: bool = False) -> _Value | None:
    """Read one value, quoted or up to the next blank."""
    opening = text[begin : begin + 2]
    if opening[1:] in _QUOTES and opening[:1] in _STRING_PREFIXES and len(opening) == 2:
        begin += 1
    if text[begin : begin + 1] in _QUOTES or text.startswith(('\\"', "\\'"), begin):
        return _read_quoted_only(text, begin)
    words = text[begin : begin + _LONGEST_VALUE].split(None, 1)
    if not words or text[begin : begin + 1].isspace():
        return None
    word = words[0] if is_shell else _cut_at_quote(words[0])
    word = _cut_at_next_name(word)
    word = word.rstrip("\"'`") if is_shell else _trim(word)
    value = _Value(begin, word, is_literal=is_shell)
    rest = text[value.end : value.end + 40].lstrip(_TRAILING)
    following = rest.split(None, 1)[:1]
    value.is_alone = not rest.strip() or rest.lstrip(_BLANKS)[:1] in _LINE_ENDS or following[0][-1:] in _SIGNS
    value.is_alone = value.is_alone or text[value.end : value.end + 1] in _DIVIDERS or "=" in following[0]
    return value


def _read_quoted_only(text: str, begin: int) -> _Value | None:
    begin = _behind_blanks(text, begin)
    if text[begin : begin + 1] == "\\":
        begin += 1
    quote = text[begin : begin + 1]
    if not quote or quote not in _QUOTES:
        return None
    begin += 3 if text.startswith(quote * 3, begin) else 1
    value = _up_to(text, begin, quote)
    if value:
        value.is_quoted = True
    return value


def _up_to(text: str, begin: int, stop: str) -> _Value | None:
    """Return what stands before ``stop`` in this line; all of the line where it does not come."""
    line = text[begin : begin + _LONGEST_VALUE].partition("\n")[0]
    end = line.find(stop)
    while end > 0 and line[end - 1] == "\\" and stop in line[end + 1 :] and line[end + 1 : end + 2] not in _AFTER_QUOTE:
        end = line.find(stop, end + 1)
    inner = (line[:end] if end >= 0 else line).rstrip("\\\r")
    return _Value(begin, inner) if inner else None


def _cut_at_quote(word: str) -> str:
    return min((word.partition(quote)[0] for quote in _QUOTES), key=len)


def _cut_at_next_name(word: str) -> str:
    """Cut where the next parameter begins: ``a&b=``, ``a;B=``, ``a,b=``."""
    for divider in "&;,":
        position = word.find(divider)
        while position >= 0:
            name = word[position + 1 :].partition("=")
            if name[1] and name[0].strip().replace("-", "_").replace(".", "_").isidentifier():
                word = word[:position]
                break
            position = word.find(divider, position + 1)
    return word


def _trim(word: str) -> str:
    """Drop the punctuation of the sentence or the code around a value."""
    trimmed = word.rstrip(",;.:*")
    while trimmed[-1:] in _CLOSERS and trimmed[-1:] and _CLOSERS[trimmed[-1]] not in trimmed:
        trimmed = trimmed[:-1].rstrip(",;.:*")
    return trimmed


def _behind_quote(text: str, position: int) -> int:
    """Step over what closes a quoted name: a quote, an escaped quote, a quote and a bracket."""
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


def _run_on(screen: Screen, value: _Value) -> int:
    """Return where a value ends that is longer than what was looked at."""
    if len(value.text) < _LONGEST_VALUE - 8:
        return value.end
    stops = [screen.raw.find(stop, value.end, value.end + 65_536) for stop in (b" ", b"\n", b'"', b"'")]
    return min((stop for stop in stops if stop >= 0), default=min(len(screen.text), value.end + 65_536))


def _is_secret(value: _Value, kind: str, proof: int) -> bool:
    text = value.text
    if len(text) < 4 or _is_filler(text) or _is_reference(value) or _is_version(text):
        return False
    if proof == _RANDOM:
        return len(text) >= 20 and _is_random(text)
    if " " in text.strip():
        return proof == _ANYTHING and value.is_quoted and _is_passphrase(text)
    if proof == _MIXED:
        return _is_mixed(text, _LEAST_MIXED.get(kind, 8)) and not _is_path(text)
    if text.isdigit():
        return kind == "password" or len(text) >= 12
    if kind == "authorization":
        return _is_mixed(text, 6) or len(text) >= 12
    return (value.is_quoted or value.is_literal or value.is_alone or _is_mixed(text, 4)) and not _is_path(text)


def _is_filler(text: str) -> bool:
    """Say whether this stands where a secret would: ``changeme``, ``xxxx``, ``your-key``, an earlier redaction."""
    low = text.lower().strip(" !?.,:;'\"")
    if low in _NO_VALUES or text.startswith(("[redacted:", "-----BEGIN")) or not low.strip("x*.-_#\u2022\u2026"):
        return True
    begins = low.startswith(
        ("your_", "your-", "your ", "my_", "my-", "some_", "some-", "the_", "the-", "insert", "replace")
    )
    return (low.startswith("your") and low.endswith(_NAMES_IN_VALUES)) or (begins and not _has_digit(low))


def _is_reference(value: _Value) -> bool:
    """Say whether code or a template stands there: ``${X}``, ``<key>``, ``environ["X"]``, ``form.password``."""
    text = value.text
    if text[:1] in _TEMPLATE_OPENERS and (text[-1:] in _TEMPLATE_CLOSERS or text[1:2] in _TEMPLATE_OPENERS):
        return True
    if text[:1] in {"$", "@", "&", "*", "%"} and text[1:].replace(".", "_").replace(":", "_").strip("%").isidentifier():
        return text[:1] != "@" or not _has_digit(text)
    if "://" in text or "${" in text or "{{" in text or "$(" in text:
        return True
    if value.is_quoted or value.is_literal:
        return False
    return _is_code(text)


def _is_code(text: str) -> bool:
    if text.lower().startswith(_ROOTS) or text[:1] in {"(", "[", "{", "<", "|", "!"}:
        return True
    head = min((text.partition(opener)[0] for opener in "([{<"), key=len)
    dotted = head.replace("?.", ".").replace("!", "").replace("::", ".").replace("->", ".").split(".")
    is_name = all(part.isidentifier() for part in dotted)
    if len(head) < len(text) or len(dotted) > 1:
        return is_name
    digits = sum(character.isdigit() for character in text)
    return is_name and digits < 3 and any(name in text.lower() for name in _NAMES_IN_VALUES)


def _is_version(text: str) -> bool:
    bare = text.lstrip("^~<>=v ")
    return len(bare) < 16 and bare[:1].isdigit() and bare.count(".") >= 1 and bare.replace(".", "").isdigit()


def _is_path(text: str) -> bool:
    """Say whether this names a file; a long random text with slashes is base64 instead."""
    if "/" not in text and "\\" not in text:
        return False
    extension = text.rpartition(".")[2]
    if text.startswith(("./", "../", "~/")) or (extension != text and len(extension) <= 5 and extension.isalpha()):
        return True
    return not _is_random(text) and (text.startswith("/") or text.count("/") > 1) and not _has_digit(text)


def _is_passphrase(text: str) -> bool:
    """Say whether quoted words are a secret rather than a message to a person."""
    words = text.lower().split()
    is_message = text[:1].isupper() or text[-1:] in ".?!:" or any(word in _NO_VALUES for word in words)
    return not is_message and not any(name in text.lower() for name in _NAMES_IN_VALUES) and len(words) <= 12


def _is_mixed(text: str, least: int) -> bool:
    if len(text) < least:
        return False
    has_letter = any(character.isalpha() for character in text)
    if has_letter and _has_digit(text):
        return True
    return len(text) >= 20 and _is_random(text, digits=0)


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _is_random(text: str, *, digits: int = 2) -> bool:
    """Say whether the text changes between cases and digits as often as only chance does."""
    text = text[:128]
    classes = [_class(character) for character in text]
    if "?" in classes or classes.count("0") < digits or len(set(text)) < 10:
        return False
    if "A" not in classes or "a" not in classes:
        return False
    changes = sum(map(str.__ne__, classes, classes[1:]))
    return changes * 5 >= len(text) * 2


def _may_be_random(run: bytes) -> bool:
    return run.lower() != run and run.upper() != run and len(run.translate(None, b"0123456789")) < len(run) - 1


def _class(character: str) -> str:
    if character.isdigit():
        return "0"
    if not character.isascii():
        return "?"
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return "-" if character in "+/=_-" else "?"

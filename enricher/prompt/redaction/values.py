"""Decide whether a text is a secret, given the name before it and its context.

The more clearly name and context indicate a secret, the less the value itself must look like one. References,
placeholders, types, versions and paths are never secrets; several quoted words may be one.
"""

from __future__ import annotations

# How much a value must look like a secret, in ascending order: not at all, by having letters and digits, also by its
# length, by random characters.
ANYTHING, MIXED, LONG, RANDOM = range(4)
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
_LEAST_MIXED = {"password": 6}
_TEMPLATE_OPENERS = frozenset("${<%[#")
_TEMPLATE_CLOSERS = frozenset("}>%])")
_NAMES_IN_VALUES = ("password", "passwd", "secret", "token", "apikey", "api_key", "api-key", "credential")
_SIGNS = "@#$%^&*+=!?~"
_ROOTS = ("process.env", "os.environ", "os.getenv", "env.", "import.meta", "self.", "this.", "config.", "settings.")


SHORTEST_RANDOM = 20
_LONGEST_CHECKED = 128
_FEW_DIGITS = 3


class SecretCandidate:
    """A text in a prompt that may be a secret, with its position and the way in which it is written.

    ``proof`` is how much it must look like a secret in order to count as one, such as ANYTHING or RANDOM.
    """

    __slots__ = ("end", "head", "is_alone", "is_literal", "is_quoted", "proof", "start", "text")

    def __init__(self, start: int, text: str, *, is_literal: bool = False) -> None:
        self.start = start
        self.end = start + len(text)
        self.text = text
        # Only the beginning is examined, to save time: a text full of names may have many long values.
        self.head = text[:_LONGEST_CHECKED]
        self.proof = ANYTHING
        # A literal value is in a context that cannot contain variables, such as an env file or a sentence.
        self.is_literal = is_literal
        self.is_quoted = False
        self.is_alone = False


def is_secret(value: SecretCandidate, kind: str, proof: int) -> bool:
    """Return whether a value after a name of this kind looks as much like a secret as ``proof`` requires."""
    text = value.head
    if len(text) < 4 or _is_filler(text) or _is_reference(value) or _is_version(text):
        return False
    if proof == RANDOM:
        return (len(text) >= SHORTEST_RANDOM and is_random(text)) or is_key_shaped(text)
    if " " in text.strip():
        return value.is_quoted and _is_spaced_secret(value, kind, proof)
    if proof == LONG:
        return _is_mixed(text, 16) and not _is_path(text) and not (kind == "session" and _is_uuid(text))
    if proof == MIXED and not (value.is_literal and value.proof == ANYTHING and len(text) >= 8):
        return _is_mixed(text, _LEAST_MIXED.get(kind, 8)) and not _is_path(text)
    if text.isdigit():
        return kind == "password" or len(text) >= 12
    if kind == "authorization":
        return _is_mixed(text, 6) or len(text) >= (6 if value.is_alone else 12)
    return (value.is_quoted or value.is_literal or value.is_alone or _is_mixed(text, 4)) and not _is_path(text)


def is_literal_password(value: SecretCandidate) -> bool:
    """Return whether a word that the text calls a password can be one: it must have a digit or a special character."""
    text = value.head
    bare = text.rstrip("!?.")
    has_digit_or_sign = _has_digit(bare) or any(sign in bare for sign in _SIGNS)
    if len(text) < 4 or not has_digit_or_sign or _is_filler(text) or _is_version(text) or _is_path(text):
        return False
    return not _is_reference(value) and (not value.is_quoted or " " not in text or _is_passphrase(text))


def is_key_shaped(text: str) -> bool:
    """Return whether the text has the length and characters of an AWS secret key, even if it contains words."""
    if len(text) != 40 or not text.isascii() or not text.replace("/", "").replace("+", "").isalnum():
        return False
    classes = _classes(text)
    return {"A", "a", "0"} <= set(classes) and sum(map(str.__ne__, classes, classes[1:])) >= 8


def _is_spaced_secret(value: SecretCandidate, kind: str, proof: int) -> bool:
    """Return whether several quoted words are a secret: a passphrase, words with a digit, or a long random word."""
    if proof == ANYTHING and _is_passphrase(value.head):
        return True
    if proof <= LONG and len(longest := max(value.head.split(), key=len)) >= 20 and alternates(longest):
        return True
    is_mixed = kind == "password" and proof <= MIXED and _has_digit(value.head)
    return is_mixed and (value.is_literal or _is_passphrase(value.head))


def _is_filler(text: str) -> bool:
    """Return whether the text is only a placeholder for a secret: ``changeme``, ``xxxx``, ``your-key``, a redaction."""
    low = text.lower().strip(" !?.,:;'\"")
    if low in _NO_VALUES or text.startswith(("[redacted:", "-----BEGIN")) or not low.strip("x*.-_#\u2022\u2026"):
        return True
    begins = low.startswith(
        ("your_", "your-", "your ", "my_", "my-", "some_", "some-", "the_", "the-", "insert", "replace")
    )
    return (low.startswith("your") and low.endswith(_NAMES_IN_VALUES)) or (begins and not _has_digit(low))


def _is_reference(value: SecretCandidate) -> bool:
    """Return whether the text is code or a template: ``${X}``, ``<key>``, ``environ["X"]``, ``form.password``."""
    text = value.head
    if text[:1] in _TEMPLATE_OPENERS and (text[-1:] in _TEMPLATE_CLOSERS or text[1:2] in _TEMPLATE_OPENERS):
        return True
    if text[:1] in {"$", "@", "&", "*", "%"} and text[1:].replace(".", "_").replace(":", "_").strip("%").isidentifier():
        return text[:1] != "@" or not _has_digit(text)  # "@anna" is a mention, "@nn4" may be a password
    if "://" in text or "${" in text or "{{" in text or "$(" in text:
        return True
    if value.is_quoted:
        return False
    if value.is_literal:
        return text.lower().startswith(_ROOTS) and text[-1:] in {"]", ")"}
    return _is_code(text)


def _is_code(text: str) -> bool:
    if text.lower().startswith(_ROOTS) or text[:1] in {"(", "[", "{", "<", "|", "!"}:
        return True
    head = min((text.partition(opener)[0] for opener in "([{<"), key=len)
    dotted = head.replace("?.", ".").replace("!", "").replace("::", ".").replace("->", ".").split(".")
    is_name = all(part.isidentifier() for part in dotted)
    if len(head) < len(text) or len(dotted) > 1:
        return is_name
    if not is_name or not any(name in text.lower() for name in _NAMES_IN_VALUES):
        return False
    return sum(map(str.isdigit, text)) < _FEW_DIGITS


def _is_version(text: str) -> bool:
    bare = text.lstrip("^~<>=v ")  # "^1.2.3", ">=2.0", "v3.1"
    return len(bare) < 16 and bare[:1].isdigit() and bare.count(".") >= 1 and bare.replace(".", "").isdigit()


def _is_path(text: str) -> bool:
    """Return whether the text is a file path, perhaps with a line number, and not random base64 text with slashes."""
    if "/" not in text and "\\" not in text:
        return False
    path, _, lines = text.partition(":")
    text = text if lines.strip("0123456789:-") else path
    extension = text.rpartition(".")[2]
    if text.startswith(("./", "../", "~/")) or (extension != text and len(extension) <= 5 and extension.isalpha()):
        return True
    return not is_random(text) and (text.startswith("/") or text.count("/") > 1) and not _has_digit(text)


def _is_passphrase(text: str) -> bool:
    """Return whether quoted words can be a passphrase rather than a message such as "Invalid password."."""
    words = text.lower().split()
    is_message = text[:1].isupper() or text[-1:] in ".?!:" or any(word in _NO_VALUES for word in words)
    return not is_message and not any(name in text.lower() for name in _NAMES_IN_VALUES) and len(words) <= 12


def _is_mixed(text: str, least: int) -> bool:
    if len(text) < least:
        return False
    has_letter = any(character.isalpha() for character in text)
    if has_letter and _has_digit(text):
        return True
    return (len(text) >= 16 and not text.lower().strip("0123456789abcdef")) or (
        len(text) >= 20 and is_random(text, digits=0)
    )


def _has_digit(text: str) -> bool:
    return not _ASCII_DIGITS.isdisjoint(text) or (not text.isascii() and any(map(str.isdigit, text)))


_ASCII_DIGITS = frozenset("0123456789")


def is_random(text: str, *, digits: int = 2) -> bool:
    """Return whether the text changes between capitals, small letters and digits as often as random text does."""
    text = text[:_LONGEST_CHECKED]
    classes = _classes(text)
    if "?" in classes or classes.count("0") < digits or len(set(text)) < 10:
        return False
    if "A" not in classes or "a" not in classes:
        return False
    changes = sum(map(str.__ne__, classes, classes[1:]))
    # In random text the class changes at 62 % of the positions, in camelCase names far less often.
    return changes * 5 >= len(text) * 2


def alternates(text: str) -> bool:
    """Return whether letters and digits alternate as often as in random text, even if all letters have one case."""
    if len(text) < 6 or not text.isascii() or _is_filler(text) or _is_version(text) or _is_path(text) or "://" in text:
        return False
    text = text[:_LONGEST_CHECKED]
    if not _has_digit(text) or not any(character.isalpha() for character in text) or _is_file_or_call(text):
        return False
    if _is_uuid(text):
        return False
    classes = _classes(text)
    # In random small letters and digits, the class changes at 40 % of the positions.
    return sum(map(classes.count, _CHANGES)) * 6 >= len(text)


_CHANGES = ("a0", "0a", "A0", "0A", "aA", "a-", "-a", "0-", "-0", "A-", "-A")
_NO_HEX_DASH = dict.fromkeys(map(ord, "0123456789abcdefABCDEF-"))


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and text.count("-") == 4 and not text.translate(_NO_HEX_DASH)


def _is_file_or_call(text: str) -> bool:
    head, dot, extension = text.rpartition(".")
    is_file = bool(dot and head) and extension.isalpha() and len(extension) <= 5
    return is_file or any(sign in text for sign in "([{<") or text[:1] in _TEMPLATE_OPENERS


def is_template(password: str) -> bool:
    """Return whether the text is a variable or a placeholder instead of a secret."""
    opened = password[:1] in _OPENERS and password[-1:] in _CLOSERS
    shell = password[:1] == "$" and password[1:].isidentifier()
    return opened or shell or not password.strip("*.xX")


_OPENERS = frozenset("$<{%[")
_CLOSERS = frozenset("}>]%s")


def may_be_random(run: bytes) -> bool:
    """Return, by a quick check, whether a run could be random: it has both cases and at least two digits."""
    return run.lower() != run and run.upper() != run and len(run.translate(None, b"0123456789")) < len(run) - 1


def _classes(text: str) -> str:
    """Replace capitals with A, small letters with a, digits with 0, other base64 characters with -, the rest with ?."""
    return text.encode("ascii", "replace").translate(_CLASS_OF).decode()


_DIGITS, _SMALL, _CAPITAL = b"0123456789", b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OF_BASE64 = b"+/=_-%"
_NEITHER = bytes(range(256)).translate(None, _DIGITS + _SMALL + _CAPITAL + _OF_BASE64)
_CLASS_OF = bytes.maketrans(
    _DIGITS + _SMALL + _CAPITAL + _OF_BASE64 + _NEITHER,
    b"0" * 10 + b"a" * 26 + b"A" * 26 + b"-" * 6 + b"?" * len(_NEITHER),
)


def cut_at_next_name(word: str) -> str:
    """Return ``word`` up to the first "&", ";" or "," before an assignment, as in ``a&name=x`` (result: ``a``)."""
    for divider in "&;,":
        position = word.find(divider)
        while position >= 0:
            name = word[position + 1 :].partition("=")
            if name[1] and name[0].strip().replace("-", "_").replace(".", "_").isidentifier():
                word = word[:position]
                break
            position = word.find(divider, position + 1)
    return word

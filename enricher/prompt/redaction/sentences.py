"""Find secrets in sentences of many languages: "the password for staging is …", "пароль: …".

A word counts as a password only if it has a digit or a special character, because most sentences are like "password
is wrong", and only directly after the name, a verb or a mark such as ":". Elsewhere in the line, and after names of
keys and tokens, only text that looks random counts. A word before the name counts as in "use … as the password".
"""

from __future__ import annotations

from enricher.prompt.redaction.values import (
    SecretCandidate,
    alternates,
    cut_at_next_name,
    is_literal_password,
    is_random,
)
from enricher.prompt.text import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.redaction.screen import Screen, Span

PASSWORD, KEY, TOKEN, SECRET, LOGIN = "password", "key", "token", "secret", "login"


def _rows(words: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the rows (word, kind of secret) for the words in ``words``, which maps each kind to its words."""
    return tuple((" ".join(word.split()), kind) for kind, text in words.items() for word in text.split(","))


# Names of secrets that are searched for in every text.
ASCII = _rows(
    {
        PASSWORD: """
            password, passwd, passphrase, passcode, passwort, pw, pwd, kennwort, wachtwoord, mot de passe, contrasena,
            senha, palavra-passe, parola, kata sandi, sandi, sifre, sifrem, mat khau, haslo, heslo, nenosiri, salasana,
            identified by
        """,
        LOGIN: "creds, credentials, login",
        SECRET: "secret",
        TOKEN: "token, jeton, gettone",
        KEY: "key, clave, chave, chiave, klucz, kunci, anahtar, anahtari, sleutel, schluessel, ufunguo, susi",
    }
)

# Names of secrets that are searched for in texts with non-ASCII characters.
OTHERS = _rows(
    {
        PASSWORD: """
            contrase\u00f1a, contrasen\u0303a, \u015fifre, parol\u0103, m\u1eadt kh\u1ea9u, has\u0142o, l\u00f6senord,
            jelsz\u00f3, κωδικός, пароль, 密码, 密碼, 口令, パスワード, 暗証番号, 비밀번호, 패스워드, 암호,
            كلمة المرور, كلمة السر, كلمه السر, الرقم السري,
            पासवर्ड, कूटशब्द, संकेतशब्द, পাসওয়ার্ড,
            پاس ورڈ, رمز عبور, گذرواژه, پسورد,
            పాస్\u200cవర్డ్, పాస్వర్డ్, கடவுச்சொல், รหัสผ่าน, સંકેતશબ્દ, પાસવર્ડ, ਪਾਸਵਰਡ, ಪಾಸ್ವರ್ಡ್, ಪಾಸ್\u200cವರ್ಡ್,
            סיסמה, סיסמא
        """,
        KEY: """
            cl\u00e9, schl\u00fcssel, kh\u00f3a, kho\u00e1, κλειδί, ключ, 密钥, 秘钥, 密鑰, 金鑰, キー, 鍵, 키,
            مفتاح,
            कुंजी, কী, চাবি,
            کلید, کنجی,
            కీ, விசை, คีย์, กุญแจ, કી, ਕੁੰਜੀ,
            מפתח
        """,
        TOKEN: """
            \u017ceton, belirte\u00e7, m\u00e3 th\u00f4ng b\u00e1o, токен, 令牌, 权杖, 權杖, トークン, 토큰,
            الرمز, رمز الوصول, توكن,
            टोकन, টোকেন,
            ٹوکن, توکن,
            టోకెన్, டோக்கன், โทเค็น, ટોકન, ਟੋਕਨ
        """,
        SECRET: "секрет, 機密, 机密, シークレット, 시크릿",
    }
)

# Words between a name and the secret, which follows them directly; in lower case.
VERBS = frozenset(
    """
    is was are be to as ist lautet ist: est es son \u00e8 \u00e9 e' e adalah ialah l\u00e0 la to: to jest ni ay is: it's
    равен это هو هي ہے है আছে হল হলো là
    """.split()
)

_RANK = 2
_LONGEST_CLAUSE = 96
_LONGEST_VALUE = 1024
_MOST_WORDS = 8  # after the name: "the password for the staging database is now …"
_LONGEST_SUFFIX = 4
_DIGITS = b"0123456789"
_PASSWORD_SIGNS = b"@#$%^&*+=!?~"
_BLANKS = " \t\u00a0\u202f"
_OPENING = "\"'`*<([{|\u201c\u2018\u00ab\u300c\u300e:=>-\u2013\u2014\u2192"
_CLOSING = "\"'`*,;.:)]}>|!?"
_QUOTES = "\"'`"
_SIGNS = frozenset(":=\uff1a\uff1d\u2192\u21d2\u2013\u2014|\t")
_ENDINGS_BEFORE_NAME = (
    " as ", " as the ", " as my ", " as our ", " as your ", " is the ", " is my ", " is our ", " for the ",
)  # fmt: skip
_ADJECTIVES = ("api ", "access ", "secret ", "auth ", "admin ", "root ", "db ", "database ", "bearer ", "user ")
_MAY_GO_ON = frozenset("for on in and to then when but or at with if until please now because so while".split())
_LEAST = {PASSWORD: 6, KEY: 16, LOGIN: 6}
_LEAST_OF_OTHERS = 12


def secrets_in_sentences(screen: Screen) -> list[Span]:
    """Return the spans of the values that the text calls a password, a key or a token."""
    spans: list[Span] = []
    low, vocabulary = screen.low, screen.vocabulary
    for name, first, kind in _IN_ASCII:
        if first in vocabulary:
            for hit in places(low, name):
                spans += _named(screen, hit, hit + len(name), kind)
    return spans if screen.text.isascii() else spans + _in_other_scripts(screen)


# Rows: a name, its first word (which is looked up in the vocabulary of a text), and the kind of secret.
_IN_ASCII = tuple((word.encode(), word.replace("-", " ").split()[0].encode(), kind) for word, kind in ASCII)


def _in_other_scripts(screen: Screen) -> list[Span]:
    rest = screen.text.encode(errors="replace").translate(None, _ALL_ASCII)
    if not rest.translate(None, _BYTES_OF_SIGNS):
        return []
    spans: list[Span] = []
    folded = screen.text.lower()
    # Some letters become two in lower case, which would shift the offsets.
    folded = folded if len(folded) == len(screen.text) else screen.text
    rest = folded.encode(errors="replace").translate(None, _ALL_ASCII)
    for word, kind in OTHERS:
        if word.encode().translate(None, _ALL_ASCII) in rest:  # a quick test by the non-ASCII letters
            for hit in places(folded, word):
                spans += _named(screen, hit, hit + len(word), kind)
    return spans


# UTF-8 bytes of dashes, curly quotes and emojis: most non-ASCII texts have these but no other letters.
_BYTES_OF_SIGNS = bytes(range(0x80, 0xC3)) + b"\xe2\xef\xf0"
_ALL_ASCII = bytes(range(128))


def _named(screen: Screen, hit: int, end: int, kind: str) -> list[Span]:
    text, low = screen.text, screen.low
    is_assigned = text[end : end + 1] not in _BEHIND_A_NAME and low[hit:end] in _NAMES_IN_CODE
    if not is_assigned and _may_follow(low, end, kind) and (behind := _name_end(text, hit, end)):
        value = None if kind == KEY and _is_of_data(low, hit) else _value_behind(text, behind, kind)
        if value:
            return [(value.start, value.end, _RANK, "password" if kind == LOGIN else kind)]
    value = _value_before(text, hit, end, kind) if low[hit - 1 : hit] == b" " else None
    return [(value.start, value.end, _RANK, kind)] if value else []


def _may_follow(low: bytes, end: int, kind: str) -> bool:
    """Return, by a quick check, whether a value may follow the name of a secret that ends at ``end``."""
    nearby = low[end : end + _LONGEST_CLAUSE]
    if len(nearby.translate(None, _DIGITS)) < len(nearby):
        return True
    return kind == PASSWORD and len(nearby.translate(None, _PASSWORD_SIGNS)) < len(nearby)


_BEHIND_A_NAME = frozenset(" \t*|'`\u2013\u2014\u2192")
_NAMES_IN_CODE = frozenset(
    (b"password", b"passwd", b"passphrase", b"passcode", b"passwort", b"pwd", b"secret", b"token", b"key")
)


def _is_of_data(low: bytes, hit: int) -> bool:
    """Return whether the key at ``hit`` identifies data ("primary key", "cache key") instead of giving access."""
    return low[max(0, hit - 24) : hit].rstrip(b" -_").endswith(_OF_DATA)


_OF_DATA = tuple(
    word.encode()
    for word in """cache public primary foreign partition sort object s3 row dict hash lookup map json translation i18n
    composite unique group query react list storage idempotency registry index column item message""".split()
)


def _name_end(text: str, hit: int, end: int) -> int:
    """Return where a name ends, including a suffix ("password's", "sandinya"); 0 if it is part of another word."""
    if hit and text[hit - 1].isalnum() and text[hit].isascii():
        return 0
    behind = text[end : end + _LONGEST_SUFFIX + 1]
    suffix = len(behind) - len(behind.lstrip("abcdefghijklmnopqrstuvwxyz\u0131"))
    if suffix > _LONGEST_SUFFIX or (suffix and text[hit:end].lower() in _UNBENT):
        return 0
    return end + suffix + (2 if text.startswith("'s ", end + suffix) else 0)


# Names that may have no suffix, since no value follows "passwords", "tokens" or "keys".
_UNBENT = frozenset(("pw", "pwd", "key", "token", "secret", "login", "password", "clave", "chave"))


def _value_behind(text: str, end: int, kind: str) -> SecretCandidate | None:
    clause = text[end : end + _LONGEST_CLAUSE].partition("\n")[0]
    position, is_direct, is_over = 0, True, False
    for _ in range(_MOST_WORDS):
        start, stop = _next_word(clause, position)
        if start < 0:
            return None
        between = clause[position:start]
        is_stated = position > 0 or bool(between.strip(_BLANKS + _QUOTES + "*"))
        is_direct = is_direct or (not is_over and not _SIGNS.isdisjoint(between))
        value = _read(text, end + start)
        if value and _proves(value, kind, is_direct=is_direct, is_stated=is_stated):
            return value
        word = clause[start:stop].strip(_OPENING + _CLOSING).lower()
        is_over = is_over or clause[stop - 1 : stop] in ".,;?!"
        is_direct = not is_over and (word in VERBS or clause[stop - 1 : stop] in ":=")
        is_direct = is_direct or (kind == LOGIN and clause[stop : stop + 3] == " / ")
        position = stop
    return None


def _next_word(clause: str, position: int) -> tuple[int, int]:
    """Return start and end of the next run of printable ASCII characters, without opening quotes and brackets.

    They are -1 if there is none. A run next to a non-ASCII Latin letter is skipped as part of a word, such as "là".
    """
    stop, size = position, len(clause)
    while stop < size:
        start = stop
        while start < size and (not "!" <= clause[start] <= "~" or clause[start] in _OPENING):
            start += 1
        stop = start
        while stop < size and "!" <= clause[stop] <= "~":
            stop += 1
        if start < stop and not _is_latin(clause[start - 1 : start]) and not _is_latin(clause[stop : stop + 1]):
            return start, stop
    return -1, -1


def _is_latin(letter: str) -> bool:
    return letter.isalpha() and not letter.isascii() and (letter < "\u0250" or "\u1e00" <= letter < "\u1f00")


def _read(text: str, start: int) -> SecretCandidate | None:
    """Return the printable ASCII characters from ``start`` on, without final punctuation; None if there are none."""
    rest = text[start : start + _LONGEST_CLAUSE]
    if rest.isascii() and rest.isprintable() and " " not in rest:
        rest = text[start : start + _LONGEST_VALUE]
    stop = next((at for at, character in enumerate(rest) if not "!" <= character <= "~"), len(rest))
    word = rest[:stop]
    if start and text[start - 1] in _QUOTES and text[start - 1] in word:
        word = word.partition(text[start - 1])[0]
    word = cut_at_next_name(word).rstrip(_CLOSING)
    return SecretCandidate(start, word) if word else None


def _proves(value: SecretCandidate, kind: str, *, is_direct: bool, is_stated: bool) -> bool:
    if kind == LOGIN:
        return _is_login(value)
    if not is_direct:
        return len(value.text) >= 16 and is_random(value.text)
    if kind == PASSWORD:
        is_pin = is_stated and value.text.isdigit() and len(value.text) >= 6
        is_word = is_literal_password(value) and _has_letter(value.text)
        return is_pin or (is_word and (is_stated or len(value.text) >= 8))
    return len(value.text) >= _LEAST.get(kind, _LEAST_OF_OTHERS) and alternates(value.text)


def _is_login(value: SecretCandidate) -> bool:
    """Return whether the value is ``user:password`` or ``user/password`` with a likely password.

    If it has one of these forms, ``value`` is changed so that it is only the password.
    """
    user, colon, password = value.text.partition(":")
    if not colon:
        user, colon, password = value.text.partition("/")
    if colon and user.isidentifier():
        value.start, value.text = value.end - len(password), password
    return bool(colon) and len(value.text) >= 8 and is_literal_password(value) and alternates(value.text)


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _value_before(text: str, hit: int, end: int, kind: str) -> SecretCandidate | None:
    """Return the value before the name, as in "use … as the password"; None if there is none."""
    line = text[max(0, hit - 160) : hit].rpartition("\n")[2]
    low = line.lower()
    for adjective in _ADJECTIVES:
        low = low.removesuffix(adjective)
    ending = next((ending for ending in _ENDINGS_BEFORE_NAME if low.endswith(ending)), "")
    following = text[end : end + 24].lstrip(_BLANKS).split(None, 1)[:1]
    goes_on = following and text[end : end + 1] == " " and following[0].strip(",.").lower() not in _MAY_GO_ON
    if not ending or len(low) > len(line) or goes_on or text[end : end + 1].isalnum():
        return None
    words = line[: len(low) - len(ending)].split()
    word = words[-1].strip(_OPENING + _CLOSING) if words else ""
    if not word or not word.isascii():
        return None
    start = hit - len(line) + line.rindex(word, 0, len(low) - len(ending))
    value = SecretCandidate(start, word)
    least = _LEAST.get(kind, _LEAST_OF_OTHERS)
    is_proven = is_literal_password(value) and _has_letter(word) if kind == PASSWORD else alternates(word)
    return value if len(word) >= least and is_proven else None

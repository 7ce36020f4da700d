"""Find secrets by the name before them: ``password=``, ``"api_key":``, ``Authorization: Bearer``, "password is".

The more clearly a name means a secret, the less the value must look like one: after
``password`` a plain word counts, after an unknown ``…key`` only long random text.
References, placeholders and types (``${TOKEN}``, ``<your-key>``, ``str``) are not
secrets. Here are the names; ``enricher.prompt.redaction.assigned_values`` reads what follows them.
"""

from __future__ import annotations

from enricher.prompt.redaction.values import ANYTHING, LONG, MIXED, RANDOM, SHORTEST_RANDOM, may_be_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.redaction.screen import Screen, Span

_LONGEST_NAME = 64
_PASSWORDS = (b"password", b"passwd", b"pwd", b"passwort", b"passphrase", b"passcode", b"motdepasse", b"requirepass")
_SECRETS = (b"secret", b"secretkey", b"clientsecret")
_SESSIONS = (b"sessionid", b"sessid", b"connect.sid", b"sessiontoken")
_SIGNATURES = (b"sig", b"signature")
_LONGEST_SIGNATURE_NAME = 24
_KEYS = tuple(
    b"""apikey accesskey authkey accountkey privatekey encryptionkey signingkey masterkey clientkey servicekey dbkey
    databasekey subscriptionkey sharedkey""".split()
)
# These names are also used for other data, so their values must have both letters and digits.
_LIKELY_KEYS = tuple(
    b"""appkey adminkey rootkey serverkey sessionkey writekey deploykey licensekey functionkey functionskey hmackey
    aeskey jwtkey presharedkey integrationkey sharedaccesskey ingestionkey webhookkey hostkey cryptokey restkey
    personalkey""".split()
)
_KEY_ADJECTIVES = (b"api ", b"access ", b"secret ", b"private ", b"auth ", b"account ", b"encryption ", b"signing ")
_LIKELY_KEY_ADJECTIVES = (b"app ", b"admin ", b"master ", b"server ", b"deploy ", b"license ", b"shared ", b"service ")
_SHORT_PASSWORDS = frozenset((b"dbpass", b"userpass", b"rootpass", b"adminpass", b"mypass", b"smtppass"))
_BY_WORD = (
    (b"pass", "password"), (b"pwd", "password"), (b"secret", "secret"), (b"token", "token"), (b"bearer", "token"),
    (b"credential", "credential"), (b"auth", "credential"), (b"key", "key"),
)  # fmt: skip
_MAY_FOLLOW = frozenset("=: \n\t\"'`\\>\uff1a\uff1d*-,(")


def assigned_secrets(screen: Screen, words: list[bytes]) -> list[Span]:
    """Return the spans of the values that the text assigns to names of secrets.

    ``words`` are the words in the text, such as "key", that may be part of such a name.
    """
    spans: list[Span] = []
    screen.has_random = any(map(may_be_random, screen.long))
    screen.has_long_word = any(len(word) >= SHORTEST_RANDOM for word in screen.text.split())
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
            hit = low.find(word, max(position, hit + 1))
    return spans


def _named(screen: Screen, hit: int, end: int) -> Span | None:
    """Return the span of the secret assigned to the name around position ``hit``; None if no secret is assigned to it.

    ``end`` is the end of the name.
    """
    # If the window contains no blank, rfind() + 1 is 0, and the name begins at the start of the window.
    start = screen.runs.rfind(b" ", max(0, hit - _LONGEST_NAME), hit) + 1 or max(0, hit - _LONGEST_NAME)
    kind, proof = _meaning(screen, start, end)
    if not kind or (proof == RANDOM and not screen.has_long_word):
        return None
    from enricher.prompt.redaction.assigned_values import value_span

    return value_span(screen, start, end, kind, proof)


def _meaning(screen: Screen, start: int, end: int) -> tuple[str, int]:
    """Return the kind of secret that a name means, and how much its value must look like a secret (such as MIXED).

    The kind is empty if the name does not mean a secret. ``start`` and ``end`` are the name's position.
    """
    low = screen.low
    name, before = low[start:end], low[max(0, start - 12) : start]
    squeezed = name.translate(None, b"_-").rstrip(b"0123456789")
    # The first matching test decides, so specific names come before the words that they contain ("auth", "key").
    if squeezed.endswith(_PASSWORDS):
        return "password", ANYTHING
    if squeezed == b"pass" or name.endswith((b"_pass", b"-pass")) or squeezed in _SHORT_PASSWORDS:
        return "password", MIXED
    if squeezed.endswith(_SECRETS):
        return "secret", ANYTHING
    if squeezed.endswith(b"token"):
        return "token", MIXED
    if squeezed.endswith(b"authorization"):
        return "authorization", ANYTHING
    if squeezed.endswith(_KEYS) or (squeezed == b"key" and before.endswith(_KEY_ADJECTIVES)):
        return ("api_key" if b"api" in low[max(0, start - 4) : end] else "secret_key"), ANYTHING
    if squeezed.endswith(_LIKELY_KEYS) or (squeezed == b"key" and before.endswith(_LIKELY_KEY_ADJECTIVES)):
        return "secret_key", MIXED
    return _likely_meaning(screen, start, end, squeezed)


def _likely_meaning(screen: Screen, start: int, end: int, squeezed: bytes) -> tuple[str, int]:
    """Do the same as ``_meaning`` for names that often mean something else; ``squeezed`` is the name without "_-"."""
    name, before = screen.low[start:end], screen.low[max(0, start - 1) : start]
    if b"public" in name:
        return "", RANDOM
    if squeezed.endswith(b"cookie"):
        return "cookie", MIXED
    if squeezed.endswith(_SESSIONS):
        return "session", LONG
    if squeezed.endswith(b"session"):
        return "session", RANDOM
    if squeezed.endswith(_SIGNATURES) and len(name) < _LONGEST_SIGNATURE_NAME:
        return "signature", RANDOM
    if name == b"code":
        return ("code", RANDOM) if before.endswith((b"?", b"&")) else ("", RANDOM)
    if squeezed == b"pat" or name.endswith((b"_pat", b"-pat")) or screen.raw[start:end].endswith(b"Pat"):
        return "token", LONG
    if squeezed == b"bearer":
        return "token", MIXED
    found = next((kind for word, kind in _BY_WORD if word in name), "")
    is_setting = screen.raw[start:end].isupper() and (found != "key" or name.endswith(b"_key"))
    return found, LONG if is_setting else RANDOM

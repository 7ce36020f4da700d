"""Find secrets by their form: vendors' tokens, JSON web tokens, URLs with a password.

Each detector takes a ``Screen`` and returns spans. It reads a bounded part of the text after
each match; only an accepted token may extend further, and the search continues after it.
"""

from __future__ import annotations

from enricher.prompt.redaction.values import is_template
from enricher.prompt.redaction.vendors import ALNUM, ANYWHERE, AT_A_WORD, DIGITS, HEX, LOWER, UPPER, WITH_A_SIGN
from enricher.prompt.text import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.prompt.redaction.screen import Screen, Span
    from enricher.prompt.redaction.vendors import Row

_LETTERS = UPPER[10:] + LOWER[10:]
_TILDE = ALNUM + b"_.~-"
_LONGEST_LOOK = 320
_LONGEST_USERINFO = 512
_AWS = (b"AKIA", b"ASIA", b"ABIA", b"ACCA")
_FILLERS = (b"xxxx", b"your", b"example", b"placeholder", b"redacted", b"changeme", b"insert", b"replace")
SHORTEST_RANDOM = 20  # minimum characters; in fewer, changes of class are a matter of chance
_SEPARATORS = bytes.maketrans(b"-./$=,+%:", b"_________")
# Replaces each letter or digit with its class (a, A or 0), to count how often the class changes.
_CLASSES = bytes.maketrans(DIGITS + LOWER[10:] + UPPER[10:], b"0" * 10 + b"a" * 26 + b"A" * 26)
_CHANGES = (b"a0", b"0a", b"A0", b"0A", b"aA")
_ANNOUNCING = frozenset(
    (b"sk", b"rk", b"key", b"apikey", b"secret", b"token", b"tok", b"pat", b"auth", b"live", b"prod", b"priv")
)
_SPECIFIC, _LOOSE = 0, 1


def token_spans(screen: Screen) -> list[Span]:
    """Return the spans of tokens that have a vendor's prefix, a vendor's marker inside, or an unusual shape."""
    raw = screen.raw
    joined = b" ".join(screen.long)
    spans: list[Span] = []
    for row in ANYWHERE:
        if row[0] in joined:
            spans += _vendor(screen, row, is_anywhere=True)
    for row in _beginnings(screen.long):
        spans += _vendor(screen, row)
    between = set(raw.split(b"$")) if b"$" in raw else ()
    for row, words, scheme in _SIGNED:
        may_occur = scheme in between if scheme else not words or not words.isdisjoint(screen.vocabulary)
        if may_occur and row[0] in raw:
            spans += _vendor(screen, row)
    if b"%24" in raw or b"%7B" in raw or b"%2F%2F" in raw:
        spans += _percent_encoded(screen)
    for prefix in _AWS:
        if prefix in joined:
            spans += _aws(screen, prefix)
    if b"eyJ" in joined:
        spans += _jwt(screen)
    for mark, kind, before, after in _MARKS_WITHIN:
        if mark in raw:
            spans += _around(screen, mark, kind=kind, before=before, after=after)
    return spans + _odd_shapes(screen)


def _beginnings(runs: list[bytes]) -> list[Row]:
    """Return the rows of AT_A_WORD (prefixes of tokens) whose prefix may be at the beginning of one of ``runs``.

    Only three characters are compared. The prefix may also follow an escape such as %3D.
    """
    found = {row[0]: row for run in runs for at in (0, 1, 2) for row in _BY_START.get(run[at : at + 3], ())}
    return [found[prefix] for prefix in sorted(found)]


def _by_start() -> dict[bytes, list[Row]]:
    rows: dict[bytes, list[Row]] = {}
    for row in AT_A_WORD:
        rows.setdefault(row[0][:3], []).append(row)
    return rows


_BY_START = _by_start()


def _signed() -> list[tuple[Row, frozenset[bytes], bytes]]:
    """Return each row of WITH_A_SIGN with strings that tell quickly whether a text can contain the row's token prefix.

    The first strings are the prefix's first word, alone and after the letter of an escape such as backslash-n; the last
    is its part between dollar signs. The text must contain the last or, if that is empty, one of the first, if any.
    """
    rows = []
    for row in WITH_A_SIGN:
        prefix = row[0].lstrip(b"{")
        word = b"" if prefix.isalpha() else prefix[: len(prefix) - len(prefix.lstrip(_LETTERS))].lower()
        words = frozenset((word, b"n" + word, b"t" + word, b"r" + word)) if word else frozenset[bytes]()
        rows.append((row, words, prefix.split(b"$")[1] if b"$" in prefix else b""))
    return rows


_SIGNED = _signed()


def _percent_encoded(screen: Screen) -> list[Span]:
    """Return the spans of tokens whose prefix has a percent-encoded character, such as ``%24``."""
    spans: list[Span] = []
    for prefix, kind, alphabet, least in WITH_A_SIGN:
        encoded = prefix.replace(b"$", b"%24").replace(b"/", b"%2F").replace(b"{", b"%7B").replace(b"}", b"%7D")
        if encoded != prefix and encoded in screen.raw:
            spans += _vendor(screen, (encoded, kind, alphabet + b"%", least))
    return spans


_MARKS_WITHIN = (
    # marker, kind, length of the part before it, minimum length of the part after it
    (b".atlasv1.", "terraform_token", 14, 60),
    (b"8Q~", "azure_secret", 3, 31),
    (b"7Q~", "azure_secret", 3, 31),
)


def _around(screen: Screen, mark: bytes, *, kind: str, before: int, after: int) -> list[Span]:
    """Return the spans of tokens that contain a vendor's marker at a fixed distance from their start."""
    spans: list[Span] = []
    raw, hit = screen.raw, screen.raw.find(mark)
    while hit >= 0:
        behind = hit + len(mark)
        start, end = hit - before, _body_end(raw, behind, _TILDE)
        if start >= 0 and end - behind >= after and not raw[start:hit].translate(None, _TILDE):
            spans.append((start, end, _SPECIFIC, kind))
            behind = end
        hit = raw.find(mark, behind)
    return spans


def _vendor(screen: Screen, row: Row, *, is_anywhere: bool = False) -> list[Span]:
    prefix, kind, alphabet, least = row
    spans: list[Span] = []
    raw, start = screen.raw, screen.raw.find(prefix)
    while start >= 0:
        body = start + len(prefix)
        chunk = raw[body : body + _LONGEST_LOOK]
        size = len(chunk) - len(chunk.lstrip(alphabet))
        if size >= least and (is_anywhere or _begins_here(raw, start)) and _is_body(chunk[:size], is_anywhere):
            end = _body_end(raw, body, alphabet)
            end = max(end, screen.run_end(end - 1))
            spans.append((start, end, _SPECIFIC, kind))
            body = end
        start = raw.find(prefix, body)
    return spans


def _body_end(raw: bytes, start: int, alphabet: bytes) -> int:
    """Return where the run of ``alphabet`` characters that begins at ``start`` ends, excluding final punctuation."""
    end = start
    while chunk := raw[end : end + _LONGEST_LOOK]:
        size = len(chunk) - len(chunk.lstrip(alphabet))
        end += size
        if size < len(chunk):
            break
    tail = raw[max(start, end - 8) : end]
    return end - len(tail) + len(tail.rstrip(b".,:-"))


def _is_body(body: bytes, is_anywhere: bool) -> bool:
    """Return whether the body of a token may be random, and not joined words or a placeholder such as xxxx."""
    low = body.lower()
    head = body[:128].translate(_SEPARATORS)
    # Random letters and digits change class at 40 to 47 % of the positions, and have "xXxx" by chance, too.
    is_random = len(head) >= SHORTEST_RANDOM and _class_changes(head) * 4 >= len(head)
    if not low.strip(b"x-_.*") or (not is_random and any(filler in low for filler in _FILLERS)):
        return False
    longest = max(map(len, head.split(b"_")))
    if is_anywhere:
        return longest >= 16 or len(body.translate(None, DIGITS)) < len(body)
    # One change in seven positions is a lenient threshold.
    return longest >= 16 or _class_changes(head) * 7 >= len(head)


def _class_changes(text: bytes) -> int:
    classes = text.translate(_CLASSES)
    return sum(map(classes.count, _CHANGES))


def _begins_here(raw: bytes, start: int) -> bool:
    """Return whether a new word begins at ``start``; an escape before it (backslash-n, %3D) counts as a separator."""
    before = raw[max(0, start - 3) : start]
    return before[-1:] not in _WORD_ENDS or before[-2:-1] == b"\\" or before[:1] == b"%"


_WORD_ENDS = frozenset(bytes((code,)) for code in ALNUM + b"_-")


def _aws(screen: Screen, prefix: bytes) -> list[Span]:
    spans: list[Span] = []
    for start in places(screen.raw, prefix):
        body = screen.raw[start + len(prefix) : start + len(prefix) + 16]
        if len(body) == 16 and body.isalnum() and body.upper() == body:
            spans.append((start, screen.run_end(start), _SPECIFIC, "aws_key"))
    return spans


def _jwt(screen: Screen) -> list[Span]:
    spans: list[Span] = []
    raw, start = screen.raw, screen.raw.find(b"eyJ")
    while start >= 0:
        head = screen.run_end(start)
        # A signed token (JWS) has two further parts, an encrypted one (JWE) four.
        end = _dotted_end(screen, head, 4) if head - start > 12 else head
        if end - head > 8:
            spans.append((start, end, _SPECIFIC, "jwt"))
        start = raw.find(b"eyJ", end)
    return spans


def _dotted_end(screen: Screen, end: int, most: int) -> int:
    """Return the end of a token that consists of several runs with single dots between them, as a JSON web token does.

    ``end`` is the end of its first run, and ``most`` the maximum number of further runs.
    """
    for _ in range(most):
        if screen.raw[end : end + 1] != b"." or screen.runs[end + 1 : end + 2] in {b" ", b""}:
            break
        end = screen.run_end(end + 1)
    return end


def _odd_shapes(screen: Screen) -> list[Span]:
    """Return the spans of tokens that are recognised by their length and characters instead of a prefix."""
    candidates = [run for run in screen.long if len(run) >= 24 and _has_odd_shape(run)]
    if not candidates:
        return []
    spans: list[Span] = []
    padded, position = b" " + screen.runs + b" ", 0
    for run in candidates:
        # The text is padded with one blank in front, so the position of " run " is the offset of the run without it.
        position = padded.find(b" " + run + b" ", position)
        kind, start, end = _odd_kind(screen, position, position + len(run))
        if kind:
            spans.append((start, end, _SPECIFIC, kind))
        position += len(run)
    return spans


def _has_odd_shape(run: bytes) -> bool:
    """Return, by a quick check, whether the run may have one of the forms that ``_odd_kind`` recognises."""
    size = len(run)
    if b"_" in run or b"-" in run:
        if size >= 28 and _announces_itself(run):
            return True
    elif size in {32, 64} and not run.translate(None, HEX):
        return True
    if size <= 28:
        return run[:1] in {b"M", b"N", b"O"}
    return size == 35 or run[:2] in {b"SK", b"AC"} or run[:4] == b"key-" or run[32:35] == b"-us" or run[-4:] == b"NRAL"


def _announces_itself(run: bytes) -> bool:
    """Return whether a run consists of a name for a secret and random text: ``acme_live_…``, ``…-token-…``."""
    *names, body = run.replace(b"-", b"_").split(b"_")
    if len(body) < 24 or not any(name.lower() in _ANNOUNCING for name in names):
        return len(body) == 32 and len(names) == 2 and names[0] == b"pk" and names[1].isdigit()
    return _class_changes(body) * 4 >= len(body) and b"pub" not in names and b"pk" not in names


def _odd_kind(screen: Screen, start: int, end: int) -> tuple[str, int, int]:
    """Return the kind, start and end of the token to which the run from ``start`` to ``end`` belongs.

    The kind is empty if the run belongs to no token.
    """
    raw = screen.raw
    run = raw[start:end]
    if len(run) <= 28 and run[:1] in {b"M", b"N", b"O"}:  # Discord: bot id in base64, then 6 and 27 characters
        first = screen.run_end(end + 1, 12)
        dotted = raw[end : end + 1] == b"." == raw[first : first + 1] and first - end == 7
        is_bot = dotted and screen.run_end(first + 1, 27) == first + 28
        return ("discord_token" if is_bot else ""), start, _dotted_end(screen, end, 2)
    if len(run) in {32, 64} and not run.translate(None, HEX):
        return _behind_a_number(raw, start, end)
    if len(run) == 35 and (digits := _digits_before(raw, start)) in range(8, 11):  # Telegram: after a bot id and colon
        return "telegram_token", start - digits - 1, end
    kind = _kind_of_run(run)
    return kind, start + (kind == "token" and raw[start - 1 : start] == b"\\"), end


def _kind_of_run(run: bytes) -> str:
    if len(run) == 34 and run[:2] in {b"SK", b"AC"} and run[2:].isalnum():
        return "twilio_key" if run[2:].lower() == run[2:] else ""
    if run[-4:] == b"NRAL":
        return "newrelic_key" if len(run) == 40 and not run[:-4].translate(None, HEX) else ""
    if len(run) == 36 and run[:4] == b"key-" and not run[4:].translate(None, HEX):
        return "mailgun_key"
    if run[32:35] == b"-us" and not run[:32].translate(None, ALNUM) and run[35:].isdigit():
        return "mailchimp_key"
    is_announced = (b"_" in run or b"-" in run) and _announces_itself(run) and _is_body(run, is_anywhere=False)
    return "token" if is_announced else ""


def _behind_a_number(raw: bytes, start: int, end: int) -> tuple[str, int, int]:
    """Return kind and span of the Asana (``1/…:…``) or Airtable (``pat….…``) token that ends with the given hex run."""
    if end - start == 32 and (digits := _digits_before(raw, start)):
        before = start - digits - 3
        return ("asana_token", before, end) if raw[before : before + 2] in {b"0/", b"1/", b"2/"} else ("", 0, 0)
    if end - start == 64 and raw[start - 1 : start] == b"." and raw[max(0, start - 18) : start - 15] == b"pat":
        return "airtable_token", start - 18, end
    return "", 0, 0


def _digits_before(raw: bytes, start: int) -> int:
    """Return the number of digits before a colon that is directly before ``start``; 0 if there is no colon."""
    before = raw[max(0, start - 24) : start]
    if before[-1:] != b":":
        return 0
    return len(before) - 1 - len(before[:-1].rstrip(DIGITS))


def url_secrets(screen: Screen) -> list[Span]:
    """Return the spans of the passwords in URLs (``user:password@host``) and of the secret paths of webhooks."""
    spans: list[Span] = []
    for mark in places(screen.low, b"://"):
        start = mark + 3
        userinfo = _userinfo(screen.text[start : start + _LONGEST_USERINFO])
        spans += _url_password(start, userinfo) if userinfo else _webhook(screen, start)
    return spans


def _userinfo(rest: str) -> str:
    """Return the part of a URL before the ``@``, empty if there is none; ``rest`` is the URL without its scheme."""
    if "@" not in rest or rest[:1].isspace():
        return ""
    word = rest.split(None, 1)[0]
    for stop in _URL_STOPS:
        word = word.partition(stop)[0]
    for stop in "/?#":
        head = word.partition(stop)[0]
        # After "user:" such a character is an unescaped part of the password; after a host or port, the path begins.
        password = head.partition(":")[2]
        word = head if "@" in head or not password or password.isdigit() else word
    return word.rpartition("@")[0]


def _url_password(start: int, userinfo: str) -> list[Span]:
    user, colon, password = userinfo.partition(":")
    if colon:
        start += len(user) + 1
        return [] if is_template(password) else [(start, start + len(password), _LOOSE, "url_password")]
    # A token may be in place of the user: "https://TOKEN@host".
    alone = len(user) >= 20 and not user.isalpha() and not is_template(user)
    return [(start, start + len(user), _LOOSE, "url_password")] if alone else []


_URL_STOPS = ('"', "'", "`", "<", ">", "\\", "://")
_WEBHOOKS = (
    (b"hooks.slack.com/", "slack_webhook"),
    (b"discord.com/api/webhooks/", "discord_webhook"),
    (b"discordapp.com/api/webhooks/", "discord_webhook"),
)


def _webhook(screen: Screen, start: int) -> list[Span]:
    for host, kind in _WEBHOOKS:
        if screen.low.startswith(host, start):
            path = start + len(host)
            end = _dotted_path_end(screen, path)
            return [(path, end, _SPECIFIC, kind)] if end - path >= 20 else []
    return []


def _dotted_path_end(screen: Screen, start: int) -> int:
    end = screen.run_end(start, _LONGEST_LOOK)
    while screen.raw[end : end + 1] == b"/" and end - start < _LONGEST_LOOK:
        end = screen.run_end(end + 1, _LONGEST_LOOK)
    return end

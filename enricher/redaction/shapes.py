"""Secrets that betray themselves by their shape: vendor tokens, web tokens, URLs with a password.

Each detector takes a ``Screen`` and returns spans. It looks at a bounded stretch
behind each hit; only an accepted span may run on, and the search goes on behind it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enricher.redaction import Screen, Span

_ALNUM = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdef"
_LONGEST_LOOK = 320
_LONGEST_USERINFO = 512

# Unmistakable beginnings, wherever they stand: prefix, kind, shortest body.
_SURE: tuple[tuple[bytes, str, int], ...] = (
    (b"ghp_", "github_token", 12),
    (b"gho_", "github_token", 12),
    (b"ghu_", "github_token", 12),
    (b"ghs_", "github_token", 12),
    (b"ghr_", "github_token", 12),
    (b"github_pat_", "github_token", 12),
    (b"glpat-", "gitlab_token", 12),
    (b"xoxb-", "slack_token", 8),
    (b"xoxp-", "slack_token", 8),
    (b"xoxa-", "slack_token", 8),
    (b"xoxo-", "slack_token", 8),
    (b"xoxr-", "slack_token", 8),
    (b"xoxs-", "slack_token", 8),
    (b"xapp-", "slack_token", 8),
    (b"sk_live_", "stripe_key", 8),
    (b"sk_test_", "stripe_key", 8),
    (b"rk_live_", "stripe_key", 8),
    (b"rk_test_", "stripe_key", 8),
    (b"AGE-SECRET-KEY-1", "age_key", 20),
)
# Beginnings that names have too, so no word may run into them: prefix, kind, shortest body, and how
# many letters and digits of it come unbroken.
_LIKELY: tuple[tuple[bytes, str, int, int], ...] = (
    (b"sk-ant-", "anthropic_key", 10, 6),
    (b"sk-proj-", "openai_key", 16, 8),
    (b"sk-svcacct-", "openai_key", 16, 8),
    (b"sk-", "openai_key", 14, 14),
    (b"AIza", "google_key", 30, 6),
    (b"GOCSPX-", "google_key", 16, 6),
    (b"npm_", "npm_token", 30, 30),
    (b"pypi-", "pypi_token", 16, 14),
    (b"hf_", "huggingface_token", 28, 28),
    (b"gsk_", "groq_key", 28, 28),
    (b"whsec_", "stripe_key", 16, 16),
    (b"gldt-", "gitlab_token", 16, 6),
    (b"glrt-", "gitlab_token", 16, 6),
    (b"glptt-", "gitlab_token", 16, 6),
    (b"glsoat-", "gitlab_token", 16, 6),
    (b"glcbt-", "gitlab_token", 16, 6),
    (b"shpat_", "shopify_token", 28, 28),
    (b"dop_v1_", "digitalocean_token", 32, 32),
    (b"dckr_pat_", "docker_token", 16, 6),
    (b"ATATT3", "atlassian_token", 24, 6),
    (b"lin_api_", "linear_key", 24, 24),
    (b"sq0csp-", "square_key", 16, 6),
    (b"sq0atp-", "square_key", 16, 6),
    (b"AKC", "artifactory_token", 40, 40),
)
_AWS = (b"AKIA", b"ASIA", b"ABIA", b"ACCA")
_SPECIFIC, _LOOSE = 0, 1


def token_spans(screen: Screen) -> list[Span]:
    """Return tokens whose issuer gave them a recognisable beginning."""
    if not screen.long:
        return []
    joined = b" ".join(screen.long)
    spans: list[Span] = []
    for prefix, kind, least in _SURE:
        if prefix in joined:
            spans += _vendor(screen, prefix, kind=kind, least=least)
    for prefix, kind, least, unbroken in _LIKELY:
        if prefix in joined:
            spans += _vendor(screen, prefix, kind=kind, least=least, unbroken=unbroken)
    for prefix in _AWS:
        if prefix in joined:
            spans += _aws(screen, prefix)
    if b"eyJ" in joined:
        spans += _jwt(screen)
    return spans + _odd_shapes(screen)


def _vendor(screen: Screen, prefix: bytes, *, kind: str, least: int, unbroken: int = 0) -> list[Span]:
    spans: list[Span] = []
    raw, start = screen.raw, screen.raw.find(prefix)
    while start >= 0:
        body = start + len(prefix)
        end = screen.run_end(body, _LONGEST_LOOK)
        is_alone = not unbroken or _begins_here(screen, start)
        if is_alone and end - body >= least and _is_body(raw[body:end], unbroken):
            end = screen.whole_run_end(body)
            spans.append((start, end, _SPECIFIC, kind))
            body = end
        start = raw.find(prefix, body)
    return spans


def _is_body(body: bytes, unbroken: int) -> bool:
    """Say whether this may be random: no words joined by hyphens, no filler such as xxxx."""
    longest = max(body.replace(b"_", b"-").split(b"-"), key=len)
    has_digit = len(body.translate(None, _DIGITS)) < len(body)
    return len(longest) >= unbroken and (has_digit or len(longest) >= 16) and bool(body.strip(b"xX-_"))


def _begins_here(screen: Screen, start: int) -> bool:
    """Say whether no word runs into ``start``; an escape such as backslash-n before it is no word."""
    before = screen.raw[max(0, start - 2) : start]
    return before[-1:] not in _WORD_ENDS or before[:1] == b"\\" or before == b""


_WORD_ENDS = frozenset(bytes((code,)) for code in _ALNUM + b"_-")


def _aws(screen: Screen, prefix: bytes) -> list[Span]:
    spans: list[Span] = []
    raw, start = screen.raw, screen.raw.find(prefix)
    while start >= 0:
        end = start + len(prefix)
        body = raw[end : end + 16]
        if len(body) == 16 and body.isalnum() and body.upper() == body:
            end = screen.whole_run_end(start)
            spans.append((start, end, _SPECIFIC, "aws_key"))
        start = raw.find(prefix, end)
    return spans


def _jwt(screen: Screen) -> list[Span]:
    spans: list[Span] = []
    raw, start = screen.raw, screen.raw.find(b"eyJ")
    while start >= 0:
        head = screen.whole_run_end(start)
        end = _dotted_end(screen, head, 4) if head - start > 12 else head
        if end - head > 8:
            spans.append((start, end, _SPECIFIC, "jwt"))
        start = raw.find(b"eyJ", end)
    return spans


def _dotted_end(screen: Screen, end: int, most: int) -> int:
    """Return where up to ``most`` further runs end that follow one another by single dots."""
    for _ in range(most):
        if screen.raw[end : end + 1] != b"." or screen.runs[end + 1 : end + 2] in {b" ", b""}:
            break
        end = screen.whole_run_end(end + 1)
    return end


def _odd_shapes(screen: Screen) -> list[Span]:
    """Return tokens that are known by length and alphabet rather than by a beginning."""
    candidates = [run for run in screen.long if 24 <= len(run) <= 37 and _has_odd_shape(run)]
    if not candidates:
        return []
    spans: list[Span] = []
    padded, start = b" " + screen.runs + b" ", 0
    for run in candidates:
        # One found behind the padding blank has in the unpadded text the offset of that blank.
        start = padded.find(b" " + run + b" ", start)
        end = start + len(run)
        kind = _odd_kind(screen, start, end)
        if kind == "discord_token":
            end = _dotted_end(screen, end, 2)
        if kind:
            bot = screen.runs.rfind(b" ", 0, start - 1) + 1 if kind == "telegram_token" else start
            spans.append((bot, end, _SPECIFIC, kind))
        start += len(run)
    return spans


def _has_odd_shape(run: bytes) -> bool:
    size = len(run)
    if size <= 28:
        return run[:1] in {b"M", b"N", b"O"}
    return size == 35 or run[:2] in {b"SK", b"AC"} or run[:4] == b"key-" or run[32:35] == b"-us"


def _odd_kind(screen: Screen, start: int, end: int) -> str:
    raw, run = screen.raw, screen.raw[start:end]
    if len(run) <= 28:
        first = screen.run_end(end + 1, 12)
        dotted = raw[end : end + 1] == b"." == raw[first : first + 1] and first - end == 7
        return "discord_token" if dotted and screen.run_end(first + 1, 27) == first + 28 else ""
    if len(run) == 35:
        bot = raw[max(0, start - 9) : start]
        return "telegram_token" if bot[-1:] == b":" and len(bot) == 9 and bot[:-1].isdigit() else ""
    if len(run) == 34 and run[:2] in {b"SK", b"AC"}:
        return "twilio_key" if run[2:].isalnum() and run[2:].lower() == run[2:] else ""
    if len(run) == 36 and run[:4] == b"key-" and not run[4:].translate(None, _HEX):
        return "mailgun_key"
    return "mailchimp_key" if not run[:32].translate(None, _ALNUM) and run[35:].isdigit() else ""


def mark_spans(screen: Screen, marks: list[bytes]) -> list[Span]:
    """Return secrets that a mark such as ``://`` announces; ``marks`` are those known to occur."""
    spans: list[Span] = []
    for mark in marks:
        if mark == b"://":
            spans += _urls(screen)
        elif mark == b"sg.":
            spans += _sendgrid(screen)
        else:
            spans += _user_option(screen, mark)
    return spans


def _sendgrid(screen: Screen) -> list[Span]:
    spans: list[Span] = []
    raw, start = screen.raw, screen.raw.find(b"SG.")
    while start >= 0:
        end = screen.run_end(start + 3, 65)
        if end - start > 18 and raw[end : end + 1] == b"." and screen.run_end(end + 1, 16) - end > 16:
            end = screen.whole_run_end(end + 1)
            spans.append((start, end, _SPECIFIC, "sendgrid_key"))
        start = raw.find(b"SG.", end)
    return spans


def _urls(screen: Screen) -> list[Span]:
    spans: list[Span] = []
    mark = screen.low.find(b"://")
    while mark >= 0:
        start = mark + 3
        userinfo = _userinfo(screen.text[start : start + _LONGEST_USERINFO])
        spans += _url_password(start, userinfo) if userinfo else _webhook(screen, start)
        mark = screen.low.find(b"://", start)
    return spans


def _userinfo(rest: str) -> str:
    """Return what stands before the last ``@`` of the authority, empty if there is none."""
    if "@" not in rest or rest[:1].isspace():
        return ""
    word = rest.split(None, 1)[0]
    for stop in _URL_STOPS:
        word = word.partition(stop)[0]
    for stop in "/?#":
        head = word.partition(stop)[0]
        # Behind a user such a sign is part of a password that should have been escaped; behind a host it is not.
        password = head.partition(":")[2]
        word = head if "@" in head or not password or password.isdigit() else word
    return word.rpartition("@")[0]


def _url_password(start: int, userinfo: str) -> list[Span]:
    user, colon, password = userinfo.partition(":")
    if colon:
        start += len(user) + 1
        return [] if _is_template(password) else [(start, start + len(password), _LOOSE, "url_password")]
    alone = len(user) >= 20 and not user.isalpha() and not _is_template(user)
    return [(start, start + len(user), _LOOSE, "url_password")] if alone else []


def _is_template(password: str) -> bool:
    """Say whether a reference or a filler stands where the secret would be."""
    opened = password[:1] in _OPENERS and password[-1:] in _CLOSERS
    shell = password[:1] == "$" and password[1:].isidentifier()
    return opened or shell or not password.strip("*.xX")


_URL_STOPS = ('"', "'", "`", "<", ">", "\\", "://")
_OPENERS = frozenset("$<{%[")
_CLOSERS = frozenset("}>]%s")
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


def _user_option(screen: Screen, mark: bytes) -> list[Span]:
    """Return the password of ``-u name:password``."""
    spans: list[Span] = []
    start = screen.low.find(mark)
    while start >= 0:
        start += len(mark)
        word = (screen.text[start : start + _LONGEST_USERINFO].split(None, 1) or [""])[0].rstrip("\"'`,;")
        user, colon, password = word.partition(":")
        # "-u 1000:1000" and "-u root:root" are an account and its group.
        is_account = password.isdigit() or password == user or "/" in user
        if colon and user and not is_account and not _is_template(password):
            first = screen.text.index(":", start) + 1
            spans.append((first, first + len(password), _LOOSE, "password"))
        start = screen.low.find(mark, start)
    return spans

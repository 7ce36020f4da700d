"""Find secrets that are written into code (rule SEC_003), with the patterns that also find secrets in prompts."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from enricher.prompt.redaction import found_in
from enricher.validation.source import CodeFinding, end_of, name_given_to, names_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from enricher.validation.source import Source


PASSWORD_NAMES = re.compile(r"(?i)passw(?:or)?d|passphrase|pwd|secret_?key")
PASSWORD = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[!-.0-~]+")
"""A password has a letter and a digit, and no slash, unlike words, paths and rates such as "5/m/user"."""
NO_SECRET_NAMES = re.compile(
    r"(?i)namespace|prefix|suffix|header|param$|field|label|pattern|regex|format|_type$|algorithm"
    r"|_id$|::|public|not_?so|anonym|fake|dummy|test|example|_url$|_uri$|path$|_name$|file$|verification|continuation|captcha|site_?key|page_?token|next_?token"
)
WITH_PASSWORD = re.compile(r"[\w+.-]+://[^/@\s]*:[^/@\s]+@")
PUBLISHED = re.compile(r"(?i)\b(?:not (?:a |really )?secret|isn't (?:a )?secret|public(?:ly)?)\b")
SHOWING = re.compile(r"(?i)example|sample|demo|mock|fake|dummy|schema|description|help")
"""Names of parameters, keys and classes that hold examples, help texts or test data rather than real secrets."""
PATTERN = re.compile(
    r".*(?:\[[^\]]+\]|\\[dws]|\{\d+,?\d*\}).*|arn:.*|ssh-.*|AAAA[A-Z]3N.*|.*[|^$].*[|$]|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[\w+.-]+://(?P<user>[^/@:\s]*):(?:(?P=user)|pass|password)@.*|[^\s@:/]+@[\w.-]+\.\w+",
    re.DOTALL,
)
"""Values that are no secrets, such as a regular expression, the name of a resource, a public key or a UUID."""
TABLE_ROWS = 4
"""A dictionary of at least so many values that are all of one length, or all long, has codes and no secrets."""
SHORTEST_TOKEN = 16
PLACEHOLDER = re.compile(
    r"(?i).*(?:example|dummy|placeholder|change.?me|your|xxx|\*\*\*|\.\.\.|redacted|fake|sample|todo|<|\$\{|\{|%\(|%[sdr]).*"
    r"|(?:0?123456|(?:.*abcdefgh|.*aaaaaa)|test|foo|bar|none|null|true|false|default|password|secret|token)[-_]?\w*"
)
IS_A_NAME = re.compile(
    r".*[\[\\(].*|[A-Za-z]+(?:[-_.:/ ][A-Za-z0-9]+)*|[a-z]+(?:[A-Z][a-z]+)+|[A-Z][A-Z_0-9]*"
    r"|(?:[A-Z]\d{1,2})?(?:[A-Z][a-z]{2,}\d?|[A-Z]{2,4}\d?)+|_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+|.*::.*|[-/.]+\w*"
)
TO_STORE = "read it from the environment or a secret store, and revoke it if it was published"
LONGEST = 2_000
"""Strings with more characters are not checked; they are data or prose."""
MOST_WORDS = 2
"""Strings with more words are not checked; they are prose. A secret may have two words, as in "Bearer TOKEN"."""


def find_secrets(source: Source) -> Iterator[CodeFinding]:
    """Yield a finding for each string that looks like a secret, judged as in prompts.

    The message of a finding does not quote the secret. Tests and examples are skipped.
    """
    if source.is_example or source.is_test:
        return
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 6 <= len(node.value) <= LONGEST:
            kind = _secret(source, node, node.value)
            if kind:
                yield CodeFinding(node.lineno, end_of(node), f"{kind} is written into the code", TO_STORE)


def _secret(source: Source, node: ast.Constant, value: str) -> str:
    words = len(value.split())
    if words > MOST_WORDS or isinstance(source.parent(node), ast.Expr | ast.JoinedStr):  # docstrings, f-strings
        return ""
    found = found_in(value)
    if ("://" in value and not WITH_PASSWORD.match(value)) or value.startswith("/") or "?" in value:
        return ""
    is_most = "://" in value or 2 * sum(map(len, found)) >= len(value)  # else the string is about something else
    is_secret = any(map(PASSWORD.search, found)) and not any(map(PLACEHOLDER.fullmatch, found))
    if is_secret and is_most and not _is_harmless(source, node):
        return "a password in an address" if "://" in value else "a token or key"
    # A secret of unknown form is known by its name only; a part of a composed text has no name of its own.
    name = "" if isinstance(source.parent(node), ast.BinOp) else name_given_to(source, node)
    if (
        words > 1
        or not (PASSWORD_NAMES.search(name) and PASSWORD.fullmatch(value))
        or NO_SECRET_NAMES.search(name)
        or _words(name) in _words(value)  # password = "user_password2" is a key, not a value
        or _words(value) in _words(name)
        or _is_harmless(source, node)
        or PLACEHOLDER.fullmatch(value)
        or IS_A_NAME.fullmatch(value)
    ):
        return ""
    return f"the value of {name}" if value in found_in(f'{name} = "{value}"') else ""


def _words(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _is_harmless(source: Source, node: ast.Constant) -> bool:
    """Return whether a string is certainly not a secret, although it looks like one."""
    if PATTERN.fullmatch(str(node.value)) or PUBLISHED.search(source.comments(node.lineno - 4, end_of(node))):
        return True
    if SHOWING.search(names_around(source, node)):
        return True
    parent = source.parent(node)
    values = parent.values if isinstance(parent, ast.Dict) else []
    texts = [one.value for one in values if isinstance(one, ast.Constant)]
    lengths = {len(str(one)) for one in texts}
    return len(texts) >= TABLE_ROWS and (len(lengths) == 1 or min(lengths) >= SHORTEST_TOKEN)

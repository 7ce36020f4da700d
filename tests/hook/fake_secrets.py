"""Secrets made up at run time, so that none that looks real stands in the repository."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

LETTERS_AND_DIGITS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE64 = LETTERS_AND_DIGITS + "+/"
URL_SAFE = LETTERS_AND_DIGITS + "-_"


def draw(chance: random.Random, alphabet: str, length: int) -> str:
    """Return random characters of the alphabet, a letter first and a digit last."""
    middle = "".join(chance.choice(alphabet) for _ in range(length - 2))
    return chance.choice([letter for letter in alphabet if letter.isalpha()]) + middle + chance.choice(string.digits)


def _vendor(prefix: str, alphabet: str, length: int) -> Callable[[random.Random], str]:
    return lambda chance: prefix + draw(chance, alphabet, length)


def _jwt(chance: random.Random) -> str:
    return "eyJ" + ".".join(
        (draw(chance, URL_SAFE, 33), "eyJ" + draw(chance, URL_SAFE, 60), draw(chance, URL_SAFE, 43))
    )


def _sendgrid(chance: random.Random) -> str:
    return "S" + "G." + draw(chance, URL_SAFE, 22) + "." + draw(chance, URL_SAFE, 43)


def _discord(chance: random.Random) -> str:
    return ".".join(
        (
            "M" + draw(chance, LETTERS_AND_DIGITS, 23),
            draw(chance, LETTERS_AND_DIGITS, 6),
            draw(chance, LETTERS_AND_DIGITS, 27),
        )
    )


def _telegram(chance: random.Random) -> str:
    return str(chance.randrange(10**8, 10**10)) + ":" + draw(chance, URL_SAFE, 35)


def _openai(chance: random.Random) -> str:
    return "sk" + "-" + draw(chance, LETTERS_AND_DIGITS, 20) + "T3Blbk" + "FJ" + draw(chance, LETTERS_AND_DIGITS, 20)


def _slack(chance: random.Random) -> str:
    return f"xox{chance.choice('bpaors')}-{chance.randrange(10**11)}-{chance.randrange(10**11)}-" + draw(
        chance, LETTERS_AND_DIGITS, 24
    )


VENDORS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "AWS key id": ("aws_key", _vendor("AK" + "IA", UPPER, 16)),
    "AWS temporary key id": ("aws_key", _vendor("AS" + "IA", UPPER, 16)),
    "GitHub personal": ("github_token", _vendor("gh" + "p_", LETTERS_AND_DIGITS, 36)),
    "GitHub OAuth": ("github_token", _vendor("gh" + "o_", LETTERS_AND_DIGITS, 36)),
    "GitHub user": ("github_token", _vendor("gh" + "u_", LETTERS_AND_DIGITS, 36)),
    "GitHub server": ("github_token", _vendor("gh" + "s_", LETTERS_AND_DIGITS, 36)),
    "GitHub refresh": ("github_token", _vendor("gh" + "r_", LETTERS_AND_DIGITS, 36)),
    "GitHub fine-grained": ("github_token", _vendor("github" + "_pat_", LETTERS_AND_DIGITS, 82)),
    "GitLab": ("gitlab_token", _vendor("gl" + "pat-", URL_SAFE, 20)),
    "Slack": ("slack_token", _slack),
    "Stripe": ("stripe_key", _vendor("sk" + "_live_", LETTERS_AND_DIGITS, 24)),
    "Stripe restricted": ("stripe_key", _vendor("rk" + "_live_", LETTERS_AND_DIGITS, 24)),
    "OpenAI": ("openai_key", _openai),
    "OpenAI project": ("openai_key", _vendor("sk" + "-proj-", URL_SAFE, 48)),
    "Anthropic": ("anthropic_key", _vendor("sk" + "-ant-api03-", URL_SAFE, 93)),
    "Google": ("google_key", _vendor("AI" + "za", URL_SAFE, 35)),
    "npm": ("npm_token", _vendor("npm" + "_", LETTERS_AND_DIGITS, 36)),
    "PyPI": ("pypi_token", _vendor("pypi" + "-AgEIcHlwaS5vcmc", URL_SAFE, 90)),
    "SendGrid": ("sendgrid_key", _sendgrid),
    "Twilio": ("twilio_key", _vendor("S" + "K", HEX, 32)),
    "Twilio account": ("twilio_key", _vendor("A" + "C", HEX, 32)),
    "Mailchimp": ("mailchimp_key", lambda chance: draw(chance, HEX, 32) + "-u" + "s12"),
    "Telegram": ("telegram_token", _telegram),
    "Discord": ("discord_token", _discord),
    "JWT": ("jwt", _jwt),
    "Hugging Face": ("huggingface_token", _vendor("h" + "f_", LETTERS_AND_DIGITS, 34)),
    "age": ("age_key", _vendor("AGE-SECRET" + "-KEY-1", UPPER, 58)),
    "Square": ("square_key", _vendor("sq0" + "csp-", URL_SAFE, 43)),
    "Artifactory": ("artifactory_token", _vendor("AK" + "C", LETTERS_AND_DIGITS, 70)),
}

# Text around a value that makes it a secret: name, kind, text with {} for the value.
NAMED = (
    ("password, env file", "password", "DB_PASS" + "WORD={}"),
    ("password, shell", "password", "export PASS" + "WORD={} && make run"),
    ("password, Python", "password", "pass" + 'word = "{}"'),
    ("password, annotated", "password", "pass" + 'word: str = "{}"'),
    ("password, JSON", "password", '{{"user": "bob", "pass' + 'word": "{}", "port": 1}}'),
    ("password, JSON in a string", "password", '"{{\\"pass' + 'word\\": \\"{}\\"}}"'),
    ("password, YAML", "password", "db:\n  pass" + "word: {}\n  port: 1"),
    ("password, YAML quoted", "password", "pass" + "wd: '{}'"),
    ("password, subscript", "password", "config['pass" + "word'] = '{}'"),
    ("password, Ruby", "password", ":pass" + "word => '{}',"),
    ("password, XML", "password", "<pass" + "word>{}</pass" + "word>"),
    ("password, next line", "password", "Pass" + "word:\n{}\nthen go on"),
    ("password, sentence", "password", "the pass" + "word is {}, use it"),
    ("password, behind with", "password", "log in with pass" + "word {} and look"),
    ("password, option", "password", "mytool --pass" + "word {} --port 1"),
    ("password, ODBC", "password", "Server=db;Uid=sa;P" + "wd={};Database=x"),
    ("password, query", "password", "/login?pass" + "word={}&next=home"),
    ("password, Markdown", "password", "**Pass" + "word:** {}"),
    ("password, backticks", "password", "pass" + "word: `{}`"),
    ("password, curl", "password", "curl -u bob:{} example.org"),
    ("password, header call", "password", 'set("pass' + 'word", "{}")'),
    ("secret", "secret", "CLIENT_SEC" + "RET={}"),
    ("secret, camel case", "secret", "clientSec" + "ret: '{}'"),
    ("AWS secret key", "secret_key", "aws_secret_access" + "_key = {}"),
    ("token", "token", "GITHUB_TO" + "KEN={}"),
    ("token, sentence", "token", "the access to" + "ken is {}."),
    ("token, npmrc", "token", "//registry.example.org/:_authTo" + "ken={}"),
    ("API key", "api_key", "api" + '_key: "{}"'),
    ("API key, header", "api_key", "X-Api" + "-Key: {}"),
    ("API key, words", "api_key", "my API " + "key is {}"),
    ("API key, one word", "api_key", "apik" + "ey={}"),
    ("account key", "secret_key", "AccountName=x;Account" + "Key={};EndpointSuffix=y"),
    ("bearer header", "authorization", "Authorization: Bea" + "rer {}"),
    ("bearer in code", "authorization", '{{"Authorization": "Bea' + 'rer {}"}}'),
    ("basic header", "authorization", "curl -H 'Authorization: Ba" + "sic {}' example.org"),
    ("bearer alone", "token", "send Bea" + "rer {} with it"),
    ("URL", "url_password", "postgres://bob:{}@db.example.org:5432/app"),
    ("URL without user", "url_password", "redis://:{}@localhost"),
    ("key", "key", "ENCRYPTED" + "_KEY={}"),
)


def private_key(chance: random.Random, label: str = "RSA ", *, newline: str = "\n", lines: int = 6) -> str:
    """Return something that has the form of a private key."""
    body = [draw(chance, BASE64, 64) for _ in range(lines)] + [draw(chance, BASE64, 20) + "=="]
    block = " BLOCK" if label == "PGP " else ""
    name = f"{label}PRIVATE " + f"KEY{block}-----"
    return newline.join((f"-----BEGIN {name}", *body, f"-----END {name}"))


# Text around a weak password, with {} for the value.
SAID = (
    *("p" + "w: {}", "db_p" + "w={}", "p" + "w is {}", "pass" + "word is {} for now", "pass" + "word = {}"),
    *("Passw" + "ort ist {}", "Das Passw" + "ort für root lautet {}", "Passw" + "ort: {}", "Kennw" + "ort = '{}'"),
    *("le mot de pa" + "sse est {}", "mot de pa" + "sse\u00a0: {}", "la contra" + "seña es {}", "contra" + "seña: {}"),
    *("a sen" + "ha é {}", "sen" + "ha: {}", "la pass" + "word è {}"),
    *("mysql -p{}", "try `mysql -u root -p{}` first", "mysqldump -h db -p'{}' shop", "mariadb -p{} -e 'x'"),
    *("sshpass -p {} ssh root@db", "sshpass -p '{}' scp a b", "mongodump -u root -p {}"),
)

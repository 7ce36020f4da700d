"""How many generated secrets a screen takes out, and how many ordinary prompts it touches."""

from __future__ import annotations

import json
import os
import random
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from occurrences import FORMS, LANGUAGES, PLACES, placed
from ordinary_prompts import ORDINARY, PLACEHOLDERS
from secret_kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Redact = Callable[[str], tuple[str, tuple[str, ...]]]

DRAWS = 3
VISIBLE = 8
"""So many characters of a secret in a row, or all of a shorter one, are a leak."""
_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
_VALUES = ("token", "password", "word and digits")


class Case:
    """A text, the secret in it, and what it is an example of."""

    __slots__ = ("group", "is_held_out", "secret", "text", "title")

    def __init__(self, group: str, title: str, text: str, secret: str) -> None:
        self.group, self.title, self.text, self.secret = group, title, text, secret
        self.is_held_out = zlib.crc32(title.encode()) % 5 < 2

    def leaks(self, redact: Redact) -> bool:
        """Say whether enough of the secret is left to be of use."""
        left = redact(self.text)[0]
        size = min(VISIBLE, len(self.secret))
        return any(self.secret[at : at + size] in left for at in range(len(self.secret) - size + 1))


def cases(*, draws: int = DRAWS) -> Iterator[Case]:
    """Return every kind in every place, every form and every language; the same ones each time."""
    for kind in KINDS:
        for draw in range(draws):
            value = kind.make(random.Random(f"{kind.title} {draw}"))
            for place in PLACES:
                text, secret = placed(kind, place, value)
                yield Case("kinds", kind.title, text, _body(secret))
    for group, forms in (("forms", [(form, form) for form in FORMS]), ("languages", _sentences())):
        for title, form in forms:
            for draw in range(draws):
                value = _value(random.Random(f"{form} {draw}"), _VALUES[draw % len(_VALUES)], title + form)
                yield Case(group, title, form.format(value), value)


def _sentences() -> list[tuple[str, str]]:
    return [(f"{language}: {one}", one) for language, sentences in LANGUAGES.items() for one in sentences]


def _value(chance: random.Random, how: str, form: str) -> str:
    """Return a token of 32 characters; where the form may speak of a password, also shorter ones."""
    if how == "token" or not _speaks_of_a_password(form):
        return "".join(chance.choice(_LETTERS + "23456789") for _ in range(30)) + "7x"
    if how == "password":
        return "".join(chance.choice(_LETTERS) for _ in range(5)) + "#4" + chance.choice(_LETTERS) * 2 + "9"
    return chance.choice(("sunflower", "pelican", "quartz")) + str(chance.randrange(100, 1000))


_PASSWORDS = (
    *("pass", "pwd", "contrase", "senha", "mot de", "kennwort", "wachtwoord", "sandi", "şifre", "parola", "hasło"),
    *("密码", "密碼", "口令", "पासवर्ड", "कूटशब्द", "संकेतशब्द", "كلمة", "পাসওয়ার্ড", "пароль", "ورڈ", "パスワード"),
    *("పాస", "கடவுச்", "mật khẩu", "비밀번호", "패스워드", "رمز عبور", "گذرواژه", "รหัสผ่าน", "nenosiri", "પાસ", "ਪਾਸ"),
)


def _speaks_of_a_password(form: str) -> bool:
    return any(word in form.lower() for word in _PASSWORDS)


def _body(secret: str) -> str:
    """Return the part that nobody else knows: behind a public beginning, a scheme and a host."""
    return secret[len(secret) // 3 :]


def prompts() -> dict[str, list[str]]:
    """Return texts without a secret: those invented for the tests, and with ENRICHER_EVAL what people typed."""
    tests = Path(__file__).parents[1]
    invented = _texts(tests / "accuracy" / "invented_prompts.jsonl")
    found = {"invented": [*invented, *ORDINARY], "placeholders": list(PLACEHOLDERS)}
    folder = os.environ.get("ENRICHER_EVAL")
    if folder:
        for file in ("prompts_tune.jsonl", "prompts_sessions.jsonl", "routing_cases.jsonl", "sessions/sessions.jsonl"):
            if (Path(folder) / file).exists():
                found[file] = _texts(Path(folder) / file)
    return found


def _texts(file: Path) -> list[str]:
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        turns = row.get("turns") or [row]
        found += [text for turn in turns if (text := turn.get("text") or turn.get("prompt"))]
    return found

"""Two hundred small modules, each with one planted stub, fixed value, secret or swallowed error, in sound code."""

# ruff: noqa: E501, Q000 (one form a line, as it would be written)

from __future__ import annotations

import random
import textwrap
from dataclasses import dataclass
from itertools import cycle, islice

COUNT = 200
STUB, VALUE, SECRET, SWALLOWED = "CODE_001", "CODE_002", "SEC_003", "ERROR_001"
MARK = "<<"
"""Ends the line on which the finding is expected."""

FORMS: list[tuple[str, str]] = [
    (STUB, "def {name}({args}): <<\n    pass"),
    (STUB, 'def {name}({args}): <<\n    """{doc}"""\n    pass'),
    (STUB, 'def {name}({args}): <<\n    """{doc}"""\n    ...'),
    (STUB, "def {name}({args}) -> None: <<\n    ..."),
    (STUB, 'def {name}({args}): <<\n    """{doc}"""'),
    (STUB, "def {name}({args}): <<\n    raise NotImplementedError"),
    (STUB, "def {name}({args}): <<\n    raise NotImplementedError()"),
    (STUB, 'def {name}({args}): <<\n    """{doc}"""\n    raise NotImplementedError("{name} is not implemented yet")'),
    (STUB, "def {name}({args}): <<\n    # TODO: {doc}\n    return None"),
    (STUB, "def {name}({args}): <<\n    # FIXME implement this\n    return []"),
    (STUB, 'def {name}({args}): <<\n    """{doc}"""\n    # TODO\n    return {{}}'),
    (STUB, "def {name}({args}): <<\n    return True  # placeholder"),
    (STUB, 'def {name}({args}): <<\n    print("not implemented yet")'),
    (STUB, 'def {name}({args}): <<\n    logger.warning("TODO: {doc}")\n    return None'),
    (STUB, "def _{name}({args}): <<\n    pass"),
    (STUB, 'def _{name}({args}): <<\n    """{doc}"""\n    raise NotImplementedError'),
    (STUB, "async def {name}({args}): <<\n    pass"),
    (STUB, 'async def {name}({args}): <<\n    """{doc}"""\n    ...'),
    (STUB, "class Worker:\n    def {name}(self, {args}): <<\n        pass"),
    (STUB, 'class Worker:\n    def {name}(self, {args}): <<\n        """{doc}"""\n        pass'),
    (STUB, "class Worker:\n    @staticmethod\n    def {name}({args}): <<\n        ..."),
    (STUB, "class Worker:\n    def _{name}(self, {args}): <<\n        # TODO: {doc}\n        return None"),
    (STUB, "class Worker:\n    async def {name}(self, {args}): <<\n        raise NotImplementedError()"),
    (STUB, "@cached\ndef {name}({args}): <<\n    # TODO {doc}\n    pass"),
    (STUB, 'class Worker:\n    @property\n    def {name}(self): <<\n        """{doc}"""\n        pass'),
    (VALUE, 'def {name}({args}):\n    return requests.get("https://api.{word}.io/v1/{word}s") <<'),
    (VALUE, 'def {name}({args}):\n    base = "http://{word}.internal.net:8080" <<\n    return base + first'),
    (VALUE, 'def {name}({args}):\n    return f"https://{word}.cloud/items/{{first}}" <<'),
    (VALUE, 'def {name}({args}):\n    return connect("10.20.{octet}.7") <<'),
    (VALUE, 'def {name}({args}):\n    return connect(host=first, port={port}) <<'),
    (VALUE, 'def {name}({args}):\n    return send(first, timeout={big}) <<'),
    (VALUE, 'def {name}({args}):\n    time.sleep({big}) <<\n    return first'),
    (VALUE, 'def {name}({args}):\n    return open("/home/{word}/data/items.csv") <<'),
    (VALUE, 'class Worker:\n    def {name}(self, {args}):\n        self.url = "https://{word}.shop.de/api" <<'),
    (VALUE, 'async def {name}({args}):\n    async with session.post("https://hooks.{word}.com/x") as answer: <<\n        return answer'),
    (VALUE, 'def {name}({args}):\n    return create_engine("postgresql://db.{word}.lan:5432/main") <<'),
    (VALUE, 'def {name}({args}):\n    return call({{"url": "https://{word}.acme.org/v2"}}) <<'),
    (SECRET, 'def {name}({args}):\n    return login(first, password="{password}") <<'),
    (SECRET, 'API_KEY = "{key}" <<\n\n\ndef {name}({args}):\n    return call(first, API_KEY)'),
    (SECRET, 'def {name}({args}):\n    headers = {{"Authorization": "Bearer {github}"}} <<\n    return call(first, headers)'),
    (SECRET, 'AWS = "{aws}" <<\n\n\ndef {name}({args}):\n    return call(first, AWS)'),
    (SECRET, 'def {name}({args}):\n    return connect("postgresql://admin:{password}@db.{word}.lan/main") <<'),
    (SECRET, 'def {name}({args}, secret_key="{password}"): <<\n    return call(first, secret_key)'),
    (SECRET, 'SETTINGS = {{"db_password": "{password}"}} <<\n\n\ndef {name}({args}):\n    return call(first, SETTINGS)'),
    (SWALLOWED, "def {name}({args}):\n    try:\n        return work(first)\n    except: <<\n        pass"),
    (SWALLOWED, "def {name}({args}):\n    try:\n        work(first)\n    except Exception: <<\n        pass"),
    (SWALLOWED, "def {name}({args}):\n    try:\n        work(first)\n    except Exception as error: <<\n        pass"),
    (SWALLOWED, "def {name}({args}):\n    try:\n        work(first)\n    except BaseException: <<\n        ..."),
    (SWALLOWED, "def {name}({args}):\n    try:\n        work(first)\n    except (ValueError, Exception): <<\n        pass"),
    (SWALLOWED, "def {name}({args}):\n    try:\n        work(first)\n    except Exception: <<\n        # it does not matter\n        pass"),
    (SWALLOWED, "def {name}({args}):\n    for one in first:\n        try:\n            work(one)\n        except Exception: <<\n            continue"),
    (SWALLOWED, 'def {name}({args}):\n    try:\n        work(first)\n    except Exception: <<\n        "ignored"'),
    (SWALLOWED, "async def {name}({args}):\n    try:\n        await work(first)\n    except builtins.Exception: <<\n        pass"),
    (SWALLOWED, "class Worker:\n    def {name}(self, {args}):\n        try:\n            work(first)\n        except Exception: <<\n            pass\n        finally:\n            close()"),
]  # fmt: skip
"""A rule, and code that breaks it on the line that ends with the mark."""

NAMES = (
    "export_orders send_invoice parse_report merge_accounts charge_card find_customer sync_stock render_page".split()
)
DOCS = ("Send the orders to the shop.", "Read all rows and return their sum.", "Charge the card of the customer.")
WORDS = "billing orders stock mailer tickets reports".split()
SOUND = '''\
"""Work on orders."""

import logging

logger = logging.getLogger(__name__)
TIMEOUT_S = 3600
BASE = "https://api.shop.io/v1"


def total(rows, limit=30):
    """Return the sum of the rows, and/or 0."""
    return sum(row.amount for row in rows[:limit])


{code}


def average(rows):
    """Return the mean of the rows."""
    try:
        return total(rows) / len(rows)
    except ZeroDivisionError:
        return 0
'''


@dataclass(frozen=True, slots=True)
class Planted:
    """A module, with the rule that it breaks and the line on which it does."""

    rule: str
    line: int
    code: str


def planted(*, seed: int = 1) -> list[Planted]:
    """Return COUNT modules; the same seed gives the same ones."""
    chance = random.Random(seed)
    return [_module(rule, form, chance) for rule, form in islice(cycle(FORMS), COUNT)]


def _module(rule: str, form: str, chance: random.Random) -> Planted:
    filled = form.format(
        name=chance.choice(NAMES),
        args=chance.choice(("first", "first, second", "first, *, second=None")),
        doc=chance.choice(DOCS),
        word=chance.choice(WORDS),
        octet=chance.randrange(1, 250),
        port=chance.randrange(1024, 65000),
        big=chance.choice((30, 45, 60, 120, 3600)),
        password=_random(chance, "abcdefghijkmnpqrstuvwxyz", 6) + _random(chance, "23456789", 3) + "!k",
        key="sk-" + _random(chance, "abcdefghijkmnpqrstuvwxyz23456789", 32),
        github="ghp_" + _random(chance, "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789", 36),
        aws="AKIA" + _random(chance, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
    )
    code = SOUND.replace("{code}", textwrap.dedent(filled))
    lines = code.splitlines()
    line = next(at for at, text in enumerate(lines, 1) if text.endswith(MARK))
    return Planted(rule, line, code.replace(f" {MARK}", ""))


def _random(chance: random.Random, alphabet: str, length: int) -> str:
    return "".join(chance.choice(alphabet) for _ in range(length))

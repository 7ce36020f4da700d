"""Through the real hook: which of the definitions of a name a prompt means, and what is only a mention of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from invented_shop import told, write_all

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

SHELVES = (
    "class DiskShelf(Shelf):\n    def take_crate(self, key):\n        return 1\n\n\n"
    "class NetworkShelf(\n    Shelf,\n):\n    def take_crate(self, key):\n        return 2\n"
)
BASKET = (
    "package shop;\n\n/**\n Fill it with {@link #putCrate(int)}, or\n putCrate(3) twice.\n */\npublic class Basket {\n"
    "    public void putCrate(int count) {\n        putCrate(new Crate(count));\n    }\n\n"
    "    public void putCrate(Crate crate) {\n        full = true; // as putCrate(3) does\n    }\n\n"
    "    void fill() {\n        putCrate(1);\n        putCrate(2);\n        putCrate(4);\n    }\n}\n"
)
FILES = {
    "lib/mail.js": (
        "module.exports = function (options) {\n  const { mailLimit } = options\n"
        "  if (options.onBounce) options.onBounce(mailLimit)\n}\n"
    ),
    "lib/queue.js": (
        "module.exports = function (options, mailLimit) {\n  return options.onBounce(mailLimit, mailLimit)\n}\n"
    ),
    "test/mail.test.js": (
        "test('bounces', () => {\n  mail({\n    onBounce: (error) => {\n      throw error\n    }\n  })\n"
        "  function mailLimit () {\n    return 3\n  }\n})\n"
    ),
    "test/queue.test.js": "test('queue', () => {\n  queue({\n    onBounce: () => null\n  }, 3)\n})\n",
    "test/warehouse.js": "function fillWarehouse () {\n  return []\n}\nmodule.exports = { fillWarehouse }\n",
    "scripts/demo.js": "const { fillWarehouse } = require('../test/warehouse')\n\nfillWarehouse()\n",
    "pkg/stock/stock.go": "package stock\n\ntype Options struct {\n\tmostRows int\n}\n\nfunc Load(o Options) int {\n"
    "\treturn o.mostRows + rowLimit(o)\n}\n",
    "pkg/stock/stock_test.go": "package stock\n\nfunc TestLoad(t *testing.T) {\n\tmostRows := 3\n"
    "\tLoad(Options{\n\t\tmostRows: mostRows,\n\t})\n}\n",
    "app/models/courier.rb": "class Courier\n  def initialize(opts)\n    @speed = opts[:top_speed]\n  end\nend\n",
    "spec/courier_spec.rb": "describe Courier do\n  def top_speed\n    3\n  end\n  it { new(top_speed: 3) }\nend\n",
    "shop/shelves.py": SHELVES,
    "shop/till.py": "from shop.shelves import open_shelf\n\nopen_shelf().take_crate(1)\n",
    "java/Basket.java": BASKET,
    "java/Crates.java": "class Crates {\n    void sortCrates() {\n    }\n}\n",
    "java/Crate.java": "class Crate {\n    void sortCrates() {\n    }\n}\n",
    "java/AllCrates.java": "class AllCrates {\n    void sortCrates() {\n    }\n}\n",
    "tests/BasketTest.java": "class BasketTest {\n    void fills() {\n        basket.putCrate(1);\n    }\n}\n",
    "shop/rates.py": (
        "class RateTable:\n    @property\n    def best_rate(self):\n        return 1\n\n    @best_rate.setter\n"
        "    def best_rate(self, rate):\n        pass\n"
    ),
    "web/src/format.ts": (
        "export function formatRate(rate: string): string;\nexport function formatRate(rate: number): string;\n"
        "export function formatRate(rate: any) {\n  return `${rate}`;\n}\n"
    ),
    "web/src/rates.ts": "import { formatRate } from './format';\n\nexport const shown = formatRate(3);\n",
    "src/pump.c": (
        "/* The pump.\n   start_pump() is called once.\n*/\nint start_pump(int speed) {\n  return speed;\n}\n\n"
        "int main(void) {\n  return start_pump(3); /* start_pump(4) is too fast */\n}\n\n"
        "/*\n  if (is_slow)\n    start_pump(1);\n*/\n"
    ),
    "web/src/globs.js": (
        "const sources = ['src/*', 'lib/**/*.js'];\n\nfunction readSources() {\n  return sources;\n}\n\n"
        "readSources();\n"
    ),
    "shop/prices.py": (
        "def round_price(price):\n    '''Round it.\n\n    round_price(1) is 1.\n    '''\n    return price\n\n\n"
        "def show(price):\n    return round_price(price)  # unlike round_price(3)\n"
    ),
    "java/Ledger.java": "class Ledger {\n    Ledger copyAll() {\n        return null;\n    }\n}\n",
    "java/Account.java": "class Account {\n    Account copyAll() {\n        return null;\n    }\n}\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def asked(asked_shop: Account) -> Account:
    write_all(asked_shop.project, FILES)
    asked_shop.cli("code", "index")
    return asked_shop


@pytest.mark.parametrize(
    "prompt",
    [
        "onBounce runs twice for one mail",
        "mailLimit is ignored where the queue is short",
        "why does `top_speed` have no effect?",
        "mostRows is not respected",
        "npm run unit\n\n✖ should pass mailLimit on if readSources is slow (0.4ms)\n\n1 failing",
    ],
)
def test_a_key_or_a_function_within_a_test_defines_no_name_of_the_program(asked: Account, prompt: str) -> None:
    lines = told(asked, prompt)

    assert not [line for line in lines if line.startswith(("test", "spec", "pkg/stock/stock_test")) or "read" in line]


def test_a_function_of_tests_that_the_program_imports_is_the_definition(asked: Account) -> None:
    (line,) = told(asked, "fillWarehouse is slow")

    assert line.startswith("test/warehouse.js:1 fillWarehouse — defined here")


def test_the_words_of_a_class_choose_among_the_definitions_in_a_file(asked: Account) -> None:
    (line,) = told(asked, "the shelf on the network blocks in take_crate, what would you do")

    assert line == (
        "shop/shelves.py:9 take_crate — defined here (NetworkShelf) and at line 2 (DiskShelf); the only caller:"
        " shop/till.py:3"
    )


def test_definitions_in_one_file_are_all_told_where_no_word_chooses(asked: Account) -> None:
    (line,) = told(asked, "take_crate is slow")

    assert line.startswith("shop/shelves.py:2 take_crate — defined here (DiskShelf) and at line 9 (NetworkShelf);")


def test_a_named_class_comes_first_among_the_files_that_define_a_name(asked: Account) -> None:
    (line,) = told(asked, "what is the difference of sortCrates on Crates to sorting by hand")

    assert line.startswith("java/Crates.java:2 sortCrates — defined here and in java/AllCrates.java:2")


def test_comments_call_nothing_and_tests_are_told_beside_many_callers(asked: Account) -> None:
    (line,) = told(asked, "putCrate keeps every crate in memory")

    assert line == (
        "java/Basket.java:8 putCrate — defined here and at line 12; 4 callers, all in this file; and"
        " tests/BasketTest.java"
    )


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("start_pump is slow", "src/pump.c:4 start_pump — defined here; the only caller: line 9"),
        ("readSources is slow", "web/src/globs.js:3 readSources — defined here; the only caller: line 7"),
        ("round_price is slow", "shop/prices.py:1 round_price — defined here; the only caller: line 10"),
    ],
)
def test_a_name_in_a_comment_is_no_use_of_it(asked: Account, prompt: str, expected: str) -> None:
    assert told(asked, prompt) == [expected]


@pytest.mark.parametrize("prompt", ["best_rate is wrong", "formatRate is wrong"])
def test_accessors_and_signatures_are_no_further_definitions(asked: Account, prompt: str) -> None:
    (line,) = told(asked, prompt)

    assert " and at line" not in line


def test_a_method_in_the_file_of_its_class_is_told_only_with_more_than_its_place(asked: Account) -> None:
    assert told(asked, "why is Ledger.copyAll() so slow on old books") == []
    assert told(asked, "where is Ledger.copyAll() defined?")


def test_a_test_that_the_conversation_just_ran_is_not_located(account: Account, shop: Path) -> None:
    account.cli("code", "index")
    prompt = "test_session_is_saved is flaky, make it reliable"
    used = [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q tests/test_session.py"}}]
    said = [
        {"type": "user", "message": {"role": "user", "content": "run the tests"}},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": used}},
    ]
    transcript = account.write("t.jsonl", "".join(json.dumps(one) + "\n" for one in said))

    assert told(account, prompt)
    assert "test_session.py" not in account.ask_patiently(prompt, transcript_path=str(transcript)).context


@pytest.mark.parametrize(
    "pasted",
    [
        (
            "error: this loop never ends\n  --> src/stock.rs:7:2\n   |\n7 |     loop {\n   | ____^\n"
            "   = note: `-D clippy::pedantic` implied by `-D warnings`"
        ),
        "web/src/app.js\n  12:5  error  'a' is never used  no-unused-crates",
    ],
)
def test_a_lint_in_pasted_output_is_no_setting_that_the_prompt_is_about(
    account: Account, shop: Path, pasted: str
) -> None:
    write_all(
        shop,
        {
            "Cargo.toml": '[package]\nname = "stock"\n\n[lints.clippy]\npedantic = { level = "deny" }\n',
            "eslint.config.js": "export default [{ rules: { 'no-unused-crates': 'error' } }]\n",
        },
    )
    account.cli("code", "index")

    assert told(account, f"the linter says this, make it go away\n\n{pasted}") == []
    assert told(account, "why is clippy.pedantic on here, and what is the `no-unused-crates` rule for?")

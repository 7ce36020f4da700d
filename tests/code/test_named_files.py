"""Through the real hook: who uses the files that a prompt names, and where in them the other names stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from invented_shop import write_all
from test_whereabouts import told

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

TRACE = 'it fails:\nTraceback (most recent call last):\n  File "/srv/app/shop/paths.py", line 6, in check\n'
LONG_TRACE = TRACE + '  File "/usr/lib/python3.12/pathlib.py", line 6, in open\n' * 4
REPORTED = """a customer reports:
Traceback (most recent call last):
  File "/home/me/app.py", line 2, in main
    shop.check(path)
  File "/home/me/lib/python3.12/site-packages/shop/paths.py", line 60, in check
    raise ValueError(message)
  File "/home/me/lib/python3.12/site-packages/other/limits.py", line 2, in allow
"""
LONG = "\n" * 120
KINDS = ("card", "cash", "voucher", "points", "invoice")
FILES = {
    "shop/ledger.py": f"{LONG}def book(entry):\n    entry.tax_rate = 7\n    return entry.tax_rate\n",
    "shop/brief.py": "def summarise(entry):\n    return entry.tax_rate\n",
    "shop/taxes.py": "def tax(entry):\n    return entry.tax_rate\n",
    "shop/ways/ledger_ways.py": "from shop.ledger import book\n\nbook(1)\n",
    "shop/ways/__init__.py": "from shop.ways.ledger_ways import book\n",
    "deploy.sh": "python -m shop.restock\n",
    "Makefile": "release:\n\t./deploy.sh --all\n",
    "shop/commands/restock.py": '"""Restock the shelves."""\n\n\ndef add(sub):\n    return sub.add_parser("restock")\n',
    "web/stock.html": "<script>\nfunction drawStock(rows) {\n  return rows;\n}\n</script>\n",
    "web/week.html": "<script>\ndrawStock(week);\n</script>\n",
    "web/year.html": "<script>\ndrawStock(year);\n</script>\n",
    "web/chart.html": "<script>\nfunction drawChart() {}\n\n\nfunction drawChart2() {}\nfunction drawChartAxis() {}\n",
    "shop/labels.py": 'TITLE = "Total Points"\n',
    "shop/paths.py": (
        "def check(path):\n    def plain(one):\n        return one\n\n"
        '    message = f"{path} is outside of the shop today"\n    raise ValueError(message)\n'
    ),
    "lib/remover.ts": "export function makeRemover() {\n  return 1;\n}\n",
    **{f"conf/{one}.ts": "const removeNodes = makeRemover();\n" for one in ("first", "second")},
    "shop/limits.py": "def allow_order(count):\n    return count < 9\n",
    "shop/notices.py": (
        '"""Notices of the shop, such as this shop is closed today."""\n\n'
        'CLOSED = """\\\nThis shop is closed today.\n"""\nSOLD = "Sold out."\n'
    ),
    "shop/console.py": '@shopctl.command("audit", help="Count")\ndef count_all():\n    pass\n',
    "shop/commands/refill.py": (
        'HELP = """\nRun \'refill\' to order what is sold out."""\n\n\n@shopctl.command(\n    "refill",\n'
        "    help=HELP,\n)\ndef order_all():\n    pass\n"
    ),
    "shop/counting.go": '\t\tUse:   "tally [flags] [DAY ...]",\n\t\tShort: "Say the tally",\n',
    **{f"shop/{name}.go": '\t\tUse:   "weigh",\n' for name in ("cmd_weigh", "scales")},
    "shop/options.go": 'mostCoins := flags.Int("most-coins", 9, "as many")\n',
    "shop/dump.go": "// With most-coins the dump ends early.\nlimit := mostCoins\n",
    "shop/settings.py": 'DEFAULTS = {\n    "MOST_ORDERS": 9,\n}\n',
    "shop/desk.py": "most = config['MOST_ORDERS']\n",
    "docs/settings.md": "MOST_ORDERS\n",
    "shop/coin_till.py": "class Till:\n    def count(self):\n        return 0\n",
    "shop/drawer.py": "def count(coins):\n    return len(coins)\n",
    "shop/coins.py": '__all__ = ["sort_coins"]\n\n\ndef sort_coins(coins):\n    return sorted(coins)\n',
    "shop/api.py": 'from shop.coins import sort_coins\n\nNAMES = [\n    "sort_coins",\n]\n',
    **{f"shop/pay/{kind}/form.py": "def render_form(page):\n    return page\n" for kind in KINDS},
    **{f"shop/pay/{kind}/orders.py": "from shop.limits import allow_order\n\nallow_order(1)\n" for kind in KINDS},
}


def with_ledger(account: Account) -> Account:
    """Add the files to the shop of an account and index them."""
    write_all(account.project, FILES)
    account.cli("code", "index")
    return account


@pytest.fixture(scope="module")
def asked_ledger(asked_shop: Account) -> Account:
    return with_ledger(asked_shop)


@pytest.fixture
def account_with_ledger(account: Account, shop: Path) -> Account:
    del shop
    return with_ledger(account)


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        pytest.param(
            "book in shop/ledger.py forgets tax_rate",
            "shop/ledger.py:122 tax_rate — here in the file that the prompt names; also line 123",
            id="a name in a long file",
        ),
        pytest.param("shop/brief.py forgets tax_rate", "", id="a short file is read at once"),
        pytest.param("who uses shop/ledger.py?", "shop/ledger.py — used in shop/ways/ledger_ways.py:1", id="an import"),
        pytest.param("shop/ledger.py is slow", "", id="an import that nobody asks for"),
        pytest.param("./deploy.sh is slow", "deploy.sh — used in Makefile:2", id="a path"),
        pytest.param("shop/ways/ledger_ways.py is slow", "", id="its package passes it on"),
        pytest.param(
            "`shopctl restock` prints nothing",
            'shop/commands/restock.py:5 "shopctl restock" — declares this command',
            id="a command",
        ),
        pytest.param(
            "`shopctl refill` prints nothing",
            'shop/commands/refill.py:6 "shopctl refill" — declares this command',
            id="a command, not its help text",
        ),
        pytest.param(
            "what is the default of the option --most-coins?",
            "shop/options.go:1 --most-coins — declared here",
            id="an option that is mentioned elsewhere",
        ),
        pytest.param(
            "`shopctl audit` prints nothing",
            'shop/console.py:1 "shopctl audit" — declares this command',
            id="a command that a decorator declares",
        ),
        pytest.param(
            "`shopctl tally --json` prints nothing",
            'shop/counting.go:1 "shopctl tally" — declares this command',
            id="a command of Go, with its arguments",
        ),
        pytest.param(
            "`shopctl weigh` prints nothing",
            'shop/cmd_weigh.go:1 "shopctl weigh" — declares this command',
            id="the file of a command that several files declare",
        ),
        pytest.param(
            'where does "This shop is closed today." come from?',
            'shop/notices.py:4 "This shop is closed today." — the only place that has it',
            id="a long text, which is no docstring",
        ),
        pytest.param(
            'say when, too, where it says "Sold out"',
            'shop/notices.py:6 "Sold out" — the only place that has it',
            id="a label with a full stop",
        ),
        pytest.param(
            "MOST_ORDERS has no effect",
            "shop/settings.py:2 MOST_ORDERS — defined here as 9; read in shop/desk.py:1; also in docs/settings.md:1",
            id="the default of a setting",
        ),
        pytest.param("Till.count is off", "shop/coin_till.py:2 Till.count — defined here", id="a member of a class"),
        pytest.param("Done.book the coins", "", id="no member of a class"),
        pytest.param(
            "sort_coins is slow", "shop/coins.py:4 sort_coins — defined here; no other use found", id="only exported"
        ),
        pytest.param("rename shop/brief.py to shop/taxe.py", "", id="a new name of a file"),
        pytest.param(
            "add a rate to shop/taxe.py",
            "shop/taxe.py — does not exist; the nearest is shop/taxes.py",
            id="a slip where something is added",
        ),
        pytest.param("split the rates off into shop/taxe.py", "", id="a file that a part is moved to"),
        pytest.param("create shop/taxe.py for the rates", "", id="a file to be made"),
        pytest.param("add a second module shop/paths2.py", "", id="a number is no slip"),
        pytest.param(
            "shop/ledegr.py crashes",
            "shop/ledegr.py — does not exist; the nearest is shop/ledger.py",
            id="swapped letters",
        ),
        pytest.param(
            "web/stcok.html is empty",
            "web/stcok.html — does not exist; the nearest is web/stock.html",
            id="a short one",
        ),
        pytest.param(
            "add a button to webs/stock.html",
            "webs/stock.html — does not exist; the nearest is web/stock.html",
            id="a slip in the folder",
        ),
        pytest.param(
            "saveBook calls allowOrder twice",
            "shop/limits.py:1 allow_order — the nearest to allowOrder, which does not exist",
            id="the name of a function is no order to save",
        ),
        pytest.param(
            "drawStock paints the bars too high",
            "web/stock.html:2 drawStock — defined here; also in web/week.html:2, web/year.html:2",
            id="a function in a page",
        ),
        pytest.param(
            "allow_order is off by one",
            "shop/limits.py:1 allow_order — defined here; 5 callers in 5 other files",
            id="many callers",
        ),
        pytest.param("render_form is slow", "", id="five definitions"),
        pytest.param("sort it like @shop/ledger.py (120-125): tax_rate first", "", id="the prompt gives the lines"),
        pytest.param("in shop/ledger.py, line 123, tax_rate is wrong", "", id="the prompt gives the line"),
        pytest.param(
            "check drawChart for the circle",
            "web/chart.html:2 drawChart — the only place that has it; beside drawChart2: line 5",
            id="another version of a function",
        ),
        pytest.param('add a third column "Total Points" to the report', "", id="a text that is to be added"),
        pytest.param(
            'the column "Total Points" is too wide',
            'shop/labels.py:1 "Total Points" — the only place that has it',
            id="a text that is there",
        ),
        pytest.param(
            f"{LONG_TRACE}\nValueError: /tmp/x is outside of the shop today",
            'shop/paths.py:5 "is outside of the shop today" — the only place that has it; the trace\'s innermost frame:'
            " line 6",
            id="a trace and its message",
        ),
        pytest.param(
            LONG_TRACE, "shop/paths.py:6 check — the trace's innermost frame", id="a frame behind an inner function"
        ),
        pytest.param(TRACE, "", id="a frame that a short trace shows"),
        pytest.param(
            REPORTED,
            "shop/paths.py:1 check — the trace's innermost frame in this project",
            id="a frame of another version that is installed",
        ),
        pytest.param(
            "removeNodes or makeRemover() keeps the footer",
            "lib/remover.ts:1 makeRemover — defined here; 2 callers: conf/first.ts:1, conf/second.ts:1",
            id="one line has the places of both names",
        ),
    ],
)
def test_what_stands_in_named_files_and_who_uses_them(asked_ledger: Account, prompt: str, line: str) -> None:
    lines = [one for one in told(asked_ledger, prompt) if "/" in one or "deploy" in one]

    assert lines == ([line] if line else []), lines


def test_of_many_definitions_that_in_the_folder_of_the_opened_files_is_told(
    account_with_ledger: Account, shop: Path
) -> None:
    opened = {"file_path": f"{shop}/shop/pay/cash/orders.py"}
    said = [
        {"type": "user", "message": {"role": "user", "content": "look at the cash orders"}},
        {
            "type": "assistant",
            "message": {
                "id": "m1",
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": opened}],
            },
        },
    ]
    transcript = account_with_ledger.write("t.jsonl", "".join(json.dumps(one) + "\n" for one in said))

    lines = told(account_with_ledger, "render_form is slow", transcript_path=str(transcript))

    reason = "defined here, beside the files of this conversation, and in 4 other files"
    assert lines == [f"shop/pay/cash/form.py:1 render_form — {reason}"]


def test_a_file_named_beside_another_with_its_path_is_the_one_in_that_folder(account: Account, shop: Path) -> None:
    write_all(shop, {f"themes/{name}/{file}.css": "a {}\n" for name in ("dark", "light") for file in ("base", "print")})
    account.cli("code", "index")

    assert told(account, "clean up base.css") == [
        "themes/dark/base.css — one of 2 files of that name: themes/light/base.css"
    ]
    assert told(account, "clean up themes/light/print.css and base.css") == []


def test_the_list_of_all_documents_does_not_use_one(account: Account, shop: Path) -> None:
    write_all(shop, {"docs/scales.md": "# Scales\n", "mkdocs.yml": "nav:\n  - Scales: scales.md\n"})
    account.cli("code", "index")

    assert told(account, "docs/scales.md has a typo") == []


def test_what_only_names_a_file_does_not_use_it(account: Account, shop: Path) -> None:
    files = {
        "src/scales.c": "int weigh(void) { return 1; }\n",
        "tools/doc.rb": 'read("src/scales.c")\n',
        "licences.txt": "Used: nothing\n",
        "web/about.js": 'open("https://example.org/shop/licences.txt")\n',
        "go.mod": "module example.org/shop\n",
        "build.js": 'stamp("go.mod")\n',
        ".shoprc.yml": "a: 1\n",
        "test/fixtures/shoprc.yml": "a: 1\n",
        "test/fixtures/conf/shoprc.yaml": "a: 1\n",
    }
    write_all(shop, files)
    account.cli("code", "index")

    for prompt in (
        "src/scales.c does not link",
        "is licences.txt still right?",
        "go.mod is not tidy",
        "can the limit in shoprc.yml be a word?",
    ):
        assert [line for line in told(account, prompt) if " used in " in line or "does not exist" in line] == []

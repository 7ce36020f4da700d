"""Through the real hook: where what a prompt names is, who uses it, and what of it does not exist."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from invented_shop import git, write_all

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

MORE = {
    "shop/limits.py": (
        '"""Limits.\n\n    allow_order(3) is true.\n"""\nimport os\n\n'
        'MOST = int(os.environ.get("SHOP_MOST_ORDERS", "9"))\n\n\n'
        "def allow_order(count):\n    return count < MOST\n"
    ),
    "shop/orders.py": (
        "from shop.limits import allow_order\n\n\ndef place(order):\n    if not allow_order(order.count):\n"
        "        raise ValueError('Sorry, too many orders for one day')\n\n\ndef update(order):\n    pass\n"
    ),
    "shop/web/routes.py": (
        "from shop.limits import allow_order\n\n\n"
        "@app.get('/api/orders/<id>')\ndef show(id):\n    return allow_order(id) and render('Bestellung anzeigen')\n"
    ),
    "shop/cli.py": "parser.add_argument('--skip-mail', action='store_true')\n",
    "shop/mail/order.txt.tmpl": "Your crates are on their way, {{.Name}}\n",
    "shop/receipts.py": "class Receipt(list):\n    pass\n",
    "shop/payment/refunds.py": "def refund(payment):\n    pass\n",
    "shop/old/refunds.py": "def refund(payment):\n    pass\n",
    "shop/helpers/dates.py": "def parse_day(text):\n    return text\n",
    "web/app.js": "var app = exports = {};\n\napp.param = function param(name) {};\napp.run = (x) => x;\n",
    "shop/defaults.py": "DEFAULTS = {\n    'orders.most': 3,\n}\n",
    "shop/labels.py": (
        "# NB: if you change this, also change the table of\n# shop/web/labels.js\n@cached\n"
        "def crate_label(crate):\n    return crate.name\n\n\n"
        "# If you change your mind, ask the office.\ndef pallet_label(pallet):\n    return pallet.name\n\n\n"
        "# Keep in sync with shop/web/labels.js\n\nLABELS = 3\n\n\ndef lid_label(lid):\n    return lid.name\n"
    ),
    "web/totals.js": "export function rounded(x) {\n  return x;\n}\n",
    "tests/test_limits.py": "def test_allow_order():\n    assert allow_order(1)\n",
}


LOG = "\n".join(["still wrong", *(f"2026-03-02 10:00:0{second} INFO allow_order {second}" for second in range(1, 6))])


def with_more(account: Account) -> Account:
    """Commit more files to the shop of an account and index them."""
    write_all(account.project, MORE)
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Sell more")
    account.cli("code", "index")
    return account


@pytest.fixture(scope="module")
def asked(asked_shop: Account) -> Account:
    return with_more(asked_shop)


@pytest.fixture
def account_with_shop(account: Account, shop: Path) -> Account:
    del shop
    return with_more(account)


def told(account: Account, prompt: str, **event: str) -> list[str]:
    """Return the lines of context in a new session; asked again in another where the machine was too busy."""
    for _attempt in range(5):
        context = account.ask(prompt, **event).context
        if account.trace()["status"] != "partial":
            break
    return [line.removeprefix("- ") for line in context.splitlines() if line.startswith("- ")]


def test_a_message_that_says_a_name_does_not_use_it(account: Account, shop: Path) -> None:
    rates = 'class RateTable:\n    pass\n\n\ndef load():\n    log.info("RateTable: loading the rates")\n'
    write_all(shop, {"shop/rates.py": rates})
    account.cli("code", "index")

    (line,) = told(account, "does anything use RateTable?")
    assert line == "shop/rates.py:1 RateTable — defined here; no other use found"


@pytest.mark.parametrize(
    ("prompt", "callers"),
    [
        ("who calls ring_bell?", "4 callers: line 5, line 6, line 7, line 8"),
        ("ring_bell is late", "4 callers, all in this file"),
    ],
)
def test_callers_in_one_file_have_their_lines_where_they_are_asked_for(
    account: Account, shop: Path, prompt: str, callers: str
) -> None:
    write_all(shop, {"shop/till.py": "def ring_bell():\n    pass\n\n\n" + "ring_bell()\n" * 4})
    account.cli("code", "index")

    assert told(account, prompt) == [f"shop/till.py:1 ring_bell — defined here; {callers}"]


def test_a_message_with_a_value_before_a_name_does_not_use_it(account: Account, shop: Path) -> None:
    rates = 'def load_rates():\n    pass\n\n\ndef fail(day):\n    log.error(f"{day}: load_rates() was late")\n'
    write_all(shop, {"shop/rates.py": rates, "shop/cli.py": 'run(f"{load_rates()} rates")\n'})
    account.cli("code", "index")

    lines = told(account, "is load_rates called twice?")
    assert lines == ["shop/rates.py:1 load_rates — defined here; the only caller: shop/cli.py:1"]


def test_a_quoted_name_alone_on_its_line_is_used_by_the_call_around_it(account: Account, shop: Path) -> None:
    defaults = '__all__ = [\n    "MOST_CRATES",\n]\n\nMOST_CRATES = 3\n'
    stack = 'most = settings.get(\n    "MOST_CRATES"\n)\n'
    write_all(shop, {"shop/defaults.py": defaults, "shop/stack.py": stack})
    account.cli("code", "index")

    lines = told(account, "what does MOST_CRATES limit?")
    assert lines == ["shop/defaults.py:5 MOST_CRATES — defined here; the only use: shop/stack.py:2"]


def test_a_name_alone_on_its_line_in_a_list_or_a_call_is_used(account: Account, shop: Path) -> None:
    imports = "from shop.crates import (\n    CloseCrate,\n)\n"
    hooks = f"{imports}\nfor action in [\n    CloseCrate,\n]:\n    register(\n        close,\n    )\n"
    helper = "def apply(\n    close,\n    CloseCrate,\n):\n    pass\n"
    crates = "class CloseCrate:\n    pass\n"
    write_all(shop, {"shop/crates.py": crates, "shop/hooks.py": hooks, "shop/helper.py": helper})
    account.cli("code", "index")

    lines = told(account, "what is CloseCrate for?")
    assert lines == ["shop/crates.py:1 CloseCrate — defined here; the only use: shop/hooks.py:6"]


@pytest.mark.parametrize("line", ["  ...tabs.map(openTable),", "  #[Route(openTable)]"])
def test_a_spread_list_and_an_attribute_are_no_comments(account: Account, shop: Path, line: str) -> None:
    write_all(shop, {"web/move.js": "export function openTable(i) {\n}\n", "web/all.js": f"all = [\n{line}\n];\n"})
    account.cli("code", "index")

    lines = told(account, "what is openTable for?")
    assert lines == ["web/move.js:1 openTable — defined here; the only use: web/all.js:2"]


def test_of_a_function_that_is_also_passed_on_the_caller_is_not_called_the_only_one(
    account: Account, shop: Path
) -> None:
    moves = "export function openTable(i) {\n}\n\nopenTable(1);\ntabs.each(openTable);\n"
    write_all(shop, {"web/move.js": moves})
    account.cli("code", "index")

    lines = told(account, "what is openTable for?")
    assert lines == ["web/move.js:1 openTable — defined here; one caller: line 4"]


@pytest.mark.parametrize(
    "message",
    [
        "[shop.crates][error] Crate {} cannot be closed.",
        "2026-03-02 10:00:03 [error] Crate {} cannot be closed.",
        "10:00:03 CRITICAL shop.crates - Crate {} cannot be closed.",
        "Fatal: Crate {} cannot be closed.",
        "FATA[0012] Crate {} cannot be closed.",
        "the error says Crate {} cannot be closed. why",
        "now this error when I save : Crate {} cannot be closed",
        "the errors was the following: Crate {} cannot be closed",
        "shop: error: Crate {} cannot be closed",
        "✗ Crate {} cannot be closed",
        'level=WARN msg="Crate {} cannot be closed" error="status=400"',
    ],
)
def test_the_message_of_an_error_is_found_in_a_log_and_in_a_sentence(
    account: Account, shop: Path, message: str
) -> None:
    write_all(shop, {"shop/crates.py": 'import logging\n\nlog.error(f"Crate {number} cannot be closed")\n'})
    account.cli("code", "index")

    lines = told(account, f"a customer sends this:\n\n{message.format(17)}\n\nwhat does it mean")
    assert lines == ['shop/crates.py:3 "cannot be closed" — the only place that has it']


def test_a_message_of_two_words_is_found_by_the_value_behind_its_colon(account: Account, shop: Path) -> None:
    code = 'fail("double crate: " + name)\nsay(f"Stopped early: size={size}; sent={sent}")\n# double crate: none\n'
    write_all(shop, {"shop/rows.py": code})
    account.cli("code", "index")
    double = ['shop/rows.py:1 "double crate" — the message with its placeholders']

    assert told(account, 'the import says "double crate: tins" now') == double
    write_all(shop, {"shop/retry.py": 'if str(error).startswith("double crate: " + name):\n    again()\n'})
    account.cli("code", "index")
    assert told(account, 'the import says "double crate: tins" now') == double  # a comparison prints nothing
    assert told(account, '{"a": 1, "a": 2} as rows gives "double crate: tins" and then nothing') == double
    assert told(account, "this:\n\nshop: error: Stopped early: size=12; sent=3\n\nwhy?") == [
        'shop/rows.py:2 "Stopped early: size=" — the message with its placeholders'
    ]


def test_a_message_that_the_code_breaks_into_two_strings_is_found_by_its_beginning(
    account: Account, shop: Path
) -> None:
    code = 'fail("Row " + row + " cannot be stacked here any higher"\n     " than the shelf above it allows")\n'
    write_all(shop, {"shop/rows.py": code})
    account.cli("code", "index")

    lines = told(account, "ValueError: Row 17 cannot be stacked here any higher than the shelf above it allows")
    assert lines == ['shop/rows.py:1 "cannot be stacked here any" — the only place that has it']


@pytest.mark.parametrize(
    "prompt",
    [
        "AttributeError: 'Row' object has no attribute 'shelf_of_it'",
        "why is os.stat called twice?",
        "web/rows.ts(5,4): error TS2550: Property 'padLeft' does not exist on type 'string'. Change your target",
        "shop/rows.c: In function 'stack_rows':\nshop/rows.c:3:1: error: no 'push_rows'; did you mean 'stack_rows'?",
        "with shop -l a wrong row prints nothing",
        "this is printed:\n\n=== ROWS (of may) START: cut and paste from here ===\n12:00:01 # rows = 3\n\nwhy?",
        "---- total_rows stdout ----\nthread 'total_rows' panicked at src/rows.rs:3",
    ],
)
def test_what_a_language_or_a_compiler_says_by_itself_is_not_looked_up(
    account: Account, shop: Path, prompt: str
) -> None:
    code = {
        "shop/disk.py": "class Disk:\n    @property\n    def stat(self):\n"
        "        raise AttributeError(f'{self} object has no attribute {name}')\n",
        "shop/args.py": 'add_argument("-l", "--lids")\n',
        "shop/banner.c": 'void banner(void) {\n\tlog("\\n=== ROWS (of may) START: cut and paste from here ===");\n}\n',
        "web/pad.ts": "export function padLeft() {}\n",
        "shop/rows.c": "void stack_rows(void) {\n}\n",
        "shop/stack.c": "void stack(void) {\n\tstack_rows();\n}\n",
        "src/totals.rs": "pub fn total_rows() {}\n",
    }
    write_all(shop, code)
    account.cli("code", "index")

    assert told(account, prompt) == []


def test_a_file_of_data_is_told_by_the_code_that_reads_it(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/fill.py": 'rows = read("crates-of-may.xlsx")\nshow("image.png")\n'})
    account.cli("code", "index")

    line = "shop/fill.py:1 crates-of-may.xlsx — read here"
    assert told(account, "what is crates-of-may.xlsx for?") == [line]
    assert told(account, "顶层的crates-of-may.xlsx还需要吗") == [line]
    assert told(account, "see image.png") == []  # what clients call a picture that is pasted


def test_a_few_words_of_an_error_that_several_files_have_lead_to_none(account: Account, shop: Path) -> None:
    write_all(shop, {f"shop/{name}.py": f'fail(f"{name} {{number}} cannot be closed")\n' for name in ("crate", "lid")})
    account.cli("code", "index")

    assert told(account, "ValueError: box 17 cannot be closed\n\nwhat does it mean") == []
    lines = told(account, "ValueError: lid 17 cannot be closed\n\nwhat does it mean")
    assert lines == ['shop/lid.py:1 "cannot be closed" — the message with its placeholders']


def test_an_attribute_that_nothing_defines_comes_behind_a_definition(account_with_shop: Account, shop: Path) -> None:
    write_all(shop, {"shop/lids.py": "print(box.lid_count)\n"})
    account_with_shop.cli("code", "index")

    lines = told(account_with_shop, "box.lid_count is wrong since allow_order was changed, fix it")
    assert [line.partition(" — ")[0] for line in lines][:2] == [
        "shop/limits.py:10 allow_order",
        "shop/lids.py:1 box.lid_count",
    ]


def test_a_line_that_a_person_begins_with_a_level_is_no_log(asked: Account) -> None:
    (line,) = told(asked, "[error] i see this when allow_order refuses the ninth, please fix")[:1]

    assert line.startswith("shop/limits.py:10 allow_order — defined here")


def test_a_quoted_text_with_a_number_behind_a_hyphen_is_found(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/crates.py": 'raise ValueError("Leave non-42 crates open")\n'})
    account.cli("code", "index")

    lines = told(account, 'where does "Leave non-42 crates open" come from?')
    assert lines == ['shop/crates.py:1 "Leave non-42 crates open" — the only place that has it']


def test_of_many_callers_whole_places_are_listed_as_far_as_they_fit(account: Account, shop: Path) -> None:
    folder = "shop/a_folder_with_a_long_name/and_another_one_below_it"
    calls = {f"{folder}/{name}/of_all_orders.py": "count_crates(9)\n" for name in ("summary", "totals", "history")}
    write_all(shop, {"shop/crates.py": "def count_crates(orders):\n    return orders\n", **calls})
    account.cli("code", "index")

    (line,) = told(account, "count_crates is off by one")

    places = [f"{path}:1" for path in sorted(calls)]
    assert line == f"shop/crates.py:1 count_crates — defined here; 3 callers: {places[0]}, …"


def test_a_place_for_which_the_line_has_no_room_is_not_cut_in_half(account: Account, shop: Path) -> None:
    folder = "shop/a_folder_with_a_long_name/and_another_one_below_it/and_one_more_with_a_name/of_its_own"
    calls = {f"shop/{name}_of_orders_and_returns_of_a_day.py": "count_crates(9)\n" for name in ("a", "b", "c")}
    write_all(shop, {f"{folder}/the_counting_of_crates.py": "def count_crates(orders):\n    return orders\n", **calls})
    account.cli("code", "index")

    (line,) = told(account, "count_crates is off by one")

    assert line.endswith("3 callers: shop/a_of_orders_and_returns_of_a_day.py:1, …")


@pytest.mark.parametrize(
    ("assertion", "test", "uses"),
    [
        pytest.param('settings() == {"count_crates": 3}', [], "no other use found", id="a key"),
        pytest.param(
            "count_crates([]) == []",
            ["tests/test_crates.py:2"],
            "used by tests only: tests/test_crates.py:2",
            id="a call",
        ),
    ],
)
def test_a_key_in_a_test_is_no_use_of_the_function(
    account: Account, shop: Path, assertion: str, test: list[str], uses: str
) -> None:
    source = "def count_crates(orders):\n    return orders\n"
    write_all(shop, {"shop/crates.py": source, "tests/test_crates.py": f"def test_all():\n    assert {assertion}\n"})
    account.cli("code", "index")

    first, *others = told(account, "make count_crates stricter")
    assert first == f"shop/crates.py:1 count_crates — defined here; {uses}"
    assert [line.partition(" ")[0] for line in others if " tests count_crates" in line] == test


def test_pasted_code_and_a_name_in_it_get_one_line(account: Account, shop: Path) -> None:
    values = "parcel.gross, parcel.tare, unit=parcel.unit, scale=parcel.scale"
    raising = f"    if parcel.tare < 0:\n        raise TareError(\n            {values}\n        )\n"
    source = f"def weigh(parcel):\n{raising}    return parcel.gross\n" + "\n# weighed\n" * 150
    elsewhere = {f"shop/{name}.py": "raise TareError(None)\n" for name in ("one", "two", "three", "four")}
    write_all(shop, {"shop/scales.py": source, **elsewhere})
    account.cli("code", "index")

    lines = told(account, f"in shop/scales.py raise no TareError:\n```\n{raising}```\nraise a ValueError instead")

    assert [line.partition(" — ")[0] for line in lines if "shop/scales.py" in line] == ["shop/scales.py:3 TareError"]


@pytest.mark.parametrize(
    "output",
    [
        "web/app.ts:3:9 - error TS2305: Module './crates' has no exported member 'weighCrate'.",
        "error[E0425]: cannot find function `weighCrate` in this scope",
        "e: file:///ci/app/Scales.kt:12:23 Unresolved reference 'weighCrate'.",
    ],
)
def test_the_name_that_a_compiler_misses_is_looked_up(account: Account, shop: Path, output: str) -> None:
    write_all(shop, {"web/scales.ts": "export function weighCrate() {\n}\nexport function tareCrate() {\n}\n"})
    account.cli("code", "index")

    lines = told(account, f"the build fails since the update:\n\n{output}\n{output.replace('weigh', 'tare')}\n")
    assert lines == ["web/scales.ts:1 weighCrate — defined here; no other use found"]


def test_a_name_that_the_tests_say_everywhere_has_no_one_place(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/scales.py": "def weigh(parcel):\n    return parcel.tare_weight\n"})
    account.cli("code", "index")
    prompt = "rename `tare_weight` to `empty_weight`"
    assert told(account, prompt) == ["shop/scales.py:2 tare_weight — the only place that has it"]

    write_all(shop, {f"tests/test_{number}.py": "assert parcel.tare_weight == 1\n" for number in range(3)})
    account.cli("code", "index")
    assert told(account, prompt) == []


def test_the_test_of_the_defining_file_is_told_rather_than_one_that_only_uses_it(account: Account, shop: Path) -> None:
    write_all(shop, {
        "web/src/LidReport.ts": "export class LidReport {\n}\n",
        "web/src/Scales.ts": "import {LidReport} from './LidReport'\nconst report = new LidReport()\n",
        "web/src/__tests__/Scales.test.ts": "expect(new LidReport()).toBeTruthy()\n",
    })  # fmt: skip
    account.cli("code", "index")
    line = "web/src/LidReport.ts:1 LidReport — defined here; one use: web/src/Scales.ts:2; and web/src/__tests__/"
    assert told(account, "`LidReport` cuts the title")[0] == f"{line}Scales.test.ts"

    own = "import Base from '../LidReport'\nclass LidReport extends Base {\n}\nnew LidReport()\n"
    write_all(shop, {"web/src/__tests__/LidReport.test.ts": own})
    account.cli("code", "index")
    assert told(account, "`LidReport` cuts the title")[0] == f"{line}LidReport.test.ts"


def test_a_name_in_any_language_gets_its_definition_and_its_callers(asked: Account) -> None:
    callers = "2 callers: shop/orders.py:5, shop/web/routes.py:6; and tests/test_limits.py"
    line = f"shop/limits.py:10 allow_order — defined here; {callers}"
    for prompt in (
        "allow_order is off by one, fix it",
        "Warum lehnt allow_order die neunte Bestellung ab?",
        "¿Por qué allow_order() rechaza el noveno pedido?",
        "почему allow_order отклоняет девятый заказ?",
        "为什么allow_order会拒绝第九个订单",
    ):
        assert told(asked, prompt)[:1] == [line], prompt


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("where does “too many orders for one day” come from?", "shop/orders.py:6"),
        ("warum ist die Überschrift „Bestellung anzeigen“ so klein? Bitte beheben", "shop/web/routes.py:6"),
        ("why is “Your crates are on their way” so small?", "shop/mail/order.txt.tmpl:1"),
        ("GET /api/orders/:id answers 500", "shop/web/routes.py:4"),
        ("what does --skip-mail do?", "shop/cli.py:1 --skip-mail"),
        ("Was macht SHOP_MOST_ORDERS?", "shop/limits.py:7 SHOP_MOST_ORDERS"),
        ("(gateway.py) is slow", ""),
        ("in shop/payment the file gateway.py is slow", ""),
        ("what differs in refunds.py?", "shop/old/refunds.py — one of 2 files of that name: shop/payment/refunds.py"),
        (
            "what differs in refunds.py for payment?",
            "shop/payment/refunds.py — one of 2 files of that name: shop/old/refunds.py",
        ),
        ("why are there two of refund()?", ""),
        ("the code in `refund` is wrong", ""),
        ("shop/dates.py parses the day wrong", "shop/dates.py — does not exist; the nearest is shop/helpers/dates.py"),
        ("fix the total in shop/car.py", ""),
        ("fix the total in shop/order.py", "shop/order.py — does not exist; the nearest is shop/orders.py"),
        ("fix the total in order.py", ""),
        ("/etc/shop/receipts.py has no effect", ""),
        ("/etc/shop/receits.py has no effect", ""),
        ("vendor/shop/receits.py line 3 is at fault", ""),
        ("is shop.orders.place called twice?", "shop/orders.py:4 place — defined here"),
        ("is shop.payment.place called twice?", ""),
        ("is there a host shop.orders.place.com?", ""),
        (
            "what does the class Recipt hold?",
            "shop/receipts.py:1 Receipt — the nearest to Recipt, which does not exist",
        ),
        ("describe the setting orders.most", "shop/defaults.py:2 orders.most — declared here as 3"),
        ("app.param ignores the second name", "web/app.js:3 app.param — defined here"),
        ("totals.rounded gives 0.5, why?", "web/totals.js:1 totals.rounded — defined here"),
        ("other.param ignores the second name", ""),
        ("we are done.param is next", ""),
        ("fix alow_order, it is off by one", "shop/limits.py:10 allow_order — the nearest to alow_order"),
    ],
)
def test_what_is_named_is_found_by_its_kind(asked: Account, prompt: str, line: str) -> None:
    lines = told(asked, prompt)

    first = lines[0] if lines else ""
    assert first.startswith(line) if line else not first, lines


@pytest.mark.parametrize(
    "prompt",
    [
        "create shop/dates.py with a parser of days",
        "lege shop/dates.py an",
        "update the place where orders show, then run it",
        "shop/limits.py, shop/orders.py and shop/cli.py are too short",
        "#9: please add the show",
        LOG,
    ],
)
def test_what_is_new_ordinary_known_or_pasted_gets_no_line(asked: Account, prompt: str) -> None:
    assert not [line for line in told(asked, prompt) if "shop/" in line]


@pytest.mark.parametrize(
    ("path", "declaration"),
    [
        ("cmd/pack.go", 'f.VarP(&opts.Crate, "crate-size", "c", "the size of a crate")'),
        ("src/cli.rs", '    #[arg(long = "crate-size", short)]'),
        ("src/cli.rs", '    Arg::new("crate_size").long("crate-size")'),
        ("src/cli.rs", "pub crate_size: u8,"),
        ("src/cli.rs", "pub(crate) crate_size: u8,"),
        ("src/PackCommand.php", "    new InputOption('crate-size', null, InputOption::VALUE_NONE, 'The size'),"),
    ],
)
def test_an_option_is_told_where_it_is_declared(account: Account, shop: Path, path: str, declaration: str) -> None:
    message = (
        '// fail("--crate-size must be positive")\nget.getOption(\'crate-size\')\n#[arg(short, long, help = "x")]\n'
    )
    write_all(shop, {path: f"{message}{declaration}\n", "src/weigh.go": message})
    account.cli("code", "index")

    line = f"{path}:4 --crate-size — declared here; read in src/weigh.go:2, line 2 here"
    assert told(account, "why is --crate-size ignored?") == [line]


def test_a_sentence_in_backticks_is_a_text_and_no_command(account: Account, shop: Path) -> None:
    write_all(shop, {"cmd/pack.go": 'return fail("crate size must not be below zero")\n'})
    account.cli("code", "index")

    assert told(account, "`crate size must not be below zero` also comes for 1, why?") == [
        'cmd/pack.go:1 "crate size must not be below zero" — the only place that has it'
    ]


def test_a_setting_in_the_example_of_the_environment_has_no_only_place(account: Account, shop: Path) -> None:
    source = 'LIMIT = int(os.environ.get("CRATE_LIMIT", "6"))\n'
    write_all(shop, {"shop/crates.py": source, "web/.env.example": "PORT=1\nCRATE_LIMIT=6\n"})
    account.cli("code", "index")

    assert told(account, "the default of CRATE_LIMIT should be 8") == [
        'shop/crates.py:1 CRATE_LIMIT — read from the environment here, default "6"'
    ]


def test_a_text_behind_an_escape_is_whole(account: Account, shop: Path) -> None:
    write_all(shop, {"src/open.go": 'return fmt.Errorf("%v\\nIs there a crate at this place?\\n%v", err)\n'})
    account.cli("code", "index")

    assert told(account, 'where does "Is there a crate at this place?" come from') == [
        'src/open.go:1 "Is there a crate at this place?" — the only place that has it'
    ]


def test_the_class_that_a_prompt_names_tells_which_of_its_methods_is_meant(account: Account, shop: Path) -> None:
    classes = {
        f"src/{name}Store.php": f"<?php\nclass {name}Store\n{{\n    public function findOrder()\n    {{\n    }}\n}}\n"
        for name in ("Cached", "File", "Memory", "Remote", "Sql")
    }
    write_all(shop, {**classes, "src/Shop.php": "<?php\n$store->findOrder();\n"})
    account.cli("code", "index")

    for prompt in (
        "FileStore is slow, especially findOrder",
        "mache die Methode findOrder der FileStore-Klasse schnell",
    ):
        lines = told(account, prompt)
        assert ["src/FileStore.php:" in line and "line" in line for line in lines] == [True], prompt


def test_a_method_of_another_class_is_not_told_as_that_of_the_named_one(account: Account, shop: Path) -> None:
    source = "<?php\nclass Scales\n{\n    public function readTare()\n    {\n    }\n}\n"
    write_all(shop, {"src/Scales.php": source})
    account.cli("code", "index")

    assert told(account, "my plugin calls OldScales::readTare and fails") == [
        "src/Scales.php:4 readTare — defined here; no other use found"
    ]


def test_a_unit_behind_a_number_is_no_name(account: Account, shop: Path) -> None:
    write_all(shop, {"tests/sizes_test.go": "const KiB = 1 << 10\n"})
    account.cli("code", "index")

    assert told(account, "why does it print 1024.000 KiB and not 1 MiB?") == []
    assert told(account, "is KiB right?")[0].startswith("tests/sizes_test.go:1 KiB")


def test_a_name_with_hyphens_whose_place_is_asked_for_is_found_as_a_whole_string(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/settings.c": '{ .name = "crate-limit",\n', "shop/crates.c": "/* no crate-limit here */\n"})
    account.cli("code", "index")

    line = "shop/settings.c:1 crate-limit — declared here"
    for number, prompt in enumerate(("where is crate-limit defined?", "¿dónde se define el crate-limit? es 5 ahora")):
        assert told(account, prompt, session=str(number)) == [line]
    assert told(account, "the crate-limit is too low", session="b") == []


def test_a_tag_of_a_template_in_an_attribute_uses_the_name(account: Account, shop: Path) -> None:
    page = '<body class="wide <%= crate_classes %>" title="No crate_names here">\n'
    source = "def crate_classes\nend\n\ndef crate_names\nend\n"
    write_all(shop, {"app/crates_helper.rb": source, "app/page.html.erb": page})
    account.cli("code", "index")

    assert told(account, "what is crate_classes for?") == [
        "app/crates_helper.rb:1 crate_classes — defined here; the only use: app/page.html.erb:1"
    ]
    assert told(account, "what is crate_names for?", session="b") == [
        "app/crates_helper.rb:4 crate_names — defined here; no other use found"
    ]


def test_a_call_and_a_mixin_of_ruby_are_uses(account: Account, shop: Path) -> None:
    source = "module CrateScales\n  def weigh_crates\n  end\nend\n"
    user = "class Order\n  include CrateScales\n\n  def place\n    weigh_crates\n  end\nend\n"
    write_all(shop, {"lib/crate_scales.rb": source, "app/order.rb": user})
    account.cli("code", "index")

    for number, (name, line, use) in enumerate((("CrateScales", 1, 2), ("weigh_crates", 2, 5))):
        assert told(account, f"what is {name} for?", session=str(number)) == [
            f"lib/crate_scales.rb:{line} {name} — defined here; the only use: app/order.rb:{use}"
        ]


def test_a_class_within_a_class_is_known_by_the_name_of_the_jvm(account: Account, shop: Path) -> None:
    scales = "class Scales {\n    class Empty {\n        int weigh() {\n        }\n    }\n"
    scales += "    class Full {\n        int weighCrate() {\n        }\n    }\n}\n"
    write_all(shop, {"src/Scales.java": scales})
    account.cli("code", "index")

    (line,) = told(account, "most of the time is spent in Scales$Full.weighCrate, why?")
    assert line.startswith("src/Scales.java:7 ")


ROW = "class Ledger{0} {{\n    {1} {{\n    }}\n}}\n"


@pytest.mark.parametrize(
    ("path", "text", "use"),
    [
        ("Ledger.java", ROW.format("", "public static class LedgerRow extends Ledger"), "new Ledger.LedgerRow();"),
        ("Ledger.kt", ROW.format("", "data class LedgerRow(val sum: Int)"), "val row = Ledger.LedgerRow(3)"),
        ("Ledger.cs", ROW.format("", "private sealed class LedgerRow"), "var row = new Ledger.LedgerRow();"),
        ("Ledger.swift", ROW.format(": Book", "struct LedgerRow"), "let row = Ledger.LedgerRow()"),
    ],
)
def test_a_class_within_a_class_is_found_by_its_whole_name_and_by_its_own(
    account: Account, shop: Path, path: str, text: str, use: str
) -> None:
    ending = path.partition(".")[2]
    other = text.replace("class Ledger", "class Book").replace("LedgerRow", "BookRow")
    # A file of that name has nothing to do with it.
    files = {f"src/{path}": text, f"src/Book.{ending}": other, f"src/till/LedgerRow.{ending}": "class Till {\n}\n"}
    write_all(shop, {**files, f"src/Till.{ending}": f"class Till {{\n    {use}\n}}\n"})
    account.cli("code", "index")

    line = "\n".join(told(account, "renomme Ledger.LedgerRow en LedgerLine partout"))
    assert line.startswith(f"src/{path}:2 Ledger.LedgerRow — defined here; ") and f"src/Till.{ending}:2" in line
    line = "\n".join(told(account, "where is LedgerRow used?"))
    assert line.startswith(f"src/{path}:2 LedgerRow — defined here; ") and f"src/Till.{ending}:2" in line


def test_a_class_in_a_namespace_is_found_by_its_whole_name(account: Account, shop: Path) -> None:
    files = {
        "src/tools/grade.h": "namespace Tools\n{\n    template <int N>\n    class Grade final\n    {\n    };\n}\n",
        "src/tools/apps.h": "namespace Tools::Apps\n{\n    struct Grade\n    {\n    };\n}\n",
        "src/gui/bar.cpp": "namespace\n{\n    bool isNewer()\n    {\n        using Grade = Tools::Grade<4>;\n    }\n}",
    }
    write_all(shop, files)
    account.cli("code", "index")

    line = "\n".join(told(account, "Tools::Grade should not accept a letter"))
    assert line == "src/tools/grade.h:4 Tools.Grade — defined here"
    assert told(account, "Scales::Grade should not accept a letter") == []


def test_the_folder_that_a_prompt_says_in_a_word_tells_which_definition_is_meant(account: Account, shop: Path) -> None:
    files = {
        "android/src/CrateView.kt": "class CrateView {\n}\n",
        "ios/Views/CrateView.swift": "class CrateView {\n}\n",
        "ios/Views/Scale.swift": "class ScaleView {\n}\n",
        "common/Labels.kt": "class LabelView {\n}\n",
    }
    write_all(shop, files)
    account.cli("code", "index")

    kotlin, swift = "android/src/CrateView.kt:1 CrateView", "ios/Views/CrateView.swift:1 CrateView"
    for number, (prompt, lines) in enumerate(
        (
            ("¿dónde se decide el color de CrateView por defecto en Android?", [f"{kotlin} — defined here"]),
            ("was macht die CrateView im iOS-Teil?", [f"{swift} — defined here"]),
            ("who made the CrateView in views so slow?", [f"{swift} — defined here"]),
            ("where is CrateView?", [f"{kotlin} — defined here and in ios/Views/CrateView.swift:1"]),
            (
                "where is CrateView on Android and on iOS?",
                [f"{kotlin} — defined here and in ios/Views/CrateView.swift:1"],
            ),
            ("where is CrateView in the shop?", [f"{kotlin} — defined here and in ios/Views/CrateView.swift:1"]),
            # On Android there is none, but what both share is used there, and this project has no part for Linux.
            ("where is the color of ScaleView set on Android?", []),
            ("where is the color of LabelView set on Android?", ["common/Labels.kt:1 LabelView — defined here"]),
            ("where is the color of ScaleView set on Linux?", ["ios/Views/Scale.swift:1 ScaleView — defined here"]),
        )
    ):
        found = [line.partition(";")[0] for line in told(account, prompt, session=str(number))]
        assert found == lines, prompt


def test_a_helper_of_tests_is_not_told_for_the_file_of_its_name(account: Account, shop: Path) -> None:
    files = {
        "shop/crate_washer.py": "class CrateWasher:\n    pass\n",
        "shop/yard.py": "from shop.crate_washer import CrateWasher\n",
        "tests/test_crate_washer.py": "def crate_washer():\n    pass\n\n\ndef crate_dryer():\n    pass\n",
    }
    write_all(shop, files)
    account.cli("code", "index")

    assert told(account, "did it move to crate_washer?") == ["shop/crate_washer.py — used in shop/yard.py:1"]
    assert "\n".join(told(account, "where is crate_dryer?")).startswith("tests/test_crate_washer.py:5 crate_dryer")


def test_only_calls_count_as_uses_of_an_ordinary_word(account: Account, shop: Path) -> None:
    source = "impl Crate {\n    pub fn tare(&self) -> u8 {\n        1\n    }\n}\n"
    write_all(shop, {"src/crates.rs": source, "src/scales.rs": "let tare = 3;\nprint(tare + 1);\n"})
    account.cli("code", "index")
    assert told(account, "the `tare` is off") == ["src/crates.rs:2 tare — defined here"]

    write_all(shop, {"src/load.rs": "let all = own.tare();\n"})
    account.cli("code", "index")
    assert told(account, "the `tare` is off") == ["src/crates.rs:2 tare — defined here; the only caller: src/load.rs:1"]


def test_the_cause_of_an_error_is_looked_up(account: Account, shop: Path) -> None:
    write_all(shop, {"src/scales.rs": 'read().context("Failed to read the scales (are they on?)")?;\n'})
    account.cli("code", "index")

    assert told(account, "it died\n  Caused by: Failed to read the scales (are they on?)\nany idea?") == [
        'src/scales.rs:1 "Failed to read the scales" — the only place that has it'
    ]


def test_of_a_trace_of_php_the_innermost_frame_is_told(account: Account, shop: Path) -> None:
    source = "<?php\nclass Scales\n{\n    function weigh()\n    {\n        $this->read(null);\n    }\n}\n"
    write_all(shop, {"src/Shop/Scales.php": source, "src/Shop/Reader.php": "<?php\n"})
    account.cli("code", "index")
    trace = (
        "Fatal error: Uncaught TypeError: Shop\\Reader::read(): Argument #1 ($from) must be of type string, null given,"
        " called in /usr/share/php/Shop/Scales.php on line 6 and defined in /usr/share/php/Shop/Reader.php:77\n"
        "Stack trace:\n#0 /usr/share/php/Shop/Scales.php(6): Shop\\Reader->read(NULL)\n#1 {main}\n"
    )
    of_a_library = "".join(f"#{number} /srv/vendor/acme/table/Rows.php({number}): read()\n" for number in range(4))
    long = f"PHP Fatal error: no row\n{of_a_library}#4 /usr/share/php/Shop/Scales.php(6): weigh()\n"

    assert told(account, long) == ["src/Shop/Scales.php:6 weigh — the trace's innermost frame"]
    assert told(account, trace) == []  # it shows the place at once
    assert told(account, long.replace("(6)", "(60)")) == ["src/Shop/Scales.php — the trace's innermost frame"]


def test_of_a_short_trace_of_pytest_the_innermost_frame_is_told(account: Account, shop: Path) -> None:
    write_all(shop, {"back/shop/scales.py": 'def weigh(crate):\n    return {"kilos": crate.weight, "of": crate}\n'})
    account.cli("code", "index")
    further = "".join(f"/usr/lib/python3.12/csv.py:{line}: in write\n    x\n" for line in range(3))
    output = (
        "FAILED tests/test_day.py::test_a_day - AttributeError: 'NoneType' object has no attribute 'weight'\n"
        "tests/test_day.py:9: in test_a_day\n    assert weigh(crate_of_the_day)\n"
        f'shop/scales.py:2: in weigh\n    return {{"kilos": crate.weight, "of": crate}}\n{further}'
        "E   AttributeError: 'NoneType' object has no attribute 'weight'\n1 failed in 2.31s"
    )

    assert told(account, output) == ["back/shop/scales.py:2 weigh — the trace's innermost frame"]


def test_a_long_trace_without_folders_gets_the_folder_of_its_innermost_frame(account: Account, shop: Path) -> None:
    write_all(shop, {"web/parts/crate-chart.js": "export function draw() {\n  return a.b;\n}\n"})
    account.cli("code", "index")
    error = "it stays empty\n\nUncaught TypeError: a is undefined\n    at draw (crate-chart.js:2:5)\n"
    others = "".join(f"    at step{number} (day-chart.js:{number}:1)\n" for number in range(1, 5))

    assert told(account, error + others) == ["web/parts/crate-chart.js:2 draw — the trace's innermost frame"]
    assert told(account, error) == []


def test_of_another_version_the_function_of_the_frame_is_told(account: Account, shop: Path) -> None:
    source = (
        "def weigh(crate):\n    def read():\n        return 1\n\n    if crate:\n        return read()\n\n\n"
        "def tare(crate):\n    return 1\n"
    )
    write_all(shop, {"src/scales.py": source})
    account.cli("code", "index")
    trace = 'Traceback (most recent call last):\n  File "/srv/app/src/scales.py", line {}, in weigh\n    x\nKeyError: 1'
    further = '  File "/usr/lib/python3.12/csv.py", line 4, in write\n    y\n' * 4

    # Line 6 belongs to the function around the inner one, which has ended.
    long = trace.format(6).replace("KeyError", f"{further}KeyError")
    assert told(account, long) == ["src/scales.py:6 weigh — the trace's innermost frame"]
    assert told(account, trace.format(10)) == []  # a few lines away
    (line,) = told(account, trace.format(60))
    assert line == "src/scales.py:1 weigh — the trace's innermost frame in this project"


def test_the_function_of_a_frame_of_a_library_is_none_of_the_project(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/pages.py": "class Page:\n    def get_template(self):\n        return 1\n"})
    account.cli("code", "index")
    place = "Exception Location: {}/web/loader.py, line 19, in get_template"

    assert told(account, place.format("/opt/venv/lib/python3.12/site-packages")) == []
    (line,) = told(account, place.format("/srv/shop"))
    assert line == "shop/pages.py:2 get_template — defined here; no other use found"


def test_a_script_without_an_ending_uses_and_defines_names(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/scales.py": "def weigh_crate():\n    pass\n\n\nweigh_crate()\n"})
    write_all(shop, {"bin/weigh": "#!/usr/bin/env python3\nweigh_crate()\n\n\ndef read_scales():\n    pass\n"})
    write_all(shop, {"bin/weighed": "weigh_crate()\n", "gradlew": "#!/bin/sh\nweigh_crate() {\n}\n"})
    account.cli("code", "index")

    (line,) = told(account, "is weigh_crate called twice?")
    assert line == "shop/scales.py:1 weigh_crate — defined here; 2 callers: bin/weigh:2, line 5 here"
    assert told(account, "is read_scales called?") == ["bin/weigh:5 read_scales — defined here; no other use found"]


def test_callers_in_the_file_of_the_definition_are_not_counted_among_those_in_others(
    account: Account, shop: Path
) -> None:
    others = {f"shop/{name}.py": "weigh_crate()\n" for name in ("one", "two", "three", "four")}
    write_all(shop, {"shop/scales.py": "def weigh_crate():\n    pass\n\n\nweigh_crate()\n", **others})
    account.cli("code", "index")

    (line,) = told(account, "is weigh_crate called twice?")
    assert line == "shop/scales.py:1 weigh_crate — defined here; 4 callers in 4 other files"


def test_a_comment_with_a_quoted_text_is_no_place_of_it(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/dump.py": "# set where 'Weigh all crates' is chosen\nall = 1\n"})
    write_all(shop, {"web/dump.html": "<label>Weigh all crates</label>\n"})
    account.cli("code", "index")

    (line,) = told(account, 'rename "Weigh all crates"')
    assert line.startswith('web/dump.html:1 "Weigh all crates" — the only file that has it')
    (shop / "web/dump.html").unlink()
    account.cli("code", "index")
    assert told(account, 'rename "Weigh all crates"') == [
        'shop/dump.py:1 "Weigh all crates" — the only place that has it'
    ]


def test_of_many_definitions_that_in_the_interface_is_told(account: Account, shop: Path) -> None:
    classes = {
        f"src/{name}Store.java": f"class {name}Store {{\n    public Order findOrder(long id) {{\n    }}\n}}\n"
        for name in ("Cached", "File", "Memory", "Remote", "Sql")
    }
    interface = "public interface Store {\n    Order findOrder(long id);\n}\n"
    write_all(shop, {**classes, "src/Store.java": interface})
    account.cli("code", "index")

    lines = told(account, "findOrder should return null for unknown ids")
    assert lines == ["src/Store.java:2 findOrder — declared in this interface, defined in 5 other files"]
    (line,) = told(account, "findOrder in SqlStore.java should return null, who calls it?")
    assert line == "src/SqlStore.java:2 findOrder — defined here"


def test_users_are_listed_unless_a_decorator_may_register_the_name(account: Account, shop: Path) -> None:
    source = (
        "@dataclass\nclass RateTable:\n    pass\n\n\n@app.get('/rates')\ndef show_rates():\n    return RateTable()\n"
    )
    write_all(shop, {"shop/rates.py": source})
    account.cli("code", "index")

    (line,) = told(account, "does anything use RateTable?")
    assert line == "shop/rates.py:2 RateTable — defined here; the only use: line 8"
    (line,) = told(account, "does anything use show_rates?")
    assert line == "shop/rates.py:7 show_rates — defined here"


def test_a_variable_of_a_test_is_not_what_the_program_means(account: Account, shop: Path) -> None:
    cart = (
        "export function sum(state) {\n  const { crateLines } = state;\n  return crateLines.length + state.rows;\n}\n"
    )
    test = (
        "const rows = [1];\nconst crateLines = [2];\nconst ownLines = [3];\n"
        "it('adds', () => sum(rows, crateLines, ownLines));\n"
    )
    write_all(shop, {"web/cart.js": cart, "web/receipt.js": cart, "test/cart.test.js": test})
    account.cli("code", "index")

    assert told(account, "the argument `rows` is missing") == []
    assert told(account, "crateLines is empty after a reload") == []
    (line,) = told(account, "ownLines has too few")
    assert line.startswith("test/cart.test.js:3 ownLines — defined here")


def test_the_command_in_the_message_of_the_tool_that_ran_it_has_no_place(account: Account, shop: Path) -> None:
    write_all(shop, {"ci.yml": "run: make dist\n", "deploy.json": '{"build": "make dist"}\n'})
    account.cli("code", "index")

    assert told(account, 'the build failed:\n\nError: Command "make dist" exited with 1') == []
    (line,) = told(account, 'which files have "make dist"?')
    assert line.startswith("deploy.json:1")


def test_a_message_is_not_told_where_a_frame_gives_its_place(asked: Account) -> None:
    message = "Error: Sorry, too many orders for one day"

    assert told(asked, f"{message}\n    at place (shop/orders.py:6:15)") == []
    (line,) = told(asked, message)
    assert line.startswith("shop/orders.py:6")


def test_a_file_that_the_conversation_has_open_is_not_told(account_with_shop: Account, shop: Path) -> None:
    transcript = conversation(account_with_shop, shop, ["shop/limits.py", "shop/orders.py", "shop/web/routes.py"])

    lines = told(account_with_shop, "make allow_order stricter", transcript_path=transcript)

    items = [item for item in account_with_shop.trace()["items"] if item["channel"] == "code"]
    assert not [line for line in lines if "shop/" in line]
    assert [item["why"] for item in items] == ["the conversation has it open"]


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [("and --skip-mail as well", False), ("what does --skip-mail do?", True), ("where is --skip-mail read?", True)],
)
def test_in_mid_conversation_a_flag_is_told_only_to_who_asks(
    account_with_shop: Account, shop: Path, prompt: str, *, is_told: bool
) -> None:
    transcript = conversation(account_with_shop, shop, ["shop/orders.py"])

    lines = told(account_with_shop, prompt, transcript_path=transcript)

    assert any(line.startswith("shop/cli.py:1 --skip-mail") for line in lines) == is_told


@pytest.mark.parametrize(
    ("trace", "is_told"),
    [
        (
            "\n\n#0  wait () from /usr/lib/libc.so\n#1  refund_all (n=3) at refund_all.py:2\n#2  main () at m.py:1",
            False,
        ),
        ("", True),
    ],
)
def test_a_place_that_a_pasted_trace_has_is_not_told(account_with_shop: Account, trace: str, *, is_told: bool) -> None:
    calls = "from shop.refund_all import refund_all\n" + "refund_all(1)\n" * 5
    files = {"shop/refund_all.py": "def refund_all(n):\n    wait(n)\n", "shop/many.py": calls}
    write_all(account_with_shop.project, files)
    account_with_shop.cli("code", "index")

    lines = told(account_with_shop, f"why does refund_all hang?{trace}")

    assert any("shop/refund_all.py:1 refund_all" in line for line in lines) == is_told


def test_the_users_of_a_source_file_are_told_only_if_they_are_asked_for(account_with_shop: Account) -> None:
    write_all(account_with_shop.project, {"web/load.js": "read('web/totals.js');\n"})
    account_with_shop.cli("code", "index")

    assert not told(account_with_shop, "round up in web/totals.js")
    (line,) = told(account_with_shop, "who uses web/totals.js?")
    assert line == "web/totals.js — used in web/load.js:1"


def conversation(account: Account, shop: Path, opened: list[str], *prompts: str) -> str:
    """Return a transcript in which tools open files after the first prompt, and other prompts follow."""
    used = [
        {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"{shop}/{path}"}}
        for number, path in enumerate(opened)
    ]
    said = [
        {"type": "user", "message": {"role": "user", "content": "how are orders limited?"}},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": used}},
    ]
    for number, prompt in enumerate(prompts):
        answer = {
            "id": f"a{number}",
            "role": "assistant",
            "content": [{"type": "text", "text": "It is written there."}],
        }
        said += [
            {"type": "user", "message": {"role": "user", "content": prompt}},
            {"type": "assistant", "message": answer},
        ]
    return str(account.write("t.jsonl", "".join(json.dumps(one) + "\n" for one in said)))


@pytest.mark.parametrize(
    ("opened", "is_told"),
    [
        pytest.param(
            ["shop/limits.py", "shop/orders.py", "shop/web/routes.py", "tests/test_limits.py"], False, id="all"
        ),
        pytest.param(["shop/limits.py"], True, id="not the callers"),
    ],
)
def test_what_the_conversation_opened_long_ago_is_not_told(
    account_with_shop: Account, shop: Path, opened: list[str], *, is_told: bool
) -> None:
    others = [f"what is rule {number} of the shop?" for number in range(9)]
    transcript = conversation(account_with_shop, shop, opened, *others)

    lines = told(account_with_shop, "make allow_order stricter", transcript_path=transcript)

    assert any("allow_order" in line and "defined here" in line for line in lines) == is_told
    assert account_with_shop.trace()["inputs"]["conversation"].get("earlier_files", []) == (
        [] if is_told else sorted(opened)
    )


@pytest.mark.parametrize(
    "opened",
    [
        pytest.param(["shop/limits.py"], id="its file"),
        pytest.param(["shop/limits.py", "shop/orders.py", "shop/web/routes.py", "tests/test_limits.py"], id="all"),
    ],
)
@pytest.mark.parametrize(
    "prompt",
    [
        "ok, and who calls allow_order?",
        "is allow_order still used anywhere?",
        "wird allow_order noch irgendwo benutzt?",
        "allow_order est encore utilisé quelque part ?",
        "¿se usa allow_order en algún otro sitio?",
        "allow_orderって他に使ってる所ある",
        "allow_order 现在还有哪些地方在用",
    ],
)
def test_who_asks_for_the_callers_of_what_is_open_is_told_them(
    account_with_shop: Account, shop: Path, opened: list[str], prompt: str
) -> None:
    transcript = conversation(account_with_shop, shop, opened)

    lines = told(account_with_shop, prompt, transcript_path=transcript)

    assert any("2 callers: shop/orders.py:5" in line for line in lines)


def test_callers_in_files_not_opened_are_told_though_the_definition_is_open(
    account_with_shop: Account, shop: Path
) -> None:
    transcript = conversation(account_with_shop, shop, ["shop/limits.py", "shop/orders.py"])

    lines = told(account_with_shop, "make allow_order stricter", transcript_path=transcript)

    assert any("allow_order" in line and "shop/web/routes.py:6" in line for line in lines)


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        ("who calls weigh_none", True), ("und wer ruft weigh_none auf?", True), ("qui appelle weigh_none ?", True),
        ("¿quién llama a weigh_none?", True), ("quem chama weigh_none?", True), ("chi chiama weigh_none?", True),
        ("кто вызывает weigh_none?", True), ("谁调用 weigh_none", True), ("weigh_none はどこから呼ばれる", True),
        ("are you sure nothing else calls weigh_none?", True), ("thanks. where is weigh_none used?", True),
        ("where is weigh_none defined?", False), ("wo ist weigh_none definiert?", False),
        ("make weigh_none faster", False), ("where should weigh_none log?", False),
    ],
)  # fmt: skip
def test_who_asks_for_callers_is_told_that_there_are_none_also_of_what_is_open(
    account_with_shop: Account, shop: Path, prompt: str, *, is_told: bool
) -> None:
    write_all(shop, {"shop/scales.py": "def weigh_none(rows):\n    return rows\n"})
    account_with_shop.cli("code", "index")
    transcript = conversation(account_with_shop, shop, ["shop/scales.py"])

    lines = told(account_with_shop, prompt, transcript_path=transcript)

    assert lines == ["shop/scales.py:1 weigh_none — defined here; no other use found"] * is_told


def test_who_names_the_class_that_is_open_does_not_ask_for_its_users(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/boxes.py": "class Box:\n    pass\n", "shop/load.py": "box = Box()\n"})
    account.cli("code", "index")
    transcript = conversation(account, shop, ["shop/boxes.py"])

    assert told(account, "make the class Box smaller", transcript_path=transcript) == []
    (line,) = told(account, "who uses Box?", session="t", transcript_path=transcript)
    assert line == "shop/boxes.py:1 Box — defined here; the only use: shop/load.py:1"


@pytest.mark.parametrize(
    ("callers", "listed"),
    [
        pytest.param(5, "shop/p0.py:1, shop/p1.py:1, shop/p2.py:1, shop/p3.py:1, shop/p4.py:1", id="few"),
        pytest.param(
            15, "shop/p0.py:1, shop/p1.py:1, shop/p10.py:1, shop/p11.py:1, shop/p12.py:1, shop/p13.py:1, …", id="many"
        ),
    ],
)
def test_who_asks_for_callers_is_told_the_first_of_them(
    account: Account, shop: Path, callers: int, listed: str
) -> None:
    write_all(shop, {"shop/scales.py": "def weigh_all(rows):\n    return rows\n"})
    write_all(shop, {f"shop/p{number}.py": "weigh_all([])\n" for number in range(callers)})
    account.cli("code", "index")

    line = f"shop/scales.py:1 weigh_all — defined here; {callers} callers in {callers} other files"
    assert told(account, "who calls weigh_all?") == [f"{line}: {listed}"]
    review = (
        "review weigh_all, which now gives up after three tries. My main concern: callers that ignore what it returns"
    )
    assert told(account, f"{review}, and whether one of them is called within a request") == [f"{line}: {listed}"]
    long = "nice. does anything else call weigh_all? i would like it to take a limit, which none of the pages gives yet"
    assert told(account, long) == [f"{line}: {listed}"]
    assert told(account, "make weigh_all faster") == ([line] if callers < 12 else [])


def test_files_that_only_have_the_words_of_a_name_are_not_counted_as_its_users(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/trays.py": "class TrayLabel:\n    pass\n"})
    write_all(shop, {f"shop/p{number}.py": "tray_label = 1\n" for number in range(25)})
    account.cli("code", "index")

    assert told(account, "who uses TrayLabel?") == ["shop/trays.py:1 TrayLabel — defined here"]


def test_a_method_is_found_by_the_folder_that_a_prompt_names_before_it(account: Account, shop: Path) -> None:
    method = "    def parcels(self):\n        return []\n"
    write_all(shop, {"shop/event/base.py": f"class Base:\n{method}", "shop/finder.py": f"class Finder:\n{method}"})
    account.cli("code", "index")

    assert told(account, "where is event.parcels defined?") == ["shop/event/base.py:2 event.parcels — defined here"]
    assert told(account, "where is basket.parcels defined?") == []


def test_a_helper_of_tests_that_is_called_so_too_is_no_use(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/labels.py": "def label_of(row):\n    return row\n", "shop/cli.py": "label_of(1)\n"})
    write_all(shop, {"tests/test_cli.py": "def label_of(row):\n    return 1\n\n\nassert label_of(2)\n"})
    account.cli("code", "index")

    line = "shop/labels.py:1 label_of — defined here; the only caller: shop/cli.py:1"
    assert told(account, "what is label_of for?") == [line]
    assert told(account, "label_of returns the row, fix it") == [line]


def test_two_names_of_one_file_get_one_line(asked: Account) -> None:
    lines = told(asked, "compare hash_password with check_password")

    assert [line.partition(" — ")[0] for line in lines] == ["shop/auth/password.py:1 hash_password"]
    assert lines[0].endswith("; check_password: line 5")


def test_later_in_a_session_one_line_is_told_and_three_at_first(account_with_shop: Account) -> None:
    prompt = "compare allow_order, write_report, hash_password and render_invoice"
    said = {"type": "user", "message": {"role": "user", "content": "hello, what is this?"}}
    transcript = account_with_shop.write("t.jsonl", json.dumps(said) + "\n")

    first = told(account_with_shop, prompt)
    later = told(account_with_shop, prompt, transcript_path=str(transcript))

    assert [len([line for line in lines if "defined here" in line]) for lines in (first, later)] == [3, 1]


@pytest.mark.parametrize("is_indexed", [False, True])
@pytest.mark.parametrize(
    ("profile", "is_told"),
    [
        pytest.param("quiet", False, id="the agent finds the file by its name"),
        pytest.param("as-specified", True, id="the form of the specification"),
    ],
)
def test_a_path_alone_is_told_only_as_specified(
    account: Account, shop: Path, profile: str, *, is_told: bool, is_indexed: bool
) -> None:
    account.env["ENRICHER_PROFILE"] = profile
    if is_indexed:
        account.cli("code", "index")

    lines = told(account, "look into payment/gateway.py.")

    assert ("shop/payment/gateway.py \N{EM DASH} the only file of that name" in lines) == is_told
    assert (shop / "shop/payment/gateway.py").is_file()


@pytest.mark.parametrize(
    ("prompt", "is_told"),
    [
        ("is test_allow_order still needed?", True),
        ("in test_limits.py, is test_allow_order still needed?", False),
        ("in limits.py, is allow_order still needed?", True),
    ],
)
def test_a_definition_is_told_where_the_prompt_lacks_its_file_or_another_file_uses_it(
    asked: Account, prompt: str, *, is_told: bool
) -> None:
    assert any(" defined here" in line for line in told(asked, prompt)) == is_told


def test_a_name_without_a_definition_that_a_test_uses_too_has_no_one_place(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/scales.py": "def weigh(parcel):\n    return parcel.tare_weight\n"})
    write_all(shop, {"tests/test_scales.py": "assert weigh(parcel).tare_weight == 1\n"})
    account.cli("code", "index")

    assert told(account, "rename `tare_weight` to `empty_weight`") == []


def test_a_text_is_found_though_many_files_have_its_words_in_another_order(account: Account, shop: Path) -> None:
    others = {f"shop/note{number}.py": "TEXT = 'here is no open till, approved or not'\n" for number in range(25)}
    write_all(shop, others | {"shop/till.py": "\n\ndef notice():\n    return 'no approved till here'\n"})
    account.cli("code", "index")

    line = 'shop/till.py:4 "no approved till here" — the only place that has it'
    assert told(account, 'it should not say "no approved till here"') == [line]


ABOVE = '; above it: "NB: if you change this, also change the table of shop/web/labels.js"'


@pytest.mark.parametrize(
    ("prompt", "end"),
    [
        pytest.param("let crate_label add the weight", f"defined here{ABOVE}", id="a change"),
        pytest.param("what does crate_label return?", "defined here", id="a question"),
        pytest.param("let pallet_label add the weight", "no other use found", id="another condition"),
        pytest.param("let lid_label add the weight", "no other use found", id="a comment further above"),
    ],
)
def test_a_comment_on_what_else_to_change_is_told_with_the_definition(asked: Account, prompt: str, end: str) -> None:
    (line,) = told(asked, prompt)

    assert line.endswith(end)

"""Through the real hook: what is told of a program in C, whose headers declare again what other files define."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import write_all
from test_whereabouts import told

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

FILES = {
    "crates.c": (
        "int\ncount_crates(struct cart *cart)\n{\n\treturn cart->crates;\n}\n\n"
        "void\nclose_crate(struct cart *cart)\n{\n}\n\nint\nweigh_crate(int crate)\n{\n\treturn crate;\n}\n"
    ),
    "shop.h": (
        "int\t count_crates(struct cart *);\nvoid\t close_crate(struct cart *);\nextern int weigh_crate(int);\n"
        "static inline const struct crate *open_crate (int,\n    int);\n"
    ),
    "orders.c": (
        "void\nplace(struct cart *cart, int *weight)\n{\n\tif (!cart)\n\t\treturn count_crates(cart);\n"
        "\t*weight = weigh_crate(3);\n\tgive(close_crate, cart);\n}\n"
    ),
    "table.h": "struct table_row {\n\tint size;\n};\n\n#define MOST_ROWS 4\n#define ALL_ROWS (2 * MOST_ROWS)\n"
    "#define ROW_LIST(name, size) struct table_row name[size]\n",
    "table.c": (
        "struct table_row;\nstatic ROW_LIST(rows, 3);\n\n"
        "static int\nrow_size(struct table_row *row)\n{\n\treturn row->size;\n}\n\n"
        'static struct column columns[] = {\n\t{ "size",\n\t  row_size\n\t},\n};\n'
    ),
    "crane.hpp": "class Crane {\npublic:\n    void lift();\n    int rope_length = 3;\n    // bool rope_is_new;\n};\n",
    "crane.cpp": "void Crane::lift() {\n    pull(rope_length);\n}\n",
    "yard.cpp": "int yard(Crane *crane) {\n    return crane->rope_length;\n}\n",
    "parse.y": "%%\nline : WORD\n%%\n\nint\nparse_order(const char *line)\n{\n\treturn 1;\n}\n",
    "configure.ac": (
        "AC_ARG_ENABLE(scales, AS_HELP_STRING(--enable-scales, weigh crates))\n"
        "AC_MSG_ERROR([scales cannot be found here])\n"
    ),
}


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("who calls count_crates?", "crates.c:2 count_crates — defined here; the only caller: orders.c:5"),
        ("make close_crate faster", "crates.c:8 close_crate — defined here; the only use: orders.c:7"),
        ("weigh_crate is off by one", "crates.c:13 weigh_crate — defined here; the only caller: orders.c:6"),
        ("table_row needs a name", "table.h:1 table_row — defined here; 2 uses: table.c:5, line 7 here"),
        ("MOST_ROWS is too small", "table.h:5 MOST_ROWS — defined here; the only use: line 6"),
        ("ROW_LIST is slow", "table.h:7 ROW_LIST — defined here; the only use: table.c:2"),
        ("rope_length is 0", "crane.hpp:4 rope_length — declared here; 2 uses: crane.cpp:2, yard.cpp:2"),
        ("row_size is wrong", "table.c:5 row_size — defined here; the only use: line 12"),
        ("what does parse_order return?", "parse.y:6 parse_order — defined here; no other use found"),
        ("what does --enable-scales do?", "configure.ac:1 --enable-scales — the only place that has it"),
        (
            "error: scales cannot be found here",
            'configure.ac:2 "scales cannot be found here" — the only place that has it',
        ),
    ],
)
def test_the_places_in_a_program_in_c_are_told(account: Account, shop: Path, prompt: str, line: str) -> None:
    write_all(shop, FILES)
    account.cli("code", "index")

    assert told(account, prompt) == [line]


def with_a_wide_macro(account: Account, shop: Path) -> None:
    users = {f"rows/row{number}.c": "void row(void)\n{\n\tPUSH_CRATE(all, one);\n}\n" for number in range(24)}
    stacks = {f"piles/pile{number}.py": "stack_crate(1)\n" for number in range(24)}
    macros = (
        "#define GROW_PILE(list, count) \\\n\tdo { \\\n\t\t(list) = grown(list, count); \\\n\t} while (0)\n\n"
        "#define PUSH_CRATE(list, ...) \\\n\tdo { \\\n\t\tGROW_PILE(list, 1); \\\n\t} while (0)\n"
    )
    more = {"pile.h": macros, "pile.py": "def stack_crate(crate):\n    return crate\n"}
    write_all(shop, FILES | users | stacks | more)
    account.cli("code", "index")


@pytest.mark.parametrize(
    ("prompt", "lines"),
    [
        (
            "quelle est la différence entre GROW_PILE et PUSH_CRATE ?",
            ["pile.h:1 GROW_PILE — defined here; the only use: line 8; PUSH_CRATE: line 6"],
        ),
        ("was macht PUSH_CRATE eigentlich?", ["pile.h:6 PUSH_CRATE — defined here"]),
        ("what does PUSH_CRATE do with row7.c?", ["pile.h:6 PUSH_CRATE — defined here"]),
        ("PUSH_CRATE是什么", ["pile.h:6 PUSH_CRATE — defined here"]),
        ("explain stack_crate", ["pile.py:1 stack_crate — defined here"]),
        ("use PUSH_CRATE for the last row", []),
        ("the rows call stack_crate too often, make it less", []),
    ],
)
def test_a_name_that_is_used_everywhere_is_located_if_it_is_to_be_explained(
    account: Account, shop: Path, prompt: str, lines: list[str]
) -> None:
    with_a_wide_macro(account, shop)

    assert told(account, prompt) == lines

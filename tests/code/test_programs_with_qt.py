"""Through the real hook: what is told of a program in C++ with forms of Qt Designer, and of packages in Java."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from invented_shop import write_all
from test_whereabouts import told

if TYPE_CHECKING:
    from simulator import Account

JAVA = "src/org/shop/checks/tests"
LANGUAGES = "bg ca cs da de el en es et fi fr he hr hu it ja ko lt ltg nb nl oc pl pt_BR ro ru sv tr uk zh_CN"
FILES = {
    "src/base/scales.h": (
        "namespace Shop::Scales\n{\n    std::optional<bool> readLid(const QString &text);\n"
        "    [[nodiscard]] QHash<QString, QList<int>> weighAll(int most);\n    int tareOf(int row);\n}\n\n"
        "class Depot\n{\npublic:\n    static QList<int> allRows(int most);\nsignals:\n"
        "    void lidOpened(int row);\n};\n"
    ),
    "src/base/scales.cpp": (
        '#include "scales.h"\n\nstd::optional<bool> Shop::Scales::readLid(const QString &text)\n{\n'
        "    return {};\n}\n\n"
        "QHash<QString, QList<int>> Shop::Scales::weighAll(int most)\n{\n    return {};\n}\n\n"
        "QList<int> Depot::allRows(int most)\n{\n    return {};\n}\n\nvoid Depot::lidOpened(int row)\n{\n}\n"
        "int Shop::Scales::tareOf(int row)\n{\n    return row;\n}\n"
    ),
    "src/gui/window.cpp": (
        '#include "scales.h"\n\nvoid Window::open(int most, int least)\n{\n    foo<3>(readLid(text()));\n'
        "    const bool isWide = most < least && least >\n        weighAll(3);\n    emit lidOpened(3);\n"
        "    rows << most >> allRows(3);\n    m_ui->actionWeigh->setIcon(icon());\n}\n\n"
        'void Window::weigh()\n{\n    const auto tareOf = [this](int row) { return row; };\n'
        "    tareOf(3);\n    auto total = tareOf(4);\n}\n"
    ),
    "CMakeLists.txt": "add_library(shop src/base/weighAll.cpp src/base/scales.cpp)\n",
    "src/gui/window.ui": (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ui version="4.0">\n <class>Depot</class>\n'
        ' <widget class="QMainWindow" name="Depot">\n  <action name="actionWeigh">\n   <property name="text">\n'
        "    <string>Weigh All Crates...</string>\n   </property>\n  </action>\n </widget>\n</ui>\n"
    ),
    **{
        f"src/lang/shop_{language}.ts": "<TS>\n<source>Weigh All Crates...</source>\n</TS>\n"
        for language in LANGUAGES.split()
    },
    f"{JAVA}/SharpEdges.java": (
        "package org.shop.checks.tests;\n\npublic class SharpEdges {\n    int edge = Shapes.sharpestEdge(3);\n}\n"
    ),
    f"{JAVA}/LidTest.java": "package org.shop.checks.tests;\n\npublic class LidTest {\n}\n",
    "src/org/shop/Shapes.java": (
        "package org.shop;\n\npublic class Shapes {\n    public static int sharpestEdge(int rows) {\n"
        "        return 3;\n    }\n}\n"
    ),
    "test/unit/org/shop/ShapesTest.java": "class ShapesTest {\n    int edge = Shapes.sharpestEdge(4);\n}\n",
}  # fmt: skip
ERROR = "src/gui/window.cpp:6:9: error: use of undeclared identifier 'tareOf'"
BY_GCC = "\N{LEFT SINGLE QUOTATION MARK}tareOf\N{RIGHT SINGLE QUOTATION MARK} was not declared in this scope"
LOCAL = "src/gui/window.cpp:15 tareOf — defined here as a local variable"
TARE = "src/base/scales.cpp:21 tareOf — defined here"


@pytest.fixture(scope="module")
def asked_depot(asked_shop: Account) -> Account:
    write_all(asked_shop.project, FILES)
    asked_shop.cli("code", "index")
    return asked_shop


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("who calls readLid?", "src/base/scales.cpp:3 readLid — defined here; the only caller: src/gui/window.cpp:5"),
        ("who calls weighAll?", "src/base/scales.cpp:8 weighAll — defined here; the only caller: src/gui/window.cpp:7"),
        ("who calls allRows?", "src/base/scales.cpp:13 allRows — defined here; the only caller: src/gui/window.cpp:9"),
        (
            "is lidOpened used?",
            "src/base/scales.cpp:18 lidOpened — defined here; the only caller: src/gui/window.cpp:8",
        ),
        (
            'the menu says "Weigh All Crates…", where is it?',
            'src/gui/window.ui:7 "Weigh All Crates" — the only source that has it, beside src/lang/shop_en.ts:2',
        ),
        ("where is actionWeigh?", "src/gui/window.cpp:10 actionWeigh — the only place that has it"),
        ("who uses Depot?", "src/base/scales.h:8 Depot — defined here; no other use found"),
        (ERROR, LOCAL),
        (f"/home/kim/shop/src/gui/window.cpp:6:9: error: {BY_GCC}", LOCAL),
        (f"src/gui/page.cpp:6:9: error: {BY_GCC}", TARE),
        ("error: use of undeclared identifier 'tareOf'", TARE),
        ("tareOf is slow in src/gui/window.cpp", TARE),
        (
            "is sharpestEdge still used?",
            (f"src/org/shop/Shapes.java:4 sharpestEdge — defined here; one caller: {JAVA}/SharpEdges.java:4; and"
             " test/unit/org/shop/ShapesTest.java"),
        ),
        ("test SharpEdges", f"{JAVA}/SharpEdges.java:3 SharpEdges — defined here; no other use found"),
        ("how do I run the lid test?", f"{JAVA}/LidTest.java — the only test file of that name"),
    ],
)  # fmt: skip
def test_what_a_program_with_forms_has_is_told(asked_depot: Account, prompt: str, line: str) -> None:
    first = told(asked_depot, prompt)[:1]
    assert [one[: len(line)] if line == TARE or "LidTest" in line else one for one in first] == [line]


@pytest.mark.parametrize(("opened", "line"), [("src/gui/window.cpp", []), ("src/org/shop/Shapes.java", [TARE])])
def test_an_unknown_name_that_an_opened_file_gives_a_variable_is_not_another_one(
    asked_depot: Account, opened: str, line: list[str]
) -> None:
    read = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": f"{asked_depot.project}/{opened}"}}
    said = [
        {"type": "user", "message": {"role": "user", "content": "look at it"}},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [read]}},
    ]
    transcript = asked_depot.write("t.jsonl", "".join(json.dumps(one) + "\n" for one in said))

    lines = told(asked_depot, "error: use of undeclared identifier 'tareOf'", transcript_path=str(transcript))
    assert [one[: len(TARE)] for one in lines] == line

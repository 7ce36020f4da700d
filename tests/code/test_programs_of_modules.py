"""Through the real hook: what programs in Elixir, C++ with Qt, Java and TypeScript have that others do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import git, told, write_all

if TYPE_CHECKING:
    from simulator import Account

PALLET = (
    "defmodule Shop.Store.Pallet do\n  defguard is_crate(row) when is_map(row)\n\n"
    "  def stack_rows(rows), do: rows\nend\n"
)
LANGUAGES = "bg ca cs da de el es et fi fil fr he hr hu id it ja ko lt nb nl pl pt_BR ro ru sv tr zh_CN"
FILES = {
    # Elixir
    "mix.exs": "defmodule Shop.MixProject do\nend\n",
    "lib/shop/store/pallet.ex": PALLET,
    "test/shop/store/pallet_test.exs": (
        "defmodule Shop.Store.PalletTest do\n  use ExUnit.Case\n\n"
        '  test "sums" do\n    assert Shop.Store.Pallet.stack_rows([]) == []\n  end\nend\n'
    ),
    "lib/mix/tasks/pack.labels.ex": "defmodule Mix.Tasks.Pack.Labels do\nend\n",
    "lib/mix/tasks/pack.crates.ex": "defmodule Mix.Tasks.Pack.Crates do\nend\n",
    "lib/mix/tasks/test.ex": "defmodule Mix.Tasks.Test do\n  @switches [keep_going: :boolean]  # --keep-going\nend\n",
    "lib/mix/tasks/stack.ex": "defmodule Mix.Tasks.Stack do\n  @switches [\n    most_pallets: :integer\n  ]\nend\n",
    "lib/shop/stack.ex": (
        "defmodule Shop.Stack do\n  def run(opts) do\n    most = Keyword.fetch!(opts, :most_pallets)\n"
        "    if opts[:most_pallets], do: most\n    Keyword.put(opts, :most_pallets, 1)\n  end\nend\n"
    ),
    "test/tasks/pack.crates_test.exs": "defmodule Mix.Tasks.Pack.CratesTest do\nend\n",
    # C++
    "src/ShelfDialog.h": (
        "class ShelfDialog : public QDialog\n{\npublic:\n    explicit ShelfDialog(QWidget* parent);\n"
        "    ~ShelfDialog() override;\n    int weigh(const QString& crate);\n};\n"
    ),
    "src/ShelfDialog.cpp": (
        '#include "ShelfDialog.h"\n\nShelfDialog::ShelfDialog(QWidget* parent)\n    : QDialog(parent)\n{\n}\n\n'
        "ShelfDialog::~ShelfDialog() = default;\n\n"
        "int ShelfDialog::weigh(const QString& crate)\n{\n    return crate.size();\n}\n"
    ),
    "src/Window.cpp": (
        '#include "ShelfDialog.h"\n\nvoid Window::open()\n{\n    ShelfDialog dialog(this);\n}\n\n'
        "void Window::show(const ShelfDialog& dialog)\n{\n}\n"
    ),
    "src/Settings.cpp": (
        'Table table = {\n    {Settings::KeepCrates, {QS("KeepCrates"), Local, true}},\n'
        '    {Settings::GUI_ShowScales, {QS("GUI/ShowScales"), 3}},\n};\n'
    ),
    "src/Settings.h": "enum Key {\n    KeepCrates,\n};\n",
    "src/Loader.cpp": (
        "void load()\n{\n    if (settings()->get(Settings::KeepCrates).toBool()) {\n    }\n"
        "    settings()->get(Settings::GUI_ShowScales);\n}\n"
    ),
    "src/WideDialog.h": "class WideDialog : public ShelfDialog\n{\n};\n",
    "src/Page.cpp": "void save()\n{\n    settings()->set(Settings::KeepCrates, true);\n}\n",
    "src/crane.h": ("class Crane {\npublic:\n    Crane(int most);\n    Crane(int most,\n          int least);\n};\n"),
    "src/yard.cpp": (
        '#include "crane.h"\n\nstatic Crane lift(3);\n\nvoid fail(int code) {\n'
        '    show(fmt(_("Crane stopped with code %i"), code));\n}\n\n'
        'bool is_wide() {\n    return cfg->get_bool(\n        "wide-yard");\n}\n'
    ),
    "src/port.cpp": 'void fail(int code) {\n    show(fmt(_("Crane stopped with code %i"), code));\n}\n',
    "src/defaults.cpp": 'Table defaults = {\n    {"wide-yard", Data("no")},\n};\n',
    "src/tally.cpp": "int tally_crates() {\n    return 3;\n}\n",
    "src/tally.h": "int tally_crates();\n",
    "test/tally.cpp": 'TEST_CASE("tally", "[Tally]")\n{\n    REQUIRE(tally_crates() == 3);\n}\n',
    "bridge/tally.rs": "pub fn tally_crates() -> i32 {\n    3\n}\n",
    "server/src/main/java/org/apache/yard/Winch.java": (
        "package org.apache.yard;\n\npublic class Winch {\n\n    public void wind(int rows) {\n        rows--;\n"
        '        LOG.error("windRope exceeded on retries.");\n    }\n}\n'
    ),
    "tests/TestShelfDialog.cpp": "void TestShelfDialog::weighs()\n{\n}\n",
    **{
        f"share/translations/shop_{language}.ts": f"<TS language='{language}'>\n<name>ShelfDialog</name>\n</TS>\n"
        for language in LANGUAGES.split()
    },
    # Java
    "pom.xml": "<project><modules><module>crates</module></modules></project>\n",
    "crates/pom.xml": "<project/>\n",
    "crates/src/main/java/org/shop/crates/packing/CrateTable.java": (
        "package org.shop.crates.packing;\n\npublic class CrateTable {\n"
        + "    // rows\n" * 20
        + "    public void onLoad(Event event) {\n        rows.forEach(row -> row.load());\n    }\n\n"
        + "    public void onClear(Event event) {\n        rows.clear();\n    }\n}\n"
    ),
    **{
        f"crates/src/main/java/org/shop/crates/packing/Crate{name}.java": (
            f"package org.shop.crates.packing;\n\nclass Crate{name} {{\n    private CrateTable table = null;\n}}\n"
        )
        for name in ("Dialog", "Page", "View")
    },
    "crates/src/test/java/org/shop/crates/packing/CrateTableTest.java": (
        "class CrateTableTest {\n    CrateTable table = new CrateTable();\n}\n"
    ),
    # Kotlin
    "android/RootHelper.kt": (
        "class RootHelper {\n  private var isHeld = false\n\n  fun hold() {\n    isHeld = true\n  }\n\n"
        "  fun held() = isHeld\n}\n"
    ),
    "android/CrateModule.kt": "class CrateModule : Spec() {\n  override fun flushCrates() = Unit\n}\n",
    "android/Spec.java": "class Spec {\n    public void flushCrates() {\n    }\n}\n",
    "apple/CrateModule.h": "@interface CrateModule : NSObject\n@end\n",
    # Objective-C
    "apple/Registry.h": (
        "#import <Foundation/Foundation.h>\n\n@interface CrateRegistry : NSObject\n"
        "- (int)weighCrate:(int)crate;\n@end\n"
    ),
    "apple/Registry.m": (
        '#import "Registry.h"\n\n@interface CrateRegistry ()\n@end\n\n@implementation CrateRegistry\n'
        "- (int)weighCrate:(int)crate\n{\n  return crate;\n}\n@end\n"
    ),
    "apple/Main.m": (
        '#import "Registry.h"\n\n@class CrateRegistry;\nvoid start() {\n'
        "  CrateRegistry *registry = [CrateRegistry new];\n  [registry weighCrate:3];\n}\n"
    ),
    # TypeScript
    "web/enable.ts": "export function enableScales() {\n}\nexport function enableLegacyScales() {\n}\n",
    "web/cli.ts": "new Option('scales')\n\n\nconfig.get('scales')\n",
    "web/index.ts": "export {\n  enableScales,\n  enableLegacyScales,\n} from './enable';\n",
}
STACK = "lib/shop/stack.ex"
DIALOGS = "src/WideDialog.h:1, src/Window.cpp:5, src/Window.cpp:8"
PALLET_TEST = "test/shop/store/pallet_test.exs"
JAVA_TEST = "crates/src/test/java/org/shop/crates/packing/CrateTableTest.java"
JAVA = "crates/src/main/java/org/shop/crates/packing"
TRACE = (
    "java.lang.NullPointerException: row\n"
    "\tat org.shop.crates.packing.CrateTable.lambda$onLoad$3(CrateTable.java:290)\n"
    "\tat org.shop.crates.Main.main(Main.java:5)"
)


@pytest.fixture(scope="module")
def asked_modules(asked_shop: Account) -> Account:
    write_all(asked_shop.project, FILES)
    git(asked_shop.project, "add", "-A")
    git(asked_shop.project, "commit", "-qm", "Sell crates")
    asked_shop.cli("code", "index")
    return asked_shop


@pytest.mark.parametrize(
    ("prompt", "lines"),
    [
        pytest.param(
            "is there a race in Shop.Store.Pallet?",
            ["lib/shop/store/pallet.ex:1 Store.Pallet — defined here"],
            id="a module of Elixir",
        ),
        pytest.param(
            "what does is_crate do?",
            ["lib/shop/store/pallet.ex:2 is_crate — defined here; no other use found"],
            id="a guard",
        ),
        pytest.param(
            "Shop.Store.Pallet.stack_rows/1 must skip empty rows, fix it",
            [f"lib/shop/store/pallet.ex:4 Pallet.stack_rows — defined here; used by tests only: {PALLET_TEST}:5",
             f"{PALLET_TEST}:5 — tests stack_rows, named there once; run it alone: `mix test {PALLET_TEST}`"],
            id="a function with its number of arguments",
        ),
        pytest.param(
            "what does --keep-going do?",
            ["lib/mix/tasks/test.ex:2 --keep-going — the only place that has it"],
            id="the command test is no test",
        ),
        pytest.param(
            "ShelfDialog opens twice",
            [f"src/ShelfDialog.h:1 ShelfDialog — defined here; 3 uses: {DIALOGS}"],
            id="a class with its implementation and tables of translations",
        ),
        pytest.param(
            "[ 37%] Building CXX object src/Window.cpp.o\n"
            "/home/kim/shop/src/Window.cpp:128:31: error: no matching function for call to"
            " 'ShelfDialog::weigh(const QSet<QString>&)'\n  128 |     dialog.weigh(crates);\n\nwhat's up?",
            ["src/ShelfDialog.cpp:10 ShelfDialog.weigh — defined here"],
            id="an error of a compiler of C++",
        ),
        pytest.param(
            "what's the default of KeepCrates and who reads it?",
            ["src/Settings.cpp:2 KeepCrates — declared here; read in src/Loader.cpp:3"],
            id="a setting in a table of C++",
        ),
        pytest.param(
            "Settings::GUI_ShowScales has no effect",
            ["src/Settings.cpp:3 GUI_ShowScales — declared here; read in src/Loader.cpp:5"],
            id="a setting that only has a constant",
        ),
        pytest.param(
            "what does --most-pallets do?",
            [f"lib/mix/tasks/stack.ex:3 --most-pallets — declared here; read in {STACK}:3, {STACK}:4"],
            id="a switch of Elixir",
        ),
        pytest.param(
            f"{TRACE}\n\nwhen I drop an empty folder",
            [f"{JAVA}/CrateTable.java:24 onLoad — the trace's innermost frame in this project"],
            id="a frame in a lambda",
        ),
        pytest.param(
            "rename rows in CrateTable to crates",
            [(f"{JAVA}/CrateTable.java:3 CrateTable — defined here; 3 uses: {JAVA}/CrateDialog.java:4,"
              " …/CratePage.java:4, …/CrateView.java:4"),
             (f"{JAVA_TEST}:2 — tests CrateTable, named there once; run it alone: `cd crates && mvn test"
              " -Dtest=CrateTableTest`")],
            id="a class in a module of Maven, with long paths",
        ),
        pytest.param(
            "isHeld is never reset",
            ["android/RootHelper.kt:2 isHeld — defined here; 2 uses: line 5, line 8"],
            id="a field that is given a value",
        ),
        pytest.param(
            "CrateRegistry leaks",
            ["apple/Registry.h:3 CrateRegistry — defined here; the only use: apple/Main.m:5"],
            id="a class of Objective-C",
        ),
        pytest.param(
            "weighCrate is off by one",
            ["apple/Registry.m:7 weighCrate — defined here; the only use: apple/Main.m:6"],
            id="a method of Objective-C",
        ),
        pytest.param(
            "flushCrates in CrateModule drops rows",
            [
                "android/CrateModule.kt:2 flushCrates — defined here; CrateModule: line 1 and in apple/CrateModule.h:1",
            ],
            id="a method of a class in two languages",
        ),
        pytest.param(
            "who uses Crane?",
            ["src/crane.h:1 Crane — defined here; the only use: src/yard.cpp:3"],
            id="a constructor is no use of its class",
        ),
        pytest.param(
            'the status line says "Crane stopped with code 7"',
            [('src/port.cpp:2 "Crane stopped with code" — the message with its placeholders, also in'
              " src/yard.cpp:6")],
            id="a message of two files",
        ),
        pytest.param(
            "who reads the wide-yard option?",
            ["src/defaults.cpp:2 wide-yard — declared here; read in src/yard.cpp:11"],
            id="a setting that is read below the name of the function",
        ),
        pytest.param(
            "src/port.cpp: In function 'void fail(int)':\nsrc/port.cpp:12:31: error: no matching function for call to"
            " 'tally_crates(int)'\n   12 |  tally_crates(1);",
            ["src/tally.cpp:1 tally_crates — defined here and in bridge/tally.rs:1"],
            id="the language of the file with the error comes first",
        ),
        pytest.param(
            "java.lang.NullPointerException: null\n\tat java.util.HashMap.get(HashMap.java:12)\n"
            "\tat org.apache.yard.Rope.pull(Rope.java:7)\n\tat org.apache.yard.Winch.wind(Winch.java:92)\n\nwhy?",
            ["server/src/main/java/org/apache/yard/Winch.java:5 wind — the trace's innermost frame in this project"],
            id="a frame in a package of libraries that this project is",
        ),
        pytest.param(
            "2026-11-20 09:14:02,114 [myid:2] - ERROR [Winch-1/10.0.0.1:28:o.a.y.Winch@7] - windRope exceeded on"
            " retries.\n\nwhat is it?",
            [('server/src/main/java/org/apache/yard/Winch.java:7 "windRope exceeded on retries" — the only place'
              " that has it")],
            id="a log with its level behind other words",
        ),
        pytest.param(
            "只跑 CrateTableTest,别跑整个模块",
            [(f"{JAVA_TEST} — run it alone: `cd crates && mvn test"
              " -Dtest=CrateTableTest`")],
            id="a test to run, in Chinese",
        ),
        pytest.param("it says `page.scales()`: 3 crates, why?", [], id="an ordinary word of an owner is no setting"),
        pytest.param(
            "is enableScales still needed?",
            ["web/enable.ts:1 enableScales — defined here; exported by web/index.ts:2, no other use found"],
            id="an export of several lines",
        ),
    ],
)  # fmt: skip
def test_what_stands_in_modules_is_told(asked_modules: Account, prompt: str, lines: list[str]) -> None:
    assert told(asked_modules, prompt) == lines


def test_what_a_renamed_file_lost_is_told_with_its_old_path(account: Account) -> None:
    rows = "".join(f"    rows.append(crate_{number})\n" for number in range(30))
    write_all(account.project, {"shop/wizard.py": f"class CrateWizard:\n    pass\n\n\ndef pack(rows):\n{rows}"})
    git(account.project, "init", "-q")
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Start")
    git(account.project, "mv", "shop/wizard.py", "shop/packing.py")
    write_all(account.project, {"shop/packing.py": f"def pack(rows):\n{rows}"})
    git(account.project, "commit", "-qam", "Pack without a wizard")
    account.cli("code", "index")

    found = told(account, "where did CrateWizard go?")
    assert "".join(found).startswith("`CrateWizard` — removed from shop/wizard.py in ")


def test_a_module_of_elixir_that_was_removed_is_told(account: Account) -> None:
    write_all(
        account.project, {"lib/tracer.ex": "defmodule Shop.CrateTracer do\n  def init(_), do: 1\nend\n", "a.ex": "1\n"}
    )
    git(account.project, "init", "-q")
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Start")
    git(account.project, "rm", "-q", "lib/tracer.ex")
    git(account.project, "commit", "-qm", "Drop the tracer")
    account.cli("code", "index")

    found = told(account, "undefined function Shop.CrateTracer.init/1, when did we drop it?")
    assert "".join(found).startswith("`CrateTracer` — removed from lib/tracer.ex in ")


def test_where_a_program_of_the_project_runs_a_test_file_it_is_told_for_each(account: Account) -> None:
    readme = "# Shop\n\n## Contributing\n\nTo run a single test:\n\n```sh\nbin/try test/cart_test.exs\n```\n"
    write_all(
        account.project,
        {
            "README.md": readme,
            "mix.exs": "defmodule Shop.MixProject do\nend\n",
            "bin/try": "#!/bin/sh\n",
            "lib/cart.ex": "defmodule Cart do\n  def sum_rows(rows), do: rows\nend\n",
            "test/cart_test.exs": "defmodule CartTest do\n  assert Cart.sum_rows([]) == []\nend\n",
        },
    )
    git(account.project, "init", "-q")
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Start")
    account.cli("code", "index")

    assert told(account, "how do I run a single test?") == [
        "README.md:8 — runs one test: `bin/try test/cart_test.exs`"
    ]  # fmt: skip
    run = "run it alone: `bin/try test/cart_test.exs`"
    assert f"test/cart_test.exs:2 — tests sum_rows, named there once; {run}" in told(
        account, "sum_rows must skip empty rows"
    )

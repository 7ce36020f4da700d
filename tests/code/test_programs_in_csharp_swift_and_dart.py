"""Through the real hook: what programs in C#, Swift and Dart have that others do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from invented_shop import git, told, write_all

if TYPE_CHECKING:
    from pathlib import Path

    from simulator import Account

LOADER = (
    "namespace Shop\n{\n    static class Prices\n    {\n        static readonly Table rates = new();\n\n"
    "        static Prices()\n        {\n            rates.Load();\n        }\n    }\n}\n"
)
CRATE = (
    "namespace Shop\n{\n    public class CrateId\n    {\n"
    "        public static readonly CrateId Zero = new CrateId(0);\n\n"
    "        public bool TryWeigh(int most)\n        {\n            return most > 0;\n        }\n    }\n}\n"
)
SCALE = (
    "namespace Shop\n{\n    public class Scale\n    {\n        public bool TryWeigh(int most)\n        {\n"
    "            return crate.TryWeigh(most);\n        }\n\n        public CrateId Last = CrateId.Zero;\n    }\n}\n"
)
DESK = (
    "namespace Shop\n{\n    class Desk\n    {\n        // CrateId.Zero\n"
    "        bool IsNone(CrateId id) => id == CrateId.Zero;\n    }\n}\n"
)
TRY = "To run a test:\n\n    dart tool/try.dart test/path/to_test.dart\n"
TEXTS = "// generated\n" + "".join(f"//  line {number} of the texts\n" for number in range(14_000))
FILES = {
    # C#
    "Shop.sln": "\n",
    "src/Prices.cs": LOADER,
    "src/CrateId.cs": CRATE,
    "src/Scale.cs": SCALE,
    "src/Desk.cs": DESK,
    "src/Settings.cs": 'var most = Environment.GetEnvironmentVariable("SHOP_MOST_CRATES");\n',
    "src/Icons.cs": "internal static Icon Shop {\n}\n",
    "Shop.UnitTests/ScaleWeighing.cs": "class ScaleWeighing\n{\n    void Weighs() { new Scale(); }\n}\n",
    "texts/Default.xml": "<Value>Select a crate in the list first.</Value>\n",
    "src/Texts.Generated.cs": f'{TEXTS}string none = @"Select a crate in the list first.";\n',
    # Swift
    "Package.swift": "let package = Package()\n",
    "shop-dev": "#!/bin/sh\n",
    "CONTRIBUTING.md": (
        "# Contributing\n\n## Formatting\n\nTo format your changes, run\n\n"
        "```bash\nswift package format-source\n```\n\n"
        "## Schema\n\nAfter a change of the options, run\n\n```bash\n./shop-dev generate-option-schema\n```\n"
    ),
    # Dart
    "pubspec.yaml": "name: shop\ndev_dependencies:\n  shop_flutter_lints: ^1.0.0\n",
    "lib/src/crate_row.dart": (
        "class CrateRow extends Row {\n  CrateRow(this.crate);\n\n  factory CrateRow.empty() {\n"
        "    return CrateRow(Platform.environment['SHOP_CRATE']);\n  }\n\n"
        "  void weighRow() {\n    weigh(crate);\n  }\n}\n"
    ),
    "lib/src/page.dart": (
        "final rows = [\n  CrateRow(1),\n];\nconst help = '''\n"
        "SHOP_CRATE: ${Platform.environment['SHOP_CRATE']}\n''';\n"
    ),
    "test/crate_row_test.dart": "void main() {\n  CrateRow(1).weighRow();\n}\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Account:
    from simulator import Account

    account = Account(tmp_path_factory.mktemp("programs") / "home")
    return with_files(account, FILES)


def with_files(account: Account, files: dict[str, str]) -> Account:
    write_all(account.project, files)
    git(account.project, "init", "-q")
    git(account.project, "add", "-A")
    git(account.project, "commit", "-qm", "Start")
    account.cli("code", "index")
    return account


def test_a_frame_below_a_field_is_in_the_type_and_not_in_the_field(programs: Account) -> None:
    of_a_library = "   at System.IO.File.Open(String path) in /_/node_modules/File.cs:line 7\n" * 4
    frame = "   at Shop.Prices..cctor() in /ci/shop/src/Prices.cs:line 9"
    trace = f"it dies:\n\nSystem.IO.IOException: no\n{of_a_library}{frame}"

    assert "src/Prices.cs:9 Prices — the trace's innermost frame" in told(programs, trace)


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("where is SHOP_MOST_CRATES read?", "src/Settings.cs:1 SHOP_MOST_CRATES — read from the environment here"),
        (
            "where is SHOP_CRATE read?",
            "lib/src/crate_row.dart:5 SHOP_CRATE — read from the environment here and in lib/src/page.dart:5",
        ),
    ],
)
def test_what_reads_the_environment_is_known_in_each_of_them(programs: Account, prompt: str, line: str) -> None:
    assert told(programs, prompt) == [line]


def test_a_text_in_a_long_generated_file_is_not_called_the_only_one(programs: Account) -> None:
    (line,) = told(programs, 'who says "Select a crate in the list first."?')

    assert line.endswith("the only source that has it, beside src/Texts.Generated.cs:14002")


def test_a_namespace_is_the_name_of_the_product(account: Account) -> None:
    with_files(
        account,
        {
            "src/Till.cs": "namespace ShopDesk\n{\n    class Till { }\n}\n",
            "src/Icons.cs": "class Icons\n{\n    internal static Icon ShopDesk {\n        get { }\n    }\n}\n",
            "src/Bell.cs": "namespace Tills\n{\n    class BellPush { }\n}\n",
        },
    )

    assert told(account, "ShopDesk crashes when the window is minimised, where does it start?") == []
    assert told(account, "where is BellPush?") == ["src/Bell.cs:3 BellPush — defined here; no other use found"]


def test_a_trace_without_files_names_its_innermost_method(programs: Account) -> None:
    trace = (
        "from a user on mono:\n\nSystem.ArgumentException: Index\n"
        "  at System.Collections.Generic.List`1[T].get_Item (System.Int32 index) [0x00009] in <f4>:0\n"
        "  at Shop.Desk.IsNone (Shop.CrateId id) [0x00031] in <b2c1>:0\n"
        "  at Shop.Program.Main () [0x0009a] in <b2c1>:0"
    )

    assert "src/Desk.cs:6 Desk.IsNone — defined here; no other use found" in told(programs, trace)


def test_a_trace_of_dart_leads_to_the_file_of_the_package(programs: Account) -> None:
    trace = (
        "Unhandled exception:\nBad state: no crate\n"
        "#0      List.first (dart:core-patch/array.dart:12:5)\n"
        "#0      List.first (dart:core-patch/array.dart:15:5)\n"
        "#0      List.first (dart:core-patch/array.dart:17:5)\n"
        "#1      CrateRow.weighRow.<anonymous closure> (package:shop/src/crate_row.dart:9:3)\n"
        "<asynchronous suspension>\n#2      main (file:///home/a/shop/bin/main.dart:3:3)"
    )

    assert told(programs, trace) == ["lib/src/crate_row.dart:9 weighRow — the trace's innermost frame"]


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        (
            "who calls TryWeigh?",
            "src/CrateId.cs:7 TryWeigh — defined here and in src/Scale.cs:5; called in src/Scale.cs:7",
        ),
        ("TryWeigh is slow", "src/CrateId.cs:7 TryWeigh — defined here and in src/Scale.cs:5"),
        (
            "how many files use CrateId.Zero?",
            "src/CrateId.cs:5 CrateId.Zero — defined here; used in 2 other files: src/Desk.cs:6, src/Scale.cs:10",
        ),
        (
            "who else goes through weighRow? it must stay fast",
            "lib/src/crate_row.dart:8 weighRow — defined here; used by tests only: test/crate_row_test.dart:2",
        ),
    ],
)
def test_callers_that_are_asked_for_are_told_of_methods_with_namesakes_and_of_members(
    programs: Account, prompt: str, line: str
) -> None:
    assert told(programs, prompt)[:1] == [line]


def test_a_constructor_of_dart_does_not_use_its_class(programs: Account) -> None:
    (line, *_) = told(programs, "who uses CrateRow?")

    assert line == (
        "lib/src/crate_row.dart:1 CrateRow — defined here; 2 uses: lib/src/page.dart:2, line 5 here; "
        "and test/crate_row_test.dart"
    )


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("how should I format my changes before opening a PR", "checks the code: `swift package format-source`"),
        ("run the generator and regenerate the option schema", "`./shop-dev generate-option-schema`"),
    ],
)
def test_commands_of_swift_and_of_a_program_of_the_project_are_read(programs: Account, prompt: str, line: str) -> None:
    assert [found.partition(" — ")[2] for found in told(programs, prompt)] == [line]


@pytest.mark.parametrize("prompt", ["how do I run only ScaleWeighing?", "wie lasse ich nur ScaleWeighing laufen?"])
def test_a_test_in_a_project_of_tests_has_its_command(programs: Account, prompt: str) -> None:
    run = "dotnet test --filter FullyQualifiedName~ScaleWeighing"

    assert told(programs, f"{prompt} not all tests")[-1] == (f"Shop.UnitTests/ScaleWeighing.cs — run it alone: `{run}`")


@pytest.mark.parametrize(
    ("pubspec", "readme", "run"),
    [
        ("dev_dependencies:\n  shop_flutter_lints: ^1.0.0\n", "", "dart test"),
        ("dependencies:\n  flutter:\n    sdk: flutter\n", "", "flutter test"),
        ("name: shop\n", TRY, "dart tool/try.dart"),
    ],
)
def test_a_test_of_dart_is_run_as_the_project_runs_it(account: Account, pubspec: str, readme: str, run: str) -> None:
    files = {"pubspec.yaml": pubspec, "README.md": f"# Shop\n\n{readme}", "tool/try.dart": "void main() {}\n"}
    with_files(
        account,
        files
        | {
            "lib/scale.dart": "class SteelScale {\n}\n",
            "test/scale_test.dart": "void main() {\n  SteelScale();\n}\n",
        },
    )

    lines = told(account, "SteelScale must weigh crates, too")
    assert "".join(lines).endswith(f"run it alone: `{run} test/scale_test.dart`")


def test_a_module_that_is_gone_was_removed_with_its_folder(account: Account, shop: Path) -> None:
    write_all(shop, {"Sources/ShopCore/Till.swift": "struct Till {\n}\n", "Tests/TillTests.swift": "import ShopCore\n"})
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "Add the core", at="2020-02-02T10:00:00Z")
    git(shop, "mv", "Sources/ShopCore", "Sources/Tills")
    git(shop, "commit", "-qm", "Split the core", at="2020-03-02T10:00:00Z")
    git(shop, "rm", "-q", "Tests/TillTests.swift")
    git(shop, "commit", "-qm", "Drop a test", at="2020-04-02T10:00:00Z")
    account.cli("code", "index")

    lines = told(account, "what happened to ShopCore?")
    assert "".join(lines).startswith("`Sources/ShopCore/` — moved to Sources/Tills/ in ")


def test_what_a_question_in_french_is_about_may_follow_it(account: Account, shop: Path) -> None:
    write_all(shop, {"shop/unpack.py": "def unpack_crate():\n    pass\n"})
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "Add the unpack command", at="2020-02-02T10:00:00Z")
    account.cli("code", "index")

    lines = told(account, "quand a-t-elle été ajoutée, cette commande unpack ?")
    assert "".join(lines).endswith('2020-02-02: "Add the unpack command"')
